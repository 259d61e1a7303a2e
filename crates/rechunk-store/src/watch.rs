//! Noticing that what is read was written in the meantime.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use object_store::ObjectMeta;

use crate::{Store, StoreError};

/// How far the clock of a server is ahead of ours, as its answers say; milliseconds.
///
/// Answers give whole seconds, and take time: the latest that one says is the nearest.
#[derive(Debug)]
pub(crate) struct ServerClock(AtomicI64);

impl Default for ServerClock {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

impl ServerClock {
    /// An answer that comes now says that it is `date`.
    pub(crate) fn heard(&self, date: SystemTime) {
        self.0.fetch_max(milliseconds(date) - milliseconds(SystemTime::now()), Ordering::Relaxed);
    }

    /// When by this machine's clock it was so many seconds since 1970 by the server's; `None` if that has never said what it is.
    pub(crate) fn of_this_machine(&self, seconds: i64) -> Option<SystemTime> {
        let ahead = Some(self.0.load(Ordering::Relaxed)).filter(|&ahead| ahead != i64::MIN)?;
        let milliseconds =
            u64::try_from(seconds.saturating_mul(1000).saturating_sub(ahead)).unwrap_or(0);
        UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
    }

    fn ahead_milliseconds(&self) -> i64 {
        match self.0.load(Ordering::Relaxed) {
            i64::MIN => 0,
            ahead => ahead,
        }
    }
}

/// Since when objects must not be written.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    since_milliseconds: i64,
    /// When an earlier run of the same job began to read.
    begun_milliseconds: i64,
    /// Objects read that were written since then, but before this run.
    late: Arc<AtomicU64>,
    clock: Option<Arc<ServerClock>>,
}

impl Watch {
    /// When an earlier run, or this one, began to read; a moment before where that is not exact.
    pub(crate) fn begun(&self) -> SystemTime {
        let milliseconds = u64::try_from(self.begun_milliseconds).unwrap_or(0);
        UNIX_EPOCH + Duration::from_millis(milliseconds)
    }
}

impl Store {
    /// The same place, where reading an object that was written after `since` is an error, and
    /// those that were written after `begun` are counted ([`Store::late_objects`]). The
    /// times are of this machine's clock; of a server's clock that differs, what its answers say
    /// is taken into account. Times in the future say nothing and are let pass.
    #[must_use]
    pub fn watched(&self, begun: SystemTime, since: SystemTime) -> Self {
        let watch = Watch {
            since_milliseconds: milliseconds(since),
            begun_milliseconds: milliseconds(begun),
            late: Arc::default(),
            clock: self.clock.clone(),
        };
        let mut watched = self.clone();
        watched.watch = Some(watch);
        watched
    }

    /// The same place, watched as `other` is.
    pub(crate) fn watching_as(mut self, other: &Self) -> Self {
        self.watch = other.watch.clone().map(|watch| Watch { clock: self.clock.clone(), ..watch });
        self
    }

    /// How many reads were of objects that were written between the two times of
    /// [`Store::watched`].
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
        if written <= watch.since_milliseconds || written > milliseconds(SystemTime::now()) {
            return Ok(written > watch.begun_milliseconds && written <= watch.since_milliseconds);
        }
        Err(StoreError::Changed {
            location: self.label().to_owned(),
            key: key.to_owned(),
            written: found.last_modified.to_rfc3339(),
        })
    }
}

/// Since 1970.
fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    i64::try_from(since).unwrap_or(i64::MAX)
}
