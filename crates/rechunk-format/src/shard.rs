//! Shards: objects that hold many chunks and an index of where each of them is.
//!
//! The index is flat, or made of [tables](ShardTables). A flat one is that of the Zarr v3 codec
//! `sharding_indexed` (version 1.0): chunks in any order, gaps allowed, and at one end of the
//! object an index of two little- or big-endian 64-bit numbers per chunk, offset and length in
//! bytes, both 2⁶⁴ − 1 where there is no chunk, followed by a CRC-32C where the metadata says so.

mod index;
mod tables;

use std::sync::Arc;

use rechunk_grid::{Endian, element_count};
use serde::{Deserialize, Serialize};

use self::index::NOTHING;
pub use self::index::ShardIndex;
use self::tables::Tables;
pub use self::tables::{Place, ShardTables};
use crate::FormatError;

/// Bytes of one entry of an index.
const ENTRY_BYTES: usize = 16;
/// Bytes of the checksum after the entries.
const CHECKSUM_BYTES: usize = 4;
/// Most chunks of one shard: an index of 64 MiB.
pub const SHARD_CHUNKS_MAX: u64 = 1 << 22;

/// Place of the index in a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IndexLocation {
    /// Before the chunks.
    Start,
    /// After the chunks.
    End,
}

/// Format of shards: their chunks and their index.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShardFormat {
    /// Shape of a shard, elements: a multiple of the chunk shape on every axis.
    shard_shape: Vec<u64>,
    /// Chunks of a shard along each axis.
    chunks: Vec<u64>,
    location: IndexLocation,
    endian: Endian,
    has_checksum: bool,
    /// Form of an index that is not flat.
    tables: Option<Tables>,
}

impl ShardFormat {
    /// Shards of `shard_shape` elements with chunks of `chunk_shape`; or what is wrong with them.
    pub fn new(
        shard_shape: &[u64],
        chunk_shape: &[u64],
        location: IndexLocation,
        endian: Endian,
        has_checksum: bool,
    ) -> Result<Self, String> {
        if shard_shape.len() != chunk_shape.len() {
            let (shard, chunk) = (shard_shape.len(), chunk_shape.len());
            return Err(format!("a shard of {shard} axes cannot hold chunks of {chunk}"));
        }
        let fits = |(&shard, &chunk): (&u64, &u64)| chunk > 0 && shard.is_multiple_of(chunk);
        if !shard_shape.iter().zip(chunk_shape).all(fits) || shard_shape.contains(&0) {
            return Err(format!(
                "chunks of {chunk_shape:?} do not divide shards of {shard_shape:?} evenly"
            ));
        }
        let chunks: Vec<u64> = shard_shape.iter().zip(chunk_shape).map(|(s, c)| s / c).collect();
        if element_count(&chunks).is_none_or(|count| count > SHARD_CHUNKS_MAX) {
            return Err(format!("a shard has more than {SHARD_CHUNKS_MAX} chunks"));
        }
        let (shard_shape, tables) = (shard_shape.to_vec(), None);
        Ok(Self { shard_shape, chunks, location, endian, has_checksum, tables })
    }

    /// Shards with an index of this form, and chunks of `chunk_shape`; or what is wrong with them.
    pub fn with_tables(chunk_shape: &[u64], tables: Arc<dyn ShardTables>) -> Result<Self, String> {
        let extents = chunk_shape.iter().zip(tables.chunks());
        let shard_shape: Option<Vec<u64>> =
            extents.map(|(extent, chunks)| extent.checked_mul(*chunks)).collect();
        let shard_shape = shard_shape.ok_or("a shard is longer than 64 bits can say")?;
        let (location, endian) = (IndexLocation::Start, Endian::Little);
        let flat = Self::new(&shard_shape, chunk_shape, location, endian, false)?;
        Ok(Self { tables: Some(Tables(tables)), ..flat })
    }

    /// The form most readers and writers know: index at the end, little-endian, with checksum.
    pub fn usual(shard_shape: &[u64], chunk_shape: &[u64]) -> Result<Self, String> {
        Self::new(shard_shape, chunk_shape, IndexLocation::End, Endian::Little, true)
    }

