//! The blocks of a Blosc 1 chunk, decoded into a buffer that is there: all of them, or those of
//! which somebody wants a byte. c-blosc's wrapper would allocate for each chunk, and the page
//! faults of a fresh buffer take as long as decoding LZ4 does.
//!
//! A chunk is a header, the place of each block, and the blocks. A block is one stream, or one for
//! each byte of an element; a stream is its length (32 bits, little-endian) and what the inner
//! codec has made, or the bytes themselves where that would not be shorter (c-blosc 1.21,
//! `blosc_d`).

use std::cell::RefCell;
use std::ops::Range;

use rechunk_kernel::decode_lz4_prefix;

use crate::blosc::HEADER_BYTES;
use crate::blosc_shuffle::unshuffle;
use crate::{Shuffle, deflate, zstd_frames};

/// Flags in the header's third byte: bytes of elements are shuffled; nothing is encoded; bits are
/// shuffled; blocks are one stream each.
pub(crate) const SHUFFLED: u8 = 1;
pub(crate) const COPIED: u8 = 2;
pub(crate) const BITS_SHUFFLED: u8 = 4;
const UNKNOWN: u8 = 8;
pub(crate) const ONE_STREAM: u8 = 16;

/// The numbers of inner formats, and where they are in the flags.
pub(crate) const LZ4: u8 = 1;
const ZLIB: u8 = 3;
pub(crate) const ZSTD: u8 = 4;
pub(crate) const FORMAT_SHIFT: u8 = 5;

/// Offset in the header of the number of stored bytes.
const STORED_BYTES_AT: usize = 12;

/// A part of a chunk is read where it is no more than three quarters of what is stored.
const NARROWED_TO: usize = 3;
const NARROWED_OF: usize = 4;

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

