//! Whether files come from memory or from a disk, by how long reading them takes.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// A read that takes longer than this, and longer than its bytes do at that rate, has waited.
const SLOW: Duration = Duration::from_millis(1);
const SLOW_BYTES_PER_MICROSECOND: u64 = 250;

/// So many more slow reads than fast ones say that reading is slow, and make up for as many fast
/// ones at most.
const MANY: i32 = 16;

/// Slow reads and fast ones, the latest counting most.
#[derive(Debug, Default)]
pub(crate) struct Reading(AtomicI32);

impl Reading {
    /// Slow, until so many reads were fast.
    pub(crate) fn slow_for(reads: i32) -> Self {
        Self(AtomicI32::new(MANY.saturating_add(reads).min(2 * MANY)))
    }

    /// `bytes` were read in `duration`.
    pub(crate) fn took(&self, duration: Duration, bytes: u64) {
        let is_slow = duration > SLOW + Duration::from_micros(bytes / SLOW_BYTES_PER_MICROSECOND);
        let before = self.0.load(Ordering::Relaxed);
        let after = if is_slow { before + 1 } else { before - 1 };
        // Two at once may count as one.
        self.0.store(after.clamp(0, 2 * MANY), Ordering::Relaxed);
    }

    pub(crate) fn is_slow(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MANY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_slow_reads_are_an_accident_and_many_are_a_disk() {
        let reading = Reading::default();
        for _ in 0..100 {
            reading.took(Duration::from_millis(20), 1 << 20);
            reading.took(Duration::from_micros(300), 1 << 20);
        }
        assert!(!reading.is_slow());
        for _ in 0..20 {
            reading.took(Duration::from_millis(20), 1 << 20);
        }
        assert!(reading.is_slow());
        for _ in 0..20 {
            reading.took(Duration::from_millis(3), 1 << 20);
        }
        assert!(!reading.is_slow(), "a mebibyte takes four milliseconds");
    }
}
