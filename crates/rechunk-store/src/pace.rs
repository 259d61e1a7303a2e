//! `--bwlimit`: how many bytes a second are moved at most, to and from all stores together.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// A pipe through which all bodies go, one after the other, at a constant rate: who has moved one
/// waits until it would be through. So the rate is right on average from the first body on, and no
/// body is slowed down while it is under way, which a store might take for a client that is gone.
#[derive(Debug)]
pub(crate) struct Pace {
    bytes_per_second: u64,
    /// When what was moved so far is through.
    through: Mutex<Option<Instant>>,
}

impl Pace {
    /// A pipe of that rate; 0 is 1.
    pub(crate) fn new(bytes_per_second: u64) -> Self {
        Self { bytes_per_second: bytes_per_second.max(1), through: Mutex::default() }
    }

    /// Waits until `bytes` more bytes are through.
    pub(crate) async fn moved(&self, bytes: u64) {
        let until = self.queue(bytes);
        sleep_until(until).await;
    }

    /// When `bytes` that enter now are through.
    fn queue(&self, bytes: u64) -> Instant {
        let now = Instant::now();
        let mut through = self.through.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = through.map_or(now, |through| through.max(now));
        let ends = begins.checked_add(self.duration(bytes)).unwrap_or(begins);
        *through = Some(ends);
        ends
    }

    fn duration(&self, bytes: u64) -> Duration {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_second);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bodies_at_the_same_time_share_the_rate() {
        let pace = Pace::new(1000);
        let began = Instant::now();
        tokio::join!(pace.moved(500), pace.moved(1500), pace.moved(0));
        assert_eq!(began.elapsed().as_millis(), 2000);
        // What was not used is gone: nobody saves up for a burst.
        tokio::time::advance(Duration::from_mins(1)).await;
        let later = Instant::now();
        pace.moved(250).await;
        assert_eq!(later.elapsed().as_millis(), 250);
    }

    #[tokio::test(start_paused = true)]
    async fn no_number_is_too_large() {
        let pace = Pace::new(0);
        let until = pace.queue(u64::MAX);
        assert!(until > Instant::now());
        pace.queue(u64::MAX);
    }
}
