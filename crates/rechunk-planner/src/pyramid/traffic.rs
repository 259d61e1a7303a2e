//! Traffic of a pass of a pyramid.

use rechunk_plan::count::{cells, product};
use rechunk_plan::{Estimate, PIECE_CHECKSUM_BYTES, PassInput, RoleEstimate, ShardSide, Side};

use super::geometry::{Geometry, PassRequest};
use super::request::PyramidTarget;
use crate::by_region::{bytes_of, chunks_read, chunks_written};

/// Pairs of steps and units of the input that share an element, along an axis. Steps are grown by
/// the halo.
fn meetings(geometry: &Geometry, axis: usize, step: u64, unit: &dyn Fn(u64) -> u64) -> u64 {
    /// Most steps that are looked at one by one.
    const ONE_BY_ONE: u64 = 1 << 20;
    let (extent, halo) = (geometry.domain[axis], geometry.halo[axis]);
    let count = extent.div_ceil(step.max(1)).min(ONE_BY_ONE);
    let of = |number: u64| {
        let start = number.saturating_mul(step);
        let end = start.saturating_add(step).min(extent).saturating_add(halo).min(extent);
        unit(end.saturating_sub(1)) - unit(start.saturating_sub(halo)) + 1
    };
    (0..count).map(of).fold(0, u64::saturating_add)
}

/// Pairs of steps and boxes of the input that share an element; boxes are of `shape`.
fn regular_meetings(geometry: &Geometry, step: &[u64], shape: &[u64]) -> u64 {
    product((0..shape.len()).map(|axis| {
        let unit = shape[axis].max(1);
        meetings(geometry, axis, step[axis], &|at| at / unit)
    }))
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
    let chunks = match &side.edges {
        None => regular_meetings(geometry, step, &side.chunk_shape),
        Some(edges) => product((0..geometry.domain.len()).map(|axis| {
            let regular = side.chunk_shape[axis].max(1);
            let unit = |at: u64| edges.axis(axis).map_or(at / regular, |axis| axis.position(at));
            meetings(geometry, axis, step[axis], &unit)
        })),
    };
    let index = side.shard.as_ref().map(ShardSide::index_shape);
    let indexes = index.map_or(0, |index| regular_meetings(geometry, step, index));
    chunks_read(side, item_bytes, chunks, indexes)
}

/// Traffic of reading the blocks that the pass before has left.
fn blocks_read(geometry: &Geometry, step: &[u64]) -> RoleEstimate {
    let gets = regular_meetings(geometry, step, &geometry.chunk);
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
