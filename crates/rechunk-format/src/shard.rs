//! Shards: objects that hold many chunks and an index of where each of them is.
//!
//! The binary form is that of the Zarr v3 codec `sharding_indexed` (version 1.0): chunks in any
//! order, gaps allowed, and at one end of the object an index of two little- or big-endian 64-bit
//! numbers per chunk, offset and length in bytes, both 2⁶⁴ − 1 where there is no chunk, followed
//! by a CRC-32C where the metadata says so.

use rechunk_grid::{Endian, element_count};
use serde::{Deserialize, Serialize};

use crate::FormatError;

/// Bytes of one entry of an index.
const ENTRY_BYTES: usize = 16;
/// Bytes of the checksum after the entries.
const CHECKSUM_BYTES: usize = 4;
/// Value of both numbers of an entry where there is no chunk.
const NOTHING: u64 = u64::MAX;

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
        Ok(Self { shard_shape: shard_shape.to_vec(), chunks, location, endian, has_checksum })
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

    /// Bytes of an encoded index: always the same.
    pub fn index_bytes(&self) -> u64 {
        let checksum = if self.has_checksum { CHECKSUM_BYTES as u64 } else { 0 };
        self.chunk_count() * ENTRY_BYTES as u64 + checksum
    }

    /// Index of the shard that chunk `index` of the array is in.
    pub fn shard_of(&self, index: &[u64]) -> Vec<u64> {
        index.iter().zip(&self.chunks).map(|(index, chunks)| index / chunks).collect()
    }

    /// Position of chunk `index` of the array in the index of its shard.
    pub fn slot(&self, index: &[u64]) -> u64 {
        index
            .iter()
            .zip(&self.chunks)
            .fold(0, |slot, (index, chunks)| slot * chunks + index % chunks)
    }

    /// Reads an index of a shard that has `object_bytes` in all. Every entry it has lies inside
    /// the shard, and beside the index.
    pub fn decode_index(
        &self,
        encoded: &[u8],
        object_bytes: u64,
    ) -> Result<ShardIndex, FormatError> {
        if encoded.len() as u64 != self.index_bytes() {
            let (found, wanted) = (encoded.len(), self.index_bytes());
            return Err(damaged(format!("the index has {found} bytes instead of {wanted}")));
        }
        let (entries, checksum) = encoded.split_at(encoded.len() - self.checksum_len());
        if self.has_checksum && crc32c::crc32c(entries).to_le_bytes() != checksum {
            return Err(damaged("the checksum of the index is wrong".to_owned()));
        }
        let number = |bytes: &[u8]| {
            let mut eight = [0; 8];
            eight.copy_from_slice(bytes);
            match self.endian {
                Endian::Little => u64::from_le_bytes(eight),
                Endian::Big => u64::from_be_bytes(eight),
            }
        };
        let mut index = ShardIndex { entries: Vec::with_capacity(entries.len() / ENTRY_BYTES) };
        for (slot, entry) in entries.chunks_exact(ENTRY_BYTES).enumerate() {
            let (offset, length) = entry.split_at(ENTRY_BYTES / 2);
            let entry = (number(offset), number(length));
            self.check_entry(slot, entry, object_bytes)?;
            index.entries.push(entry);
        }
        Ok(index)
    }

    /// The stored form of an index.
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

    /// The index of a whole shard.
    pub fn index_of(&self, shard: &[u8]) -> Result<ShardIndex, FormatError> {
        let bytes = usize::try_from(self.index_bytes()).unwrap_or(usize::MAX);
        let found = match self.location {
            IndexLocation::Start => shard.get(..bytes),
            IndexLocation::End => shard.len().checked_sub(bytes).and_then(|at| shard.get(at..)),
        };
        let found = found.ok_or_else(|| {
            damaged(format!("{} bytes are too few for its index of {bytes}", shard.len()))
        })?;
        self.decode_index(found, shard.len() as u64)
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
        Err(damaged(format!(
            "entry {slot} of the index says {length} bytes from {offset} on, but the shard has {bytes} \
             bytes, with chunks from {first} to {end}"
        )))
    }

    fn checksum_len(&self) -> usize {
        if self.has_checksum { CHECKSUM_BYTES } else { 0 }
    }
}

fn damaged(reason: String) -> FormatError {
    FormatError::Decode { codec: "sharding_indexed", reason }
}

/// Places of the chunks of one shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardIndex {
    entries: Vec<(u64, u64)>,
}

impl ShardIndex {
    /// An index without chunks.
    pub fn empty(format: &ShardFormat) -> Self {
        let slots = usize::try_from(format.chunk_count()).unwrap_or(0);
        Self { entries: vec![(NOTHING, NOTHING); slots] }
    }

