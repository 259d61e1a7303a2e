//! Work chunks along one axis of a region.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::voxel_box::Span;

/// Work chunks of a level along one axis of its region; the last one is cut where the region ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisTiles {
    region: Span,
    chunk: u64,
    stride: u64,
    blend: u64,
    count: u64,
}

/// A position as a signed number; the limits of a job keep it far from the largest.
pub(crate) fn signed(voxels: u64) -> i64 {
    i64::try_from(voxels).unwrap_or(i64::MAX)
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

impl AxisTiles {
    /// Work chunks of `chunk` voxels, `gap` voxels apart, over `region`.
    pub(crate) fn new(region: Span, chunk: u64, gap: u64, blend: u64) -> Self {
        let stride = chunk.saturating_add(gap).max(1);
        Self { region, chunk, stride, blend, count: region.length().div_ceil(stride) }
    }

    /// Number of work chunks.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Voxels from the start of a work chunk to the start of the next.
    pub(crate) fn stride(&self) -> u64 {
        self.stride
    }

    /// Work chunks after which they lie in array chunks of `chunk` voxels as before.
    pub(crate) fn period(&self, chunk: u64) -> u64 {
        chunk / greatest_divisor(self.stride % chunk, chunk)
    }

    /// The work chunk of number `k`.
    pub fn tile(&self, k: u64) -> Span {
        let start = self.region.start.saturating_add(signed(k.saturating_mul(self.stride)));
        Span::new(start, start.saturating_add(signed(self.chunk)).min(self.region.end))
    }

    /// The work chunk of number `k`, grown by the blend.
    pub fn task(&self, k: u64) -> Span {
        self.tile(k).grown(self.blend)
    }

    /// Numbers of the work chunks whose task box meets `window`; in constant time. Beyond the
    /// region a window meets only the blends of the outer chunks.
    ///
    /// Per axis, with `s` the start of the region, `P` the stride and `[a, b)` the window:
    /// `k_min = max(0, floor((a - B - s - C) / P) + 1)`, and
    /// `k_max = min(N - 1, ceil((b + B - s) / P) - 1)`.
    pub fn meeting(&self, window: Span) -> Range<u64> {
        if window.is_empty() || self.count == 0 {
            return 0..0;
        }
        let at = |position: i64| i128::from(position) - i128::from(self.region.start);
        let (chunk, blend) = (i128::from(self.chunk), i128::from(self.blend));
        let stride = i128::from(self.stride);
        let first = ((at(window.start) - blend - chunk).div_euclid(stride) + 1).max(0);
        let behind = -(-(at(window.end) + blend)).div_euclid(stride);
        let behind = behind.min(i128::from(self.count));
        let narrow = |index: i128| u64::try_from(index).unwrap_or(0);
        let (first, behind) = (narrow(first), narrow(behind));
        // The last chunk may be cut: its task box ends before that of a whole one.
        let behind = if behind == self.count && self.task(self.count - 1).end <= window.start {
            behind - 1
        } else {
            behind
        };
        if first < behind { first..behind } else { 0..0 }
    }
}
