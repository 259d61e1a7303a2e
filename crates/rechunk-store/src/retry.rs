//! Trying again what the library below does not: an answer that ends too early, an error it takes
//! for final and that is not.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::StoreError;

/// First pause, and the longest.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Most further tries after a failure that may be final.
const UNEXPLAINED_MAX: u32 = 4;

/// Patience with a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) max_retries: u32,
    /// All attempts of an operation together.
    pub(crate) timeout: Duration,
}

/// The attempts of one operation.
#[derive(Debug)]
pub(crate) struct Attempts {
    patience: Option<Patience>,
    /// Name of the thing that is tried.
    what: String,
    started: Instant,
    /// Begin of the attempt that is going on.
    begun: Instant,
    failed: u32,
    pause: Duration,
}

impl Attempts {
    /// Without `patience`, there is one attempt.
    pub(crate) fn new(patience: Option<Patience>, what: &str) -> Self {
        let now = Instant::now();
        let what = what.to_owned();
        Self { patience, what, started: now, begun: now, failed: 0, pause: PAUSE }
    }

    /// After a failure: waits, and says whether to try again. Pauses grow, and differ from those of
    /// others that failed at the same time ("decorrelated jitter", Brooker, AWS, 2015).
    pub(crate) async fn again(&mut self, error: &StoreError) -> bool {
        let Some(patience) = self.patience.filter(|_| error.is_retryable()) else { return false };
        self.failed += 1;
        let most = if error.is_unexplained() { UNEXPLAINED_MAX } else { u32::MAX };
        if self.failed > patience.max_retries.min(most) {
            return false;
        }
        let spread = (self.pause * 3).saturating_sub(PAUSE);
        self.pause = (PAUSE + spread.mul_f64(jitter(&self.what, self.failed))).min(PAUSE_MAX);
        // An attempt in which the library below has tried again by itself may take as long as this
        // one took. Any other may be short where the first took all the time: a large body on a
        // slow line has one more chance.
        let now = Instant::now();
        let takes = if error.was_tried_again() { now - self.begun } else { Duration::ZERO };
        let is_tried = self.failed > 1 || !takes.is_zero();
        if is_tried && now - self.started + self.pause + takes >= patience.timeout {
            return false;
        }
        tracing::info!(%error, attempt = self.failed, "trying again");
        sleep(self.pause).await;
        self.begun = Instant::now();
        true
    }
}

/// A number in 0..1, another for each thing that is tried and each time. It is the same in each
/// run, so that a simulated one can be repeated.
fn jitter(what: &str, failed: u32) -> f64 {
    let mut hasher = DefaultHasher::new();
    (what, failed).hash(&mut hasher);
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;
    use crate::remote::answered;

    const PATIENCE: Patience = Patience { max_retries: 10, timeout: Duration::from_hours(1) };

    /// An error of the library below, that says how often it has tried.
    #[derive(Debug, thiserror::Error)]
    #[error("Error performing PUT s3://b/k in 1s, after 9 retries, max_retries: 10")]
    struct TriedAgain(#[source] Box<dyn Error + Send + Sync>);

    /// Number of tries of an operation that always fails so, after a time each.
    async fn tries_of(source: impl Error + Send + Sync + 'static, takes: Duration) -> u32 {
        let (location, key) = ("s3://b".to_owned(), "k".to_owned());
        let error = StoreError::Failed { location, key, action: "read", source: Box::new(source) };
        let (mut attempts, mut tries) = (Attempts::new(Some(PATIENCE), "k"), 0);
        loop {
            sleep(takes).await;
            tries += 1;
            if !attempts.again(&error).await {
                return tries;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again_and_what_may_pass_a_few_times() {
        let tries = |code, body| tries_of(answered(code, body), Duration::ZERO);
        assert_eq!(tries(503, "SlowDown").await, 11);
        assert_eq!(tries(400, "<Code>RequestTimeout</Code>").await, 11);
        // The answer to a HEAD, which has no body.
        assert_eq!(tries(400, "").await, 1 + UNEXPLAINED_MAX);
        assert_eq!(tries(400, "<Code>ExpiredToken</Code>").await, 1);
        assert_eq!(tries(403, "").await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_gone_is_waited_for_once() {
        let gone = || answered(503, "SlowDown");
        // A slow line has one more chance, a store that was asked again and again has none.
        assert_eq!(tries_of(gone(), PATIENCE.timeout).await, 2);
        assert_eq!(tries_of(TriedAgain(gone().into()), PATIENCE.timeout).await, 1);
        assert_eq!(tries_of(TriedAgain(gone().into()), PATIENCE.timeout / 4).await, 3);
    }
}