    /// Offset and length of the chunk at `slot`, bytes; `None` if there is no such chunk.
    pub fn entry(&self, slot: u64) -> Option<(u64, u64)> {
        let entry = self.entries.get(usize::try_from(slot).ok()?)?;
        (*entry != (NOTHING, NOTHING)).then_some(*entry)
    }

    /// The bytes of an entry in `shard`, the whole object. An index that was decoded for it has no
    /// entry outside.
    pub fn slice(shard: &[u8], (offset, length): (u64, u64)) -> &[u8] {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        shard.get(start..end).unwrap_or_default()
    }

    /// Enters a chunk.
    pub fn set(&mut self, slot: u64, offset: u64, length: u64) {
        if let Some(entry) = usize::try_from(slot).ok().and_then(|slot| self.entries.get_mut(slot))
        {
            *entry = (offset, length);
        }
    }

    /// Number of chunks it has.
    pub fn count(&self) -> u64 {
        self.entries.iter().filter(|entry| **entry != (NOTHING, NOTHING)).count() as u64
    }

    /// Length of the longest chunk, bytes.
    pub fn longest_bytes(&self) -> u64 {
        let lengths = self.entries.iter().filter(|entry| **entry != (NOTHING, NOTHING));
        lengths.map(|(_, length)| *length).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn format(location: IndexLocation, endian: Endian, has_checksum: bool) -> ShardFormat {
        ShardFormat::new(&[4, 6], &[2, 3], location, endian, has_checksum).unwrap()
    }

    #[test]
    fn chunks_have_to_divide_shards() {
        assert!(ShardFormat::usual(&[4, 6], &[2, 3]).is_ok());
        for (shard, chunk) in
            [(&[4, 6][..], &[3, 3][..]), (&[4], &[2, 2]), (&[4], &[0]), (&[0], &[1])]
        {
            assert!(ShardFormat::usual(shard, chunk).is_err(), "{shard:?} {chunk:?}");
        }
        assert!(ShardFormat::usual(&[1 << 40], &[1]).is_err());
    }

    #[test]
    fn chunks_have_their_places() {
        let format = format(IndexLocation::End, Endian::Little, true);
        assert_eq!(format.chunk_count(), 4);
        assert_eq!(format.index_bytes(), 68);
        assert_eq!(format.shard_of(&[3, 4]), [1, 2]);
        assert_eq!(format.slot(&[3, 4]), 2);
    }

    #[test]
    fn an_entry_outside_the_shard_is_refused() {
        let at_start = format(IndexLocation::Start, Endian::Little, true);
        let format = format(IndexLocation::End, Endian::Little, true);
        let outside = [(90, 11), (u64::MAX, 0), (u64::MAX, 1), (0, u64::MAX), (1 << 63, 1 << 63)];
        for (format, entry) in outside
            .map(|entry| (format.clone(), entry))
            .into_iter()
            // In the index, which has 68 bytes.
            .chain([(format.clone(), (20, 13)), (at_start.clone(), (67, 1))])
        {
            let mut index = ShardIndex::empty(&format);
            index.entries[2] = entry;
            let error = format.decode_index(&format.encode_index(&index), 100).unwrap_err();
            assert!(error.to_string().contains("entry 2"), "{error}");
        }
        for (format, entry) in
            [(format, (20, 12)), (at_start.clone(), (68, 32)), (at_start, (0, 0))]
        {
            let mut index = ShardIndex::empty(&format);
            index.entries[2] = entry;
            assert_eq!(format.decode_index(&format.encode_index(&index), 100).unwrap(), index);
        }
    }

    proptest! {
        #[test]
        fn an_index_reads_back(
            entries in prop::collection::vec(prop::option::of((0_u64..50, 0_u64..50)), 4),
            at_start: bool, big: bool, has_checksum: bool,
        ) {
            let location = if at_start { IndexLocation::Start } else { IndexLocation::End };
            let endian = if big { Endian::Big } else { Endian::Little };
            let format = format(location, endian, has_checksum);
            let mut index = ShardIndex::empty(&format);
            let first = if at_start { format.index_bytes() } else { 0 };
            for (slot, entry) in entries.iter().enumerate() {
                if let Some((offset, length)) = entry {
                    index.set(slot as u64, first + offset, *length);
                }
            }
            let encoded = format.encode_index(&index);
            let bytes = 100 + format.index_bytes();
            prop_assert_eq!(encoded.len() as u64, format.index_bytes());
            prop_assert_eq!(&format.decode_index(&encoded, bytes).unwrap(), &index);
            prop_assert!(format.decode_index(&encoded[1..], bytes).is_err());
            let mut shard = vec![7; 100];
            shard.splice(if at_start { 0..0 } else { 100..100 }, encoded.clone());
            prop_assert_eq!(&format.index_of(&shard).unwrap(), &index);
            if has_checksum {
                let mut flipped = encoded;
                flipped[5] ^= 1;
                prop_assert!(format.decode_index(&flipped, bytes).is_err());
            }
        }
    }
}
