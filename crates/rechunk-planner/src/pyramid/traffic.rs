//! Traffic of a pass of a pyramid.

use rechunk_grid::Edges;
use rechunk_plan::count::{cells, product};
use rechunk_plan::{Estimate, PIECE_CHECKSUM_BYTES, PassInput, RoleEstimate, ShardSide, Side};

use super::geometry::{Geometry, PassRequest};
use super::request::PyramidTarget;
use crate::by_region::{ChunkReads, bytes_of, chunks_read, chunks_written};

/// Pairs of steps and chunks of the input that share an element.
///
/// Steps are grown by the halo. Chunks are of `shape`, or end where `edges` say.
fn meetings(
    geometry: &Geometry,
    step: &[u64],
    (shape, edges): (&[u64], Option<&Edges>),
) -> ChunkReads {
    /// Most steps that are looked at one by one.
    const ONE_BY_ONE: u64 = 1 << 20;
    let along = |axis: usize| {
        let (extent, halo) = (geometry.domain[axis], geometry.halo[axis]);
        let (step, chunk) = (step[axis], shape[axis].max(1));
        let edges = edges.and_then(|edges| edges.axis(axis));
        let count = extent.div_ceil(step.max(1)).min(ONE_BY_ONE);
        let of = |number: u64| {
            let start = number.saturating_mul(step);
            let end = start.saturating_add(step).min(extent).saturating_add(halo).min(extent);
            let (first, last) = (start.saturating_sub(halo), end.saturating_sub(1));
            edges.map_or_else(|| regular(first, last, chunk), |edges| edges.met(first, last))
        };
        (0..count).map(of).fold((0, 0), |sum: (u64, u64), met| {
            (sum.0.saturating_add(met.0), sum.1.saturating_add(met.1))
        })
    };
    let axes: Vec<(u64, u64)> = (0..shape.len()).map(along).collect();
    ChunkReads {
        chunks: product(axes.iter().map(|met| met.0)),
        elements: product(axes.iter().map(|met| met.1)),
    }
}

/// Chunks of one length at the elements from `first` to `last`, and their own elements.
fn regular(first: u64, last: u64, chunk: u64) -> (u64, u64) {
    let count = last / chunk - first / chunk + 1;
    (count, count.saturating_mul(chunk))
}

/// Traffic of the tasks that own `tile` each, in steps of `step`.
pub(super) fn traffic(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
) -> Estimate {
    let (asked, pass) = (request.asked, request.pass);
    let item_bytes = asked.request.item_bytes;
    let mut estimate = Estimate::default();
    match pass.input {
        PassInput::Source => {
            estimate.source = side_read(geometry, step, &asked.request.source, item_bytes);
        }
        PassInput::Level(level) => {
            estimate.target = side_read(geometry, step, &asked.levels[level].side, item_bytes);
        }
        PassInput::Blocks(_) => estimate.intermediate = blocks_read(geometry, step),
    }
    for level in &asked.levels[pass.first..pass.end] {
        estimate.target.add(&level_written(level, item_bytes));
    }
    if pass.leaves_blocks {
        let puts = cells(&geometry.domain, tile);
        let bytes = bytes_of(&request.work.cells(pass.end - 1), asked.block_item_bytes());
        estimate.intermediate.add(&RoleEstimate {
            put_requests: puts,
            decoded_written_bytes: bytes,
            written_bytes: bytes.saturating_add(puts.saturating_mul(PIECE_CHECKSUM_BYTES)),
            objects: puts,
            ..RoleEstimate::default()
        });
    }
    estimate
}

/// Traffic of reading the chunks of an array.
fn side_read(geometry: &Geometry, step: &[u64], side: &Side, item_bytes: u64) -> RoleEstimate {
    let reads = meetings(geometry, step, (&side.chunk_shape, side.edges.as_ref()));
    let index = side.shard.as_ref().map(ShardSide::index_shape);
    let indexes = index.map_or(0, |index| meetings(geometry, step, (index, None)).chunks);
    chunks_read(side, item_bytes, reads, indexes)
}

/// Traffic of reading the blocks that the pass before has left.
fn blocks_read(geometry: &Geometry, step: &[u64]) -> RoleEstimate {
    let gets = meetings(geometry, step, (&geometry.chunk, None)).chunks;
    let is_once = gets == cells(&geometry.domain, &geometry.chunk);
    let bytes = if is_once {
        bytes_of(&geometry.domain, geometry.item_bytes)
    } else {
        bytes_of(&geometry.chunk, geometry.item_bytes).saturating_mul(gets)
    };
    RoleEstimate {
        get_requests: gets,
        decoded_read_bytes: bytes,
        read_bytes: bytes.saturating_add(gets.saturating_mul(PIECE_CHECKSUM_BYTES)),
        ..RoleEstimate::default()
    }
}

fn level_written(level: &PyramidTarget, item_bytes: u64) -> RoleEstimate {
    let side = &level.side;
    let chunks = cells(&level.shape, &side.chunk_shape);
    let objects = side.shard_shape().map_or(chunks, |shard| cells(&level.shape, shard));
    chunks_written(side, item_bytes, chunks, objects)
}
