//! The request to the planner that follows from a copy: sides, stores, limits.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_format::{Layout, RunFormat};
use rechunk_grid::WriteEmpty;
use rechunk_plan::{Multipart, Parts, PartsSide, PlanRequest, Profile, RunsSide, Side, Strategy};
use rechunk_store::{Role, Stores};

use crate::Error;
use crate::open::OpenArray;
use crate::request::{CopyRequest, is_local, takes_parts};
use crate::shard_spec::shard_side;

/// Makes the request to the planner; `ratio` is encoded over decoded bytes of the source, expected.
pub(crate) fn plan_request(
    request: &CopyRequest,
    source: &OpenArray,
    target: &Arc<dyn Layout>,
    ratio: f64,
    stores: &Stores,
) -> Result<PlanRequest, Error> {
    let layout = source.array.layout();
    let item_bytes = source.spec().item_bytes();
    let temp = request.temp.as_deref().unwrap_or(&request.target);
    let same_encoding = layout.encoding_identity() == target.encoding_identity()
        // A chunk that is missing has to read the same.
        && layout.spec().fill_value == target.spec().fill_value
        && request.write_empty == WriteEmpty::Auto;
    let mut sides = [
        source_side(&source.array, &request.source, ratio),
        side(target.as_ref(), if layout.codec_cost().is_raw { 0.7 } else { ratio }),
    ];
    if moves_runs(request) {
        sides[0].runs = layout.runs().map(runs_side);
        sides[1].runs = target.runs().map(runs_side);
    }
    let [source_side, mut target_side] = sides;
    if source_side.edges.as_ref().is_some_and(|edges| edges.held(&source.spec().shape).is_some()) {
        reads_kept(&mut target_side, target.as_ref());
    }
    Ok(PlanRequest {
        shape: source.spec().shape.clone(),
        item_bytes,
        source: source_side,
        target: target_side,
        is_variable: false,
        same_encoding,
        same_shards: same_encoding && layout.shards() == target.shards(),
        store_can_copy: store_can_copy(request, &source.array, target, stores),
        keeps_absence: layout.tells_absence() && request.write_empty == WriteEmpty::Auto,
        budget: request.planning.budget(),
        profile: profile(request, temp, stores)?,
        strategy: request.planning.strategy,
        intermediate_grid: request.planning.intermediate_grid,
        intermediate_in_memory: temp_is_memory(temp),
    })
}

/// Adds the memory of target chunks that are read before they are written.
fn reads_kept(side: &mut Side, target: &dyn Layout) {
    let (spec, cost) = (target.spec(), target.codec_cost());
    let chunk_bytes = spec.chunk_shape.iter().product::<u64>().saturating_mul(spec.item_bytes());
    side.is_raw = false;
    let workspace_bytes = cost.decode_workspace_bytes.max(cost.encode_workspace_bytes);
    side.encode_workspace_bytes = chunk_bytes.saturating_add(workspace_bytes);
}

/// The store that holds the source can copy its objects to the target itself, and may.
fn store_can_copy(
    request: &CopyRequest,
    source: &Array,
    target: &Arc<dyn Layout>,
    stores: &Stores,
) -> bool {
    // A location that cannot be opened is refused when it is to be written to.
    let opened = || stores.open(&request.target).ok();
    request.planning.store_copies
        && [&request.source, &request.target].iter().all(|location| takes_parts(location))
        && opened().is_some_and(|store| {
            let target = array_at(target, &store, Role::Target);
            target.store().can_copy_from(source.store())
                && target.has_whole_objects()
                && source.has_whole_objects()
        })
}

