//! Noticing that what is read was written in the meantime.

use std::fs::{File, Metadata};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use object_store::ObjectMeta;

use crate::server_clock::{ServerClock, milliseconds};
use crate::{Store, StoreError, local_files};

/// Since when objects must not be written.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    since_milliseconds: i64,
    /// When an earlier run of the same job began to read.
    begun_milliseconds: i64,
    /// Objects read that were written since then, but before this run.
    late: Arc<AtomicU64>,
    clock: Option<Arc<ServerClock>>,
    /// The directory, if it is a local one that was there. While it is open no other one has its
    /// number, and no file system forgets it.
    directory: Option<Arc<File>>,
}

impl Watch {
    /// When an earlier run, or this one, began to read; a moment before where that is not exact.
    pub(crate) fn begun(&self) -> SystemTime {
        let milliseconds = u64::try_from(self.begun_milliseconds).unwrap_or(0);
        UNIX_EPOCH + Duration::from_millis(milliseconds)
    }
}

impl Store {
    /// Returns this place, where reading an object written after `since` is an error, and those
    /// written after `begun` are counted ([`Store::late_objects`]). The times are of this machine's
    /// clock; of a server's clock that differs, what its answers say is taken into account. Times
    /// in the future say nothing and are let pass.
    #[must_use]
    pub fn watched(&self, begun: SystemTime, since: SystemTime) -> Self {
        let watch = Watch {
            since_milliseconds: milliseconds(since),
            begun_milliseconds: milliseconds(begun),
            late: Arc::default(),
            clock: self.clock.clone(),
            directory: self.local_root().and_then(|root| File::open(root).ok()).map(Arc::new),
        };
        let mut watched = self.clone();
        watched.watch = Some(watch);
        watched
    }

    /// Returns this place, watched as `other` is.
    pub(crate) fn watching_as(mut self, other: &Self) -> Self {
        self.watch = other.watch.clone().map(|watch| Watch { clock: self.clock.clone(), ..watch });
        self
    }

    /// Number of reads of objects that were written between the two times of [`Store::watched`].
    pub fn late_objects(&self) -> u64 {
        self.watch.as_ref().map_or(0, |watch| watch.late.load(Ordering::Relaxed))
    }

    /// An error if the object that was read was written since the place is watched.
    pub(crate) fn check_unchanged(&self, key: &str, found: &ObjectMeta) -> Result<(), StoreError> {
        if self.is_late(key, found)? {
            self.add_late(1);
        }
        Ok(())
    }

    /// False if a local directory is gone since it is watched, or another one has taken its place.
    /// Objects in that one may be older.
    pub fn is_same_directory(&self) -> bool {
        let watched = self.watch.as_ref().and_then(|watch| watch.directory.as_ref());
        let Some((watched, root)) = watched.zip(self.local_root()) else { return true };
        match (watched.metadata(), root.metadata()) {
            (Ok(watched), Ok(now)) => local_files::is_same(&watched, &now),
            (Err(_), Ok(_)) => false, // it is gone
            (Ok(_), Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), Err(_)) => true, // what cannot be looked at is not read either, which says why
        }
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
            Some(found) => self.check_unchanged(key, &found),
            None => Ok(()),
        }
    }

    /// [`Store::check_unchanged_object`] of a file that was opened.
    pub(crate) fn check_unchanged_file(
        &self,
        key: &str,
        found: &Metadata,
    ) -> Result<(), StoreError> {
        let written = local_files::modified(found).ok().filter(|_| self.watch.is_some());
        let Some(written) = written else { return Ok(()) };
        let object = ObjectMeta {
            location: self.object_path(key)?,
            last_modified: written.into(),
            size: found.len(),
            e_tag: None,
            version: None,
        };
        self.check_unchanged(key, &object)
    }

    /// Counts objects for [`Store::late_objects`].
    pub(crate) fn add_late(&self, objects: u64) {
        if let Some(watch) = &self.watch {
            watch.late.fetch_add(objects, Ordering::Relaxed);
        }
    }

    /// Whether an object was written between the two times of [`Store::watched`]; an error if it
    /// was later.
    pub(crate) fn is_late(&self, key: &str, found: &ObjectMeta) -> Result<bool, StoreError> {
        let Some(watch) = self.watch.as_ref().filter(|_| self.archive().is_none()) else {
            return Ok(false);
        };
        // Stores say whole seconds, some lists more: so does their clock, and a second that began
        // before does not count.
        let written = match &watch.clock {
            Some(clock) => {
                found.last_modified.timestamp().saturating_mul(1000) - clock.ahead_milliseconds()
            }
            None => found.last_modified.timestamp_millis(),
        };
        let is_after = |time: i64| {
            let doubt = watch.clock.as_ref().map_or(0, |clock| clock.doubt_milliseconds(time));
            written - doubt > time
        };
        let is_since = is_after(watch.since_milliseconds);
        if !is_since || written > milliseconds(SystemTime::now()) {
            return Ok(!is_since && is_after(watch.begun_milliseconds));
        }
        Err(StoreError::Changed {
            location: self.label().to_owned(),
            key: key.to_owned(),
            written: found.last_modified.to_rfc3339(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
            let found = resumed.is_late("c/0", &object(seconds + written));
            assert_eq!(found.is_err(), is_late, "{written}");
        }
        // What is planned after an answer is after the second that it names.
        let fresh = store.watched(now, SystemTime::now() + Duration::from_millis(1));
        assert!(fresh.is_late("c/0", &object(seconds)).is_ok());
    }
}
