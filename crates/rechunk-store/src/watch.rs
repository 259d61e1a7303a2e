//! Notices that what is read was written in the meantime.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use object_store::ObjectMeta;

use crate::StoreError;
use crate::local::files;
use crate::server_clock::{ServerClock, milliseconds};

/// Times since which objects must not be written.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    since_milliseconds: i64,
    /// When an earlier run of the same job began to read.
    begun_milliseconds: i64,
    /// Objects read that were written since then, but before this run.
    late: Arc<AtomicU64>,
    /// The clock of the server that says when objects were written.
    clock: Option<Arc<ServerClock>>,
    /// The directory, if it is a local one that was there. While it is open no other one has its
    /// number, and no file system forgets it.
    directory: Option<Arc<File>>,
    /// True in a ZIP file, where all objects have the time of the file: none is late.
    is_timeless: bool,
}

impl Watch {
    /// Begins to watch objects that are written after `since`, and counts those after `begun`.
    pub(crate) fn new(begun: SystemTime, since: SystemTime, is_timeless: bool) -> Self {
        Self {
            since_milliseconds: milliseconds(since),
            begun_milliseconds: milliseconds(begun),
            late: Arc::default(),
            clock: None,
            directory: None,
            is_timeless,
        }
    }

    /// Returns this watch, with times told by `clock`.
    pub(crate) fn by_clock(self, clock: Option<Arc<ServerClock>>) -> Self {
        Self { clock, ..self }
    }

    /// Returns this watch, which holds on to the directory that is at `root` now.
    pub(crate) fn of_directory(self, root: &Path) -> Self {
        Self { directory: File::open(root).ok().map(Arc::new), ..self }
    }

    /// When an earlier run, or this one, began to read; a moment before where that is not exact.
    pub(crate) fn begun(&self) -> SystemTime {
        let milliseconds = u64::try_from(self.begun_milliseconds).unwrap_or(0);
        UNIX_EPOCH + Duration::from_millis(milliseconds)
    }

    /// Number of objects that were written after reading had begun.
    pub(crate) fn late_objects(&self) -> u64 {
        self.late.load(Ordering::Relaxed)
    }

    /// Counts objects for [`Self::late_objects`].
    pub(crate) fn add_late(&self, objects: u64) {
        self.late.fetch_add(objects, Ordering::Relaxed);
    }

    /// Returns false if the directory is gone since it is watched, or another one has taken its
    /// place at `root`.
    pub(crate) fn is_same_directory(&self, root: &Path) -> bool {
        let Some(watched) = &self.directory else { return true };
        match (watched.metadata(), root.metadata()) {
            (Ok(watched), Ok(now)) => files::is_same(&watched, &now),
            (Err(_), Ok(_)) => false, // it is gone
            (Ok(_), Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), Err(_)) => true, // what cannot be looked at is not read either, which says why
        }
    }

    /// Returns true if an object was written between the two times; an error that names `label` and
    /// `key` if it was later.
    pub(crate) fn is_late(
        &self,
        label: &str,
        key: &str,
        found: &ObjectMeta,
    ) -> Result<bool, StoreError> {
        if self.is_timeless {
            return Ok(false);
        }
        // Stores say whole seconds, some lists more: so does their clock, and a second that began
        // before does not count.
        let written = match &self.clock {
            Some(clock) => {
                found.last_modified.timestamp().saturating_mul(1000) - clock.ahead_milliseconds()
            }
            None => found.last_modified.timestamp_millis(),
        };
        let is_after = |time: i64| {
            let doubt = self.clock.as_ref().map_or(0, |clock| clock.doubt_milliseconds(time));
            written - doubt > time
        };
        let is_since = is_after(self.since_milliseconds);
        if !is_since || written > milliseconds(SystemTime::now()) {
            return Ok(!is_since && is_after(self.begun_milliseconds));
        }
        Err(StoreError::Changed {
            location: label.to_owned(),
            key: key.to_owned(),
            written: found.last_modified.to_rfc3339(),
        })
    }
}
