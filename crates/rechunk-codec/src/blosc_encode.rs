//! Blosc 1 with LZ4, encoded into a buffer that is there: byte for byte what c-blosc makes, whose
//! wrapper would allocate for each chunk (see `blosc_blocks.rs`, which has the format).

use std::cell::RefCell;

use lz4::block::{CompressionMode, compress_to_buffer};

use crate::BloscName;
use crate::blosc::HEADER_BYTES;
use crate::blosc_block_size::{BYTES_MIN, block_bytes};
use crate::blosc_blocks::{COPIED, KEPT_BYTES_MAX, ONE_STREAM, SHUFFLED, is_split};

/// The number of LZ4 in the flags.
const LZ4: u8 = 1 << 5;

thread_local! {
    /// A block whose bytes are shuffled, and a stream.
    static BUFFERS: RefCell<(Vec<u8>, Vec<u8>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// What c-blosc is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lz4Settings {
    pub clevel: u8,
    /// Bytes are shuffled.
    pub shuffles: bool,
    pub typesize: u8,
    /// Bytes of a block; 0: what suits.
    pub blocksize: usize,
}

impl Lz4Settings {
    /// Encodes into `encoded`, whose contents are lost. False, and nothing is done, for what is
    /// copied as it is, and the like: that is left to c-blosc.
    pub(crate) fn encode(self, decoded: &[u8], encoded: &mut Vec<u8>) -> bool {
        let (bytes, typesize) = (decoded.len(), usize::from(self.typesize));
        let block_bytes = block_bytes(BloscName::Lz4, self.clevel, typesize, self.blocksize, bytes);
        let numbers = [bytes, block_bytes].map(i32::try_from);
        let [Ok(said), Ok(said_block)] = numbers else { return false };
        let is_odd = bytes < BYTES_MIN || typesize == 0 || bytes < typesize;
        if is_odd || !(1..=9).contains(&self.clevel) {
            return false;
        }
        let splits = is_split(typesize, block_bytes);
        let flags =
            LZ4 | if self.shuffles { SHUFFLED } else { 0 } | if splits { 0 } else { ONE_STREAM };
        let blocks = bytes.div_ceil(block_bytes);
        encoded.clear();
        if encoded.capacity() < bytes + HEADER_BYTES {
            *encoded = Vec::new(); // two at once would be more than was accounted for
            encoded.reserve_exact(bytes + HEADER_BYTES);
        }
        encoded.extend_from_slice(&[2, 1, flags, self.typesize]);
        encoded.extend_from_slice(&said.to_le_bytes());
        encoded.extend_from_slice(&said_block.to_le_bytes());
        encoded.resize(HEADER_BYTES + 4 * blocks, 0);
        let is_shorter = BUFFERS.with_borrow_mut(|(planes, stream)| {
            let is_shorter = decoded.chunks(block_bytes).enumerate().all(|(number, block)| {
                let is_whole = block.len() == block_bytes;
                let streams = if splits && is_whole { typesize } else { 1 };
                self.encode_block((number, block, streams), bytes, encoded, planes, stream)
                    .is_some()
            });
            for buffer in [planes, stream] {
                if buffer.capacity() > KEPT_BYTES_MAX {
                    *buffer = Vec::new();
                }
            }
            is_shorter
        });
        if !is_shorter {
            encoded.truncate(HEADER_BYTES);
            encoded[2] |= COPIED;
            encoded.extend_from_slice(decoded);
        }
        let length = i32::try_from(encoded.len()).unwrap_or(i32::MAX);
        encoded[12..16].copy_from_slice(&length.to_le_bytes());
        true
    }

    /// Adds a block; `None` if the chunk then has more bytes than one that is copied.
    fn encode_block(
        self,
        (number, block, streams): (usize, &[u8], usize),
        bytes: usize,
        encoded: &mut Vec<u8>,
        planes: &mut Vec<u8>,
        stream: &mut Vec<u8>,
    ) -> Option<()> {
        let at = i32::try_from(encoded.len()).ok()?;
        encoded[HEADER_BYTES + 4 * number..][..4].copy_from_slice(&at.to_le_bytes());
        let typesize = usize::from(self.typesize);
        let block = if self.shuffles && typesize > 1 {
            planes.resize(block.len(), 0);
            shuffle(typesize, block, planes);
            &planes[..]
        } else {
            block
        };
        // c-blosc's own: the higher the level, the less is skipped.
        let mode = CompressionMode::FAST(10 - i32::from(self.clevel));
        for content in block.chunks_exact(block.len() / streams) {
            let room = (bytes + HEADER_BYTES).checked_sub(encoded.len() + 4)?;
            let most = content.len().min(room);
            if most == 0 {
                return None;
            }
            stream.resize(stream.len().max(most), 0);
            let made = compress_to_buffer(content, Some(mode), false, &mut stream[..most]);
            // An error says that it would have been longer.
            let made = made.ok().filter(|&made| made != content.len()).map(|made| &stream[..made]);
            let made = made.unwrap_or(content);
            if made.len() > room {
                return None;
            }
            encoded.extend_from_slice(&i32::try_from(made.len()).ok()?.to_le_bytes());
            encoded.extend_from_slice(made);
        }
        Some(())
    }
}

/// The first bytes of all elements of `typesize` bytes, then the second ones, and so on. What is no
/// whole element is at the end, as it is.
fn shuffle(typesize: usize, elements: &[u8], planes: &mut [u8]) {
    let count = elements.len() / typesize;
    let (whole, rest) = elements.split_at(count * typesize);
    let (planes, planes_rest) = planes.split_at_mut(whole.len());
    planes_rest.copy_from_slice(rest);
    match typesize {
        2 => shuffle_words(whole.as_chunks().0, planes, |word, shift| {
            (u16::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        4 => shuffle_words(whole.as_chunks().0, planes, |word, shift| {
            (u32::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        8 => shuffle_words(whole.as_chunks().0, planes, |word, shift| {
            (u64::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        _ => {
            for (byte, plane) in planes.chunks_exact_mut(count.max(1)).enumerate() {
                for (value, element) in plane.iter_mut().zip(whole.chunks_exact(typesize)) {
                    *value = element[byte];
                }
            }
        }
    }
}

/// [`shuffle`] with shifts, a few elements at a time: loops that the compiler makes vectors of.
fn shuffle_words<const N: usize>(
    words: &[[u8; N]],
    planes: &mut [u8],
    byte_of: impl Fn([u8; N], u32) -> u8,
) {
    const LANES: usize = 256;
    let count = words.len();
    for (some, words) in words.chunks(LANES).enumerate() {
        for (plane, shift) in planes.chunks_exact_mut(count).zip((0..).step_by(8)) {
            let plane = &mut plane[some * LANES..][..words.len()];
            for (value, word) in plane.iter_mut().zip(words) {
                *value = byte_of(*word, shift);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BloscSettings, Shuffle, blosc};

    /// Smooth elements with some noise, noise, and what is in between.
    fn contents(length: usize) -> Vec<Vec<u8>> {
        let noise = |n: usize| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).to_le_bytes()[0];
        let of = |byte: &dyn Fn(usize) -> u8| (0..length).map(byte).collect();
        vec![
            of(&|n| if n.is_multiple_of(4) { noise(n) & 15 } else { (n / 500).to_le_bytes()[0] }),
            of(&noise),
            of(&|n| if n < length / 2 { 7 } else { noise(n) }),
        ]
    }

    #[test]
    fn makes_the_bytes_that_c_blosc_makes() {
        let (mut same, mut copied) = (0, 0);
        for typesize in [1_u8, 2, 3, 4, 8, 16, 20] {
            for clevel in 0..=9 {
                for (length, blocksize) in [
                    (100, 0),
                    (130, 0),
                    (4001, 0),
                    (4000, 512),
                    (70_001, 0),
                    (400_000, 0),
                    (400_004, 65_536),
                ] {
                    for shuffles in [false, true] {
                        for content in contents(length) {
                            let own = Lz4Settings { clevel, shuffles, typesize, blocksize };
                            let mut encoded = vec![5; 3];
                            if !own.encode(&content, &mut encoded) {
                                assert!(clevel == 0 || length < BYTES_MIN);
                                continue;
                            }
                            let settings = BloscSettings {
                                cname: BloscName::Lz4,
                                clevel,
                                shuffle: if shuffles { Shuffle::Byte } else { Shuffle::None },
                                typesize,
                                blocksize: u32::try_from(blocksize).unwrap(),
                            };
                            let wanted = blosc::encode_by_library(&content, settings).unwrap();
                            assert!(encoded == wanted, "{settings:?} {length}");
                            assert!(encoded.len() <= length + HEADER_BYTES);
                            same += 1;
                            copied += usize::from(encoded[2] & COPIED != 0);
                        }
                    }
                }
            }
        }
        assert!(same > 1000 && copied > 100, "{same} {copied}");
    }
}
