//! Tells a store which input will be fetched soon: it reads that from a disk meanwhile.

use rechunk_plan::{Stage, StageGeometry, StageInput};

use crate::Execution;
use crate::stage::piece_place::PiecePlace;
use crate::stage::plain::fetched_bytes_max;
use crate::stage::task::TaskRun;
use crate::units::frame::wide;
use crate::ways_in::source::takes_part;

/// Most bytes of a task that are announced at a time, all together and of one input.
pub(crate) const ANNOUNCED_BYTES: u64 = 16 << 20;

/// Most bytes of an input that can be announced: those of a file or of a range that is known
/// beforehand.
pub(crate) fn bytes_max(
    stage: &Stage,
    execution: &Execution,
    geometry: &StageGeometry,
) -> Option<u64> {
    let layout = execution.source.layout();
    match stage.input {
        StageInput::SourceChunks if layout.shards().is_none() => {
            Some(fetched_bytes_max(stage, execution))
        }
        StageInput::SourceChunks | StageInput::SourceShards => None,
        StageInput::Pieces { .. } => Some(geometry.piece_bytes_max()),
    }
}

/// Announces an input that will be fetched soon. By a thread that may block. False if no more is to
/// be announced now.
pub(crate) fn input(task: &TaskRun, index: &[u64]) -> bool {
    let stage = &task.stage;
    let source = &stage.run.execution.source;
    let Ok(Some(input)) = task.input(index) else { return true };
    match (&stage.stage.input, stage.intermediate()) {
        (StageInput::Pieces { .. }, Ok(store)) => {
            let PiecePlace { key, range: (offset, bytes) } =
                PiecePlace::of_input(stage, index, &input);
            store.announce(&key, offset..offset.saturating_add(bytes.min(ANNOUNCED_BYTES)))
        }
        (StageInput::SourceChunks, _) if !source.is_in_gap(index) => {
            let (first, length) = if stage.plain.is_some() {
                (wide(input.wanted.start), wide(input.wanted.len()).min(ANNOUNCED_BYTES))
            } else {
                let head_bytes = source.layout().head_bytes().filter(|_| takes_part(task, &input));
                (0, head_bytes.map_or(ANNOUNCED_BYTES, wide))
            };
            source.announce(index, first..first.saturating_add(length))
        }
        _ => true,
    }
}
