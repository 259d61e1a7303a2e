//! Reads and decoding of a task that takes a part of each chunk, where chunks have parts. Blocks of
//! which it takes nothing are passed over (Blosc); without a codec, all elements that it does not
//! take are.

use crate::count::gcd;
use crate::cuts::{Boxes, Cuts};
use crate::{Parts, PlanRequest};

/// Bytes from the first element that a box of shape `boxes` takes of a chunk to the last, at most.
/// `order` is that of the axes in the chunk, slowest first.
pub fn part_bytes_max(chunk: &[u64], order: &[usize], boxes: &[u64], item_bytes: u64) -> u64 {
    let (mut stride_bytes, mut part_bytes) = (item_bytes, item_bytes);
    for &axis in order.iter().rev() {
        let last = boxes[axis].min(chunk[axis]).saturating_sub(1);
        part_bytes = part_bytes.saturating_add(last.saturating_mul(stride_bytes));
        stride_bytes = stride_bytes.saturating_mul(chunk[axis]);
    }
    part_bytes
}

/// Bytes that boxes of shape `boxes` read of chunks that are stored as they are. A box reads from
/// the first element that it takes of a chunk to the last. Exact where chunks are of one length.
pub(crate) fn plain_read_bytes(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    order: &[usize],
    boxes: Boxes<'_>,
) -> u64 {
    let (chunk, shape) = (&request.source.chunk_shape, &request.shape);
    let all = cuts.pairs_with(request, boxes, chunk);
    // An element of each pair, and along each axis the way to its last one.
    let mut stride_bytes = request.item_bytes;
    let mut bytes = all.saturating_mul(stride_bytes);
    for &axis in order.iter().rev() {
        let of_axis = cuts.pairs_along(request, boxes, axis, chunk[axis]).max(1);
        let steps = shape[axis].saturating_sub(of_axis).saturating_mul(all / of_axis);
        bytes = bytes.saturating_add(steps.saturating_mul(stride_bytes));
        stride_bytes = stride_bytes.saturating_mul(chunk[axis]);
    }
    bytes
}

/// A part of a chunk is read where it is no more than this of the whole (as `blosc_blocks.rs` in
/// rechunk-codec has it).
const READ_APART_MAX: f64 = 0.75;

/// Parts of the bytes of the chunks that boxes meet, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Taken {
    /// The part that is read.
    pub read: f64,
    /// The part that is decoded.
    pub decoded: f64,
}

impl Taken {
    const ALL: Self = Self { read: 1.0, decoded: 1.0 };

    /// Average over all pairs of a box of shape `boxes` and a source chunk that share an element. A
    /// box takes a chunk from its first element in it to the last, and to the ends of the blocks
    /// they lie in. Exact where boxes cut chunks along the slowest axis alone, all cuts or none are
    /// ends of blocks, and none goes through a shorter last one.
    pub(crate) fn new(request: &PlanRequest, cuts: &Cuts<'_>, boxes: Boxes<'_>) -> Self {
        let Some(side) = &request.source.parts else { return Self::ALL };
        let chunk = &request.source.chunk_shape;
        let (block_bytes, read_apart_max) = match side.parts {
            Parts::Elements => (request.item_bytes, 1.0),
            Parts::Blocks { block_bytes, are_read_apart: true } => (block_bytes, READ_APART_MAX),
            Parts::Blocks { block_bytes, are_read_apart: false } => (block_bytes, 0.0),
        };
        let block_bytes = block_bytes.max(1) as f64;
        let (mut stride_bytes, mut all) = (request.item_bytes as f64, 1.0);
        let mut taken_bytes = stride_bytes;
        let mut cuts_blocks = false;
        for &axis in side.order.iter().rev() {
            let boxes_of_each = cuts.boxes_of_each(request, boxes, axis);
            taken_bytes += (chunk[axis] as f64 / boxes_of_each - 1.0) * stride_bytes;
            if boxes_of_each > 1.0 {
                // Where faster axes are cut as well, no end is sure to be that of a block of
                // several elements.
                let is_regular = cuts.axis(axis).is_none() && !cuts.has_box_ends(boxes, axis);
                let may_end_there = side.parts == Parts::Elements || all <= 1.0 && is_regular;
                let grain_bytes = gcd(boxes.shape[axis], chunk[axis]) as f64 * stride_bytes;
                cuts_blocks |= !may_end_there || grain_bytes % block_bytes > 0.0;
            }
            all *= boxes_of_each;
            stride_bytes *= chunk[axis] as f64;
        }
        if cuts_blocks {
            // Each cut but the ends of the chunk goes through a block, which both boxes decode.
            taken_bytes += block_bytes * (all - 1.0) / all;
        }
        let decoded = (taken_bytes / stride_bytes.max(1.0)).clamp(0.0, 1.0);
        Self { read: if decoded <= read_apart_max { decoded } else { 1.0 }, decoded }
    }

