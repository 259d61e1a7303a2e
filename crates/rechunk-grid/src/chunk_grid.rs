//! The chunk grid: equal chunks from the origin, the last of each axis clipped; on axes with edges,
//! chunks of different lengths.

use serde::{Deserialize, Serialize};

use crate::{AxisEdges, Edges, GridError, RANK_MAX, Region, element_count};

/// A grid over an array: chunk `i` of an axis covers `i * chunk .. (i + 1) * chunk`, or on an axis
/// with edges, what lies between two of them; clipped to the array.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChunkGrid {
    array_shape: Vec<u64>,
    chunk_shape: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edges: Option<Edges>,
}

impl ChunkGrid {
    /// A regular grid of `chunk_shape` over an array of `array_shape`.
    ///
    /// A chunk may be larger than its axis (Zarr allows it); it may not be of extent 0. The
    /// number of elements of the array, of a chunk, and of all padded chunks together must fit
    /// 63 bits, so that later sums and products of counts cannot overflow.
    pub fn new(array_shape: &[u64], chunk_shape: &[u64]) -> Result<Self, GridError> {
        Self::with_edges(array_shape, chunk_shape, None)
    }

    /// A grid whose chunks differ in length on the axes that have edges. `chunk_shape` is there the
    /// longest of them.
    pub fn with_edges(
        array_shape: &[u64],
        chunk_shape: &[u64],
        edges: Option<&Edges>,
    ) -> Result<Self, GridError> {
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
        if let Some(edges) = edges {
            edges.check(array_shape, chunk_shape)?;
        }
        let padded: Option<Vec<u64>> = (0..array_shape.len())
            .filter(|&axis| array_shape[axis] > 0)
            .map(|axis| match edges.and_then(|edges| edges.axis(axis)) {
                Some(edges) => edges.ends().last().map(|end| (*end).max(array_shape[axis])),
                None => {
                    array_shape[axis].div_ceil(chunk_shape[axis]).checked_mul(chunk_shape[axis])
                }
            })
            .collect();
        if !below(padded.as_deref().and_then(element_count)) {
            return Err(too_large("the element count of all padded chunks", array_shape));
        }
        Ok(Self {
            array_shape: array_shape.to_vec(),
            chunk_shape: chunk_shape.to_vec(),
            edges: edges.cloned(),
        })
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.array_shape.len()
    }

    /// Shape of the array in elements.
    pub fn array_shape(&self) -> &[u64] {
        &self.array_shape
    }

    /// Shape of a full chunk in elements; the largest, where chunks differ.
    pub fn chunk_shape(&self) -> &[u64] {
        &self.chunk_shape
    }

    /// The axes where chunks differ in length.
    pub fn edges(&self) -> Option<&Edges> {
        self.edges.as_ref()
    }

    fn axis_edges(&self, axis: usize) -> Option<&AxisEdges> {
        self.edges.as_ref()?.axis(axis)
    }

    /// Elements of a full chunk (edge chunks are stored padded to it in Zarr); of the largest,
    /// where chunks differ.
    pub fn chunk_elements(&self) -> u64 {
        self.chunk_shape.iter().product()
    }

    /// First element and length of chunk `position` along `axis`, not clipped to the array. Behind
    /// the last edge chunks have no elements.
    fn chunk_along(&self, axis: usize, position: u64) -> (u64, u64) {
        match self.axis_edges(axis) {
            None => (position * self.chunk_shape[axis], self.chunk_shape[axis]),
            Some(edges) => edges.chunk(position).unwrap_or((self.array_shape[axis], 0)),
        }
    }

    /// First element of chunk `position` along `axis`.
    pub fn start_of(&self, axis: usize, position: u64) -> u64 {
        self.chunk_along(axis, position).0
    }

    /// All elements of chunk `index`, also those beyond the end of the array: what is stored of it.
    pub fn chunk(&self, index: &[u64]) -> Region {
        let (start, shape) =
            index.iter().enumerate().map(|(axis, &at)| self.chunk_along(axis, at)).unzip();
        Region::new(start, shape)
    }

    /// Number of chunks along `axis`; 0 for an axis of extent 0.
    pub fn count_along(&self, axis: usize) -> u64 {
        match self.axis_edges(axis) {
            None => self.array_shape[axis].div_ceil(self.chunk_shape[axis]),
            Some(edges) => edges.count(),
        }
    }

    /// Number of chunks.
    pub fn count(&self) -> u64 {
        (0..self.rank()).map(|axis| self.count_along(axis)).product()
    }

    /// True if `index`, one position per axis, is that of a chunk.
    pub fn contains(&self, index: &[u64]) -> bool {
        index.iter().enumerate().all(|(axis, &position)| position < self.count_along(axis))
    }

    /// All chunk indices, as a box.
    pub fn indices(&self) -> Region {
        Region::whole(&(0..self.rank()).map(|axis| self.count_along(axis)).collect::<Vec<_>>())
    }

