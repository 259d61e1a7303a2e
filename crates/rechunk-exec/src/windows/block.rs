//! Blocks in the intermediate: one object for each task, with the pieces of its pull tasks one
//! after the other.
//!
//! A piece ends with the CRC32C of its place and its bytes, as pieces of a copy do. The object of a
//! task whose operations had nothing to give is one checksum of no bytes. Where they had nothing to
//! give for a part of the block, the checksums of its pieces say so, and the boxes that have values
//! follow: the bytes of the list, the start and end of each box along each axis (numbers of 64
//! bits, little-endian), and their checksum.

use bytes::Bytes;
use rechunk_apply::{BlockPiece, Span, TaskOutput, TopTask, VoxelBox};
use rechunk_kernel::{narrow, wide};
use rechunk_plan::PIECE_CHECKSUM_BYTES;
use rechunk_store::{Role, Store, StoreError};

use super::read::cut;
use super::stage::WindowStage;
use crate::Fault;
use crate::fill::piece_checksum::Sum;
use crate::stage::piece_place::{PiecePlace, intermediate_key};

/// Most bytes of the list of boxes of a block.
const LIST_BYTES_MAX: u64 = 64 << 20;
/// Bytes before that list.
const LENGTH_BYTES: u64 = 8;

/// Stores what a task leaves.
pub(super) async fn put(
    stage: &WindowStage,
    task: &TopTask,
    output: TaskOutput,
) -> Result<(), Fault> {
    let store = stage.shared.run.intermediate()?;
    let key = intermediate_key(stage.shared.number, task.ordinal);
    let is_part = matches!(output, TaskOutput::Block { covered: Some(_), .. });
    let tail = |piece: Option<&BlockPiece>, bytes: &[u8]| {
        let mut sum = sum(stage, stage.shared.number, task, (piece, is_part));
        sum.add(bytes);
        Bytes::copy_from_slice(&sum.to_bytes())
    };
    let TaskOutput::Block { bytes, covered } = output else {
        let nothing = vec![tail(None, &[])];
        return store.put(&key, nothing).await.map_err(Fault::Intermediate);
    };
    let item_bytes = narrow(stage.work().job.block_form().item_bytes());
    let elements_bytes = wide(bytes.len());
    let pieces = stage.work().job.pieces(task);
    let mut parts = Vec::with_capacity(pieces.len().saturating_mul(2));
    if let [piece] = &pieces[..] {
        let tail = tail(Some(piece), &bytes);
        parts.extend([Bytes::from(bytes), tail]);
    } else {
        for piece in &pieces {
            let own = cut(&bytes, &task.keep, &piece.bounds, item_bytes)?;
            let tail = tail(Some(piece), &own);
            parts.extend([Bytes::from(own), tail]);
        }
    }
    if let Some(covered) = covered {
        let ends = covered.iter().flat_map(|one| &one.axes).flat_map(|span| [span.start, span.end]);
        let list: Vec<u8> = ends.flat_map(i64::to_le_bytes).collect();
        if wide(list.len()) > LIST_BYTES_MAX {
            let reason = "calls were skipped in more places of a block than are noted".to_owned();
            return Err(Fault::Plan { reason });
        }
        let tail = tail(None, &list);
        let length = Bytes::copy_from_slice(&wide(list.len()).to_le_bytes());
        parts.extend([length, Bytes::from(list), tail]);
    }
    store.put(&key, parts).await.map_err(Fault::Intermediate)?;
    store.meter().add_decoded_written(Role::Intermediate, elements_bytes);
    Ok(())
}

/// Offset and length of a piece in the object of its task, with its checksum, bytes.
fn range_of(piece: &BlockPiece, item_bytes: u64) -> (u64, u64) {
    let before = piece.elements_before.saturating_mul(item_bytes);
    let offset = before.saturating_add(piece.number.saturating_mul(PIECE_CHECKSUM_BYTES));
    (offset, piece.elements().saturating_mul(item_bytes).saturating_add(PIECE_CHECKSUM_BYTES))
}

