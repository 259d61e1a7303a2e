//! A box cut into boxes of bounded size, each of them contiguous when the whole is packed.

use rechunk_grid::{ChunkGrid, GridError, IndexIter, Region};

/// Iterator over the slabs of a box, in the order they are packed.
#[derive(Debug)]
pub(crate) struct Slabs {
    /// Over the box, as if it began at 0.
    grid: ChunkGrid,
    indices: IndexIter,
    start: Vec<u64>,
}

impl Slabs {
    /// Cuts `part`, packed in the order of axes `order`, slowest first, into slabs of
    /// `elements_max` elements at most, and 1 at least.
    pub(crate) fn new(
        part: &Region,
        order: &[usize],
        elements_max: u64,
    ) -> Result<Self, GridError> {
        let mut shape = vec![1; part.rank()];
        let mut room = elements_max;
        for &axis in order.iter().rev() {
            let extent = part.shape[axis].max(1);
            let slabs = extent.div_ceil(room.clamp(1, extent));
            shape[axis] = extent.div_ceil(slabs); // all about the same
            room = if slabs == 1 { room / extent } else { 1 };
        }
        let grid = ChunkGrid::new(&part.shape, &shape)?;
        let indices = grid.indices().positions_in(order);
        Ok(Self { grid, indices, start: part.start.clone() })
    }
}

impl Iterator for Slabs {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let mut slab = self.grid.region(&self.indices.next()?);
        for (at, start) in slab.start.iter_mut().zip(&self.start) {
            *at += start;
        }
        Some(slab)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_follow_each_other(
            (start, shape, order) in (0_usize..4).prop_flat_map(|rank| (
                prop::collection::vec(0_u64..5, rank),
                prop::collection::vec(1_u64..7, rank),
                Just((0..rank).collect::<Vec<_>>()).prop_shuffle(),
            )),
            elements_max in 0_u64..60,
        ) {
            let part = Region::new(start, shape);
            let slabs: Vec<Region> = Slabs::new(&part, &order, elements_max).unwrap().collect();
            let packed: Vec<_> = part.positions_in(&order).collect();
            let cut: Vec<_> = slabs.iter().flat_map(|slab| slab.positions_in(&order)).collect();
            prop_assert_eq!(cut, packed);
            for slab in &slabs {
                prop_assert!(slab.elements() <= elements_max.max(1));
            }
            if elements_max >= part.elements() {
                prop_assert_eq!(slabs.len(), 1);
            }
        }
    }
}