    /// The elements of chunk `index`, clipped to the array; with those of the gaps for which it
    /// stands.
    pub fn region(&self, index: &[u64]) -> Region {
        if self.edges.is_some() {
            let reach = |(axis, &at): (usize, &u64)| {
                let extent = self.array_shape[axis];
                if let Some(edges) = self.axis_edges(axis) {
                    let (start, end) = edges.reach(at, extent).unwrap_or((extent, extent));
                    return (start, end - start);
                }
                let (start, length) = self.chunk_along(axis, at);
                (start, length.min(extent - start))
            };
            let (start, shape) = index.iter().enumerate().map(reach).unzip();
            return Region::new(start, shape);
        }
        let mut region = self.chunk(index);
        for (axis, extent) in region.shape.iter_mut().enumerate() {
            *extent = (*extent).min(self.array_shape[axis] - region.start[axis]);
        }
        region
    }

    /// The elements of a box of chunk indices, clipped to the array.
    pub fn region_of(&self, chunks: &Region) -> Region {
        if chunks.is_empty() {
            return Region::new(vec![0; self.rank()], vec![0; self.rank()]);
        }
        let last: Vec<u64> = (0..self.rank()).map(|axis| chunks.end(axis) - 1).collect();
        let (first, last) = (self.region(&chunks.start), self.region(&last));
        let shape = (0..self.rank()).map(|axis| last.end(axis) - first.start[axis]).collect();
        Region::new(first.start, shape)
    }

    /// Elements of the chunks that come before number `number` in C order, all of them if there are
    /// fewer.
    pub fn elements_before(&self, number: u64) -> u64 {
        let indices = self.indices();
        if number >= self.count() {
            return self.array_shape.iter().product();
        }
        let chunk = self.region(&indices.position(number));
        // Those with a smaller index on an axis, and the same on all slower ones.
        let (mut before, mut same) = (0, 1);
        for axis in 0..self.rank() {
            let faster: u64 = self.array_shape[axis + 1..].iter().product();
            before += same * chunk.start[axis] * faster;
            same *= chunk.shape[axis];
        }
        before
    }

    /// True if chunk `index` reaches over the end of the array (its padding holds no data).
    pub fn is_clipped(&self, index: &[u64]) -> bool {
        index.iter().enumerate().any(|(axis, &position)| {
            let (start, length) = self.chunk_along(axis, position);
            start + length > self.array_shape[axis]
        })
    }

    /// The chunk that `element` of `axis` lies in.
    fn position(&self, axis: usize, element: u64) -> u64 {
        match self.axis_edges(axis) {
            None => element / self.chunk_shape[axis],
            Some(edges) => edges.position(element),
        }
    }

