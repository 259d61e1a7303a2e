//! Bounds the requests in flight to one bucket: fewer when it says that it is too much.
//!
//! Additive increase, multiplicative decrease (Chiu and Jain, 1989): halved when the store says
//! 429 or 503, one more for every round of requests that succeed. What was in flight when it was
//! halved may be refused too, and says nothing new. What was too much is not tried again at once:
//! each refusal costs its request a pause. Halved is what was in flight: a bound that was not
//! reached says nothing of the store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Time for which a number that was too much is not tried again.
const WARY: Duration = Duration::from_secs(3);
/// Least number in flight that a reduction goes by, for a store is also busy for others.
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
    /// When it was last reduced, and from what.
    reduced: Option<(Instant, u32)>,
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

    /// The store has said to a request that was sent at that time that it is too much.
    pub(crate) fn slow_down(&self, sent: Instant) {
        let mut state = self.state();
        // There is still more in flight than there is to be: it has said that of the others.
        if state.owed > 0 || state.reduced.is_some_and(|(then, _)| sent <= then) {
            return;
        }
        let free = u32::try_from(self.permits.available_permits()).unwrap_or(u32::MAX);
        let in_flight = (state.limit + state.owed).saturating_sub(free);
        let too_much = state.limit.min(in_flight.max(FEW));
        let limit = (too_much / 2).max(1);
        let fewer = state.limit - limit;
        let taken = self.permits.forget_permits(usize::try_from(fewer).unwrap_or(0));
        state.owed += fewer - u32::try_from(taken).unwrap_or(fewer).min(fewer);
        (state.limit, state.succeeded) = (limit, 0);
        state.reduced = Some((Instant::now(), too_much));
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
        state.succeeded = 0;
        if state
            .reduced
            .is_some_and(|(then, too_much)| state.limit + 1 >= too_much && then.elapsed() < WARY)
        {
            return;
        }
        state.limit += 1;
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

    const TICK: Duration = Duration::from_millis(1);

    /// Its limit, what is owed, and what is free.
    fn seen(limiter: &Limiter) -> (u32, u32, usize) {
        let state = limiter.state();
        (state.limit, state.owed, limiter.permits.available_permits())
    }

    #[tokio::test(start_paused = true)]
    async fn it_halves_once_for_what_is_in_flight_and_grows_by_one_a_round() {
        let limiter = Limiter::new(8);
        let mut held = Vec::new();
        for _ in 0..8 {
            held.push(limiter.acquire().await);
        }
        let sent = Instant::now();
        limiter.slow_down(sent + TICK);
        assert_eq!(seen(&limiter), (4, 4, 0));
        tokio::time::advance(2 * TICK).await;
        limiter.slow_down(Instant::now()); // more than four are in flight
        drop(held.drain(..5).collect::<Vec<_>>());
        assert_eq!(seen(&limiter), (4, 0, 1));
        limiter.slow_down(sent); // of the same burst
        assert_eq!(seen(&limiter), (4, 0, 1));
        for _ in 0..4 {
            limiter.succeeded();
        }
        assert_eq!(seen(&limiter), (5, 0, 2));
        drop(held);
        for _ in 0..9 {
            tokio::time::advance(TICK).await;
            limiter.slow_down(Instant::now());
        }
        assert_eq!(seen(&limiter).0, 1);
        assert_eq!(limiter.permits.available_permits(), 1);
        tokio::time::advance(WARY).await;
        for _ in 0..1000 {
            limiter.succeeded();
        }
        assert_eq!(seen(&limiter), (8, 0, 8));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_too_much_is_tried_again_after_a_while() {
        let limiter = Limiter::new(8);
        limiter.slow_down(Instant::now());
        let many = || (0..100).for_each(|_| limiter.succeeded());
        many();
        assert_eq!(seen(&limiter), (7, 0, 7));
        tokio::time::advance(TICK).await;
        limiter.slow_down(Instant::now());
        assert_eq!(seen(&limiter), (3, 0, 3));
        many();
        assert_eq!(seen(&limiter), (6, 0, 6));
        tokio::time::advance(WARY).await;
        many();
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
            limiter.slow_down(Instant::now());
            assert_eq!(seen(&limiter).0, limit, "{in_flight} in flight");
            assert!(limiter.is_lowered());
            drop(held);
            assert_eq!(seen(&limiter), (limit, 0, usize::try_from(limit).unwrap()));
        }
    }
}
