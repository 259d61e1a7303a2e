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
    failed: u32,
    pause: Duration,
}

impl Attempts {
    /// Without `patience`, there is one attempt.
    pub(crate) fn new(patience: Option<Patience>, what: &str) -> Self {
        Self { patience, what: what.to_owned(), started: Instant::now(), failed: 0, pause: PAUSE }
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
        // Once more also if the first attempt alone took so long: a large body on a slow line.
        if self.failed > 1 && self.started.elapsed() + self.pause >= patience.timeout {
            return false;
        }
        tracing::info!(%error, attempt = self.failed, "trying again");
        sleep(self.pause).await;
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
    use std::io;

    use super::*;

    /// Number of tries of an operation that always fails so.
    async fn tries(text: &str) -> u32 {
        let source = Box::new(io::Error::other(text.to_owned()));
        let (location, key) = ("s3://b".to_owned(), "k".to_owned());
        let error = StoreError::Failed { location, key, action: "read", source };
        let patience = Patience { max_retries: 10, timeout: Duration::from_hours(1) };
        let (mut attempts, mut tries) = (Attempts::new(Some(patience), "k"), 1);
        while attempts.again(&error).await {
            tries += 1;
        }
        tries
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again_and_what_may_pass_a_few_times() {
        let status = |text: &str| format!("Server returned non-2xx status code: {text}");
        assert_eq!(tries(&status("503 Service Unavailable: SlowDown")).await, 11);
        assert_eq!(tries(&status("400 Bad Request: <Code>RequestTimeout</Code>")).await, 11);
        // The answer to a HEAD, which has no body.
        assert_eq!(tries(&status("400 Bad Request: ")).await, 1 + UNEXPLAINED_MAX);
        assert_eq!(tries(&status("400 Bad Request: <Code>ExpiredToken</Code>")).await, 1);
        assert_eq!(tries(&status("403 Forbidden: ")).await, 1);
    }
}
