//! Arrays that the levels of a pyramid are written to.

use rechunk_array::Array;
use rechunk_grid::Region;

/// Arrays of one level of a pyramid.
#[derive(Debug, Clone)]
pub struct LevelArrays {
    /// One array, or one for each index along the axes that are split off, in C order.
    pub arrays: Vec<Array>,
    /// Number of first axes of the image that the arrays do not have.
    pub split_axes: usize,
}

impl LevelArrays {
    /// The array of a chunk of a level of `shape`, and the index that it has there. Along axes that
    /// are split off, chunks are of one element.
    pub(super) fn place<'a>(
        &'a self,
        shape: &[u64],
        index: &[u64],
    ) -> Option<(&'a Array, Vec<u64>)> {
        let (of, own) = index.split_at_checked(self.split_axes)?;
        let split = shape.get(..self.split_axes)?;
        let number = if split.is_empty() { 0 } else { Region::whole(split).ordinal(of) };
        let array = self.arrays.get(usize::try_from(number).ok()?)?;
        Some((array, own.to_vec()))
    }
}