    /// Returns this format for other shapes.
    pub fn reshaped(&self, shard_shape: &[u64], chunk_shape: &[u64]) -> Result<Self, String> {
        Self::new(shard_shape, chunk_shape, self.location, self.endian, self.has_checksum)
    }

    /// Shape of a shard, elements.
    pub fn shard_shape(&self) -> &[u64] {
        &self.shard_shape
    }

    /// Chunks of a shard along each axis.
    pub fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    /// Number of chunks of a shard.
    pub fn chunk_count(&self) -> u64 {
        self.chunks.iter().product()
    }

    /// Shape of the elements whose chunks are found by one index: a shard, or the box of a table.
    pub fn index_shape(&self) -> Vec<u64> {
        let Some(tables) = &self.tables else { return self.shard_shape.clone() };
        let axes = self.shard_shape.iter().zip(&self.chunks).zip(tables.table_chunks());
        axes.map(|((shard, chunks), table)| shard / chunks * table).collect()
    }

    /// Position, in the grid of [`ShardFormat::index_shape`], of the index by which chunk `index`
    /// is found.
    pub fn index_of_chunk(&self, index: &[u64]) -> Vec<u64> {
        let chunks = self.tables.as_ref().map_or(&self.chunks[..], |tables| tables.table_chunks());
        index.iter().zip(chunks).map(|(index, chunks)| index / chunks).collect()
    }

    /// Requests by which the index of a chunk is read.
    pub fn index_reads(&self) -> u64 {
        if self.tables.is_some() { 2 } else { 1 }
    }

    /// Most bytes of what is read to find a chunk: the index of a shard, or an entry of the
    /// directory and a table.
    pub fn found_by_bytes(&self) -> u64 {
        match &self.tables {
            None => self.index_bytes(),
            Some(tables) => tables.table_bytes_max().saturating_add(tables.entry_place(0, 0).1),
        }
    }

    /// Form of an index that is made of tables.
    pub fn tables(&self) -> Option<&dyn ShardTables> {
        self.tables.as_deref()
    }

    /// True if objects hold chunks from anywhere ([`ShardTables::is_scattered`]).
    pub fn is_scattered(&self) -> bool {
        self.tables.as_ref().is_some_and(|tables| tables.is_scattered())
    }

    /// Bytes at the start of a shard that are written last.
    pub fn head_bytes(&self) -> u64 {
        match (&self.tables, self.location) {
            (Some(tables), _) => tables.directory_bytes(),
            (None, IndexLocation::Start) => self.index_bytes(),
            (None, IndexLocation::End) => 0,
        }
    }

    /// Place of the index.
    pub fn location(&self) -> IndexLocation {
        self.location
    }

    /// Byte order of the index.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// A CRC-32C follows the entries of the index.
    pub fn has_checksum(&self) -> bool {
        self.has_checksum
    }

    /// Bytes of an encoded index: of a flat one always these, of tables the most.
    pub fn index_bytes(&self) -> u64 {
        if let Some(tables) = &self.tables {
            return tables.directory_bytes().saturating_add(tables.tables_bytes_max());
        }
        let checksum = if self.has_checksum { CHECKSUM_BYTES as u64 } else { 0 };
        self.chunk_count() * ENTRY_BYTES as u64 + checksum
    }

    /// Index of the shard that chunk `index` of the array is in.
    pub fn shard_of(&self, index: &[u64]) -> Vec<u64> {
        index.iter().zip(&self.chunks).map(|(index, chunks)| index / chunks).collect()
    }

    /// Position of chunk `index` of the array in the index of its shard.
    pub fn slot(&self, index: &[u64]) -> u64 {
        if let Some(tables) = &self.tables {
            return tables.slot(index);
        }
        index
            .iter()
            .zip(&self.chunks)
            .fold(0, |slot, (index, chunks)| slot * chunks + index % chunks)
    }

