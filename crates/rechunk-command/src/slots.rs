//! Places for programs that run at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::error::CommandError;

/// Time between looks whether the run is cancelled, while all places are taken.
const LOOK: Duration = Duration::from_millis(20);

/// Places for programs; a place that is free may hold a program that stays.
#[derive(Debug)]
pub(crate) struct Slots<W> {
    state: Mutex<State<W>>,
    freed: Condvar,
    /// Number of places; none for as many as are asked for.
    limit: Option<u32>,
}

#[derive(Debug)]
struct State<W> {
    taken: u32,
    idle: Vec<W>,
}

/// A place that is taken; free when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot<'a, W> {
    slots: &'a Slots<W>,
    /// Program that stays in this place.
    pub worker: Option<W>,
}

impl<W> Slots<W> {
    /// Creates places.
    pub(crate) fn new(limit: Option<u32>) -> Self {
        let state = Mutex::new(State { taken: 0, idle: Vec::new() });
        Self { state, freed: Condvar::new(), limit }
    }

    /// Waits for a place. Refuses when the run is cancelled.
    pub(crate) fn take(&self, cancel: &AtomicBool) -> Result<Slot<'_, W>, CommandError> {
        let mut state = self.state.lock();
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(CommandError::Cancelled);
            }
            if self.limit.is_none_or(|limit| state.taken < limit) {
                state.taken += 1;
                return Ok(Slot { slots: self, worker: state.idle.pop() });
            }
            self.freed.wait_for(&mut state, LOOK);
        }
    }

    /// Takes out all programs that stay.
    pub(crate) fn take_idle(&self) -> Vec<W> {
        std::mem::take(&mut self.state.lock().idle)
    }
}

impl<W> Drop for Slot<'_, W> {
    fn drop(&mut self) {
        let mut state = self.slots.state.lock();
        state.taken -= 1;
        state.idle.extend(self.worker.take());
        drop(state);
        self.slots.freed.notify_one();
    }
}
