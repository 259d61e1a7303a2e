//! Limits of an attempt: its time, and the caller's wish to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;

/// Why a program is to be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    TimedOut(Duration),
}

/// A time that is running.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
    limit: Duration,
}

impl Clock {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "a program may hang: only a clock can tell")]
    pub(crate) fn of(limit: Duration) -> Self {
        Self { start: Instant::now(), limit }
    }

    /// Returns true if the time has passed.
    pub(crate) fn is_over(self) -> bool {
        self.start.elapsed() >= self.limit
    }
}

/// Limits of one attempt.
#[derive(Debug)]
pub(crate) struct Limits<'a> {
    cancel: &'a AtomicBool,
    clock: Option<Clock>,
}

impl<'a> Limits<'a> {
    /// Begins now.
    pub(crate) fn begin(timeout: Option<Duration>, cancel: &'a AtomicBool) -> Self {
        Self { cancel, clock: timeout.map(Clock::of) }
    }

    /// Says why a program has to stop, if it has to.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        match self.clock {
            Some(clock) if clock.is_over() => Err(Stop::TimedOut(clock.limit)),
            _ => Ok(()),
        }
    }
}

/// Times between looks at a program: short at first, for quick ones.
#[derive(Debug)]
pub(crate) struct Pace(Duration);

impl Pace {
    pub(crate) fn new() -> Self {
        Self(Duration::from_millis(1))
    }

    /// Returns how long to wait now; twice as long as before, up to a tick.
    pub(crate) fn next(&mut self) -> Duration {
        let now = self.0;
        self.0 = (now * 2).min(super::TICK);
        now
    }

    /// Waits.
    pub(crate) fn sleep(&mut self) {
        // Without files `poll` only waits; an interruption makes it shorter.
        if let Ok(time) = Timespec::try_from(self.next()) {
            let _ = rustix::event::poll(&mut [], Some(&time));
        }
    }
}
