//! Compressed segmentations: chunks of labels in blocks, each a table and indices of few bits.
//!
//! After Neuroglancer's description of the format. A chunk begins with the position of each channel
//! in words of 32 bits. A channel has a header for each block: where its table is (24 bits), the
//! bits of an index (8), where its indices are (32), all in words from the channel's start. Indices
//! are of a whole block, also at the edge.

mod decode;
mod encode;

use crate::encoding::BlockSize;

pub(crate) use decode::decode;
pub(crate) use encode::{encode, workspace_bytes};

/// Bytes of a word.
const WORD_BYTES: usize = 4;

/// Words of a block's header.
const HEADER_WORDS: usize = 2;

/// Bits that an index can have.
const INDEX_BITS: [u32; 7] = [0, 1, 2, 4, 8, 16, 32];

/// Labels of a chunk: voxels along x, y and z, of whole blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Labels {
    /// Voxels along x, y and z.
    pub size: [usize; 3],
    /// Number of channels.
    pub channels: usize,
    /// Voxels along x, y and z of a block.
    pub block: [usize; 3],
    /// Bytes of a label: 4 or 8.
    pub item_bytes: usize,
}

impl Labels {
    /// Number of blocks along x, y and z.
    fn grid(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.size[axis].div_ceil(self.block[axis]))
    }

    fn blocks(&self) -> usize {
        self.grid().iter().product()
    }

    fn block_voxels(&self) -> usize {
        self.block.iter().product()
    }

    /// Bytes of a channel's labels.
    fn channel_bytes(&self) -> usize {
        self.size.iter().product::<usize>() * self.item_bytes
    }

    /// First voxel and end of block `number`, along x, y and z.
    fn block_at(&self, number: usize) -> ([usize; 3], [usize; 3]) {
        let [gx, gy, _] = self.grid();
        let position = [number % gx, number / gx % gy, number / (gx * gy)];
        let begin: [usize; 3] = std::array::from_fn(|axis| position[axis] * self.block[axis]);
        let end = std::array::from_fn(|axis| (begin[axis] + self.block[axis]).min(self.size[axis]));
        (begin, end)
    }

    /// Calls `visit` with the number, in its block, of the first voxel of each row of block
    /// `number`, and the row's bytes in the channel.
    fn rows<E>(
        &self,
        number: usize,
        mut visit: impl FnMut(usize, std::ops::Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (begin, end) = self.block_at(number);
        for z in begin[2]..end[2] {
            for y in begin[1]..end[1] {
                let in_block = self.block[0] * ((y - begin[1]) + self.block[1] * (z - begin[2]));
                let row = self.size[0] * (y + self.size[1] * z);
                let bytes = (row + begin[0]) * self.item_bytes..(row + end[0]) * self.item_bytes;
                visit(in_block, bytes)?;
            }
        }
        Ok(())
    }
}

/// Most bytes of a chunk of `size` voxels along x, y and z. Other writers may give each block a
/// table of its own and indices of 32 bits.
pub(crate) fn encoded_bytes_max(size: [u64; 3], channels: u64, block: BlockSize, item: u64) -> u64 {
    let block = block.xyz();
    let blocks = size
        .iter()
        .zip(block)
        .map(|(size, block)| size.div_ceil(block))
        .fold(1, u64::saturating_mul);
    let voxels: u64 = block.iter().product();
    let of_block = 8 + voxels.saturating_mul(4 + item);
    channels.saturating_mul(blocks.saturating_mul(of_block).saturating_add(4))
}

#[cfg(test)]
mod tests;
