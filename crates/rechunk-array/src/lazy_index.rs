//! Indexes of shards that are read once, by whichever of their chunks comes first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rechunk_format::{ShardFormat, ShardIndex};
use tokio::sync::OnceCell;

use crate::{Array, ArrayError};

/// An index by which chunks are found ([`ShardFormat::index_of_chunk`]), read when the first of
/// them is looked for.
#[derive(Debug, Clone, Default)]
pub struct LazyIndex(Arc<OnceCell<Option<ShardIndex>>>);

impl LazyIndex {
    /// Place of chunk `chunk` in its shard, offset and length in bytes; `None` if it is missing.
    pub async fn entry(
        &self,
        array: &Array,
        format: &ShardFormat,
        chunk: &[u64],
    ) -> Result<Option<(u64, u64)>, ArrayError> {
        let read = || array.read_index_of_chunk(format, chunk);
        let index = self.0.get_or_try_init(read).await?;
        Ok(index.as_ref().and_then(|index| index.entry(format.slot(chunk))))
    }
}

/// The indexes by which the chunks of a shard are found: a flat one, or one for each table.
#[derive(Debug, Default)]
pub struct LazyIndexes {
    flat: LazyIndex,
    tables: Mutex<HashMap<Vec<u64>, LazyIndex>>,
}

impl LazyIndexes {
    /// [`LazyIndex::entry`] in the index of the chunk.
    pub async fn entry(
        &self,
        array: &Array,
        format: &ShardFormat,
        chunk: &[u64],
    ) -> Result<Option<(u64, u64)>, ArrayError> {
        if format.tables().is_none() {
            return self.flat.entry(array, format, chunk).await;
        }
        let table = {
            // The map is changed by a single call: whoever panicked left a whole one.
            let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
            tables.entry(format.index_of_chunk(chunk)).or_default().clone()
        };
        table.entry(array, format, chunk).await
    }
}
