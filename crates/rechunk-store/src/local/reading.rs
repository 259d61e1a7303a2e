//! Whether files come from memory or from a disk, by how long reading them takes.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

/// A read that takes longer than this, and longer than its bytes do at that rate, has waited.
const SLOW: Duration = Duration::from_millis(1);
const SLOW_BYTES_PER_MICROSECOND: u64 = 250;

/// So many more slow reads than fast ones say that reading is slow, and make up for as many fast
/// ones at most.
const MANY: i32 = 16;

/// So many in a row that are in memory say that all may be.
const IN_MEMORY_MIN: u32 = 8;

/// Recent experience with reading.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Number of slow reads less that of fast ones, the latest counting most.
    slow: AtomicI32,
    /// Reads in a row that were in memory before, of those that were looked for there.
    in_memory: AtomicU32,
}

impl Reading {
    /// Slow, until so many reads were fast.
    pub(crate) fn slow_for(reads: i32) -> Self {
        let slow = MANY.saturating_add(reads).min(2 * MANY);
        Self { slow: AtomicI32::new(slow), in_memory: AtomicU32::default() }
    }

    /// `bytes` were read in `duration`.
    pub(crate) fn took(&self, duration: Duration, bytes: u64) {
        let is_slow = duration > SLOW + Duration::from_micros(bytes / SLOW_BYTES_PER_MICROSECOND);
        let before = self.slow.load(Ordering::Relaxed);
        let after = if is_slow { before + 1 } else { before - 1 };
        // Two at once may count as one.
        self.slow.store(after.clamp(0, 2 * MANY), Ordering::Relaxed);
    }

    pub(crate) fn is_slow(&self) -> bool {
        self.slow.load(Ordering::Relaxed) > MANY
    }

    /// Something that is going to be read is in memory, or is not.
    pub(crate) fn found(&self, is_in_memory: bool) {
        let before = self.in_memory.load(Ordering::Relaxed);
        let after = if is_in_memory { before.saturating_add(1) } else { 0 };
        self.in_memory.store(after, Ordering::Relaxed); // as above
    }

    /// Not all of that was in memory lately.
    pub(crate) fn is_from_disk(&self) -> bool {
        self.in_memory.load(Ordering::Relaxed) < IN_MEMORY_MIN
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

    #[test]
    fn one_that_is_not_in_memory_says_that_a_disk_is_read() {
        let reading = Reading::default();
        assert!(reading.is_from_disk(), "nobody knows");
        for _ in 0..IN_MEMORY_MIN {
            assert!(reading.is_from_disk());
            reading.found(true);
        }
        assert!(!reading.is_from_disk());
        reading.found(false);
        assert!(reading.is_from_disk());
    }
}
