//! Building blocks of candidates: one constructor per shape of stage.

use rechunk_plan::{DraftInput, DraftOutput, PlanRequest, StageDraft, Way};

use crate::baseline::calculate_stage_chunks;
use crate::inputs::Inputs;

/// Most bytes of an object that a store is asked to copy: S3 copies no larger one at once.
const STORE_COPY_BYTES_MAX: u64 = 5 << 30;

/// A candidate before memory is divided among tasks and lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub stages: Vec<StageDraft>,
}

/// The drafts of a kind of plan, or why it does not apply.
pub(crate) type Drafts = Result<Vec<Draft>, &'static str>;

/// Steps that take a whole tile at once: more boxes of the stage before than any tile meets.
fn whole_steps(tile: &[u64], input: &[u64]) -> Vec<u64> {
    tile.iter().zip(input).map(|(&tile, &input)| tile.div_ceil(input).saturating_add(1)).collect()
}

/// Steps that take a whole tile of the source at once.
pub(crate) fn whole_source_steps(inputs: Inputs<'_>, tile: &[u64]) -> Vec<u64> {
    tile.iter().enumerate().map(|(axis, &extent)| inputs.whole_step(axis, extent)).collect()
}

/// Source → target in one pass, a tile at a time.
pub(crate) fn tiles(inputs: Inputs<'_>, tile: &[u64]) -> Draft {
    let step_chunks = whole_source_steps(inputs, tile);
    stream(inputs, tile, &step_chunks, (0..tile.len()).collect())
}

/// Source → target in one pass, each `tile` (or box of it) in steps of `step_chunks` source chunks
/// (or shards), loops over `step_axes` slowest first.
pub(crate) fn stream(
    inputs: Inputs<'_>,
    tile: &[u64],
    step_chunks: &[u64],
    step_axes: Vec<usize>,
) -> Draft {
    let (tile, box_shape) = owned(inputs, tile);
    Draft {
        stages: vec![StageDraft {
            input: inputs.read_input(),
            output: DraftOutput::TargetChunks,
            way: if inputs.request.is_variable { Way::Variable } else { Way::Decoded },
            tile,
            box_shape,
            step_chunks: step_chunks.to_vec(),
            step_axes,
        }],
    }
}

/// The region a task owns that fills `filled` at a time, and that if it is not all of it: a task
/// owns whole shards.
fn owned(inputs: Inputs<'_>, filled: &[u64]) -> (Vec<u64>, Option<Vec<u64>>) {
    let request = inputs.request;
    let axes = filled.iter().zip(request.target.commit_shape()).zip(&request.shape);
    let tile: Vec<u64> = axes
        .map(|((&filled, &commit), &extent)| match filled {
            _ if filled >= extent || filled.is_multiple_of(commit) => filled,
            _ => commit.min(extent),
        })
        .collect();
    let is_part = tile != filled;
    (tile, is_part.then(|| filled.to_vec()))
}

/// Source → target, encoded chunks as they are; or `output` says, whole shards. Where the store
/// can, it copies what is a whole object on both sides itself.
pub(crate) fn passthrough(inputs: Inputs<'_>, tile: &[u64], output: &DraftOutput) -> Draft {
    let mut draft = tiles(inputs, tile);
    for stage in &mut draft.stages {
        let is_copied = copies_objects(inputs.request, output);
        stage.way = if is_copied { Way::ByStore } else { Way::Encoded };
        stage.output = output.clone();
    }
    draft
}

/// Every object of the target is one of the source, byte for byte, and its store copies it.
pub(crate) fn copies_objects(request: &PlanRequest, output: &DraftOutput) -> bool {
    let is_whole = match output {
        DraftOutput::TargetShards => true,
        _ => request.source.shard.is_none() && request.target.shard.is_none(),
    };
    let object_bytes_max = request.source.object_bytes_max(request.item_bytes);
    request.store_can_copy && is_whole && object_bytes_max <= STORE_COPY_BYTES_MAX
}

/// Source → boxes\[0\] → … → boxes\[last\] → target: every arrow but the last leaves an
/// intermediate of exact pieces.
pub(crate) fn staged(inputs: Inputs<'_>, boxes: &[Vec<u64>]) -> Draft {
    let mut stages = Vec::with_capacity(boxes.len());
    for (position, filled) in boxes.iter().enumerate() {
        let input = match position.checked_sub(1) {
            None => inputs.read_input(),
            Some(before) => DraftInput::Pieces { written_in: boxes[before].clone() },
        };
        let output = match boxes.get(position + 1) {
            None => DraftOutput::TargetChunks,
            Some(next) => DraftOutput::Pieces { read_in: next.clone() },
        };
        let (tile, box_shape) = match output {
            DraftOutput::Pieces { .. } => (filled.clone(), None),
            _ => owned(inputs, filled),
        };
        stages.push(StageDraft {
            step_chunks: match &input {
                DraftInput::Pieces { written_in } => whole_steps(filled, written_in),
                _ => whole_source_steps(inputs, filled),
            },
            step_axes: (0..filled.len()).collect(),
            input,
            output,
            way: Way::Decoded,
            tile,
            box_shape,
        });
    }
    Draft { stages }
}

/// The boxes of `passes` passes from `read` to `write`: rechunker's stage chunks between them.
pub(crate) fn geometric_boxes(read: &[u64], write: &[u64], passes: u32) -> Vec<Vec<u64>> {
    let between = calculate_stage_chunks(read, write, passes - 1).unwrap_or_default();
    [vec![read.to_vec()], between, vec![write.to_vec()]].concat()
}
