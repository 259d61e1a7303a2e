//! Memory of a task, counted as it is used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that a task may hold: those that were reserved for it, and what is left beside all tasks.
/// Nobody waits here: who finds no room gives up what it has begun.
#[derive(Debug)]
pub(crate) struct Account {
    state: Mutex<State>,
    /// Bytes of the budget that no task of the plan was to have.
    spare: Arc<AtomicU64>,
}

#[derive(Debug)]
struct State {
    own_bytes: u64,
    borrowed_bytes: u64,
}

impl Account {
    /// An account of `own_bytes`, and of what is in `spare`.
    pub(crate) fn new(own_bytes: u64, spare: Arc<AtomicU64>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { own_bytes, borrowed_bytes: 0 }), spare })
    }

    /// Takes `bytes`, if there are so many.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64) -> Option<Held> {
        let mut state = lock(&self.state);
        let own = bytes.min(state.own_bytes);
        let more = bytes - own;
        if more > 0 {
            let less = |spare: u64| spare.checked_sub(more);
            self.spare.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).ok()?;
        }
        state.own_bytes -= own;
        state.borrowed_bytes = state.borrowed_bytes.saturating_add(more);
        Some(Held { account: Arc::clone(self), bytes })
    }

    /// Bytes that [`Account::take`] would give now.
    pub(crate) fn available(&self) -> u64 {
        lock(&self.state).own_bytes.saturating_add(self.spare.load(Ordering::Acquire))
    }

    fn give(&self, bytes: u64) {
        let mut state = lock(&self.state);
        let back = bytes.min(state.borrowed_bytes);
        state.borrowed_bytes -= back;
        state.own_bytes = state.own_bytes.saturating_add(bytes - back);
        self.spare.fetch_add(back, Ordering::AcqRel);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Both numbers change without a call between them.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes taken from an [`Account`], given back when dropped.
#[derive(Debug)]
pub(crate) struct Held {
    account: Arc<Account>,
    bytes: u64,
}

impl Held {
    /// Gives back all but `bytes`.
    pub(crate) fn shrink(&mut self, bytes: u64) {
        let back = self.bytes.saturating_sub(bytes);
        self.bytes -= back;
        self.account.give(back);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.give(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_borrow_what_no_other_has() {
        let spare = Arc::new(AtomicU64::new(50));
        let (a, b) = (Account::new(100, Arc::clone(&spare)), Account::new(10, Arc::clone(&spare)));
        let mut first = a.take(130).unwrap();
        assert_eq!((a.available(), b.available()), (20, 30));
        assert!(b.take(31).is_none());
        assert_eq!(b.available(), 30, "nothing was taken");
        let second = b.take(30).unwrap();
        assert!(a.take(1).is_none());
        first.shrink(110);
        assert_eq!((a.available(), b.available()), (20, 20), "what was borrowed goes back first");
        drop(first);
        assert_eq!((a.available(), b.available()), (130, 30));
        drop(second);
        assert_eq!((a.available(), b.available(), spare.load(Ordering::Acquire)), (150, 60, 50));
    }
}