    /// Reads a flat index of a shard that has `object_bytes` in all. Every entry it has lies inside
    /// the shard, and beside the index.
    pub fn decode_index(
        &self,
        encoded: &[u8],
        object_bytes: u64,
    ) -> Result<ShardIndex, FormatError> {
        if encoded.len() as u64 != self.index_bytes() {
            let (found, wanted) = (encoded.len(), self.index_bytes());
            return Err(self.damaged(format!("the index has {found} bytes instead of {wanted}")));
        }
        let (entries, checksum) = encoded.split_at(encoded.len() - self.checksum_len());
        if self.has_checksum && crc32c::crc32c(entries).to_le_bytes() != checksum {
            return Err(self.damaged("the checksum of the index is wrong".to_owned()));
        }
        let number = |bytes: &[u8]| {
            let mut eight = [0; 8];
            eight.copy_from_slice(bytes);
            match self.endian {
                Endian::Little => u64::from_le_bytes(eight),
                Endian::Big => u64::from_be_bytes(eight),
            }
        };
        let count = entries.len() / ENTRY_BYTES;
        let mut index = ShardIndex { first: 0, entries: Vec::with_capacity(count) };
        for (slot, entry) in entries.chunks_exact(ENTRY_BYTES).enumerate() {
            let (offset, length) = entry.split_at(ENTRY_BYTES / 2);
            let entry = (number(offset), number(length));
            self.check_entry(slot, entry, object_bytes)?;
            index.entries.push(entry);
        }
        Ok(index)
    }

    /// The stored form of a flat index.
    pub fn encode_index(&self, index: &ShardIndex) -> Vec<u8> {
        let mut encoded = Vec::with_capacity(index.entries.len() * ENTRY_BYTES + CHECKSUM_BYTES);
        for (offset, length) in &index.entries {
            for number in [offset, length] {
                encoded.extend(match self.endian {
                    Endian::Little => number.to_le_bytes(),
                    Endian::Big => number.to_be_bytes(),
                });
            }
        }
        if self.has_checksum {
            let checksum = crc32c::crc32c(&encoded);
            encoded.extend(checksum.to_le_bytes());
        }
        encoded
    }

    /// Reads the table by which the chunk of `slot` is found, of shard `number` with `object_bytes`
    /// in all. Every entry lies inside the shard.
    pub fn decode_table(
        &self,
        number: u64,
        slot: u64,
        table: &[u8],
        object_bytes: u64,
    ) -> Result<ShardIndex, FormatError> {
        let Some(tables) = &self.tables else { return Ok(ShardIndex::empty(self)) };
        let slots: u64 = tables.table_chunks().iter().product();
        let mut index = ShardIndex::nothing(slot / slots * slots, slots);
        self.take_table((number, slot), table, object_bytes, &mut index)?;
        Ok(index)
    }

    /// Enters the chunks of a table.
    fn take_table(
        &self,
        (number, slot): (u64, u64),
        table: &[u8],
        object_bytes: u64,
        index: &mut ShardIndex,
    ) -> Result<(), FormatError> {
        let Some(tables) = &self.tables else { return Ok(()) };
        let mut wrong = None;
        let mut enter = |slot: u64, (offset, length): Place| {
            let is_inside = offset.checked_add(length).is_some_and(|end| end <= object_bytes);
            if !is_inside || offset < tables.directory_bytes() {
                wrong.get_or_insert(self.outside(slot, (offset, length), object_bytes));
            } else if index.entry(slot).is_some() {
                wrong.get_or_insert(self.damaged(format!("it names chunk {slot} twice")));
            } else {
                index.set(slot, offset, length);
            }
        };
        let read = tables.read_table(number, slot, table, &mut enter);
        read.map_err(|reason| self.damaged(reason))?;
        wrong.map_or(Ok(()), Err)
    }

    /// Place of the table that `entry` of the directory names in a shard of `object_bytes`; `None`
    /// if there is none. It is no longer than a table can be.
    pub fn table_place(
        &self,
        entry: &[u8],
        object_bytes: u64,
    ) -> Result<Option<Place>, FormatError> {
        let Some(tables) = &self.tables else { return Ok(None) };
        let place = tables.table_place(entry).map_err(|reason| self.damaged(reason))?;
        let Some((offset, length)) = place else { return Ok(None) };
        let most = tables.table_bytes_max();
        if length > most {
            let reason = format!("a table of {length} bytes, but at most {most} can be right");
            return Err(self.damaged(reason));
        }
        if offset.checked_add(length).is_none_or(|end| end > object_bytes) {
            return Err(self.damaged(format!(
                "a table of {length} bytes from {offset} on, but the shard has {object_bytes} bytes"
            )));
        }
        Ok(Some((offset, length)))
    }