    /// The box of chunk indices that meet `region`, which must lie in the array.
    pub fn covering(&self, region: &Region) -> Region {
        let mut start = Vec::with_capacity(region.rank());
        let mut shape = Vec::with_capacity(region.rank());
        for axis in 0..self.rank() {
            let first = self.position(axis, region.start[axis]);
            start.push(first);
            let extent = region.shape[axis];
            shape.push(match extent {
                0 => 0,
                _ => self.position(axis, region.end(axis) - 1) + 1 - first,
            });
        }
        Region::new(start, shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AxisChunks;
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

    #[test]
    fn indices_beyond_the_last_chunk_are_outside() {
        let grid = ChunkGrid::new(&[5, 4], &[2, 4]).unwrap();
        assert!(grid.contains(&[2, 0]));
        assert!(!grid.contains(&[3, 0]) && !grid.contains(&[0, 1]));
        assert!(!ChunkGrid::new(&[3, 0], &[2, 5]).unwrap().contains(&[0, 0]));
        assert!(ChunkGrid::new(&[], &[]).unwrap().contains(&[]));
    }

    proptest! {
        #[test]
        fn elements_before_a_chunk_are_those_of_all_before_it(
            axes in prop::collection::vec((0_u64..9, 1_u64..5), 0..4),
        ) {
            let (shape, chunk): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
            let grid = ChunkGrid::new(&shape, &chunk).unwrap();
            let mut before = 0;
            for (number, index) in (0..).zip(grid.indices().positions()) {
                prop_assert_eq!(grid.elements_before(number), before);
                before += grid.region(&index).elements();
            }
            prop_assert_eq!(grid.elements_before(grid.count()), before);
            prop_assert_eq!(grid.elements_before(u64::MAX), before);
        }

        #[test]
        fn chunks_tile_the_array(extents in prop::collection::vec((0_u64..9, 1_u64..12), 0..4)) {
            let (array, chunk): (Vec<u64>, Vec<u64>) = extents.into_iter().unzip();
            let grid = ChunkGrid::new(&array, &chunk).unwrap();
            let mut seen = 0;
            for index in grid.indices().positions() {
                let region = grid.region(&index);
                prop_assert!(!region.is_empty());
                prop_assert!(Region::whole(&array).contains(&region));
                let one = Region::new(index, vec![1; array.len()]);
                prop_assert_eq!(grid.region_of(&one), region.clone());
                prop_assert_eq!(grid.covering(&region), one);
                seen += region.elements();
            }
            prop_assert_eq!(seen, array.iter().product::<u64>());
            let all = if seen == 0 { Region::whole(&vec![0; array.len()]) } else { Region::whole(&array) };
            prop_assert_eq!(grid.region_of(&grid.indices()), all);
        }

        #[test]
        fn chunks_of_different_lengths_tile_the_array(
            axes in prop::collection::vec((0_u64..20, prop::collection::vec((1_u64..6, 1_u64..3), 1..8)), 0..4),
        ) {
            let mut cut = Vec::new();
            let mut array = Vec::new();
            for (axis, (extent, runs)) in axes.iter().enumerate() {
                let all: u64 = runs.iter().map(|(length, count)| length * count).sum();
                array.push(*extent.min(&all));
                cut.push(AxisChunks::of_runs(axis, array[axis], runs.iter().copied()).unwrap());
            }
            let chunk: Vec<u64> = cut.iter().map(AxisChunks::longest).collect();
            let edges = Edges::new(cut.into_iter().map(AxisChunks::into_edges).collect());
            let grid = ChunkGrid::with_edges(&array, &chunk, edges.as_ref()).unwrap();
            let mut seen = 0;
            for index in grid.indices().positions() {
                let (whole, region) = (grid.chunk(&index), grid.region(&index));
                prop_assert!(!region.is_empty() && whole.contains(&region));
                prop_assert_eq!(grid.is_clipped(&index), whole != region);
                prop_assert!(whole.shape.iter().zip(&chunk).all(|(own, most)| own <= most));
                for (axis, &at) in index.iter().enumerate() {
                    // The list itself, as the metadata has it.
                    let (_, runs) = &axes[axis];
                    let list: Vec<u64> = runs
                        .iter()
                        .flat_map(|&(length, count)| (0..count).map(move |_| length))
                        .collect();
                    let at = usize::try_from(at).unwrap();
                    prop_assert_eq!(whole.shape[axis], list[at]);
                    prop_assert_eq!(whole.start[axis], list[..at].iter().sum::<u64>());
                }
                prop_assert_eq!(grid.covering(&region), Region::new(index, vec![1; array.len()]));
                seen += region.elements();
            }
            prop_assert_eq!(seen, array.iter().product::<u64>());
        }
    }

    proptest! {
        #[test]
        fn chunks_and_the_gaps_they_stand_for_tile_the_array(
            axes in prop::collection::vec((0_u64..6, 1_u64..12, 0_u64..6, 1_u64..5), 1..4),
        ) {
            let mut cut = Vec::new();
            let mut array = Vec::new();
            let mut held = Region::whole(&vec![0; axes.len()]);
            for (axis, &(before, extent, behind, chunk)) in axes.iter().enumerate() {
                array.push(before + extent + behind);
                (held.start[axis], held.shape[axis]) = (before, extent);
                let chunks = AxisChunks::Regular(chunk);
                cut.push(chunks.within(axis, array[axis], (before, before + extent)).unwrap());
            }
            let chunk: Vec<u64> = cut.iter().map(AxisChunks::longest).collect();
            let edges = Edges::new(cut.into_iter().map(AxisChunks::into_edges).collect());
            let gap = edges.as_ref().and_then(|edges| edges.held(&array));
            prop_assert_eq!(gap.unwrap_or_else(|| Region::whole(&array)), held.clone());
            let grid = ChunkGrid::with_edges(&array, &chunk, edges.as_ref()).unwrap();
            let mut seen = 0;
            for index in grid.indices().positions() {
                let (stored, region) = (grid.chunk(&index), grid.region(&index));
                prop_assert_eq!(&stored.shape, &chunk);
                // What it brings of the array is stored in it.
                let brings = region.intersect(&held).unwrap();
                prop_assert!(stored.contains(&brings) && held.contains(&brings));
                prop_assert_eq!(grid.covering(&region), Region::new(index, vec![1; array.len()]));
                seen += region.elements();
            }
            prop_assert_eq!(seen, array.iter().product::<u64>());
        }
    }

    #[test]
    fn edges_have_to_fit_the_array() {
        let edges = |extent, runs: &[(u64, u64)]| {
            let axis = AxisChunks::of_runs(0, extent, runs.iter().copied()).unwrap();
            Edges::new(vec![axis.into_edges()]).unwrap()
        };
        let of_six = edges(6, &[(1, 1), (2, 1), (3, 1)]);
        assert!(ChunkGrid::with_edges(&[6], &[3], Some(&of_six)).is_ok());
        for (shape, chunk) in [(&[7][..], &[3][..]), (&[3], &[3]), (&[6], &[4]), (&[6, 6], &[3, 3])]
        {
            let grid = ChunkGrid::with_edges(shape, chunk, Some(&of_six));
            assert!(grid.is_err(), "{grid:?}");
        }
    }
}
