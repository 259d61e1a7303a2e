//! Blocks on the wire: three sizes of 32 bits, x, y, z, big-endian, then the elements, big-endian,
//! x fastest, one block behind the other.

use bytes::{Buf, Bytes, BytesMut};

use crate::{DatastoreError, Level};

/// Bytes of the sizes.
const HEADER_BYTES: usize = 12;

/// The bytes that stand for a block which is not available: sizes of -1.
pub const ABSENT: [u8; HEADER_BYTES] = [0xff; HEADER_BYTES];

/// A block that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireBlock {
    /// Elements along each axis: x, y, z.
    pub sizes: [u32; 3],
    /// The elements.
    pub elements: Bytes,
}

/// The bytes of a block on the wire.
pub fn written(sizes: [u32; 3], elements: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + elements.len());
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend_from_slice(elements);
    Bytes::from(bytes)
}

/// Takes blocks from bytes as they arrive. It holds no more than what has come of one block.
///
/// ```
/// use rechunk_datastore::{BlockReader, Level, written};
/// let level =
///     Level { resolutions: [1; 3], block_dimensions: [4; 3], shard_dimensions: None };
/// let mut reader = BlockReader::new(1, &level, 2);
/// let sent = written([2, 1, 1], &[1, 2, 3, 4]);
/// assert!(reader.push(&sent[..13])?.is_empty());
/// assert_eq!(reader.push(&sent[13..])?[0].sizes, [2, 1, 1]);
/// reader.finish()?;
/// # Ok::<(), rechunk_datastore::DatastoreError>(())
/// ```
#[derive(Debug)]
pub struct BlockReader {
    came: BytesMut,
    /// Blocks that are whole.
    done: usize,
    wanted: usize,
    /// Sizes of a full block.
    full: [u64; 3],
    item_bytes: u64,
    /// Sizes, and bytes of the elements, of the block that is under way, once its header is there.
    under_way: Option<([u32; 3], usize)>,
}

impl BlockReader {
    /// Waits for `wanted` blocks of a level, of elements of `item_bytes`.
    pub fn new(wanted: usize, level: &Level, item_bytes: u64) -> Self {
        Self {
            came: BytesMut::new(),
            done: 0,
            wanted,
            full: level.block_dimensions,
            item_bytes,
            under_way: None,
        }
    }

    /// Takes more bytes; returns the blocks that are whole by them. A block with a size that no
    /// block of the level has is refused with its header, and so are bytes behind the last block.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<WireBlock>, DatastoreError> {
        self.came.extend_from_slice(bytes);
        let mut whole = Vec::new();
        loop {
            if self.done == self.wanted {
                if self.came.is_empty() {
                    return Ok(whole);
                }
                let reason = format!("there are bytes behind the last of {} blocks", self.wanted);
                return Err(DatastoreError::Senseless(reason));
            }
            let (sizes, length) = match self.under_way {
                Some(under_way) => under_way,
                None if self.came.len() < HEADER_BYTES => return Ok(whole),
                None => {
                    let header = self.header()?;
                    *self.under_way.insert(header)
                }
            };
            if self.came.len() < length {
                return Ok(whole);
            }
            self.under_way = None;
            self.done += 1;
            whole.push(WireBlock { sizes, elements: self.came.split_to(length).freeze() });
        }
    }

    /// Takes the header of the next block.
    fn header(&mut self) -> Result<([u32; 3], usize), DatastoreError> {
        let mut sizes = [0; 3];
        for (axis, size) in sizes.iter_mut().enumerate() {
            let (said, full) = (self.came.get_i32(), self.full[axis]);
            let fits = u32::try_from(said).ok().filter(|size| u64::from(*size) <= full);
            *size = fits.ok_or_else(|| {
                let (number, name) = (self.done, ["x", "y", "z"][axis]);
                let limits = format!("{said} along {name}; it is 0 to {full}");
                DatastoreError::Senseless(format!("the size of block {number} is {limits}"))
            })?;
        }
        let bytes = sizes
            .iter()
            .fold(self.item_bytes, |bytes, size| bytes.saturating_mul(u64::from(*size)));
        // At most a full block, which was checked; a machine with less has no such buffer either.
        Ok((sizes, usize::try_from(bytes).unwrap_or(usize::MAX)))
    }

    /// All bytes have come: refuses blocks that are not whole or not there.
    pub fn finish(&self) -> Result<(), DatastoreError> {
        if self.done == self.wanted {
            return Ok(());
        }
        let reason = format!("the body ends within block {} of {}", self.done, self.wanted);
        Err(DatastoreError::Senseless(reason))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEVEL: Level =
        Level { resolutions: [1; 3], block_dimensions: [8, 4, 2], shard_dimensions: None };

    fn refused(count: usize, bytes: &[u8]) -> String {
        let mut reader = BlockReader::new(count, &LEVEL, 2);
        let outcome = reader.push(bytes).and_then(|_| reader.finish());
        outcome.unwrap_err().to_string()
    }

    #[test]
    fn bodies_that_lie_are_refused() {
        let block = written([1, 1, 1], &[1, 2]);
        let sizes = |sizes: [i32; 3]| sizes.map(i32::to_be_bytes).concat();
        assert!(refused(1, &sizes([-1, -1, -1])).contains("-1 along x"));
        assert!(refused(1, &sizes([9, 1, 1])).contains("9 along x; it is 0 to 8"));
        assert!(refused(1, &sizes([1, 1, i32::MAX])).contains("along z"));
        assert!(refused(1, &block[..13]).contains("within block 0 of 1"));
        assert!(refused(1, &block[..11]).contains("within block 0"));
        assert!(refused(1, b"").contains("within block 0"));
        assert!(refused(2, &block).contains("within block 1 of 2"));
        assert!(refused(1, &[&block[..], &[0]].concat()).contains("behind the last"));
        let empty = written([0, 4, 2], &[]);
        BlockReader::new(1, &LEVEL, 2).push(&empty).unwrap();
    }

    proptest! {
        #[test]
        fn blocks_are_the_same_however_their_bytes_arrive(
            shapes in prop::collection::vec((0_u32..=8, 0_u32..=4, 0_u32..=2), 1..6),
            cut in 1_usize..40,
        ) {
            let blocks: Vec<WireBlock> = shapes
                .iter()
                .enumerate()
                .map(|(at, &(x, y, z))| WireBlock {
                    sizes: [x, y, z],
                    elements: (0..x * y * z * 2).map(|e| (e as usize + at).to_le_bytes()[0]).collect(),
                })
                .collect();
            let sent: Vec<u8> = blocks
                .iter()
                .flat_map(|block| written(block.sizes, &block.elements))
                .collect();
            let mut reader = BlockReader::new(blocks.len(), &LEVEL, 2);
            let mut came = Vec::new();
            for piece in sent.chunks(cut) {
                came.extend(reader.push(piece).unwrap());
            }
            reader.finish().unwrap();
            prop_assert_eq!(came, blocks);
        }
    }
}
