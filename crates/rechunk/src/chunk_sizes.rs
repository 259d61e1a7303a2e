//! Sizes of stored chunks, in little memory however many there are.

use serde::Serialize;

/// Sizes that are kept to find the median: it is exact up to as many chunks.
const KEPT_MAX: usize = 1 << 16;

/// Sizes of stored chunks, bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SizeSummary {
    /// The smallest.
    pub min: u64,
    /// The median: of all, or of every so-manieth where there are many.
    pub median: u64,
    /// The largest.
    pub max: u64,
    /// Numbers of chunks by size, smallest first, without empty bins; exact.
    pub histogram: Vec<SizeBin>,
}

/// Chunks of like size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SizeBin {
    /// The smallest that belongs here, bytes: a power of two, or 0.
    pub from: u64,
    /// Number of chunks, up to twice as large.
    pub count: u64,
}

/// Sizes as they come.
#[derive(Debug)]
pub(crate) struct ChunkSizes {
    count: u64,
    total_bytes: u64,
    range: Option<(u64, u64)>,
    /// Every `stride`-th size.
    kept: Vec<u64>,
    stride: u64,
    /// Numbers of chunks by the binary digits of their size.
    by_digits: [u64; 65],
}

impl Default for ChunkSizes {
    fn default() -> Self {
        let (kept, by_digits) = (Vec::new(), [0; 65]);
        Self { count: 0, total_bytes: 0, range: None, kept, stride: 1, by_digits }
    }
}

impl ChunkSizes {
    pub(crate) fn add(&mut self, bytes: u64) {
        if self.count.is_multiple_of(self.stride) {
            if self.kept.len() == KEPT_MAX {
                self.halve();
            }
            if self.count.is_multiple_of(self.stride) {
                self.kept.push(bytes);
            }
        }
        self.count += 1;
        self.by_digits[(u64::BITS - bytes.leading_zeros()) as usize] += 1;
        self.total_bytes = self.total_bytes.saturating_add(bytes);
        let (min, max) = self.range.unwrap_or((bytes, bytes));
        self.range = Some((min.min(bytes), max.max(bytes)));
    }

    /// From now on every second one of those that were kept so far.
    fn halve(&mut self) {
        let mut position = 0;
        self.kept.retain(|_| {
            position += 1;
            position % 2 == 1
        });
        self.stride *= 2;
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// `None` if there are none.
    pub(crate) fn summary(&self) -> Option<SizeSummary> {
        let (min, max) = self.range?;
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let median = *sorted.get(sorted.len() / 2)?;
        Some(SizeSummary { min, median, max, histogram: self.histogram() })
    }

    fn histogram(&self) -> Vec<SizeBin> {
        let bins = self.by_digits.iter().enumerate().filter(|(_, count)| **count > 0);
        bins.map(|(digits, &count)| SizeBin {
            from: digits.checked_sub(1).map_or(0, |bits| 1 << bits),
            count,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sizes: impl IntoIterator<Item = u64>) -> ChunkSizes {
        let mut all = ChunkSizes::default();
        sizes.into_iter().for_each(|size| all.add(size));
        all
    }

    #[test]
    fn few_sizes_are_exact() {
        assert_eq!(of([]).summary(), None);
        let some = of([9, 1, 5, 7, 3]);
        let histogram =
            [(1, 1), (2, 1), (4, 2), (8, 1)].map(|(from, count)| SizeBin { from, count });
        let summary = SizeSummary { min: 1, median: 5, max: 9, histogram: histogram.to_vec() };
        assert_eq!(some.summary(), Some(summary));
        assert_eq!((some.count(), some.total_bytes()), (5, 25));
    }

    #[test]
    fn of_many_sizes_the_median_is_near_and_memory_is_bounded() {
        let count = 5 * KEPT_MAX as u64 + 3;
        let many = of((0..count).map(|i| i * 7919 % count));
        let summary = many.summary().unwrap();
        assert_eq!((summary.min, summary.max), (0, count - 1));
        assert!(summary.median.abs_diff(count / 2) < count / 50, "{summary:?} of {count}");
        assert!(many.kept.len() <= KEPT_MAX && many.count() == count);
        assert_eq!(summary.histogram.iter().map(|bin| bin.count).sum::<u64>(), count);
    }

    #[test]
    fn the_extremes_have_a_place_in_the_histogram() {
        let bins = of([0, 0, u64::MAX]).summary().unwrap().histogram;
        assert_eq!(bins, [SizeBin { from: 0, count: 2 }, SizeBin { from: 1 << 63, count: 1 }]);
    }
}