/// Reads the piece of a task's block, and which boxes of the block have values.
pub(super) async fn get(
    stage: &WindowStage,
    task: &TopTask,
    piece: &BlockPiece,
) -> Result<TaskOutput, Fault> {
    let store = stage.shared.run.intermediate()?;
    let (offset, length) = range_of(piece, stage.work().job.block_form().item_bytes());
    let written_in = stage.shared.number.saturating_sub(1);
    let place = PiecePlace::of_task(written_in, task.ordinal, (offset, length));
    let mut bytes = Vec::new();
    let read = store.get_range_into(&place.key, offset, length, length, &mut bytes).await;
    if let Err(error) = read {
        let is_short = error.is_wrong_size() || matches!(error, StoreError::Short { .. });
        let of_nothing = sum(stage, written_in, task, (None, false));
        if is_short && is_nothing(store, &place.key, of_nothing).await {
            return Ok(TaskOutput::Skipped);
        }
        return Err(place.unread(error));
    }
    let check = |is_part| sum(stage, written_in, task, (Some(piece), is_part)).check(&bytes);
    let (elements, is_part) = match check(false) {
        Some(elements) => (elements.len(), false),
        None => (check(true).ok_or_else(|| place.damaged(store))?.len(), true),
    };
    bytes.truncate(elements);
    let covered = if is_part { Some(list(stage, task).await?) } else { None };
    store.meter().add_decoded_read(Role::Intermediate, wide(bytes.len()));
    Ok(TaskOutput::Block { bytes, covered })
}

/// Reads which boxes of a block have values: what follows its pieces.
async fn list(stage: &WindowStage, task: &TopTask) -> Result<Vec<VoxelBox>, Fault> {
    let store = stage.shared.run.intermediate()?;
    let written_in = stage.shared.number.saturating_sub(1);
    let job = &stage.work().job;
    let last = job.pieces(task).last().map(|last| range_of(last, job.block_form().item_bytes()));
    let offset = last.map_or(0, |(offset, length)| offset.saturating_add(length));
    let place = PiecePlace::of_task(written_in, task.ordinal, (offset, LENGTH_BYTES));
    let mut bytes = Vec::new();
    let read = store.get_range_into(&place.key, offset, LENGTH_BYTES, LENGTH_BYTES, &mut bytes);
    read.await.map_err(|error| place.unread(error))?;
    let length = bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    if length > LIST_BYTES_MAX {
        return Err(place.damaged(store));
    }
    let (offset, length) = (offset + LENGTH_BYTES, length + PIECE_CHECKSUM_BYTES);
    let place = PiecePlace::of_task(written_in, task.ordinal, (offset, length));
    let read = store.get_range_into(&place.key, offset, length, length, &mut bytes);
    read.await.map_err(|error| place.unread(error))?;
    let own = sum(stage, written_in, task, (None, true));
    let Some(list) = own.check(&bytes) else { return Err(place.damaged(store)) };
    let ends = list.as_chunks::<8>().0.iter().map(|end| i64::from_le_bytes(*end));
    let ends: Vec<i64> = ends.collect();
    let spans: Vec<Span> = ends.chunks_exact(2).map(|ends| Span::new(ends[0], ends[1])).collect();
    Ok(spans.chunks_exact(job.rank().max(1)).map(|axes| VoxelBox::new(axes.to_vec())).collect())
}

/// True if an object is the checksum `sum` of no bytes.
async fn is_nothing(store: &Store, key: &str, sum: Sum) -> bool {
    let mut bytes = Vec::new();
    let length = PIECE_CHECKSUM_BYTES;
    let read = store.get_range_into(key, 0, length, length, &mut bytes).await;
    read.is_ok() && bytes == sum.to_bytes()
}

/// Checksum of the place of a piece, `None`: of what else a task leaves. `is_part`: of a block of
/// which a part has values.
fn sum(
    stage: &WindowStage,
    written_in: usize,
    task: &TopTask,
    (piece, is_part): (Option<&BlockPiece>, bool),
) -> Sum {
    let number = piece.map_or(u64::MAX, |piece| piece.reduction);
    let place = [task.ordinal, number, 1];
    let place = if is_part { &place[..] } else { &place[..2] };
    Sum::of(&stage.shared.run.execution.plan, written_in, place)
}
