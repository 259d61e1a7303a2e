//! Places that are watched: reading an object that was written in the meantime is an error.

use std::fs::Metadata;
use std::time::SystemTime;

use object_store::ObjectMeta;

use crate::local::files;
use crate::view::View;
use crate::watch::Watch;
use crate::{Store, StoreError};

impl Store {
    /// Returns this place, where reading an object written after `since` is an error, and those
    /// written after `begun` are counted ([`Store::late_objects`]). The times are of this machine's
    /// clock; of a server's clock that differs, what its answers say is taken into account. Times
    /// in the future say nothing and are let pass.
    #[must_use]
    pub fn watched(&self, begun: SystemTime, since: SystemTime) -> Self {
        let watch = Watch::new(begun, since, self.archive().is_some()).by_clock(self.clock.clone());
        let watch = match self.local_root() {
            Some(root) => watch.of_directory(root),
            None => watch,
        };
        let mut store = self.clone();
        store.view.set_watch(Some(watch));
        store
    }

    /// Returns this place, watched as `other` is.
    pub(crate) fn watching_as(mut self, other: &View) -> Self {
        let watch = other.watch().cloned();
        let watch = watch.map(|watch| watch.by_clock(self.clock.clone()));
        self.view.set_watch(watch);
        self
    }

    /// Number of reads of objects that were written between the two times of [`Store::watched`].
    pub fn late_objects(&self) -> u64 {
        self.view.watch().map_or(0, Watch::late_objects)
    }

    /// False if a local directory is gone since it is watched, or another one has taken its place.
    /// Objects in that one may be older.
    pub fn is_same_directory(&self) -> bool {
        let watched = self.view.watch().zip(self.local_root());
        watched.is_none_or(|(watch, root)| watch.is_same_directory(root))
    }

    /// When the object at `key` was last written, by the clock of the store; `None` if there is
    /// none.
    pub async fn modified(&self, key: &str) -> Result<Option<SystemTime>, StoreError> {
        let found = self.look_at(key).await?;
        Ok(found.map(|found| found.last_modified.into()))
    }

    /// An error if the object at `key`, if there is one, was written since the place is watched.
    pub async fn check_unchanged_object(&self, key: &str) -> Result<(), StoreError> {
        match self.look_at(key).await? {
            Some(found) => self.view.check_unchanged(key, &found),
            None => Ok(()),
        }
    }

    /// [`Store::check_unchanged_object`] of a file that was opened.
    pub(crate) fn check_unchanged_file(
        &self,
        key: &str,
        found: &Metadata,
    ) -> Result<(), StoreError> {
        let written = files::modified(found).ok().filter(|_| self.view.watch().is_some());
        let Some(written) = written else { return Ok(()) };
        let object = ObjectMeta {
            location: self.view.object_path(key)?,
            last_modified: written.into(),
            size: found.len(),
            e_tag: None,
            version: None,
        };
        self.view.check_unchanged(key, &object)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::sync::Arc;
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::server_clock::{ServerClock, milliseconds};

    #[test]
    fn a_directory_is_another_one_where_it_was_moved_away() {
        let folder = tempfile::tempdir().unwrap();
        let [place, aside] = ["place", "aside"].map(|name| folder.path().join(name));
        fs::create_dir(&place).unwrap();
        let now = SystemTime::now();
        let store = Store::open(&place.to_string_lossy()).unwrap().watched(now, now);
        assert!(store.is_same_directory());
        fs::rename(&place, &aside).unwrap();
        assert!(!store.is_same_directory(), "it would be read where it is now");
        fs::create_dir(&place).unwrap();
        assert!(!store.is_same_directory());
        fs::remove_dir(&place).unwrap();
        fs::rename(&aside, &place).unwrap();
        assert!(store.is_same_directory());
    }

    /// A server with the right clock may be taken for one that is almost a second behind. It is if
    /// it answers at the end of one of its seconds.
    #[test]
    fn a_second_before_the_first_answer_is_in_doubt() {
        let clock = Arc::new(ServerClock::default());
        let now = SystemTime::now();
        let seconds = milliseconds(now) / 1000;
        clock.heard(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap()));
        let mut store = Store::open("memory:").unwrap();
        store.clock = Some(clock);
        let object = |seconds: i64| ObjectMeta {
            location: "c/0".into(),
            last_modified: (UNIX_EPOCH + Duration::from_secs(seconds.try_into().unwrap())).into(),
            size: 0,
            e_tag: None,
            version: None,
        };
        let begun = UNIX_EPOCH + Duration::from_millis((seconds * 1000 - 9500).try_into().unwrap());
        let resumed = store.watched(begun, begun);
        for (written, is_late) in [(-11, false), (-10, false), (-7, true), (-1, true)] {
            let found = resumed.view.is_late("c/0", &object(seconds + written));
            assert_eq!(found.is_err(), is_late, "{written}");
        }
        // What is planned after an answer is after the second that it names.
        let fresh = store.watched(now, SystemTime::now() + Duration::from_millis(1));
        assert!(fresh.view.is_late("c/0", &object(seconds)).is_ok());
    }
}
