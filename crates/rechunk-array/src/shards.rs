//! Chunks that lie in shards: reading an index, a chunk, a whole shard; and filling a shard.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use rechunk_format::{FormatError, IndexLocation, ShardFormat, ShardIndex, ShardTables};
use rechunk_kernel::wide;
use rechunk_store::{End, ObjectWriter, StoreError};

use crate::array::Unit;
use crate::error::Cause;
use crate::{Array, ArrayError};

impl Array {
    /// The index of shard `shard`, or `None` if there is no such shard. Every entry it has lies
    /// inside the shard and is no larger than the codecs can have made a chunk. One request, and
    /// one more for each table where the index has some.
    pub async fn read_index(
        &self,
        format: &ShardFormat,
        shard: &[u64],
    ) -> Result<Option<ShardIndex>, ArrayError> {
        if let Some(tables) = format.tables() {
            return self.read_tables((format, tables), shard).await;
        }
        let key = self.layout().object_key(shard);
        let end = match format.location() {
            IndexLocation::Start => End::First,
            IndexLocation::End => End::Last,
        };
        let unit = Unit::Shard(shard);
        if self.is_gap(shard) {
            return Ok(None);
        }
        let found = self.store().get_end(&key, end, format.index_bytes()).await;
        let found = found.map_err(|error| self.error(unit, Cause::Store(error)))?;
        self.note(shard, found.is_some())?;
        let Some((encoded, bytes)) = found else { return Ok(None) };
        let index = format.decode_index(&encoded, bytes);
        let index = index.map_err(|error| self.error(unit, Cause::Format(error)))?;
        self.check_index(format, shard, &index)?;
        self.note_chunks(format, shard, &index);
        Ok(Some(index))
    }

    /// The index by which chunk `chunk` is found, in [`ShardFormat::index_reads`] requests: that of
    /// its shard, or a table of it. `None` if there is no such shard.
    pub async fn read_index_of_chunk(
        &self,
        format: &ShardFormat,
        chunk: &[u64],
    ) -> Result<Option<ShardIndex>, ArrayError> {
        let (shard, slot) = (format.shard_of(chunk), format.slot(chunk));
        let Some(tables) = format.tables() else { return self.read_index(format, &shard).await };
        if self.is_gap(&shard) {
            return Ok(None);
        }
        let number = self.layout().shard_number(&shard);
        let (offset, length) = tables.entry_place(number, slot);
        let key = self.layout().object_key(&shard);
        let found = self.store().get_range_if_there(&key, offset, length).await;
        let found = found.map_err(|error| self.error(Unit::Shard(&shard), Cause::Store(error)))?;
        self.note(&shard, found.is_some())?;
        let Some((entry, bytes)) = found else { return Ok(None) };
        self.read_table((format, number), &shard, slot, (&entry, bytes)).await.map(Some)
    }

    /// All tables of a shard, one after the other.
    async fn read_tables(
        &self,
        (format, tables): (&ShardFormat, &dyn ShardTables),
        shard: &[u64],
    ) -> Result<Option<ShardIndex>, ArrayError> {
        if self.is_gap(shard) {
            return Ok(None);
        }
        let (key, number) = (self.layout().object_key(shard), self.layout().shard_number(shard));
        let mut index = ShardIndex::empty(format);
        // Of a directory that is large no more is held than what names tables.
        let places: Vec<_> =
            format.table_slots().map(|slot| (slot, tables.entry_place(number, slot))).collect();
        let (first, last) = (places.first(), places.last());
        let (Some((_, first)), Some((_, last))) = (first, last) else { return Ok(Some(index)) };
        let (start, end) = (first.0, last.0.saturating_add(last.1));
        let found = self.store().get_range_if_there(&key, start, end - start).await;
        let found = found.map_err(|error| self.error(Unit::Shard(shard), Cause::Store(error)))?;
        self.note(shard, found.is_some())?;
        let Some((directory, bytes)) = found else { return Ok(None) };
        for (slot, (offset, length)) in places {
            let entry = ShardIndex::slice(&directory, (offset - start, length));
            let table = self.read_table((format, number), shard, slot, (entry, bytes)).await?;
            index.take(&table);
        }
        Ok(Some(index))
    }

