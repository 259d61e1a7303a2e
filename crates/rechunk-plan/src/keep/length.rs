//! One length of a buffer, and sets of kept axes.

use super::Model;
use super::axis::{Pieces, carry_max};

/// A length of a buffer along one axis, and what follows from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub axis: usize,
    /// The length, elements.
    pub extent: u64,
    /// Elements that are carried if the axis is kept.
    pub carry: u64,
    /// Source files.
    pub files: u64,
    /// Pieces that are read.
    pub read: Pieces,
    /// Written pieces if the axis is not kept.
    pub cut: Pieces,
    /// Written pieces if it is.
    pub uncut: Pieces,
}

impl Length {
    pub(super) fn new(model: &Model, axis: usize, length: u64) -> Self {
        let extent = model.shape[axis];
        let (source, target) = (model.source.block[axis], model.target.block[axis]);
        Self {
            axis,
            extent: length,
            carry: carry_max(extent, length, target),
            files: extent.div_ceil(source),
            read: Pieces::new(extent, source, length),
            cut: Pieces::new(extent, target, length),
            uncut: Pieces::uncut(extent, target),
        }
    }
}

/// The lengths of a buffer, by axis, and which of the axes are kept (bit by axis).
pub(super) type Buffer<'a> = (&'a [Length], u64);

/// Whether `axis` is in a set of kept axes.
pub(super) fn is_kept(set: u64, axis: usize) -> bool {
    set >> axis & 1 == 1
}

/// All of `rank` axes.
pub(super) fn set_of_all(rank: usize) -> u64 {
    (1 << rank) - 1
}