/// Codec of the streams.
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
        let inner = match flags >> FORMAT_SHIFT {
            _ if flags & COPIED != 0 => None,
            LZ4 => Some(Inner::Lz4),
            ZLIB => Some(Inner::Zlib),
            ZSTD => Some(Inner::Zstd),
            _ => return None,
        };
        let is_known = flags & UNKNOWN == 0
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
        let start = wanted.start.min(end); // a damaged chunk may be shorter
        let first = start / self.block_bytes;
        let blocks = decoded.chunks_mut(self.block_bytes).enumerate();
        let blocks = blocks.take(end.div_ceil(self.block_bytes)).skip(first);
        PLANES.with_borrow_mut(|planes| {
            for (number, block) in blocks {
                let at = number * self.block_bytes;
                let part = start.saturating_sub(at)..(end - at).min(block.len());
                self.decode_block(inner, (number, part), block, planes)?;
            }
            if planes.capacity() > KEPT_BYTES_MAX {
                *planes = Vec::new();
            }
            Ok(())
        })
    }

    /// Returns the part of the chunk, of which this has the first bytes, that is needed for
    /// `wanted` of its `length` decoded bytes. `None` where that cannot be told from those, or is
    /// nearly all.
    pub(crate) fn narrowed(
        &self,
        length: usize,
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Narrowed> {
        self.inner?;
        let stored_bytes = usize::try_from(stored_bytes).ok()?;
        let head_bytes = self.encoded.len();
        let count = length.div_ceil(self.block_bytes);
        let blocks =
            wanted.start / self.block_bytes..wanted.end.min(length).div_ceil(self.block_bytes);
        let place = |block: usize| self.word(place_of(block)?).ok();
        let (mut first, mut last) = (usize::MAX, 0);
        for block in blocks.clone() {
            let at = place(block)?;
            (first, last) = (first.min(at), last.max(at));
        }
        let mut end = stored_bytes;
        for block in 0..count {
            let at = place(block)?;
            end = if at > last { end.min(at) } else { end };
        }
        let body = first.max(head_bytes)..end.max(head_bytes);
        // The header and the places behind it change: no block may be read from them.
        let is_little = first >= place_of(count)?
            && body.start <= body.end
            && head_bytes + body.len() <= stored_bytes / NARROWED_OF * NARROWED_TO;
        is_little.then(|| Narrowed {
            count,
            blocks,
            skipped_bytes: body.start - head_bytes,
            stored_bytes: head_bytes + body.len(),
            body: body.start as u64..body.end as u64,
        })
    }

    fn decode_block(
        &self,
        inner: Inner,
        (number, wanted): (usize, Range<usize>),
        block: &mut [u8],
        planes: &mut Vec<u8>,
    ) -> Result<(), String> {
        let at = self.word(place_of(number).unwrap_or(usize::MAX))?;
        let shuffle = self.shuffle().of_block(self.typesize, block.len());
        if shuffle == Shuffle::None {
            return self.decode_streams((inner, shuffle), at, block, wanted.end);
        }
        planes.resize(block.len(), 0);
        self.decode_streams((inner, shuffle), at, planes, wanted.end)?;
        unshuffle(shuffle, self.typesize, planes, block, &wanted);
        Ok(())
    }

    fn shuffle(&self) -> Shuffle {
        match self.flags {
            flags if flags & SHUFFLED != 0 && self.typesize > 1 => Shuffle::Byte,
            flags if flags & BITS_SHUFFLED != 0 => Shuffle::Bit,
            _ => Shuffle::None,
        }
    }

    /// Decodes the streams that begin at byte `at` to exactly the bytes of `block`. What nobody
    /// needs for the bytes of elements before `end` may be anything.
    fn decode_streams(
        &self,
        (inner, shuffle): (Inner, Shuffle),
        mut at: usize,
        block: &mut [u8],
        end: usize,
    ) -> Result<(), String> {
        let is_last = block.len() < self.block_bytes;
        let splits =
            self.flags & ONE_STREAM == 0 && !is_last && is_split(self.typesize, block.len());
        let streams = if splits { self.typesize } else { 1 };
        if !block.len().is_multiple_of(streams) {
            return Err("a block is no whole number of elements".to_owned());
        }
        let stream_bytes = block.len() / streams;
        for (number, stream) in block.chunks_exact_mut(stream_bytes).enumerate() {
            let needed = match (shuffle, splits) {
                (Shuffle::None, _) => end.saturating_sub(number * stream_bytes),
                (Shuffle::Byte, true) => end.div_ceil(self.typesize), // of each byte of elements
                _ => stream_bytes,
            };
            let needed = needed.min(stream_bytes);
            let length = self.word(at)?;
            at = at.saturating_add(4);
            let encoded = self.encoded.get(at..at.saturating_add(length));
            let encoded = encoded.ok_or("a stream is longer than the data")?;
            at = at.saturating_add(length);
            if needed == 0 {
                break; // nor are those behind it
            }
            if length == stream_bytes {
                stream[..needed].copy_from_slice(&encoded[..needed]);
            } else {
                inner.decode(encoded, stream, needed)?;
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

/// Offset in a chunk of the entry that says where a block begins.
fn place_of(block: usize) -> Option<usize> {
    block.checked_mul(4)?.checked_add(HEADER_BYTES)
}

/// The part of a chunk that some blocks need.
#[derive(Debug)]
pub(crate) struct Narrowed {
    /// Bytes of the chunk that follow its head.
    pub body: Range<u64>,
    /// Number of blocks of the chunk, and the blocks that are there.
    count: usize,
    blocks: Range<usize>,
    /// Bytes between the head and the body that are not there.
    skipped_bytes: usize,
    /// Of head and body.
    stored_bytes: usize,
}

impl Narrowed {
    /// Makes `head`, that of the whole chunk, the head of this part.
    pub(crate) fn put_in(&self, head: &mut [u8]) {
        let narrow = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let mut change = |at: Option<usize>, to: &dyn Fn(u32) -> u32| {
            let rest = at.and_then(|at| head.get_mut(at..));
            if let Some(word) = rest.and_then(|rest| rest.first_chunk_mut::<4>()) {
                *word = to(u32::from_le_bytes(*word)).to_le_bytes();
            }
        };
        change(Some(STORED_BYTES_AT), &|_| narrow(self.stored_bytes));
        let skipped_bytes = narrow(self.skipped_bytes);
        for block in 0..self.count {
            let is_there = self.blocks.contains(&block);
            let moved =
                |at: u32| if is_there { at.saturating_sub(skipped_bytes) } else { u32::MAX };
            change(place_of(block), &moved);
        }
    }
}

impl Inner {
    /// Decodes a stream to exactly the bytes of `decoded`, or at least the first `needed` of them
    /// where it can stop there.
    fn decode(self, encoded: &[u8], decoded: &mut [u8], needed: usize) -> Result<(), String> {
        let damaged = || "the data is damaged".to_owned();
        let (length, expected) = match self {
            Self::Lz4 if needed < decoded.len() => {
                let prefix = decode_lz4_prefix(encoded, &mut decoded[..needed]);
                (prefix.ok_or_else(damaged)?, needed)
            }
            Self::Lz4 => {
                let length = i32::try_from(decoded.len()).map_err(|error| error.to_string())?;
                let whole = lz4::block::decompress_to_buffer(encoded, Some(length), decoded);
                (whole.map_err(|_| damaged())?, decoded.len())
            }
            Self::Zlib => (deflate::decode_zlib_into(encoded, decoded)?, decoded.len()),
            Self::Zstd => (zstd_frames::decode_into(encoded, decoded)?, decoded.len()),
        };
        if length == expected { Ok(()) } else { Err("a stream is too short".to_owned()) }
    }
}

#[cfg(test)]
mod tests;
