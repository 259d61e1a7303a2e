//! Trying again what the library below does not: an answer that ends too early, an error it takes
//! for final and that is not.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::StoreError;

/// First pause, and the longest.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How patient a store is.
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
    /// What is tried.
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
        if self.failed > patience.max_retries {
            return false;
        }
        let spread = (self.pause * 3).saturating_sub(PAUSE);
        self.pause = (PAUSE + spread.mul_f64(jitter(&self.what, self.failed))).min(PAUSE_MAX);
        if self.started.elapsed() + self.pause >= patience.timeout {
            return false;
        }
        tracing::info!(%error, attempt = self.failed, "trying again");
        sleep(self.pause).await;
        true
    }
}

/// A number in 0..1, another for each thing that is tried and each time: the same in each run, so
/// that a simulated one can be repeated.
fn jitter(what: &str, failed: u32) -> f64 {
    let mut hasher = DefaultHasher::new();
    (what, failed).hash(&mut hasher);
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64
}
