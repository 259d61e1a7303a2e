//! The gate: the only place where anything waits for memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A first-come-first-served semaphore counted in bytes.
///
/// A task takes its full cost before it starts and waits for memory nowhere else, so no two tasks
/// can wait for each other. Nobody overtakes: a large task at the head is not starved.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free_bytes: u64,
    waiting: VecDeque<(u64, oneshot::Sender<Permit>)>,
}

/// Bytes taken from a [`Gate`], given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    bytes: u64,
    state: Arc<Mutex<State>>,
}

impl Gate {
    pub(crate) fn new(capacity_bytes: u64) -> Self {
        let state = State { free_bytes: capacity_bytes, waiting: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Waits until `bytes` are free and every earlier caller has been served. More than the
    /// capacity never comes free: plans are checked for that before a run starts.
    pub(crate) async fn acquire(&self, bytes: u64) -> Permit {
        let receiver = {
            let mut state = lock(&self.state);
            if state.waiting.is_empty() && state.free_bytes >= bytes {
                state.free_bytes -= bytes;
                return self.permit(bytes);
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back((bytes, sender));
            receiver
        };
        match receiver.await {
            Ok(permit) => permit,
            // The queue lives as long as this gate, and senders leave it only to be answered.
            Err(_) => std::future::pending().await,
        }
    }

    fn permit(&self, bytes: u64) -> Permit {
        Permit { bytes, state: Arc::clone(&self.state) }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return; // nothing to give back; and an unwanted permit is dropped under the lock
        }
        let mut state = lock(&self.state);
        state.free_bytes += self.bytes;
        while let Some((bytes, _)) = state.waiting.front()
            && *bytes <= state.free_bytes
        {
            let Some((bytes, sender)) = state.waiting.pop_front() else { break };
            let permit = Self { bytes, state: Arc::clone(&self.state) };
            match sender.send(permit) {
                Ok(()) => state.free_bytes -= bytes,
                // Nobody waits any more. Its bytes were not taken, and must not be given back.
                Err(mut unwanted) => unwanted.bytes = 0,
            }
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Counting cannot panic half-way, so a poisoned lock still holds a sound count.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    async fn is_blocked(gate: &Gate, bytes: u64) -> bool {
        timeout(Duration::from_millis(20), gate.acquire(bytes)).await.is_err()
    }

    #[tokio::test]
    async fn bytes_come_back_and_the_first_is_served_first() {
        let gate = Gate::new(10);
        let first = gate.acquire(6).await;
        let large = tokio::spawn({
            let gate = gate.clone();
            async move { gate.acquire(8).await }
        });
        tokio::task::yield_now().await;
        assert!(is_blocked(&gate, 1).await, "a small one overtook");
        drop(first);
        let large = large.await.unwrap();
        let rest = gate.acquire(2).await;
        assert!(is_blocked(&gate, 1).await);
        drop((large, rest));
        assert!(!is_blocked(&gate, 10).await);
    }

    #[tokio::test]
    async fn a_caller_that_gave_up_costs_nothing() {
        let gate = Gate::new(4);
        let held = gate.acquire(4).await;
        assert!(is_blocked(&gate, 3).await);
        drop(held);
        assert!(!is_blocked(&gate, 4).await);
    }
}
