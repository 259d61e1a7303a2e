//! The regular chunk grid: equal chunks from the origin, the last of each axis clipped.

use serde::{Deserialize, Serialize};

use crate::{GridError, RANK_MAX, Region, element_count};

/// A regular grid over an array: chunk `i` of an axis covers `i * chunk .. (i + 1) * chunk`,
/// clipped to the array.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChunkGrid {
    array_shape: Vec<u64>,
    chunk_shape: Vec<u64>,
}

impl ChunkGrid {
    /// A grid of `chunk_shape` over an array of `array_shape`.
    ///
    /// A chunk may be larger than its axis (Zarr allows it); it may not be of extent 0. The
    /// number of elements of the array, of a chunk, and of all padded chunks together must fit
    /// 63 bits, so that later sums and products of counts cannot overflow.
    pub fn new(array_shape: &[u64], chunk_shape: &[u64]) -> Result<Self, GridError> {
        const LIMIT: u64 = 1 << 63;
        if array_shape.len() != chunk_shape.len() {
            return Err(GridError::RankMismatch {
                array: array_shape.len(),
                chunk: chunk_shape.len(),
            });
        }
        if array_shape.len() > RANK_MAX {
            return Err(GridError::TooManyAxes { rank: array_shape.len(), max: RANK_MAX });
        }
        if let Some(axis) = chunk_shape.iter().position(|&extent| extent == 0) {
            return Err(GridError::ZeroChunk { axis });
        }
        let too_large = |what, shape: &[u64]| GridError::TooLarge { what, shape: shape.to_vec() };
        let below = |count: Option<u64>| count.is_some_and(|count| count < LIMIT);
        // The product without the zero extents: an axis of extent 0 must not hide absurd others.
        let nonzero: Vec<u64> = array_shape.iter().copied().filter(|&extent| extent > 0).collect();
        if !below(element_count(&nonzero)) {
            return Err(too_large("the element count of an array", array_shape));
        }
        if !below(element_count(chunk_shape)) {
            return Err(too_large("the element count of a chunk", chunk_shape));
        }
        let padded: Option<Vec<u64>> = nonzero_pairs(array_shape, chunk_shape)
            .map(|(extent, chunk)| extent.div_ceil(chunk).checked_mul(chunk))
            .collect();
        if !below(padded.as_deref().and_then(element_count)) {
            return Err(too_large("the element count of all padded chunks", array_shape));
        }
        Ok(Self { array_shape: array_shape.to_vec(), chunk_shape: chunk_shape.to_vec() })
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.array_shape.len()
    }

    /// Shape of the array in elements.
    pub fn array_shape(&self) -> &[u64] {
        &self.array_shape
    }

    /// Shape of a full chunk in elements.
    pub fn chunk_shape(&self) -> &[u64] {
        &self.chunk_shape
    }

    /// Elements of a full chunk (edge chunks are stored padded to it in Zarr).
    pub fn chunk_elements(&self) -> u64 {
        self.chunk_shape.iter().product()
    }

    /// Number of chunks along `axis`; 0 for an axis of extent 0.
    pub fn count_along(&self, axis: usize) -> u64 {
        self.array_shape[axis].div_ceil(self.chunk_shape[axis])
    }

    /// Number of chunks.
    pub fn count(&self) -> u64 {
        (0..self.rank()).map(|axis| self.count_along(axis)).product()
    }

    /// All chunk indices, as a box.
    pub fn indices(&self) -> Region {
        Region::whole(&(0..self.rank()).map(|axis| self.count_along(axis)).collect::<Vec<_>>())
    }

    /// The elements of chunk `index`, clipped to the array.
    pub fn region(&self, index: &[u64]) -> Region {
        let mut start = Vec::with_capacity(index.len());
        let mut shape = Vec::with_capacity(index.len());
        for (axis, &position) in index.iter().enumerate() {
            let low = position * self.chunk_shape[axis];
            start.push(low);
            shape.push(self.chunk_shape[axis].min(self.array_shape[axis] - low));
        }
        Region::new(start, shape)
    }

    /// True if chunk `index` reaches over the end of the array (its padding holds no data).
    pub fn is_clipped(&self, index: &[u64]) -> bool {
        index
            .iter()
            .enumerate()
            .any(|(axis, &i)| (i + 1) * self.chunk_shape[axis] > self.array_shape[axis])
    }

    /// The box of chunk indices that meet `region`, which must lie in the array.
    pub fn covering(&self, region: &Region) -> Region {
        let mut start = Vec::with_capacity(region.rank());
        let mut shape = Vec::with_capacity(region.rank());
        for (axis, &chunk) in self.chunk_shape.iter().enumerate() {
            let first = region.start[axis] / chunk;
            start.push(first);
            let extent = region.shape[axis];
            shape.push(if extent == 0 { 0 } else { (region.end(axis) - 1) / chunk + 1 - first });
        }
        Region::new(start, shape)
    }
}

fn nonzero_pairs<'a>(a: &'a [u64], b: &'a [u64]) -> impl Iterator<Item = (u64, u64)> + 'a {
    a.iter().copied().zip(b.iter().copied()).filter(|&(extent, _)| extent > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn absurd_grids_are_refused() {
        let refuse = |array: &[u64], chunk: &[u64]| ChunkGrid::new(array, chunk).is_err();
        assert!(refuse(&[4], &[2, 2]));
        assert!(refuse(&[4, 4], &[2, 0]));
        assert!(refuse(&[1 << 40, 1 << 40], &[1, 1]));
        assert!(refuse(&[0, 1 << 40, 1 << 40], &[1, 1, 1]));
        assert!(refuse(&[4, 4], &[1 << 40, 1 << 40]));
        assert!(refuse(&[u64::MAX], &[u64::MAX]));
        assert!(refuse(&[1; 40], &[1; 40]));
    }

    #[test]
    fn scalars_and_empty_axes() {
        let scalar = ChunkGrid::new(&[], &[]).unwrap();
        assert_eq!((scalar.count(), scalar.chunk_elements()), (1, 1));
        let empty = ChunkGrid::new(&[3, 0], &[2, 5]).unwrap();
        assert_eq!(empty.count(), 0);
    }

    proptest! {
        #[test]
        fn chunks_tile_the_array(extents in prop::collection::vec((0_u64..9, 1_u64..12), 0..4)) {
            let (array, chunk): (Vec<u64>, Vec<u64>) = extents.into_iter().unzip();
            let grid = ChunkGrid::new(&array, &chunk).unwrap();
            let mut seen = 0;
            for index in grid.indices().positions() {
                let region = grid.region(&index);
                prop_assert!(!region.is_empty());
                prop_assert!(Region::whole(&array).contains(&region));
                prop_assert_eq!(grid.covering(&region), Region::new(index, vec![1; array.len()]));
                seen += region.elements();
            }
            prop_assert_eq!(seen, array.iter().product::<u64>());
        }
    }
}
