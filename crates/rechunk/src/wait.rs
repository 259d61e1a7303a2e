//! Waiting for other processes, not for ever.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

/// Looks again and again, less and less often, until its time is over.
#[derive(Debug)]
pub(crate) struct Wait {
    until: Instant,
    pause: Duration,
}

impl Wait {
    /// Waits for so long, from now on.
    pub(crate) fn of(time: Duration) -> Self {
        let now = Instant::now();
        let far = || now + Duration::from_hours(24 * 365);
        Self { until: now.checked_add(time).unwrap_or_else(far), pause: FIRST }
    }

    /// Waits until it is time to look again. False if the time is over, or `cancel` was triggered.
    pub(crate) async fn again(&mut self, cancel: &CancellationToken) -> bool {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        tokio::select! {
            () = cancel.cancelled() => return false,
            () = tokio::time::sleep(self.pause.min(left)) => {}
        }
        self.pause = (self.pause * 2).min(LONGEST);
        true
    }
}