    /// The part of `bytes` that is read.
    pub(crate) fn read_of(&self, bytes: u64) -> u64 {
        if self.read >= 1.0 {
            return bytes;
        }
        // Rounded down from a fraction of a number that fits: no precision matters here.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let read = (bytes as f64 * self.read) as u64;
        read
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rechunk_grid::ChunkGrid;

    use super::*;
    use crate::count::{cells, pairs};
    use crate::{PartsSide, Side};

    fn request(shape: &[u64], chunk: &[u64], item_bytes: u64, block_bytes: u64) -> PlanRequest {
        let mut source = Side::raw(chunk, item_bytes);
        let order = (0..shape.len()).collect();
        let parts = if block_bytes <= item_bytes {
            Parts::Elements
        } else {
            Parts::Blocks { block_bytes, are_read_apart: true }
        };
        source.parts = Some(PartsSide { order, parts });
        let target = Side::raw(chunk, item_bytes);
        PlanRequest::local(shape, item_bytes, (source, target), 1 << 30)
    }

    /// Boxes of one shape.
    fn regular(shape: &[u64]) -> Boxes<'_> {
        Boxes { shape, of_target: false }
    }

    fn taken(request: &PlanRequest, boxes: &[u64]) -> Taken {
        Taken::new(request, &Cuts::new(request), regular(boxes))
    }

    fn read_bytes(request: &PlanRequest, order: &[usize], boxes: &[u64]) -> u64 {
        plain_read_bytes(request, &Cuts::new(request), order, regular(boxes))
    }

    /// Bytes of the blocks of each pair, one by one.
    fn of_pairs(request: &PlanRequest, boxes: &[u64]) -> Vec<u64> {
        let (chunk, item) = (&request.source.chunk_shape, request.item_bytes);
        let block = match request.source.parts.as_ref().unwrap().parts {
            Parts::Elements => item,
            Parts::Blocks { block_bytes, .. } => block_bytes,
        };
        let chunk_bytes = chunk.iter().product::<u64>() * item;
        let grid = ChunkGrid::new(&request.shape, chunk).unwrap();
        let tiles = ChunkGrid::new(&request.shape, boxes).unwrap();
        let mut pairs = Vec::new();
        for tile in tiles.indices().positions() {
            let tile = tiles.region(&tile);
            for at in grid.covering(&tile).positions() {
                let part = grid.region(&at).intersect(&tile).unwrap();
                let start = grid.region(&at).start;
                let place = |position: Vec<u64>| {
                    let inside = position.iter().zip(&start).zip(chunk);
                    inside.fold(0, |sum, ((at, start), chunk)| sum * chunk + (at - start)) * item
                };
                let first = place(part.start.clone()) / block * block;
                let last = place((0..part.rank()).map(|axis| part.end(axis) - 1).collect());
                pairs.push(((last / block + 1) * block).min(chunk_bytes) - first);
            }
        }
        pairs
    }

    /// All of them over those of whole chunks.
    fn decoded(request: &PlanRequest, boxes: &[u64]) -> f64 {
        let chunk_bytes = request.source.chunk_bytes(request.item_bytes);
        let pairs = of_pairs(request, boxes);
        pairs.iter().sum::<u64>() as f64 / (pairs.len() as u64 * chunk_bytes) as f64
    }

