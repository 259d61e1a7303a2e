//! Tells a directory that runs have written from a stranger's.

use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use rechunk_exec::JOURNAL_KEY;

use crate::Error;
use crate::error::store_error;
use crate::state_place::{DONE_KEY, JOB_KEY, TREE_KEY};
use crate::work_dir::{
    KEYS, LOCK_BYTES_MAX, LOCK_KEY, PLACES, UPLOADS, WorkDir, holder_in, is_late,
};

/// A run that was taken over has sent fewer parts of a journal than that.
const LATE_MAX: usize = 1000;
/// Those that say by their names whose the directory is.
const SAID: [&str; 4] = [JOURNAL_KEY, JOB_KEY, TREE_KEY, DONE_KEY];
/// Looks at a directory that may be a stranger's, and the pause between two.
const LOOKS: u32 = 5;
const LOOK_PAUSE: Duration = Duration::from_millis(50);

impl WorkDir {
    /// Refuses a link to somewhere, and a directory in which somebody has put something. False if
    /// nothing is there at all.
    pub(super) async fn check_ours(&self) -> Result<bool, Error> {
        let conflict = |reason: String| Error::Conflict {
            location: self.location.clone(),
            reason,
            hint: Some("the state of the run goes there: move it away".into()),
        };
        let link = Path::new(&self.location).symlink_metadata();
        if self.store.local_root().is_some() && link.is_ok_and(|found| found.is_symlink()) {
            return Err(conflict("is a symbolic link".to_owned()));
        }
        if let Some(name) = self.link_inside() {
            return Err(conflict(format!("holds a symbolic link, {name}")));
        }
        let failed = |source| store_error("look at", self.store.label(), source);
        for look in 0..LOOKS {
            if look > 0 {
                // A run that begins or ends writes and removes several files: it may have done so
                // between two questions.
                tokio::time::sleep(LOOK_PAUSE).await;
            }
            if !self.store.exists_anything().await.map_err(failed)? {
                return Ok(false);
            }
            if self.holds_ours().await? {
                return Ok(true);
            }
        }
        Err(conflict("holds what no run has written".to_owned()))
    }

    /// True if what is there was written by runs.
    async fn holds_ours(&self) -> Result<bool, Error> {
        // What cannot be looked at is there.
        let is_there = SAID.map(|key| self.store.exists(key));
        if join_all(is_there).await.into_iter().any(|found| found.unwrap_or(true))
            || self.holds_a_lock().await
        {
            return Ok(true);
        }
        let is_empty = self.store.is_empty().await;
        let is_empty =
            is_empty.map_err(|source| store_error("look at", self.store.label(), source))?;
        Ok(is_empty || self.is_only_late().await?)
    }

    /// Finds a link in the directory: where it leads, nothing may be written or removed.
    fn link_inside(&self) -> Option<&'static str> {
        let root = self.store.local_root()?;
        let mut names = KEYS.into_iter().chain(PLACES).chain([UPLOADS]);
        names.find(|name| root.join(name).symlink_metadata().is_ok_and(|found| found.is_symlink()))
    }

    /// True if there is a lock as runs write it: others have files of that name too. A run that was
    /// killed as it began may not have written all of its name yet, nor begun anything.
    async fn holds_a_lock(&self) -> bool {
        match self.store.get(LOCK_KEY, LOCK_BYTES_MAX).await {
            Ok(Some(text)) if holder_in(&text).is_some() => true,
            Ok(Some(_)) => self.store.has_none_but(&KEYS).await.unwrap_or(false),
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// True if there are only objects that a run may have sent too late. By then, another one had
    /// taken over its target, completed it and removed all else.
    pub(super) async fn is_only_late(&self) -> Result<bool, Error> {
        if self.store.local_root().is_some() {
            return Ok(false); // a lock of the system is not taken over
        }
        let failed = |source| store_error("look at", self.store.label(), source);
        let listed = self.store.list_first("", LATE_MAX).await.map_err(failed)?;
        let are_late = listed.iter().all(|(key, _)| is_late(key));
        Ok(!listed.is_empty() && listed.len() < LATE_MAX && are_late)
    }
}
