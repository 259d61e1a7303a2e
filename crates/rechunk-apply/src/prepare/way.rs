//! Whether tasks may write the target themselves.

use std::ops::Range;

use crate::error::{ApplyError, ErrorCode};
use crate::tiles::AxisTiles;

/// First two neighbours among the tasks of an axis that share an array chunk of `chunk` voxels.
///
/// Ends of work chunks repeat modulo the array chunk, and a fault shows within a gap's length of
/// steps or a period, so that few of them are looked at.
fn shared(tiles: &AxisTiles, tasks: &Range<u64>, chunk: u64) -> Option<u64> {
    let period = tiles.period(chunk);
    let pairs = tasks.start..tasks.end.saturating_sub(1);
    pairs.take(usize::try_from(period).unwrap_or(usize::MAX)).find(|&k| {
        let chunk = i64::try_from(chunk).unwrap_or(i64::MAX);
        let (last, next) = (tiles.tile(k).end - 1, tiles.tile(k + 1).start);
        last.div_euclid(chunk) == next.div_euclid(chunk)
    })
}

/// Axis along which two tasks would write one array chunk, and the first of the two.
pub(super) fn shared_chunk(
    tiles: &[AxisTiles],
    tasks: &[Range<u64>],
    chunk: &[u64],
) -> Option<(usize, u64)> {
    let axes = tiles.iter().zip(tasks.iter().zip(chunk)).enumerate();
    axes.map(|(axis, (tiles, (tasks, &chunk)))| (axis, shared(tiles, tasks, chunk)))
        .find_map(|(axis, task)| task.map(|task| (axis, task)))
}

/// Refuses a direct job whose tasks share array chunks.
pub(super) fn refuse_shared(
    tiles: &[AxisTiles],
    chunk: &[u64],
    (axis, task): (usize, u64),
) -> ApplyError {
    let message = format!(
        "work chunks of the top level end at {} along axis {axis}, within an array chunk of {}: \
         two tasks would write it",
        tiles[axis].tile(task).end,
        chunk[axis]
    );
    ApplyError::new(ErrorCode::UnalignedWrite, message)
}
