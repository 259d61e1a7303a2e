//! The files of one side, clipped to the array.

/// The files of one side.
#[derive(Debug, Clone)]
pub(super) struct Files {
    /// Shape of a file, clipped to the array.
    pub block: Vec<u64>,
    /// Axes as a file stores them, slowest first.
    pub order: Vec<usize>,
    /// By place in that order: the product of the array's extents on all slower axes.
    pub rows: Vec<u64>,
}
