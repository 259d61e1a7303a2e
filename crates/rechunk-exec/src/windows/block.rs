//! Blocks in the intermediate: one object for each task, with the pieces of its pull tasks one
//! after the other.
//!
//! A piece ends with the CRC32C of its place and its bytes, as pieces of a copy do. The object of a
//! task whose operations had nothing to give is one checksum of no bytes.

use bytes::Bytes;
use rechunk_apply::{BlockPiece, TaskOutput, TopTask};
use rechunk_kernel::{narrow, wide};
use rechunk_plan::PIECE_CHECKSUM_BYTES;
use rechunk_store::{Role, Store, StoreError};

use super::read::cut;
use super::stage::WindowStage;
use crate::Fault;
use crate::fill::piece_checksum::Sum;
use crate::stage::piece_place::{PiecePlace, intermediate_key};

/// Stores what a task leaves.
pub(super) async fn put(
    stage: &WindowStage,
    task: &TopTask,
    output: TaskOutput,
) -> Result<(), Fault> {
    let store = stage.shared.run.intermediate()?;
    let key = intermediate_key(stage.shared.number, task.ordinal);
    let tail = |piece: Option<&BlockPiece>, bytes: &[u8]| {
        let mut sum = sum(stage, stage.shared.number, task, piece);
        sum.add(bytes);
        Bytes::copy_from_slice(&sum.to_bytes())
    };
    let TaskOutput::Block { bytes, .. } = output else {
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
    store.put(&key, parts).await.map_err(Fault::Intermediate)?;
    store.meter().add_decoded_written(Role::Intermediate, elements_bytes);
    Ok(())
}

/// Reads the piece of a task's block; `None` if the task had nothing to give.
pub(super) async fn get(
    stage: &WindowStage,
    task: &TopTask,
    piece: &BlockPiece,
) -> Result<Option<Vec<u8>>, Fault> {
    let store = stage.shared.run.intermediate()?;
    let item_bytes = stage.work().job.block_form().item_bytes();
    let length = piece.elements().saturating_mul(item_bytes).saturating_add(PIECE_CHECKSUM_BYTES);
    let before = piece.elements_before.saturating_mul(item_bytes);
    let offset = before.saturating_add(piece.number.saturating_mul(PIECE_CHECKSUM_BYTES));
    let written_in = stage.shared.number.saturating_sub(1);
    let place = PiecePlace::of_task(written_in, task.ordinal, (offset, length));
    let mut bytes = Vec::new();
    let read = store.get_range_into(&place.key, offset, length, length, &mut bytes).await;
    if let Err(error) = read {
        let is_short = error.is_wrong_size() || matches!(error, StoreError::Short { .. });
        let of_nothing = sum(stage, written_in, task, None);
        if is_short && is_nothing(store, &place.key, of_nothing).await {
            return Ok(None);
        }
        return Err(place.unread(error));
    }
    let own = sum(stage, written_in, task, Some(piece));
    let Some(elements) = own.check(&bytes).map(<[u8]>::len) else {
        return Err(place.damaged(store));
    };
    bytes.truncate(elements);
    store.meter().add_decoded_read(Role::Intermediate, wide(bytes.len()));
    Ok(Some(bytes))
}

/// True if an object is the checksum `sum` of no bytes.
async fn is_nothing(store: &Store, key: &str, sum: Sum) -> bool {
    let mut bytes = Vec::new();
    let length = PIECE_CHECKSUM_BYTES;
    let read = store.get_range_into(key, 0, length, length, &mut bytes).await;
    read.is_ok() && bytes == sum.to_bytes()
}

/// Checksum of the place of a piece; `None`: of a task that has nothing.
fn sum(stage: &WindowStage, written_in: usize, task: &TopTask, piece: Option<&BlockPiece>) -> Sum {
    let number = piece.map_or(u64::MAX, |piece| piece.reduction);
    Sum::of(&stage.shared.run.execution.plan, written_in, &[task.ordinal, number])
}
