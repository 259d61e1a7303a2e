//! How many requests are in flight to one bucket: fewer when it says that it is too much.
//!
//! Additive increase, multiplicative decrease (Chiu and Jain, 1989): halved when the store says
//! 429 or 503, at most once a second, because all that was in flight then says so at once; one
//! more for every round of requests that succeed. Halved is what was in flight: a bound that was not
//! reached says nothing of the store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How long a reduction holds for all that was in flight when it was made.
const ONE_REDUCTION: Duration = Duration::from_secs(1);
/// What may be in flight says more than what is, if that is fewer: a store is also busy for others.
const FEW: u32 = 16;

/// Bounds requests in flight.
#[derive(Debug)]
pub(crate) struct Limiter {
    permits: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    most: u32,
    limit: u32,
    /// Permits that are in flight and will not come back.
    owed: u32,
    /// Requests that ended well since the limit last changed.
    succeeded: u32,
    reduced: Option<Instant>,
}

/// The right to one request.
#[derive(Debug)]
pub(crate) struct Permit {
    permit: Option<OwnedSemaphorePermit>,
    limiter: Arc<Limiter>,
}

impl Limiter {
    pub(crate) fn new(most: u32) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(1)));
        let state = State { most, limit: most, owed: 0, succeeded: 0, reduced: None };
        Arc::new(Self { permits, state: Mutex::new(state) })
    }

    /// Waits until one more request may be in flight.
    pub(crate) async fn acquire(self: &Arc<Self>) -> Permit {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        Permit { permit, limiter: Arc::clone(self) }
    }

    /// The store has said that it is too much.
    pub(crate) fn slow_down(&self) {
        let mut state = self.state();
        let now = Instant::now();
        if state.reduced.is_some_and(|then| now.duration_since(then) < ONE_REDUCTION) {
            return;
        }
        let free = u32::try_from(self.permits.available_permits()).unwrap_or(u32::MAX);
        let in_flight = (state.limit + state.owed).saturating_sub(free);
        let limit = (state.limit.min(in_flight.max(FEW)) / 2).max(1);
        let fewer = state.limit - limit;
        let taken = self.permits.forget_permits(usize::try_from(fewer).unwrap_or(0));
        state.owed += fewer - u32::try_from(taken).unwrap_or(fewer).min(fewer);
        (state.limit, state.succeeded, state.reduced) = (limit, 0, Some(now));
        tracing::debug!(limit, "the store is busy: fewer requests at once");
    }

    /// A request has ended well.
    pub(crate) fn succeeded(&self) {
        let mut state = self.state();
        if state.limit == state.most {
            return;
        }
        state.succeeded += 1;
        if state.succeeded < state.limit {
            return;
        }
        (state.limit, state.succeeded) = (state.limit + 1, 0);
        if state.owed > 0 {
            state.owed -= 1;
        } else {
            self.permits.add_permits(1);
        }
    }

    /// Fewer than usual are in flight, because the store has said that it was too much.
    pub(crate) fn is_lowered(&self) -> bool {
        let state = self.state();
        state.limit < state.most
    }

    /// Most requests in flight where the store has said nothing.
    pub(crate) fn most(&self) -> u32 {
        self.state().most
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        if state.owed > 0
            && let Some(permit) = self.permit.take()
        {
            state.owed -= 1;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its limit, what is owed, and what is free.
    fn seen(limiter: &Limiter) -> (u32, u32, usize) {
        let state = limiter.state();
        (state.limit, state.owed, limiter.permits.available_permits())
    }

    #[tokio::test(start_paused = true)]
    async fn it_halves_once_a_second_and_grows_by_one_a_round() {
        let limiter = Limiter::new(8);
        let mut held = Vec::new();
        for _ in 0..8 {
            held.push(limiter.acquire().await);
        }
        limiter.slow_down();
        limiter.slow_down(); // of the same burst
        assert_eq!(seen(&limiter), (4, 4, 0));
        drop(held.drain(..5).collect::<Vec<_>>());
        assert_eq!(seen(&limiter), (4, 0, 1));
        for _ in 0..4 {
            limiter.succeeded();
        }
        assert_eq!(seen(&limiter), (5, 0, 2));
        tokio::time::advance(ONE_REDUCTION).await;
        for _ in 0..9 {
            limiter.slow_down();
            tokio::time::advance(ONE_REDUCTION).await;
        }
        assert_eq!(seen(&limiter).0, 1);
        drop(held);
        assert_eq!(limiter.permits.available_permits(), 1);
        for _ in 0..1000 {
            limiter.succeeded();
        }
        assert_eq!(seen(&limiter), (8, 0, 8));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_in_flight_is_halved_and_not_what_might_have_been() {
        for (in_flight, limit) in [(1, FEW / 2), (40, 20), (256, 128)] {
            let limiter = Limiter::new(256);
            assert!(!limiter.is_lowered());
            let mut held = Vec::new();
            for _ in 0..in_flight {
                held.push(limiter.acquire().await);
            }
            limiter.slow_down();
            assert_eq!(seen(&limiter).0, limit, "{in_flight} in flight");
            assert!(limiter.is_lowered());
            drop(held);
            assert_eq!(seen(&limiter), (limit, 0, usize::try_from(limit).unwrap()));
        }
    }
}
