//! The blocks of a Blosc 1 chunk, decoded into a buffer that is there: all of them, or those of
//! which somebody wants a byte. c-blosc's wrapper would allocate for each chunk, and the page
//! faults of a fresh buffer take as long as decoding LZ4 does.
//!
//! A chunk is a header, the place of each block, and the blocks. A block is one stream, or one for
//! each byte of an element; a stream is its length (32 bits, little-endian) and what the inner
//! codec has made, or the bytes themselves where that would not be shorter (c-blosc 1.21, `blosc_d`).

use std::cell::RefCell;
use std::ops::Range;

use crate::blosc::HEADER_BYTES;
use crate::{deflate, zstd_frames};

/// Flags in the header's third byte: bytes of elements are shuffled; nothing is encoded; bits are
/// shuffled; blocks are one stream each.
pub(crate) const SHUFFLED: u8 = 1;
pub(crate) const COPIED: u8 = 2;
const BITS_SHUFFLED: u8 = 4;
const UNKNOWN: u8 = 8;
pub(crate) const ONE_STREAM: u8 = 16;

/// The only version of the inner formats there is.
const INNER_VERSION: u8 = 1;

/// A block has a stream for each byte of an element up to this size, and if these have as many
/// bytes (c-blosc's `MAX_SPLITS`, `MIN_BUFFERSIZE`).
const STREAMS_MAX: usize = 16;
const STREAM_BYTES_MIN: usize = 128;

/// Largest shuffled block that a thread keeps the memory of.
pub(crate) const KEPT_BYTES_MAX: usize = 1 << 20;

thread_local! {
    /// A block before its elements are put together.
    static PLANES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A block of so many bytes has a stream for each byte of an element, unless flags say that it has
/// one. (Older encoders had no such flag.)
pub(crate) fn is_split(typesize: usize, block_bytes: usize) -> bool {
    typesize <= STREAMS_MAX && block_bytes / typesize >= STREAM_BYTES_MIN
}

/// What streams are encoded with.
#[derive(Debug, Clone, Copy)]
enum Inner {
    Lz4,
    Zlib,
    Zstd,
}

/// A chunk of which the header has been checked.
#[derive(Debug)]
pub(crate) struct Blocks<'a> {
    encoded: &'a [u8],
    typesize: usize,
    block_bytes: usize,
    flags: u8,
    /// `None` if nothing is encoded.
    inner: Option<Inner>,
}

impl<'a> Blocks<'a> {
    /// The blocks of a chunk whose header says that they have `block_bytes`; `None` if they are of
    /// a kind that is left to c-blosc.
    pub(crate) fn new(encoded: &'a [u8], block_bytes: usize) -> Option<Self> {
        let &[_, version, flags, typesize, ..] = encoded.first_chunk::<HEADER_BYTES>()?;
        let inner = match flags >> 5 {
            _ if flags & COPIED != 0 => None,
            1 => Some(Inner::Lz4),
            3 => Some(Inner::Zlib),
            4 => Some(Inner::Zstd),
            _ => return None,
        };
        let is_known = flags & (BITS_SHUFFLED | UNKNOWN) == 0
            && (inner.is_none() || version == INNER_VERSION)
            && block_bytes > 0;
        let typesize = usize::from(typesize).max(1);
        is_known.then_some(Self { encoded, typesize, block_bytes, flags, inner })
    }

    /// Fills `decoded`, which has the size of the chunk, where `wanted` is, and perhaps elsewhere.
    pub(crate) fn decode(&self, decoded: &mut [u8], wanted: Range<usize>) -> Result<(), String> {
        let Some(inner) = self.inner else {
            let content = self.encoded.get(HEADER_BYTES..).filter(|c| c.len() == decoded.len());
            decoded.copy_from_slice(content.ok_or("the data is cut short")?);
            return Ok(());
        };
        let end = wanted.end.min(decoded.len());
        let first = wanted.start / self.block_bytes;
        let blocks = decoded.chunks_mut(self.block_bytes).enumerate();
        let blocks = blocks.take(end.div_ceil(self.block_bytes)).skip(first);
        PLANES.with_borrow_mut(|planes| {
            for (number, block) in blocks {
                self.decode_block(inner, number, block, planes)?;
            }
            if planes.capacity() > KEPT_BYTES_MAX {
                *planes = Vec::new();
            }
            Ok(())
        })
    }

    fn decode_block(
        &self,
        inner: Inner,
        number: usize,
        block: &mut [u8],
        planes: &mut Vec<u8>,
    ) -> Result<(), String> {
        let at = self.word(number.saturating_mul(4).saturating_add(HEADER_BYTES))?;
        if self.flags & SHUFFLED == 0 || self.typesize == 1 {
            return self.decode_streams(inner, at, block);
        }
        planes.resize(block.len(), 0);
        self.decode_streams(inner, at, planes)?;
        unshuffle(self.typesize, planes, block);
        Ok(())
    }

