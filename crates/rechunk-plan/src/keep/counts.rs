//! Opens and runs of a schedule, exactly.

use serde::{Deserialize, Serialize};

use super::axis::Pieces;
use super::files::Files;
use crate::count::product;

/// Accesses of a schedule to the files of one side. No count leaves 64 bits: there are at most as
/// many runs as elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SideCounts {
    /// Files.
    pub files: u64,
    /// Files opened, once by every buffer (or written part) that meets them.
    pub opens: u64,
    /// Runs of contiguous bytes read or written.
    pub runs: u64,
    /// Opens that read or write a whole file.
    pub whole: u64,
}

impl SideCounts {
    pub(super) fn new(shape: &[u64], files: &Files, axes: &[Pieces]) -> Self {
        let all = product(axes.iter().map(|pieces| pieces.all));
        let whole = product(axes.iter().map(|pieces| pieces.whole));
        Self {
            files: crate::count::cells(shape, &files.block),
            opens: all,
            runs: runs(files, |axis| axes[axis]),
            whole,
        }
    }

    /// Opens, and moves within a file: every run but those that start at the start of a file.
    pub fn seeks(&self) -> u64 {
        self.opens.saturating_add(self.runs).saturating_sub(self.files)
    }

    /// The count of the paper's tables: opens, and runs of what is not a whole file.
    pub fn paper(&self) -> u64 {
        self.opens.saturating_add(self.runs).saturating_sub(self.whole)
    }
}

/// Runs of all pieces together. A piece that is cut on axis `t` and whole on all faster ones has
/// as many runs as it has elements on the axes slower than `t`; over all pieces, those sum up to
/// the extents of the array.
pub(super) fn runs(files: &Files, pieces: impl Fn(usize) -> Pieces) -> u64 {
    let mut sum = 0_u64;
    let mut whole = 1_u64; // pieces that are whole on all faster axes
    for (&axis, rows) in files.order.iter().zip(&files.rows).rev() {
        let pieces = pieces(axis);
        let cut = pieces.cut().saturating_mul(whole);
        sum = sum.saturating_add(rows.saturating_mul(cut));
        whole = whole.saturating_mul(pieces.whole);
    }
    sum.saturating_add(whole)
}

/// Both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Counts of reads.
    pub source: SideCounts,
    /// Counts of writes.
    pub target: SideCounts,
}

impl Counts {
    /// Seeks of both sides.
    pub fn seeks(&self) -> u64 {
        self.source.seeks().saturating_add(self.target.seeks())
    }
}
