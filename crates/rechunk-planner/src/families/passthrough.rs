//! Plans that copy encoded chunks, or whole shards, as they are.

use rechunk_plan::count::product;
use rechunk_plan::{DraftOutput, PlanRequest};

use crate::draft::{Drafts, copies_objects, passthrough};
use crate::sizing::Sizing;

pub(super) fn passthrough_drafts(sizing: &Sizing<'_>) -> Drafts {
    let request = sizing.inputs.request;
    let (source, target) = (&request.source, &request.target);
    if request.held().is_some() {
        return Err("the source begins or ends inside of chunks of the target");
    }
    if source.edges.is_some() && source.edges != target.edges {
        return Err("the chunks of the source differ in length");
    }
    if source.edges != target.edges {
        return Err("the chunks of the target differ in length");
    }
    if !request.same_encoding || source.chunk_shape != target.chunk_shape {
        return Err("source and target differ in chunk shape or encoding");
    }
    let mut drafts = Vec::new();
    let is_same = request.same_shards && source.shard == target.shard;
    let output = if sizing.inputs.reads_shards && is_same {
        DraftOutput::TargetShards
    } else {
        DraftOutput::TargetChunks
    };
    let copies = copies_objects(request, &output);
    for tasks_min in [1, u64::from(request.budget.threads)] {
        let tile = passthrough_tile(request, copies, tasks_min);
        drafts.push(sizing.noted(passthrough(sizing.inputs, &tile, &output)));
    }
    Ok(drafts)
}

/// As many of the target's objects as make a task large enough, and leave some for `tasks_min`
/// tasks.
fn passthrough_tile(request: &PlanRequest, copied_by_store: bool, tasks_min: u64) -> Vec<u64> {
    /// Encoded bytes after which a task is large enough, and most objects of one.
    const TASK_BYTES: u64 = 256 << 20;
    const TASK_OBJECTS: u64 = 1024;
    /// Objects of a task that moves no bytes: as many requests as may usefully be in flight at
    /// once.
    const TASK_COPIES: u64 = 256;
    let target = &request.target;
    let unit = target.commit_shape();
    let expected = target.encoded_bytes_expected.max(1).saturating_mul(target.shard_chunks());
    let by_bytes = (TASK_BYTES / expected).clamp(1, TASK_OBJECTS);
    let objects =
        product((0..unit.len()).map(|axis| request.shape[axis].div_ceil(unit[axis]).max(1)));
    let most = if copied_by_store { TASK_COPIES } else { by_bytes };
    let mut room = most.min(objects.div_ceil(tasks_min.max(1)));
    let mut tile = unit.to_vec();
    for axis in (0..tile.len()).rev() {
        let count = request.shape[axis].div_ceil(unit[axis]).max(1).min(room);
        tile[axis] = unit[axis].saturating_mul(count).min(request.shape[axis].max(1));
        room /= count;
    }
    tile
}