    /// The table that `entry` of the directory names, of a shard of so many bytes.
    async fn read_table(
        &self,
        (format, number): (&ShardFormat, u64),
        shard: &[u64],
        slot: u64,
        (entry, object_bytes): (&[u8], u64),
    ) -> Result<ShardIndex, ArrayError> {
        let wrong = |error| self.error(Unit::Shard(shard), Cause::Format(error));
        let table = match format.table_place(entry, object_bytes).map_err(wrong)? {
            Some((offset, length)) => {
                let key = self.layout().object_key(shard);
                let read = self.store().get_range(&key, offset, length).await;
                Some(read.map_err(|error| self.error(Unit::Shard(shard), Cause::Store(error)))?)
            }
            None => None,
        };
        let table = table.as_deref().unwrap_or_default();
        let index = format.decode_table(number, slot, table, object_bytes).map_err(wrong)?;
        self.check_index(format, shard, &index)?;
        self.note_chunks(format, shard, &index);
        Ok(index)
    }

    /// The index of a whole shard that was read.
    pub fn index_of(
        &self,
        format: &ShardFormat,
        shard: &[u64],
        bytes: &[u8],
    ) -> Result<ShardIndex, ArrayError> {
        let index = format.index_of(self.layout().shard_number(shard), bytes);
        let index = index.map_err(|error| self.error(Unit::Shard(shard), Cause::Format(error)))?;
        self.check_index(format, shard, &index)?;
        self.note_chunks(format, shard, &index);
        Ok(index)
    }

    /// Notes which chunks of a shard are missing.
    fn note_chunks(&self, format: &ShardFormat, shard: &[u64], index: &ShardIndex) {
        if let Some(presence) = &self.presence {
            presence.partial(format, shard, index);
        }
    }

    fn check_index(
        &self,
        format: &ShardFormat,
        shard: &[u64],
        index: &ShardIndex,
    ) -> Result<(), ArrayError> {
        // Of elements that differ in length any may be right. Whoever reads has a limit.
        if self.layout().variable().is_some() {
            return Ok(());
        }
        self.check_entry(Unit::Shard(shard), index.longest_bytes(), format.codec())
    }

    fn check_entry(
        &self,
        unit: Unit<'_>,
        longest: u64,
        codec: &'static str,
    ) -> Result<(), ArrayError> {
        let most = self.layout().codec_cost().encoded_bytes_max;
        if longest <= most {
            return Ok(());
        }
        let reason =
            format!("the index has a chunk of {longest} bytes, but at most {most} can be right");
        let error = FormatError::Decode { codec, reason };
        Err(self.error(unit, Cause::Format(error)))
    }

    /// The encoded bytes of chunk `index`, of which `entry` of its shard's index says where they
    /// are, into a buffer that is used again.
    pub async fn read_entry_into(
        &self,
        index: &[u64],
        (offset, length): (u64, u64),
        buffer: &mut Vec<u8>,
    ) -> Result<(), ArrayError> {
        let codec = self.layout().shards().map_or("sharding_indexed", ShardFormat::codec);
        self.check_entry(Unit::Chunk(index), length, codec)?;
        let key = self.layout().chunk_key(index);
        let room = self.layout().codec_cost().encoded_bytes_max;
        let read = self.store().get_range_into(&key, offset, length, room, buffer).await;
        read.map_err(|error| self.store_error(index, error))
    }

