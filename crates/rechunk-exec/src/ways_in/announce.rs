//! Tells a store which input will be fetched soon: it reads that from a disk meanwhile.

use rechunk_kernel::wide;
use rechunk_plan::StageGeometry;

use crate::Execution;
use crate::stage::piece_place::PiecePlace;
use crate::stage::task::TaskRun;
use crate::stage::way_in::WayIn;
use crate::ways_in::source::takes_part;

/// Most bytes of a task that are announced at a time, all together and of one input.
pub(crate) const ANNOUNCED_BYTES: u64 = 16 << 20;

/// Most bytes of an input that can be announced: those of a file or of a range that is known
/// beforehand.
pub(crate) fn bytes_max(
    way_in: &WayIn,
    execution: &Execution,
    geometry: &StageGeometry,
) -> Option<u64> {
    let source = &execution.source;
    if !way_in.reads_source() {
        return Some(geometry.piece_bytes_max());
    }
    let is_known = way_in.takes_chunks() && source.layout().shards().is_none();
    is_known.then(|| way_in.fetched_bytes_max(source))
}

/// Announces an input that will be fetched soon. By a thread that may block. False if no more is to
/// be announced now.
pub(crate) fn input(task: &TaskRun, index: &[u64]) -> bool {
    let stage = &task.stage;
    let source = &stage.run.execution.source;
    let Ok(Some(input)) = task.input(index) else { return true };
    match (&stage.way_in, stage.intermediate()) {
        (WayIn::Pieces, Ok(store)) => {
            let PiecePlace { key, range: (offset, bytes), .. } =
                PiecePlace::of_input(stage, index, &input);
            store.announce(&key, offset..offset.saturating_add(bytes.min(ANNOUNCED_BYTES)))
        }
        (way_in, _) if way_in.takes_chunks() && !source.is_in_gap(index) => {
            let (first, length) = if way_in.plain().is_some() {
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
