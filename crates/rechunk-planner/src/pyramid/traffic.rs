//! Traffic of a pass of a pyramid.

use rechunk_plan::count::{cells, product};
use rechunk_plan::{Estimate, PIECE_CHECKSUM_BYTES, PassInput, RoleEstimate};

use super::geometry::{Geometry, PassRequest, blocks, bytes_of};
use super::request::PyramidTarget;

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

pub(super) fn traffic(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
) -> Estimate {
    let (asked, pass) = (request.asked, request.pass);
    let mut estimate = Estimate::default();
    let regular = |shape: &[u64]| {
        product((0..shape.len()).map(|axis| {
            let unit = shape[axis].max(1);
            meetings(geometry, axis, step[axis], &|at| at / unit)
        }))
    };
    let side = match pass.input {
        PassInput::Source => Some((&asked.request.source, asked.request.item_bytes)),
        PassInput::Level(level) => Some((&asked.levels[level].side, asked.request.item_bytes)),
        PassInput::Blocks(_) => None,
    };
    if let Some((side, item_bytes)) = side {
        let chunks = match &side.edges {
            None => regular(&side.chunk_shape),
            Some(edges) => product((0..geometry.domain.len()).map(|axis| {
                let regular = side.chunk_shape[axis].max(1);
                let unit =
                    |at: u64| edges.axis(axis).map_or(at / regular, |axis| axis.position(at));
                meetings(geometry, axis, step[axis], &unit)
            })),
        };
        let indexes = side.shard_shape().map_or(0, regular);
        let index_bytes = side.shard.as_ref().map_or(0, |shard| shard.index_bytes);
        let read = RoleEstimate {
            get_requests: chunks.saturating_add(indexes),
            decoded_read_bytes: bytes_of(&side.chunk_shape, item_bytes).saturating_mul(chunks),
            read_bytes: side
                .encoded_bytes_expected
                .saturating_mul(chunks)
                .saturating_add(index_bytes.saturating_mul(indexes)),
            ..RoleEstimate::default()
        };
        match pass.input {
            PassInput::Level(_) => add(&mut estimate.target, &read),
            PassInput::Source | PassInput::Blocks(_) => add(&mut estimate.source, &read),
        }
    } else {
        let gets = regular(&geometry.chunk);
        let is_once = gets == cells(&geometry.domain, &geometry.chunk);
        let bytes = if is_once {
            bytes_of(&geometry.domain, geometry.item_bytes)
        } else {
            bytes_of(&geometry.chunk, geometry.item_bytes).saturating_mul(gets)
        };
        let read = RoleEstimate {
            get_requests: gets,
            decoded_read_bytes: bytes,
            read_bytes: bytes.saturating_add(gets.saturating_mul(PIECE_CHECKSUM_BYTES)),
            ..RoleEstimate::default()
        };
        add(&mut estimate.intermediate, &read);
    }
    for level in &asked.levels[pass.first..pass.end] {
        add(&mut estimate.target, &written(level, asked.request.item_bytes));
    }
    if pass.leaves_blocks {
        let (shape, _) = blocks(asked, geometry, (pass, tile));
        let puts = cells(&geometry.domain, tile);
        let bytes = bytes_of(&shape, asked.block_item_bytes());
        let put = RoleEstimate {
            put_requests: puts,
            decoded_written_bytes: bytes,
            written_bytes: bytes.saturating_add(puts.saturating_mul(PIECE_CHECKSUM_BYTES)),
            objects: puts,
            ..RoleEstimate::default()
        };
        add(&mut estimate.intermediate, &put);
    }
    estimate
}

fn add(sum: &mut RoleEstimate, next: &RoleEstimate) {
    let mut all = Estimate { source: *sum, ..Estimate::default() };
    all.add(&Estimate { source: *next, ..Estimate::default() });
    *sum = all.source;
}

fn written(level: &PyramidTarget, item_bytes: u64) -> RoleEstimate {
    let side = &level.side;
    let chunks = cells(&level.shape, &side.chunk_shape);
    let objects = side.shard_shape().map_or(chunks, |shard| cells(&level.shape, shard));
    let index_bytes = side.shard.as_ref().map_or(0, |shard| shard.index_bytes);
    RoleEstimate {
        put_requests: objects,
        decoded_written_bytes: bytes_of(&side.chunk_shape, item_bytes).saturating_mul(chunks),
        written_bytes: side
            .encoded_bytes_expected
            .saturating_mul(chunks)
            .saturating_add(index_bytes.saturating_mul(objects)),
        objects,
        ..RoleEstimate::default()
    }
}
