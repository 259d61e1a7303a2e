//! Source chunks as they are stored: objects, or entries of shards.

use rechunk_array::ArrayError;
use rechunk_store::Role;

use crate::stage::task::TaskRun;
use crate::units::input::Input;

/// The tile takes a part of a source chunk, and no more of it has to be looked at.
pub(crate) fn takes_part(task: &TaskRun, input: &Input) -> bool {
    let stage = &task.stage;
    input.wanted.len() < input.bytes
        && !stage.digest.is_of_encoded_chunks()
        && stage.run.execution.source.layout().shards().is_none()
}

/// Fetches a source chunk, as an object or out of its shard. False if it is missing.
pub(crate) async fn fetch_chunk(
    task: &TaskRun,
    index: &[u64],
    encoded: &mut Vec<u8>,
) -> Result<bool, ArrayError> {
    let source = &task.stage.run.execution.source;
    let Some(format) = source.layout().shards() else {
        return source.read_chunk_into(index, encoded).await;
    };
    let Some(entry) = task.indexes.entry((&task.stage, &task.tile), format, index).await? else {
        source.store().meter().add_gets_missing(Role::Source, 1);
        return Ok(false);
    };
    source.read_entry_into(index, entry, encoded).await.map(|()| true)
}
