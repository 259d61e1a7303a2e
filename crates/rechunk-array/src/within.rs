//! Chunks of which nothing is known before they are read: within a limit of the caller's.

use bytes::Bytes;
use rechunk_kernel::wide;
use rechunk_store::StoreError;

use crate::{Array, ArrayError};

/// Result of reading a chunk within a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// Its encoded bytes.
    Read(Bytes),
    /// There is no such chunk.
    Missing,
    /// It has so many bytes, more than the limit. Its body was not read.
    TooLarge(u64),
}

impl Array {
    /// The encoded bytes of chunk `index`, where chunks are objects, if they are at most
    /// `limit_bytes`. It need not be damaged if they are more: of elements that differ in length
    /// metadata bound nothing.
    pub async fn read_chunk_within(
        &self,
        index: &[u64],
        limit_bytes: u64,
    ) -> Result<Within, ArrayError> {
        if self.is_gap(index) {
            return Ok(Within::Missing);
        }
        let key = self.layout().chunk_key(index);
        match self.store().get(&key, limit_bytes).await {
            Ok(found) => {
                self.note(index, found.is_some())?;
                Ok(found.map_or(Within::Missing, Within::Read))
            }
            Err(StoreError::TooLarge { size_bytes, .. }) => Ok(Within::TooLarge(size_bytes)),
            Err(error) => Err(self.store_error(index, error)),
        }
    }

    /// The encoded bytes of chunk `index` that `entry` of its shard's index says, offset and
    /// length, if they are at most `limit_bytes`.
    pub async fn read_entry_within(
        &self,
        index: &[u64],
        (offset, length): (u64, u64),
        limit_bytes: u64,
    ) -> Result<Within, ArrayError> {
        if length > limit_bytes {
            return Ok(Within::TooLarge(length));
        }
        let key = self.layout().chunk_key(index);
        let read = self.store().get_range(&key, offset, length).await;
        let read = read.map_err(|error| self.store_error(index, error))?;
        debug_assert_eq!(wide(read.len()), length);
        Ok(Within::Read(read))
    }
}
