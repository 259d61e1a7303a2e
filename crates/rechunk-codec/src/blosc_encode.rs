//! Encodes Blosc 1 with LZ4 or zstd into a buffer that is there: byte for byte as c-blosc does. Its
//! wrapper would allocate for each chunk, and its zstd for each block (see `blosc_blocks.rs`, which
//! has the format).

use std::cell::RefCell;

use lz4::block::{CompressionMode, compress_to_buffer};

use crate::blosc::HEADER_BYTES;
use crate::blosc_block_size::{BYTES_MIN, block_bytes};
use crate::blosc_blocks::{
    BITS_SHUFFLED, COPIED, FORMAT_SHIFT, KEPT_BYTES_MAX, LZ4, ONE_STREAM, SHUFFLED, ZSTD, is_split,
};
use crate::blosc_shuffle::shuffle;
use crate::{BloscName, BloscSettings, Shuffle, zstd_frames};

/// zstd's highest level, which stands for c-blosc's.
const ZSTD_LEVEL_MAX: i32 = 22;

thread_local! {
    /// A block whose bytes are shuffled, and a stream.
    static BUFFERS: RefCell<(Vec<u8>, Vec<u8>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// Codec of the streams, with its setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inner {
    /// With an acceleration: the lower, the less is skipped.
    Lz4(i32),
    /// With a level.
    Zstd(i32),
}

/// Blocks that c-blosc makes by [`BloscSettings`].
#[derive(Debug, Clone, Copy)]
struct Blocks {
    inner: Inner,
    shuffle: Shuffle,
    typesize: usize,
    bytes: usize,
}

/// Encodes into `encoded`, whose contents are lost. False, and nothing is done, for what is
/// copied as it is, other inner codecs, and the like: that is left to c-blosc.
pub(crate) fn encode(settings: BloscSettings, decoded: &[u8], encoded: &mut Vec<u8>) -> bool {
    let BloscSettings { cname, clevel, shuffle, typesize: said_typesize, blocksize } = settings;
    let level = i32::from(clevel);
    let (inner, number) = match cname {
        BloscName::Lz4 => (Inner::Lz4(10 - level), LZ4),
        BloscName::Zstd => (Inner::Zstd(zstd_level(clevel)), ZSTD),
        _ => return false,
    };
    let shuffle = shuffle.resolved(said_typesize);
    let (bytes, typesize) = (decoded.len(), usize::from(said_typesize));
    let Ok(blocksize) = usize::try_from(blocksize) else { return false };
    let block_bytes = block_bytes(cname, clevel, typesize, blocksize, bytes);
    let [Ok(said), Ok(said_block)] = [bytes, block_bytes].map(i32::try_from) else { return false };
    let is_odd = bytes < BYTES_MIN || typesize == 0 || bytes < typesize;
    if is_odd || !(1..=9).contains(&clevel) {
        return false;
    }
    let splits = matches!(inner, Inner::Lz4(_)) && is_split(typesize, block_bytes);
    let rearranged = match shuffle {
        Shuffle::None | Shuffle::Auto => 0,
        Shuffle::Byte => SHUFFLED,
        Shuffle::Bit => BITS_SHUFFLED,
    };
    let flags = number << FORMAT_SHIFT | rearranged | if splits { 0 } else { ONE_STREAM };
    let blocks = bytes.div_ceil(block_bytes);
    encoded.clear();
    if encoded.capacity() < bytes + HEADER_BYTES {
        *encoded = Vec::new(); // two at once would be more than was accounted for
        encoded.reserve_exact(bytes + HEADER_BYTES);
    }
    encoded.extend_from_slice(&[2, 1, flags, said_typesize]);
    encoded.extend_from_slice(&said.to_le_bytes());
    encoded.extend_from_slice(&said_block.to_le_bytes());
    encoded.resize(HEADER_BYTES + 4 * blocks, 0);
    let own = Blocks { inner, shuffle, typesize, bytes };
    let is_shorter = BUFFERS.with_borrow_mut(|(shuffled, stream)| {
        let is_shorter = decoded.chunks(block_bytes).enumerate().all(|(number, block)| {
            let streams = if splits && block.len() == block_bytes { typesize } else { 1 };
            own.encode((number, block, streams), encoded, shuffled, stream).is_some()
        });
        for buffer in [shuffled, stream] {
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

/// The level of zstd that stands for one of c-blosc's.
pub(crate) fn zstd_level(clevel: u8) -> i32 {
    if clevel < 9 { 2 * i32::from(clevel) - 1 } else { ZSTD_LEVEL_MAX }
}

impl Blocks {
    /// Adds a block; `None` if the chunk then has more bytes than one that is copied.
    fn encode(
        self,
        (number, block, streams): (usize, &[u8], usize),
        encoded: &mut Vec<u8>,
        shuffled: &mut Vec<u8>,
        stream: &mut Vec<u8>,
    ) -> Option<()> {
        let at = i32::try_from(encoded.len()).ok()?;
        encoded[HEADER_BYTES + 4 * number..][..4].copy_from_slice(&at.to_le_bytes());
        let block = match self.shuffle.of_block(self.typesize, block.len()) {
            Shuffle::None => block,
            kind => {
                shuffled.resize(block.len(), 0);
                shuffle(kind, self.typesize, block, shuffled);
                &shuffled[..]
            }
        };
        for content in block.chunks_exact(block.len() / streams) {
            let room = (self.bytes + HEADER_BYTES).checked_sub(encoded.len() + 4)?;
            let most = content.len().min(room);
            if most == 0 {
                return None;
            }
            stream.resize(stream.len().max(most), 0);
            let made = self.inner.encode(content, &mut stream[..most]);
            let made = made.filter(|&made| made != content.len()).map(|made| &stream[..made]);
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

impl Inner {
    /// Encodes a stream and returns its bytes; `None` if there are more than there is room for.
    fn encode(self, content: &[u8], stream: &mut [u8]) -> Option<usize> {
        match self {
            Self::Lz4(acceleration) => {
                let mode = CompressionMode::FAST(acceleration);
                compress_to_buffer(content, Some(mode), false, stream).ok()
            }
            Self::Zstd(level) => zstd_frames::encode_into(content, stream, level),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blosc;

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

    /// Compares encoded `length` bytes with those of c-blosc; returns the number of comparisons,
    /// and of copies among them.
    fn compared(settings: BloscSettings, length: usize) -> (usize, usize) {
        let (mut same, mut copied) = (0, 0);
        for content in contents(length) {
            let mut encoded = vec![5; 3];
            if !encode(settings, &content, &mut encoded) {
                assert!(settings.clevel == 0 || length < BYTES_MIN);
                continue;
            }
            let wanted = blosc::encode_by_library(&content, settings).unwrap();
            assert!(encoded == wanted, "{settings:?} {length}");
            assert!(encoded.len() <= length + HEADER_BYTES);
            same += 1;
            copied += usize::from(encoded[2] & COPIED != 0);
        }
        (same, copied)
    }

    #[test]
    fn makes_the_bytes_that_c_blosc_makes() {
        let (mut same, mut copied) = (0, 0);
        let lengths = [
            (100, 0),
            (130, 0),
            (4001, 0),
            (4000, 512),
            (70_001, 0),
            (400_000, 0),
            (400_004, 65_536),
        ];
        for typesize in [1_u8, 2, 3, 4, 8, 16, 20] {
            for clevel in 0..=9 {
                for (length, blocksize) in lengths {
                    for shuffle in [Shuffle::None, Shuffle::Byte, Shuffle::Bit, Shuffle::Auto] {
                        for cname in [BloscName::Lz4, BloscName::Zstd] {
                            // The higher levels of zstd take their time.
                            let is_slow = cname == BloscName::Zstd && clevel > 3;
                            let is_other = typesize != 4 || shuffle == Shuffle::Auto;
                            if is_slow && (is_other || length == 400_000) {
                                continue;
                            }
                            let settings =
                                BloscSettings { cname, clevel, shuffle, typesize, blocksize };
                            let found = compared(settings, length);
                            (same, copied) = (same + found.0, copied + found.1);
                        }
                    }
                }
            }
        }
        assert!(same > 3000 && copied > 200, "{same} {copied}");
    }
}