    /// All bytes of shard `shard` into a buffer that is used again.
    pub async fn read_shard_into(
        &self,
        shard: &[u64],
        limit_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<WholeShard, ArrayError> {
        let key = self.layout().object_key(shard);
        if self.is_gap(shard) {
            return Ok(WholeShard::Missing);
        }
        let found = self.store().get_into(&key, limit_bytes, buffer).await;
        match found {
            Ok(true) => self.note(shard, true).map(|()| WholeShard::Read),
            Ok(false) => self.note(shard, false).map(|()| WholeShard::Missing),
            Err(error) if error.is_too_large() => Ok(WholeShard::TooLarge),
            Err(error) => Err(self.error(Unit::Shard(shard), Cause::Store(error))),
        }
    }

    /// Stores `bytes` as shard `shard`, in place of any that was there.
    pub async fn write_shard(&self, shard: &[u64], bytes: Bytes) -> Result<(), ArrayError> {
        let key = self.layout().object_key(shard);
        let stored = self.store().put(&key, vec![bytes]).await;
        stored.map_err(|error| self.error(Unit::Shard(shard), Cause::Store(error)))
    }

    /// Begins shard `shard`. Nothing is written before its first chunk.
    pub fn begin_shard(
        &self,
        format: &ShardFormat,
        shard: &[u64],
    ) -> Result<ShardWriter, ArrayError> {
        let end = format.head_bytes();
        let object = self.store().begin(&self.layout().object_key(shard), end);
        let object = object.map_err(|error| self.error(Unit::Shard(shard), Cause::Store(error)))?;
        Ok(ShardWriter {
            array: self.clone(),
            format: format.clone(),
            shard: shard.to_vec(),
            object,
            state: Mutex::new(State { index: ShardIndex::empty(format), end }),
        })
    }
}

/// Result of reading a whole shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WholeShard {
    /// It is in the buffer.
    Read,
    /// There is no such shard: all its chunks are missing.
    Missing,
    /// It is larger than the buffer may be; nothing was read. It may be right all the same: a
    /// writer may leave gaps.
    TooLarge,
}

/// A shard that is being filled: its one writer. Chunks are put behind each other in the order
/// they come; the index follows when it is finished.
#[derive(Debug)]
pub struct ShardWriter {
    array: Array,
    format: ShardFormat,
    shard: Vec<u64>,
    object: ObjectWriter,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    index: ShardIndex,
    /// Offset of the next chunk, bytes.
    end: u64,
}

impl ShardWriter {
    /// Adds chunk `index` of the array; any number may be added at the same time. Gives the bytes
    /// back, so that their buffer can be used again.
    pub async fn add(&self, index: &[u64], encoded: Bytes) -> Result<Bytes, ArrayError> {
        let length = wide(encoded.len());
        let offset = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let offset = state.end;
            state.end = offset.saturating_add(length);
            state.index.set(self.format.slot(index), offset, length);
            offset
        };
        let written = self.object.write_at(offset, encoded).await;
        written.map_err(|error| self.array.store_error(index, error))
    }

    /// Writes the index and makes the shard visible. A shard without chunks is not written: false.
    /// Called once, after all chunks have been added.
    pub async fn finish(&self) -> Result<bool, ArrayError> {
        let Some(bytes) = self.close().await? else { return Ok(false) };
        let written = self.object.finish(bytes).await;
        written.map(|()| true).map_err(|error| self.failed(error))
    }

    /// [`ShardWriter::finish`] of a shard that is durable when this returns, and not there by
    /// halves even after a power cut.
    pub async fn finish_durable(&self) -> Result<bool, ArrayError> {
        let Some(bytes) = self.close().await? else { return Ok(false) };
        let written = self.object.finish_durable(bytes).await;
        written.map(|()| true).map_err(|error| self.failed(error))
    }

    /// Writes the index; returns the bytes of the shard, or `None` if it has no chunks.
    async fn close(&self) -> Result<Option<u64>, ArrayError> {
        let (pieces, bytes) = {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.index.count() == 0 {
                return Ok(None);
            }
            let number = self.array.layout().shard_number(&self.shard);
            self.format.closing(number, &state.index, state.end)
        };
        for (at, piece) in pieces {
            let written = self.object.write_at(at, Bytes::from(piece)).await;
            written.map_err(|error| self.failed(error))?;
        }
        Ok(Some(bytes))
    }

    fn failed(&self, error: StoreError) -> ArrayError {
        self.array.error(Unit::Shard(&self.shard), Cause::Store(error))
    }
}
