//! Boxes of the target that one pull task writes: whole array chunks, cut to the box.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::tiles::signed;
use crate::voxel_box::Span;

/// Reduction boxes along one axis: runs of array chunks, of which the outer ones are cut to the
/// kept box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisReductions {
    kept: Span,
    /// Start of the first array chunk.
    origin: i64,
    /// Voxels of whole boxes.
    stride: u64,
    count: u64,
}

impl AxisReductions {
    /// Boxes over `kept` of as many array chunks of `chunk` voxels as fit `reduce_max`, at least
    /// one.
    pub(crate) fn new(kept: Span, chunk: u64, reduce_max: u64) -> Self {
        let chunks = (reduce_max / chunk).max(1);
        let origin = kept.start.div_euclid(signed(chunk)) * signed(chunk);
        let stride = chunks * chunk;
        let count = Span::new(origin, kept.end).length().div_ceil(stride);
        Self { kept, origin, stride, count }
    }

    /// Number of boxes.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Box of number `j`.
    pub fn span(&self, j: u64) -> Span {
        let start = self.origin.saturating_add(signed(j.saturating_mul(self.stride)));
        Span::new(start, start.saturating_add(signed(self.stride))).intersect(self.kept)
    }

    /// Numbers of the boxes that meet `window`.
    pub fn meeting(&self, window: Span) -> Range<u64> {
        let window = window.intersect(self.kept);
        if window.is_empty() {
            return 0..0;
        }
        let stride = self.stride.max(1);
        let number = |at: i64| Span::new(self.origin, at).length() / stride;
        number(window.start)..number(window.end - 1) + 1
    }

    /// Start of the first array chunk, and voxels of whole boxes.
    pub(crate) fn grid(&self) -> (i64, u64) {
        (self.origin, self.stride)
    }
}
