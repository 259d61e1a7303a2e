//! Sends a read a second time, while the first still runs, if it takes far longer than others like
//! it. That is a hedged request (Dean and Barroso, "The Tail at Scale", 2013). Whichever is
//! answered first is taken, and the other given up.
//!
//! The race ends with the head of an answer, so there are never two bodies of which only one was
//! paid for.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use tokio::time::{Instant, sleep};

use super::{Latencies, Like, Limiter};

/// Least time after which a request is sent again.
const SOONEST: Duration = Duration::from_secs(1);
/// Factor on the time of 95 of 100 like it, after which a request is sent again.
const FACTOR: u32 = 4;
/// Time until a request that may not be sent again is looked at once more.
const LATER: Duration = Duration::from_millis(250);
/// One in so many requests may be sent again,
const SHARE: u32 = 50;
/// and so many at once after a time in which none was.
const BURST: u32 = 10;
/// For each so many requests that may be in flight, one more that was sent again; at least one.
const BESIDE: u32 = 16;

/// Decides which requests to a store are sent again, and when.
#[derive(Debug)]
pub(crate) struct Hedge {
    limiter: Arc<Limiter>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    latencies: Latencies,
    /// Credit that requests have earned: [`SHARE`] of it is the right to send one again.
    earned: u32,
    /// Requests that were sent again and of which neither is answered.
    in_flight: u32,
}

/// The right to send one request again; it is in flight until this is dropped.
#[derive(Debug)]
struct Second<'a>(&'a Hedge);

impl Drop for Second<'_> {
    fn drop(&mut self) {
        self.0.state().in_flight -= 1;
    }
}

impl Hedge {
    pub(crate) fn new(limiter: &Arc<Limiter>) -> Arc<Self> {
        let state = State { latencies: Latencies::default(), earned: BURST * SHARE, in_flight: 0 };
        Arc::new(Self { limiter: Arc::clone(limiter), state: Mutex::new(state) })
    }

