//! Marks of absence in an intermediate. Where source chunks may be absent, a piece has one byte for
//! every target chunk it meets, behind its elements: it says whether any of that part was stored in
//! the source.
//!
//! All counts are products over axes: along one, the parts of pieces are the intervals between the
//! cuts of the grids concerned.

use rechunk_grid::{AxisEdges, ChunkGrid, Region};

use crate::count::{gcd, product};

/// Target chunks, and the boxes that pieces are cut for.
#[derive(Debug, Clone)]
pub(crate) struct AbsenceMarks {
    chunks: ChunkGrid,
    /// Shape of the boxes that read pieces, elements.
    boxes: Vec<u64>,
}

impl AbsenceMarks {
    pub(crate) fn new(chunks: ChunkGrid, boxes: &[u64]) -> Self {
        Self { chunks, boxes: boxes.to_vec() }
    }

    /// The target chunks that `region` meets, as a box of indices: one byte each, in C order.
    pub(crate) fn of(&self, region: &Region) -> Region {
        self.chunks.covering(region)
    }

    /// The most that a piece of `shape` keeps, bytes.
    pub(crate) fn bytes_max(&self, shape: &[u64]) -> u64 {
        let chunks = self.chunks.chunk_shape();
        product(shape.iter().enumerate().map(|(axis, &extent)| {
            let edges = self.chunks.edges().and_then(|edges| edges.axis(axis));
            parts_max(extent, edges.map_or(chunks[axis], AxisEdges::shortest))
        }))
    }

    /// Bytes of all pieces of the object that holds `tile`.
    pub(crate) fn object_bytes(&self, tile: &Region) -> u64 {
        product((0..tile.rank()).map(|axis| self.parts(axis, tile.start[axis], tile.end(axis))))
    }

    /// Bytes of the pieces of `tile` that come before `piece`; as
    /// [`crate::piece_offset_elements`] counts elements.
    pub(crate) fn before(&self, tile: &Region, piece: &Region) -> u64 {
        let (mut offset, mut same_row) = (0_u64, 1_u64);
        for axis in 0..tile.rank() {
            let faster = (axis + 1..tile.rank())
                .map(|axis| self.parts(axis, tile.start[axis], tile.end(axis)));
            let earlier = self.parts(axis, tile.start[axis], piece.start[axis]);
            let row = same_row.saturating_mul(earlier).saturating_mul(product(faster));
            offset = offset.saturating_add(row);
            let of_piece = self.parts(axis, piece.start[axis], piece.end(axis));
            same_row = same_row.saturating_mul(of_piece);
        }
        offset
    }

    /// Intervals between `start` and `end` that boxes and chunks cut an axis into.
    fn parts(&self, axis: usize, start: u64, end: u64) -> u64 {
        if end <= start {
            return 0;
        }
        if let Some(edges) = self.chunks.edges().and_then(|edges| edges.axis(axis)) {
            return edges.position(end - 1) + 1 - edges.position(start); // boxes end where chunks do
        }
        let (a, b) = (self.boxes[axis], self.chunks.chunk_shape()[axis]);
        1 + cuts(start, end, a) + cuts(start, end, b) - cuts(start, end, lcm(a, b))
    }
}

/// Multiples of `step` that lie between `start` and `end`, neither included.
fn cuts(start: u64, end: u64, step: u64) -> u64 {
    (end - 1) / step - start / step
}

fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}

/// Number of parts that three regular grids cut an axis of `extent` elements into. Along it, all
/// pieces keep so many bytes, where boxes of one are cut for those of another and both are cut by
/// chunks.
pub(crate) fn parts_of_three(extent: u64, [a, b, c]: [u64; 3]) -> u64 {
    if extent == 0 {
        return 0;
    }
    let cuts = |step| cuts(0, extent, step);
    let single = 1 + cuts(a) + cuts(b) + cuts(c);
    let (ab, ac, bc) = (cuts(lcm(a, b)), cuts(lcm(a, c)), cuts(lcm(b, c)));
    single + cuts(lcm(lcm(a, b), c)) - ab - ac - bc
}

/// Most chunks of `chunk` elements that an interval of `extent` meets.
pub(crate) fn parts_max(extent: u64, chunk: u64) -> u64 {
    extent.div_ceil(chunk) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn parts_are_counted(
            extent in 0_u64..60, a in 1_u64..20, b in 1_u64..20, c in 1_u64..20,
        ) {
            let seen: BTreeSet<_> = (0..extent).map(|i| (i / a, i / b, i / c)).collect();
            prop_assert_eq!(parts_of_three(extent, [a, b, c]), seen.len() as u64);
        }

        #[test]
        fn pieces_lie_behind_each_other(
            tile in (0_u64..9, 1_u64..9, 0_u64..9, 1_u64..9),
            boxes in (1_u64..7, 1_u64..7), chunk in (1_u64..5, 1_u64..5),
        ) {
            let (y, height, x, width) = tile;
            let tile = Region::new(vec![y, x], vec![height, width]);
            let shape = [30, 30];
            let grid = |a, b| ChunkGrid::new(&shape, &[a, b]).unwrap();
            let (boxes, chunks) = (grid(boxes.0, boxes.1), grid(chunk.0, chunk.1));
            let marks = AbsenceMarks::new(chunks, boxes.chunk_shape());
            let mut bytes = 0;
            for index in boxes.covering(&tile).positions() {
                let piece = boxes.region(&index).intersect(&tile).unwrap();
                prop_assert_eq!(marks.before(&tile, &piece), bytes);
                bytes += marks.of(&piece).elements();
            }
            prop_assert_eq!(marks.object_bytes(&tile), bytes);
        }
    }
}