    #[test]
    fn slabs_of_chunks_decode_a_block_more_for_each_cut_through_one() {
        // As case A: blocks of 91.02 rows, boxes of 180.
        let request = request(&[4, 720, 1440], &[1, 720, 1440], 2, 262_144);
        let of = |boxes: &[u64]| taken(&request, boxes);
        let chunk_bytes = 720.0 * 1440.0 * 2.0;
        let wanted =
            |tiles: f64| (chunk_bytes / tiles + 262_144.0 * (tiles - 1.0) / tiles) / chunk_bytes;
        for (boxes, tiles) in [([4, 180, 1440], 4.0), ([2, 240, 1440], 3.0), ([1, 360, 1440], 2.0)]
        {
            assert!((of(&boxes).decoded - wanted(tiles)).abs() < 1e-9, "{boxes:?}");
            assert!((of(&boxes).decoded - decoded(&request, &boxes)).abs() < 1e-9, "{boxes:?}");
        }
        // The last block is shorter.
        let twelfth = of(&[2, 60, 1440]).decoded;
        assert!((twelfth - decoded(&request, &[2, 60, 1440])).abs() < 0.002, "{twelfth}");
        assert_eq!(of(&[4, 720, 1440]), Taken::ALL);
        assert!((of(&[1, 180, 1440]).read - wanted(4.0)).abs() < 1e-9);
        assert_eq!(of(&[1, 180, 1440]).read_of(1000), 344);
        // Rows of which a part is taken lie in as many blocks as whole rows.
        let halves = of(&[4, 720, 720]);
        assert!(halves.decoded > 0.99 && halves.read >= 1.0, "{halves:?}");
    }

    #[test]
    fn what_ends_where_blocks_do_decodes_no_more() {
        let request = request(&[8, 64, 100], &[1, 64, 100], 4, 1600);
        assert!((taken(&request, &[8, 16, 100]).decoded - 0.25).abs() < 1e-9);
        // A block has 4 rows.
        for (boxes, most) in [([8, 16, 100], 1e-9), ([8, 12, 100], 0.01)] {
            let off = taken(&request, &boxes).decoded - decoded(&request, &boxes);
            assert!(off.abs() < most, "{boxes:?}: {off}");
        }
    }

    #[test]
    fn elements_at_the_end_are_read_without_their_padding() {
        let request = request(&[10, 7], &[4, 3], 2, 2);
        let order = request.source.plain_order().unwrap();
        // Rows of six bytes, of which the last chunk has one element; boxes of 4 by 2.
        let of = |boxes: &[u64]| read_bytes(&request, order, boxes);
        let pairs = of_pairs(&request, &[4, 2]);
        assert_eq!(of(&[4, 2]), pairs.iter().sum::<u64>());
        assert_eq!(of(&[10, 7]), of_pairs(&request, &[10, 7]).iter().sum::<u64>());
        assert_eq!(of(&[10, 7]), 168, "of 9 chunks of 24");
    }

    proptest! {
        #[test]
        fn without_a_codec_what_is_taken_is_read(
            axes in prop::collection::vec((1_u64..4, 1_u64..9, 1_u64..20), 1..4),
            item_bytes in 1_u64..5,
        ) {
            let chunk: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0 * axis.1).collect();
            let boxes: Vec<u64> = axes.iter().zip(&shape).map(|(axis, n)| axis.2.min(*n)).collect();
            let request = request(&shape, &chunk, item_bytes, item_bytes);
            let pairs = of_pairs(&request, &boxes);
            let found = taken(&request, &boxes);
            let order = request.source.plain_order().unwrap();
            let read_bytes = read_bytes(&request, order, &boxes);
            prop_assert_eq!(pairs.iter().sum::<u64>(), read_bytes);
            prop_assert!((found.read - decoded(&request, &boxes)).abs() < 1e-9, "{:?}", found);
            let most = part_bytes_max(&chunk, order, &boxes, item_bytes);
            // The first box takes as much of the first chunk as any takes of any.
            prop_assert_eq!(pairs.iter().max(), Some(&most));
        }

        #[test]
        fn no_less_is_decoded_than_there_is_and_about_what_blocks_say(
            axes in prop::collection::vec((1_u64..4, 1_u64..9, 1_u64..20), 1..4),
            item_bytes in 1_u64..5, block_bytes in 1_u64..40,
        ) {
            // Whole chunks, so that nothing is padding.
            let chunk: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0 * axis.1).collect();
            let boxes: Vec<u64> = axes.iter().zip(&shape).map(|(axis, n)| axis.2.min(*n)).collect();
            let request = request(&shape, &chunk, item_bytes, block_bytes * item_bytes);
            let found = taken(&request, &boxes).decoded;
            let counted = decoded(&request, &boxes);
            let pairs = pairs(&shape, &boxes, &chunk) as f64;
            prop_assert!(found * pairs >= cells(&shape, &chunk) as f64 - 1e-9);
            let chunk_bytes = (chunk.iter().product::<u64>() * item_bytes) as f64;
            // A pair has at most one block more or less than on average.
            let slack = (block_bytes * item_bytes) as f64 / chunk_bytes;
            prop_assert!((found - counted).abs() <= slack + 1e-9, "{} {}", found, counted);
        }
    }
}