    /// Sends a request, and once more if it takes too long. What is no answer (`is_answer`: the
    /// store has failed) decides nothing while the other one runs.
    pub(crate) async fn send<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        like: Like,
        request: impl Fn() -> F,
        is_answer: impl Fn(&T) -> bool,
    ) -> Result<T, E> {
        self.earn();
        let is_answered = |result: &Result<T, E>| result.as_ref().is_ok_and(&is_answer);
        let started = Instant::now();
        let first = pin!(request());
        let (first, second) = match select(first, pin!(self.too_long(like, started))).await {
            Either::Left((result, _)) => {
                if is_answered(&result) {
                    self.took(like, started.elapsed());
                }
                return result;
            }
            Either::Right((second, first)) => (first, second),
        };
        tracing::info!(seconds = started.elapsed().as_secs_f64(), "a slow request is sent again");
        let again = pin!(request());
        let (Either::Left((result, other)) | Either::Right((result, other))) =
            select(first, again).await;
        let result = if is_answered(&result) { result } else { other.await };
        drop(second);
        // It took that long, or longer.
        self.took(like, started.elapsed());
        result
    }

    /// Returns when a request takes longer than its like and may be sent again.
    async fn too_long(&self, like: Like, started: Instant) -> Second<'_> {
        sleep(SOONEST).await;
        loop {
            let usual = self.state().latencies.p95(like);
            let due = usual.map(|usual| started + SOONEST.max(usual * FACTOR));
            let now = Instant::now();
            match due {
                Some(due) if due > now => sleep(due - now).await,
                Some(_) => match self.second() {
                    Some(second) => return second,
                    None => sleep(LATER).await,
                },
                None => sleep(LATER).await,
            }
        }
    }

    /// The right to send a request again, if there is one now: never at a store that is busy.
    fn second(&self) -> Option<Second<'_>> {
        if self.limiter.is_lowered() {
            return None;
        }
        let most = (self.limiter.most() / BESIDE).max(1);
        let mut state = self.state();
        if state.earned < SHARE || state.in_flight >= most {
            return None;
        }
        state.earned -= SHARE;
        state.in_flight += 1;
        Some(Second(self))
    }

    fn earn(&self) {
        let mut state = self.state();
        state.earned = (state.earned + 1).min(BURST * SHARE);
    }

    fn took(&self, like: Like, time: Duration) {
        self.state().latencies.record(like, time);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Counting cannot panic half-way, so a poisoned lock still holds sound counts.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use futures::future::join_all;

    use super::*;

    const USUAL: Duration = Duration::from_millis(50);
    const LIKE: Like = Like::Head;

    /// A store that takes `times` for one request after the other, and the usual time for more;
    /// `None` is a failure after that time.
    struct Slow {
        hedge: Arc<Hedge>,
        limiter: Arc<Limiter>,
        times: RefCell<Vec<(Duration, Option<u32>)>>,
        sent: Cell<u32>,
        given_up: Cell<u32>,
    }

    struct InFlight<'a>(&'a Cell<u32>);

    impl Drop for InFlight<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    impl Slow {
        async fn new(concurrency: u32) -> Self {
            let limiter = Limiter::new(concurrency);
            let slow = Self {
                hedge: Hedge::new(&limiter),
                limiter,
                times: RefCell::default(),
                sent: Cell::new(0),
                given_up: Cell::new(0),
            };
            for _ in 0..20 {
                assert_eq!(slow.ask().await, Ok(0));
            }
            slow.sent.set(0);
            slow
        }

        /// The next requests take so many seconds and say that.
        fn then(&self, times: &[(u64, Option<u32>)]) {
            let times = times.iter().rev().map(|&(s, said)| (Duration::from_secs(s), said));
            *self.times.borrow_mut() = times.collect();
        }

        async fn ask(&self) -> Result<u32, ()> {
            let request = || async {
                self.sent.set(self.sent.get() + 1);
                let (time, said) = self.times.borrow_mut().pop().unwrap_or((USUAL, Some(0)));
                let dropped = InFlight(&self.given_up);
                sleep(time).await;
                std::mem::forget(dropped);
                said.ok_or(())
            };
            self.hedge.send(LIKE, request, |said| *said != 503).await
        }

        /// Asks once, and says what came, after how long, and how many were sent.
        async fn once(&self) -> (Result<u32, ()>, Duration, u32) {
            let (started, sent) = (Instant::now(), self.sent.get());
            let said = self.ask().await;
            (said, started.elapsed(), self.sent.get() - sent)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_request_is_sent_again_and_given_up() {
        let slow = Slow::new(16).await;
        slow.then(&[(60, Some(1)), (0, Some(2))]);
        assert_eq!(slow.once().await, (Ok(2), SOONEST, 2));
        assert_eq!(slow.given_up.get(), 1);
        // The first may still be the first.
        slow.then(&[(3, Some(1)), (60, Some(2))]);
        assert_eq!(slow.once().await, (Ok(1), Duration::from_secs(3), 2));
        assert_eq!(slow.given_up.get(), 2);
        // What is not much slower than its like is left alone.
        for _ in 0..20 {
            slow.hedge.took(LIKE, Duration::from_millis(500));
        }
        slow.then(&[(1, Some(1))]);
        assert_eq!(slow.once().await, (Ok(1), Duration::from_secs(1), 1));
        slow.then(&[(9, Some(1)), (0, Some(2))]);
        assert_eq!(slow.once().await, (Ok(2), Duration::from_millis(500) * FACTOR, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_waits_for_the_other() {
        for times in [[(5, Some(7)), (1, None)], [(5, Some(7)), (1, Some(503))]] {
            let slow = Slow::new(16).await;
            slow.then(&times);
            assert_eq!(slow.once().await, (Ok(7), Duration::from_secs(5), 2));
        }
        let slow = Slow::new(16).await;
        slow.then(&[(2, Some(503)), (5, Some(7))]);
        assert_eq!(slow.once().await, (Ok(7), Duration::from_secs(6), 2));
        slow.then(&[(2, None), (5, None)]);
        assert_eq!(slow.once().await, (Err(()), Duration::from_secs(6), 2));
        // One alone that fails is not sent again here: that is for retries.
        slow.then(&[(0, None)]);
        assert_eq!(slow.once().await, (Err(()), Duration::ZERO, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn one_in_fifty_and_a_burst_are_sent_again() {
        let slow = Slow::new(1024).await;
        let all_slow: Vec<_> = (0..500).map(|_| (100, Some(1))).collect();
        slow.then(&all_slow);
        join_all((0..100).map(|_| slow.ask())).await;
        assert_eq!(slow.sent.get(), 100 + BURST);
        // They took long, so that is now the usual.
        slow.then(&[(300, Some(1))]);
        assert_eq!(slow.once().await.2, 1);
        // What was spent is earned again.
        let slow = Slow::new(1024).await;
        slow.then(&all_slow);
        slow.hedge.state().earned = 0;
        for _ in 0..SHARE - 1 {
            slow.hedge.earn();
        }
        assert!(slow.hedge.second().is_none());
        slow.hedge.earn();
        assert!(slow.hedge.second().is_some());
        assert!(slow.hedge.second().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn few_are_in_flight_beside_the_bound() {
        let slow = Slow::new(2 * BESIDE).await;
        let held = [slow.hedge.second(), slow.hedge.second()];
        assert!(held.iter().all(Option::is_some));
        assert!(slow.hedge.second().is_none());
        drop(held);
        assert!(slow.hedge.second().is_some());
        let slow = Slow::new(1).await;
        let held = slow.hedge.second();
        assert!(held.is_some() && slow.hedge.second().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_sent_again_while_the_store_is_busy() {
        let slow = Slow::new(8).await;
        slow.limiter.slow_down(Instant::now());
        slow.then(&[(60, Some(1))]);
        assert_eq!(slow.once().await, (Ok(1), Duration::from_mins(1), 1));
        slow.then(&[(60, Some(1)), (0, Some(2))]);
        let recovers = async {
            sleep(Duration::from_secs(10)).await;
            for _ in 0..100 {
                slow.limiter.succeeded();
            }
        };
        let (asked, ()) = tokio::join!(slow.once(), recovers);
        assert_eq!((asked.0, asked.2), (Ok(2), 2));
        assert!(asked.1 <= Duration::from_secs(10) + LATER, "{:?}", asked.1);
    }

    #[tokio::test(start_paused = true)]
    async fn of_what_nothing_is_known_nothing_is_sent_again() {
        let slow = Slow::new(16).await;
        let request = || async {
            slow.sent.set(slow.sent.get() + 1);
            sleep(Duration::from_mins(1)).await;
            Ok::<_, ()>(1)
        };
        assert_eq!(slow.hedge.send(Like::read(1), request, |_| true).await, Ok(1));
        assert_eq!(slow.sent.get(), 1);
    }
}
