//! Requests of arrays, chunks, shards and lengths of all kinds.

use proptest::prelude::*;
use rechunk_grid::{AxisChunks, Edges};
use rechunk_plan::{PlanRequest, ShardSide, Side};

pub(crate) fn request(
    shape: &[u64],
    source: &[u64],
    target: &[u64],
    memory_bytes: u64,
) -> PlanRequest {
    let side = |chunk: &[u64]| {
        let mut side = Side::raw(chunk, 4);
        side.is_raw = false;
        "zstd".clone_into(&mut side.codec);
        side.encoded_bytes_max += side.encoded_bytes_max / 8 + 64;
        side.encoded_bytes_expected /= 2;
        side
    };
    PlanRequest {
        is_variable: false,
        same_encoding: true,
        ..PlanRequest::local(shape, 4, (side(source), side(target)), memory_bytes)
    }
}

/// Extent, source chunk, target chunk, chunks of a source shard, chunks of a target shard.
pub(crate) type Axis = (u64, u64, u64, u64, u64);

pub(crate) fn arrays() -> impl Strategy<Value = Vec<Axis>> {
    let axis = (0_u64..40, 1_u64..16, 1_u64..16, 1_u64..5, 1_u64..5);
    prop::collection::vec(axis, 0..4)
}

/// Puts chunks into shards, on the sides that `on` says.
pub(crate) fn into_shards(request: &mut PlanRequest, axes: &[Axis], on: (bool, bool)) {
    let shard = |side: &mut Side, counts: Vec<u64>| {
        let shape = side.chunk_shape.iter().zip(&counts).map(|(chunk, count)| chunk * count);
        let index_bytes = 16 * counts.iter().product::<u64>() + 4;
        side.shard = Some(ShardSide {
            shape: shape.collect(),
            index_bytes,
            index_first: index_bytes % 3 == 0,
            tables: None,
        });
    };
    if on.0 {
        shard(&mut request.source, axes.iter().map(|axis| axis.3).collect());
    }
    if on.1 {
        shard(&mut request.target, axes.iter().map(|axis| axis.4).collect());
    }
    request.same_shards = request.source.shard == request.target.shard;
}

/// Runs of chunk lengths for each axis.
pub(crate) type Lists = Vec<Vec<(u64, u64)>>;

/// Cuts the source as the lists say, as often as it takes to reach the end; without shards.
pub(crate) fn into_lengths(request: &mut PlanRequest, lists: &Lists) {
    let mut edges = Vec::new();
    for (axis, runs) in lists.iter().enumerate().take(request.shape.len()) {
        let runs = runs.iter().copied().cycle().take(runs.len() * 64);
        let cut = AxisChunks::of_runs(axis, request.shape[axis], runs).unwrap();
        request.source.chunk_shape[axis] = cut.longest();
        edges.push(cut.into_edges());
    }
    (request.source.edges, request.source.shard) = (Edges::new(edges), None);
    request.same_shards = false;
}

pub(crate) fn lists() -> impl Strategy<Value = Lists> {
    prop::collection::vec(prop::collection::vec((1_u64..16, 1_u64..4), 1..7), 4)
}

pub(crate) fn split(axes: &[Axis]) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
    let source = axes.iter().map(|axis| axis.1).collect();
    // As the facade does: a target chunk larger than its axis is clipped.
    let target = axes.iter().map(|axis| axis.2.min(axis.0.max(1))).collect();
    (shape, source, target)
}
