//! Target chunks as they are stored: objects, or entries of shards.

use bytes::Bytes;
use rechunk_store::Role;

use crate::Fault;
use crate::stage::task::TaskRun;
use crate::stage::way_out::WayOut;

/// Stores an encoded chunk, as an object or in its shard, or leaves it out if it is `None`. Gives
/// the bytes back.
pub(crate) async fn store(
    task: &TaskRun,
    index: &[u64],
    encoded: Option<Bytes>,
) -> Result<Option<Bytes>, Fault> {
    let target = task.stage.target();
    if task.stage.way_out == WayOut::Nothing {
        return Ok(encoded);
    }
    let Some(format) = target.layout().shards() else {
        let Some(encoded) = encoded else {
            task.stage.leave_out(index).await?;
            return Ok(None);
        };
        target.write_chunk(index, encoded.clone()).await.map_err(Fault::Target)?;
        return Ok(Some(encoded));
    };
    let shard = task.shards.of_chunk(&task.stage, format, index).map_err(Fault::Target)?;
    let kept = match encoded {
        Some(encoded) => Some(shard.add(index, encoded).await.map_err(Fault::Target)?),
        None => None,
    };
    task.shards.done(&task.stage, &shard).await?;
    Ok(kept)
}

/// Fetches what the target has of a chunk. False if it is missing.
pub(crate) async fn fetch_chunk(
    task: &TaskRun,
    index: &[u64],
    encoded: &mut Vec<u8>,
) -> Result<bool, Fault> {
    let other = task.stage.target();
    let Some(format) = other.layout().shards() else {
        return other.read_chunk_into(index, encoded).await.map_err(Fault::Target);
    };
    let shard = task.shards.of_chunk(&task.stage, format, index).map_err(Fault::Target)?;
    let entry = shard.entry(other, format, index).await.map_err(Fault::Target)?;
    if let Some(entry) = entry {
        other.read_entry_into(index, entry, encoded).await.map_err(Fault::Target)?;
    } else {
        other.store().meter().add_gets_missing(Role::Target, 1);
    }
    Ok(entry.is_some())
}
