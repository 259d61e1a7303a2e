//! Byte strings that are much alike, compressed in blocks: the documents of thousands of arrays.

use std::fmt;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};

/// Bytes of records from which a block is compressed.
const BLOCK_BYTES: usize = 64 << 10;

/// Bytes of the length that stands before each record.
const LENGTH_BYTES: usize = 4;

/// A list of byte strings that takes a small part of their size. Reading them in their order is
/// cheap; each jump decompresses a block of 64 KiB.
#[derive(Default)]
pub struct Packed {
    blocks: Vec<Block>,
    /// Records that are not compressed yet.
    open: Vec<u8>,
    /// Records in blocks.
    closed: usize,
    count: usize,
    last: Mutex<Option<(usize, Arc<[u8]>)>>,
}

#[derive(Debug, Clone)]
struct Block {
    /// Number of its first record.
    first: usize,
    compressed: Box<[u8]>,
}

impl Packed {
    /// Adds a record and returns its number. Longer ones than 4 GiB are cut.
    pub fn push(&mut self, record: &[u8]) -> usize {
        let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
        self.open.extend(length.to_le_bytes());
        self.open.extend(&record[..record.len().min(u32::MAX as usize)]);
        self.count += 1;
        if self.open.len() >= BLOCK_BYTES {
            self.close();
        }
        self.count - 1
    }

    /// Records in it.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if it has no records.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes that it takes.
    pub fn size_bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(|block| block.compressed.len());
        blocks.sum::<usize>() + self.open.capacity()
    }

    /// The record with a number; `None` if there is none.
    pub fn get(&self, number: usize) -> Option<Vec<u8>> {
        if number >= self.closed {
            return record(&self.open, number - self.closed);
        }
        let position = self.blocks.partition_point(|block| block.first <= number).checked_sub(1)?;
        let block = self.blocks.get(position)?;
        record(&self.block(position, block)?, number - block.first)
    }

    fn block(&self, position: usize, block: &Block) -> Option<Arc<[u8]>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((found, bytes)) = &*last
            && *found == position
        {
            return Some(Arc::clone(bytes));
        }
        let mut bytes = Vec::new();
        DeflateDecoder::new(&block.compressed[..]).read_to_end(&mut bytes).ok()?;
        let bytes: Arc<[u8]> = bytes.into();
        *last = Some((position, Arc::clone(&bytes)));
        Some(bytes)
    }

    fn close(&mut self) {
        let mut compressed = Vec::new();
        let read = DeflateEncoder::new(&self.open[..], Compression::default())
            .read_to_end(&mut compressed);
        if read.is_err() {
            return; // reading from memory does not fail; the records stay as they are
        }
        let block = Block { first: self.closed, compressed: compressed.into() };
        self.blocks.push(block);
        self.open.clear();
        self.closed = self.count;
    }
}

/// The record at a position of a block.
fn record(mut block: &[u8], position: usize) -> Option<Vec<u8>> {
    for left in (0..=position).rev() {
        let (length, rest) = block.split_first_chunk::<LENGTH_BYTES>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (found, rest) = rest.split_at_checked(length)?;
        if left == 0 {
            return Some(found.to_vec());
        }
        block = rest;
    }
    None
}

impl Clone for Packed {
    fn clone(&self) -> Self {
        Self {
            blocks: self.blocks.clone(),
            open: self.open.clone(),
            closed: self.closed,
            count: self.count,
            last: Mutex::default(),
        }
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed")
            .field("records", &self.count)
            .field("bytes", &self.size_bytes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn alike_documents_take_a_small_part_of_their_size() {
        let document =
            |n: usize| format!("{{\"shape\": [{n}], \"name\": \"{}\"}}", "abc ".repeat(99));
        let mut packed = Packed::default();
        for number in 0..5000 {
            assert_eq!(packed.push(document(number).as_bytes()), number);
        }
        let size: usize = (0..5000).map(|number| document(number).len()).sum();
        assert!(packed.size_bytes() < size / 10, "{} of {size}", packed.size_bytes());
        for number in [0, 4999, 17, 18, 3000] {
            assert_eq!(packed.get(number).unwrap(), document(number).as_bytes());
        }
        assert_eq!(packed.get(5000), None);
    }

    proptest! {
        #[test]
        fn records_are_read_back(records in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..30_000), 0..12), clones: bool) {
            let mut packed = Packed::default();
            for record in &records {
                packed.push(record);
            }
            let packed = if clones { packed.clone() } else { packed };
            prop_assert_eq!(packed.len(), records.len());
            for (number, record) in records.iter().enumerate().rev() {
                prop_assert_eq!(packed.get(number), Some(record.clone()));
            }
        }
    }
}
