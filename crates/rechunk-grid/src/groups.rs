//! Boxes that are groups of whole chunks, where these differ in length.

use crate::{AxisChunks, AxisEdges, ChunkGrid, Edges, GridError};

impl AxisEdges {
    /// Groups of neighbouring chunks over an axis of `extent` elements. Each has as many whole
    /// chunks as `most` elements hold, and at least one.
    pub fn grouped(&self, axis: usize, extent: u64, most: u64) -> Result<AxisChunks, GridError> {
        let mut groups = Vec::new();
        let (mut start, mut reached) = (0, 0);
        for (_, end) in self.chunks() {
            // What lies beyond the end of the axis takes no place.
            if end.min(extent) - start > most && reached > start {
                groups.push((reached - start, 1));
                start = reached;
            }
            reached = end;
        }
        groups.push((reached - start, 1));
        AxisChunks::of_runs(axis, extent, groups)
    }
}

impl ChunkGrid {
    /// A grid of boxes over an array of `array_shape`. On axes where chunks have edges a box is a
    /// group of whole ones, as many as `box_shape` holds ([`AxisEdges::grouped`]); on others it is
    /// regular.
    pub fn of_groups(
        array_shape: &[u64],
        box_shape: &[u64],
        chunks: Option<&Edges>,
    ) -> Result<Self, GridError> {
        let Some(chunks) = chunks else { return Self::new(array_shape, box_shape) };
        let mut shape = box_shape.to_vec();
        let mut axes = vec![None; box_shape.len()];
        for (axis, (longest, &extent)) in shape.iter_mut().zip(array_shape).enumerate() {
            if let Some(edges) = chunks.axis(axis) {
                let groups = edges.grouped(axis, extent, *longest)?;
                *longest = groups.longest();
                axes[axis] = groups.into_edges();
            }
        }
        Self::with_edges(array_shape, &shape, Edges::new(axes).as_ref())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_are_whole_chunks_as_long_as_they_fit(
            runs in prop::collection::vec((1_u64..9, 1_u64..4), 1..8), cut in 0_u64..8,
            most in 1_u64..60,
        ) {
            let all: u64 = runs.iter().map(|(length, count)| length * count).sum();
            let extent = all.saturating_sub(cut).max(1);
            let chunks = AxisChunks::of_runs(0, extent, runs).unwrap();
            let longest = chunks.longest();
            let Some(edges) = chunks.into_edges() else { return Ok(()) };
            let edges = Edges::new(vec![Some(edges)]);
            let most = most.max(longest);
            let chunks = ChunkGrid::with_edges(&[extent], &[longest], edges.as_ref()).unwrap();
            let boxes = ChunkGrid::of_groups(&[extent], &[most], edges.as_ref()).unwrap();
            let mut reached = 0;
            for at in boxes.indices().positions() {
                let own = boxes.region(&at);
                prop_assert_eq!(own.start[0], reached);
                prop_assert!(own.shape[0] <= most);
                let last = chunks.covering(&own).end(0) - 1;
                prop_assert_eq!(chunks.region(&[last]).end(0), own.end(0), "ends with a chunk");
                // One more would not fit.
                if last + 1 < chunks.count() {
                    prop_assert!(chunks.region(&[last + 1]).end(0) - own.start[0] > most);
                }
                reached = own.end(0);
            }
            prop_assert_eq!(reached, extent);
        }
    }
}