/// Profile of the stores. Object stores are sent large objects in parts, whatever a profile leaves
/// unsaid: else a shard would have to be held as a whole. None of them is faster than is allowed.
pub(crate) fn profile(
    request: &CopyRequest,
    temp: &str,
    stores: &Stores,
) -> Result<Profile, Error> {
    let mut profile = request.planning.profile([&request.source, temp, &request.target])?;
    for (store, location) in
        [(&mut profile.intermediate, temp), (&mut profile.target, request.target.as_str())]
    {
        if takes_parts(location) {
            store.multipart = Some(store.multipart.unwrap_or(Multipart::DEFAULT));
        }
    }
    if let Some(rate) = stores.bytes_per_second() {
        for store in [&mut profile.source, &mut profile.intermediate, &mut profile.target] {
            // What is read and what is written add up in the price, as they do in the limit.
            store.read_bytes_per_second = store.read_bytes_per_second.min(rate as f64);
            store.write_bytes_per_second = store.write_bytes_per_second.min(rate as f64);
        }
    }
    Ok(profile)
}

/// Runs of bytes of raw files are read and written, where both sides have them. That is on local
/// disks, by one process, and unless another way was asked for.
fn moves_runs(request: &CopyRequest) -> bool {
    matches!(request.planning.strategy, Strategy::Auto | Strategy::Keep)
        && request.planning.workers == 1
        && [&request.source, &request.target].iter().all(|location| is_local(location))
}

/// The files of a raw side, for the planner.
fn runs_side(runs: &RunFormat) -> RunsSide {
    RunsSide {
        block_shape: runs.block_shape.clone(),
        order: runs.axes.clone(),
        offset_bytes: runs.offset_bytes,
    }
}

/// Encoded over decoded bytes from which chunks are taken to be stored as they are, without blocks.
const STORED_RATIO: f64 = 0.98;

/// A source's costs for the planner; `ratio` is encoded over decoded bytes, expected.
pub(crate) fn source_side(source: &Array, location: &str, ratio: f64) -> Side {
    let parts = parts_side(source, location, ratio);
    Side { parts, ..side(source.layout().as_ref(), ratio) }
}

/// The parts of the source's chunks. Blocks of which nothing is wanted are not read where chunks
/// are files.
fn parts_side(source: &Array, location: &str, ratio: f64) -> Option<PartsSide> {
    let layout = source.layout();
    let order = layout.element_order().axes.clone();
    if source.plain().is_some() {
        return Some(PartsSide { order, parts: Parts::Elements });
    }
    let block_bytes = layout.block_bytes().filter(|_| ratio < STORED_RATIO)?;
    let are_read_apart = is_local(location) && layout.shards().is_none();
    Some(PartsSide { order, parts: Parts::Blocks { block_bytes, are_read_apart } })
}

/// `--temp memory:` (or a whole job in memory): the intermediate counts against the budget.
pub(crate) fn temp_is_memory(temp: &str) -> bool {
    temp == "memory:" || temp.starts_with("memory://")
}

/// A layout's costs for the planner; `ratio` is encoded over decoded bytes, expected.
pub(crate) fn side(layout: &dyn Layout, ratio: f64) -> Side {
    let spec = layout.spec();
    let cost = layout.codec_cost();
    let chunk_bytes = spec.chunk_shape.iter().product::<u64>() * spec.item_bytes();
    let expected = if cost.is_raw {
        chunk_bytes
    } else {
        // Rounded down from a fraction of a number that fits: no precision matters here.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let expected = (chunk_bytes as f64 * ratio) as u64;
        expected.clamp(1, cost.encoded_bytes_max)
    };
    let shard = layout.shards().map(shard_side);
    let files = layout.runs().filter(|runs| runs.block_shape != spec.chunk_shape);
    Side {
        chunk_shape: spec.chunk_shape.clone(),
        edges: spec.edges.clone(),
        shard,
        runs: None,
        file_shape: files.map(|runs| runs.block_shape.clone()),
        parts: None,
        codec: cost.name.clone(),
        is_raw: cost.is_raw,
        encoded_bytes_max: cost.encoded_bytes_max,
        encoded_bytes_expected: expected,
        decode_workspace_bytes: cost.decode_workspace_bytes,
        encode_workspace_bytes: cost.encode_workspace_bytes,
    }
}

/// An array at a store.
pub(crate) fn array_at(
    layout: &Arc<dyn Layout>,
    store: &rechunk_store::Store,
    role: Role,
) -> Array {
    Array::new(Arc::clone(layout), store.with_role(role))
}