    /// Decodes the streams that begin at byte `at` to exactly the bytes of `block`.
    fn decode_streams(&self, inner: Inner, mut at: usize, block: &mut [u8]) -> Result<(), String> {
        let is_last = block.len() < self.block_bytes;
        let splits =
            self.flags & ONE_STREAM == 0 && !is_last && is_split(self.typesize, block.len());
        let streams = if splits { self.typesize } else { 1 };
        if !block.len().is_multiple_of(streams) {
            return Err("a block is no whole number of elements".to_owned());
        }
        for stream in block.chunks_exact_mut(block.len() / streams) {
            let length = self.word(at)?;
            at = at.saturating_add(4);
            let encoded = self.encoded.get(at..at.saturating_add(length));
            let encoded = encoded.ok_or("a stream is longer than the data")?;
            at = at.saturating_add(length);
            if length == stream.len() {
                stream.copy_from_slice(encoded);
            } else if inner.decode(encoded, stream)? != stream.len() {
                return Err("a stream is too short".to_owned());
            }
        }
        Ok(())
    }

    fn word(&self, at: usize) -> Result<usize, String> {
        let bytes = self.encoded.get(at..).and_then(|rest| rest.first_chunk::<4>());
        let word = bytes.map(|bytes| i32::from_le_bytes(*bytes));
        let word = word.and_then(|word| usize::try_from(word).ok());
        word.ok_or_else(|| "a block is outside the data".to_owned())
    }
}

impl Inner {
    /// Decodes a stream; how many bytes of `decoded` it fills.
    fn decode(self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, String> {
        match self {
            Self::Lz4 => {
                let length = i32::try_from(decoded.len()).map_err(|error| error.to_string())?;
                lz4::block::decompress_to_buffer(encoded, Some(length), decoded)
                    .map_err(|_| "the data is damaged".to_owned())
            }
            Self::Zlib => deflate::decode_zlib_into(encoded, decoded),
            Self::Zstd => zstd_frames::decode_into(encoded, decoded),
        }
    }
}

/// Puts elements of `typesize` bytes together whose first bytes come first, then the second ones,
/// and so on. What is no whole element is at the end, as it is.
fn unshuffle(typesize: usize, planes: &[u8], elements: &mut [u8]) {
    let count = elements.len() / typesize;
    let (whole, rest) = elements.split_at_mut(count * typesize);
    let (planes, planes_rest) = planes.split_at(whole.len());
    rest.copy_from_slice(planes_rest);
    let plane = |byte: usize| planes[byte * count..][..count].as_chunks::<1>().0;
    match typesize {
        2 => interleave(plane(0), plane(1), whole.as_chunks_mut::<2>().0),
        4 => unshuffle_4(plane, whole.as_chunks_mut().0),
        8 => unshuffle_8(plane, whole.as_chunks_mut().0),
        _ => {
            for (byte, plane) in planes.chunks_exact(count.max(1)).enumerate() {
                for (element, &value) in whole.chunks_exact_mut(typesize).zip(plane) {
                    element[byte] = value;
                }
            }
        }
    }
}

/// Elements that are put together at a time: what they go through stays in the first-level cache.
const LANES: usize = 256;

fn unshuffle_4<'a>(plane: impl Fn(usize) -> &'a [[u8; 1]], elements: &mut [[u8; 4]]) {
    let mut halves = [[[0; 2]; LANES]; 2];
    for (some, elements) in elements.chunks_mut(LANES).enumerate() {
        let at = some * LANES..some * LANES + elements.len();
        for (number, half) in halves.iter_mut().enumerate() {
            interleave(&plane(2 * number)[at.clone()], &plane(2 * number + 1)[at.clone()], half);
        }
        interleave(&halves[0], &halves[1], elements);
    }
}

fn unshuffle_8<'a>(plane: impl Fn(usize) -> &'a [[u8; 1]], elements: &mut [[u8; 8]]) {
    let (mut quarters, mut halves) = ([[[0; 2]; LANES]; 4], [[[0; 4]; LANES]; 2]);
    for (some, elements) in elements.chunks_mut(LANES).enumerate() {
        let at = some * LANES..some * LANES + elements.len();
        for (number, quarter) in quarters.iter_mut().enumerate() {
            interleave(&plane(2 * number)[at.clone()], &plane(2 * number + 1)[at.clone()], quarter);
        }
        for (half, quarters) in halves.iter_mut().zip(quarters.chunks_exact(2)) {
            interleave(&quarters[0], &quarters[1], half);
        }
        interleave(&halves[0], &halves[1], elements);
    }
}