    /// The index of whole shard `number`.
    pub fn index_of(&self, number: u64, shard: &[u8]) -> Result<ShardIndex, FormatError> {
        let object_bytes = shard.len() as u64;
        let Some(tables) = &self.tables else {
            let bytes = usize::try_from(self.index_bytes()).unwrap_or(usize::MAX);
            let found = match self.location {
                IndexLocation::Start => shard.get(..bytes),
                IndexLocation::End => shard.len().checked_sub(bytes).and_then(|at| shard.get(at..)),
            };
            let too_few = || format!("{} bytes are too few for its index of {bytes}", shard.len());
            let found = found.ok_or_else(|| self.damaged(too_few()))?;
            return self.decode_index(found, object_bytes);
        };
        let mut index = ShardIndex::empty(self);
        for slot in self.table_slots() {
            let place = tables.entry_place(number, slot);
            let entry = ShardIndex::slice(shard, place);
            if entry.len() as u64 != place.1 {
                let (bytes, head) = (shard.len(), tables.directory_bytes());
                let reason = format!("{bytes} bytes are too few for its directory of {head}");
                return Err(self.damaged(reason));
            }
            let Some(place) = self.table_place(entry, object_bytes)? else { continue };
            let table = ShardIndex::slice(shard, place);
            self.take_table((number, slot), table, object_bytes, &mut index)?;
        }
        Ok(index)
    }

    /// The first slot of each table; of a flat index the first.
    pub fn table_slots(&self) -> impl Iterator<Item = u64> + use<> {
        let slots = match &self.tables {
            Some(tables) => tables.table_chunks().iter().product(),
            None => self.chunk_count(),
        };
        (0..self.chunk_count()).step_by(usize::try_from(slots).unwrap_or(usize::MAX).max(1))
    }

    /// The stored form of the index of shard `number`, whose chunks end at `end`. Returns its
    /// pieces with their offsets, the one at the start last, and the bytes of the whole shard.
    pub fn closing(&self, number: u64, index: &ShardIndex, end: u64) -> (Vec<(u64, Vec<u8>)>, u64) {
        let Some(tables) = &self.tables else {
            let encoded = self.encode_index(index);
            return match self.location {
                IndexLocation::Start => (vec![(0, encoded)], end),
                IndexLocation::End => {
                    let bytes = end.saturating_add(encoded.len() as u64);
                    (vec![(end, encoded)], bytes)
                }
            };
        };
        let (directory, encoded) = tables.write(number, end, &|slot| index.entry(slot));
        let bytes = end.saturating_add(encoded.len() as u64);
        (vec![(end, encoded), (0, directory)], bytes)
    }

    fn check_entry(
        &self,
        slot: usize,
        (offset, length): (u64, u64),
        bytes: u64,
    ) -> Result<(), FormatError> {
        let index_bytes = self.index_bytes();
        let (first, end) = match self.location {
            IndexLocation::Start => (index_bytes, bytes),
            IndexLocation::End => (0, bytes.saturating_sub(index_bytes)),
        };
        let is_nothing = (offset, length) == (NOTHING, NOTHING);
        let is_inside = offset
            .checked_add(length)
            .is_some_and(|at| at <= end && (offset >= first || length == 0));
        if is_nothing || is_inside {
            return Ok(());
        }
        Err(self.damaged(format!(
            "entry {slot} of the index says {length} bytes from {offset} on, but the shard has {bytes} \
             bytes, with chunks from {first} to {end}"
        )))
    }

    fn outside(&self, slot: u64, (offset, length): Place, bytes: u64) -> FormatError {
        self.damaged(format!(
            "a table says {length} bytes from {offset} on for chunk {slot}, but the shard has {bytes} bytes"
        ))
    }

    fn damaged(&self, reason: String) -> FormatError {
        FormatError::Decode { codec: self.codec(), reason }
    }

    /// Name of the form of the index, for errors.
    pub fn codec(&self) -> &'static str {
        if self.tables.is_some() { "sharding" } else { "sharding_indexed" }
    }

    fn checksum_len(&self) -> usize {
        if self.has_checksum { CHECKSUM_BYTES } else { 0 }
    }
}

impl ShardIndex {
    /// An index without chunks.
    pub fn empty(format: &ShardFormat) -> Self {
        Self::nothing(0, format.chunk_count())
    }
}

#[cfg(test)]
mod tests;
