//! The clock of a server, which may differ from that of this machine.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The clock of a server, as its answers say.
#[derive(Debug)]
pub(crate) struct ServerClock {
    /// Milliseconds by which it is ahead of ours. Answers give whole seconds, and take time: the
    /// latest that one says is the nearest.
    ahead: AtomicI64,
    /// When the first answer came, by our clock, milliseconds since 1970.
    first: AtomicI64,
}

impl Default for ServerClock {
    fn default() -> Self {
        Self { ahead: AtomicI64::new(i64::MIN), first: AtomicI64::new(i64::MAX) }
    }
}

impl ServerClock {
    /// An answer that comes now says that it is `date`.
    pub(crate) fn heard(&self, date: SystemTime) {
        let now = milliseconds(SystemTime::now());
        self.ahead.fetch_max(milliseconds(date) - now, Ordering::Relaxed);
        self.first.fetch_min(now, Ordering::Relaxed);
    }

    /// When by this machine's clock it was so many seconds since 1970 by the server's; `None` if
    /// that has never said what it is.
    pub(crate) fn of_this_machine(&self, seconds: i64) -> Option<SystemTime> {
        let ahead = Some(self.ahead.load(Ordering::Relaxed)).filter(|&ahead| ahead != i64::MIN)?;
        let milliseconds =
            u64::try_from(seconds.saturating_mul(1000).saturating_sub(ahead)).unwrap_or(0);
        UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
    }

    /// Milliseconds by which it is ahead of this machine's, as far as is known.
    pub(crate) fn ahead_milliseconds(&self) -> i64 {
        match self.ahead.load(Ordering::Relaxed) {
            i64::MIN => 0,
            ahead => ahead,
        }
    }

    /// Milliseconds by which a time taken from it may be too late, if it is held against `time` of
    /// ours. The first answers name seconds that had begun before them, and so before any time
    /// after them; of a time before them a second is in doubt.
    pub(crate) fn doubt_milliseconds(&self, time: i64) -> i64 {
        if time < self.first.load(Ordering::Relaxed) { 1000 } else { 0 }
    }
}

/// Milliseconds since 1970.
pub(crate) fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    i64::try_from(since).unwrap_or(i64::MAX)
}