/// Puts the two halves of elements together: a loop that the compiler makes vectors of, at 10 to
/// 35 GB/s; byte by byte, elements of 4 bytes take four times as long.
#[inline]
fn interleave<const H: usize, const N: usize>(
    low: &[[u8; H]],
    high: &[[u8; H]],
    elements: &mut [[u8; N]],
) {
    for ((element, low), high) in elements.iter_mut().zip(low).zip(high) {
        element[..H].copy_from_slice(low);
        element[H..].copy_from_slice(high);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BloscName, BloscSettings, Shuffle, blosc};

    /// Every inner codec, element size, block size and length that makes another kind of block,
    /// encoded by c-blosc: the same as its own decoder gives, all of it and any part.
    #[test]
    fn decodes_what_c_blosc_has_made() {
        let noise = |n: usize| (n.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()[0];
        let (mut own, mut split, mut whole, mut left_out) = (0, 0, 0, 0);
        for cname in [BloscName::Lz4, BloscName::Lz4hc, BloscName::Zstd, BloscName::Zlib] {
            for typesize in [1_u8, 2, 3, 4, 8, 12, 16, 24] {
                for (length, blocksize) in [(240, 0), (5040, 1024), (100_003, 4096), (70_000, 0)] {
                    for shuffle in [Shuffle::None, Shuffle::Byte, Shuffle::Bit] {
                        let smooth = |n: usize| (n / 300).to_le_bytes()[0];
                        let byte = |n: usize| {
                            if n.is_multiple_of(usize::from(typesize)) {
                                noise(n) & 7
                            } else {
                                smooth(n)
                            }
                        };
                        let elements: Vec<u8> = (0..length).map(byte).collect();
                        let settings =
                            BloscSettings { cname, clevel: 5, shuffle, typesize, blocksize };
                        let mut encoded = Vec::new();
                        blosc::encode(&elements, &mut encoded, &settings).unwrap();
                        let mut decoded = vec![9; 17];
                        blosc::decode(&encoded, &mut decoded, length, blocksize).unwrap();
                        assert!(decoded == elements, "{settings:?} {length}");
                        let wanted = length / 3..length / 2;
                        let mut part = Vec::new();
                        blosc::decode_part(&encoded, &mut part, length, blocksize, wanted.clone())
                            .unwrap();
                        assert_eq!(part.len(), length);
                        assert!(part[wanted.clone()] == elements[wanted], "{settings:?} {length}");
                        let block = u32::from_le_bytes(*encoded[8..].first_chunk().unwrap());
                        let blocks = Blocks::new(&encoded, usize::try_from(block).unwrap());
                        own += usize::from(blocks.is_some());
                        split += usize::from(encoded[2] & (ONE_STREAM | COPIED) == 0);
                        whole += usize::from(encoded[2] & ONE_STREAM != 0);
                        let is_parted = blocks.is_some() && encoded[2] & COPIED == 0;
                        if is_parted && length / usize::try_from(block).unwrap() >= 6 {
                            assert!(part != elements, "{settings:?}: nothing was left out");
                            left_out += 1;
                        }
                    }
                }
            }
        }
        assert!(own > 200 && split > 50 && whole > 50, "{own} {split} {whole}");
        assert!(left_out > 10, "{left_out}");
    }

    #[test]
    fn what_is_copied_is_taken_as_it_is() {
        let settings = BloscSettings {
            cname: BloscName::Lz4,
            clevel: 0,
            shuffle: Shuffle::Byte,
            typesize: 2,
            blocksize: 0,
        };
        let elements: Vec<u8> = (0..3000_u32).map(|n| ((n * n) >> 3).to_le_bytes()[0]).collect();
        let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
        blosc::encode(&elements, &mut encoded, &settings).unwrap();
        assert_ne!(encoded[2] & COPIED, 0);
        blosc::decode(&encoded, &mut decoded, 3000, 0).unwrap();
        assert_eq!(decoded, elements);
    }

    #[test]
    fn no_damage_is_worse_than_an_error() {
        let settings = BloscSettings {
            cname: BloscName::Lz4,
            clevel: 5,
            shuffle: Shuffle::Byte,
            typesize: 4,
            blocksize: 512,
        };
        let elements: Vec<u8> = (0..4000_u32).map(|n| (n / 40).to_le_bytes()[0]).collect();
        let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
        blosc::encode(&elements, &mut encoded, &settings).unwrap();
        for at in 0..encoded.len() {
            for flip in [0xff, 0x80, 1] {
                let mut damaged = encoded.clone();
                damaged[at] ^= flip;
                let _ = blosc::decode(&damaged, &mut decoded, 4000, 512);
                assert!(decoded.capacity() <= 8000);
            }
        }
        for length in 0..encoded.len() {
            let mut cut = encoded[..length].to_vec();
            if let Some(said) = cut.get_mut(12..16) {
                said.copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
            }
            assert!(blosc::decode(&cut, &mut decoded, 4000, 512).is_err(), "{length}");
        }
    }
}
