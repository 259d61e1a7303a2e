//! Blosc 1. What is met every day is decoded in `blosc_blocks.rs` and encoded in `blosc_encode.rs`;
//! the rest by way of c-blosc, which believes a chunk's header: it is checked here first.

use std::ops::Range;

use zarrs::array::codec::{
    BloscCompressor, BloscShuffleMode, blosc_compress_bytes, blosc_decompress_bytes, blosc_validate,
};

use crate::blosc_block_size;
use crate::blosc_blocks::Blocks;
use crate::{BloscName, BloscSettings, KIB, Shuffle, blosc_encode, deflate, zstd_frames};

/// Bytes before the content, which are also the most that encoding can add.
pub const HEADER_BYTES: usize = 16;

/// Largest block where the metadata leaves the size to Blosc. It takes 1 MiB at most; another
/// implementation may take more, but a decoder allocates three blocks, so there is a limit.
const AUTO_BLOCK_BYTES_MAX: u64 = 4 << 20;

/// The only version of the format that c-blosc 1 reads.
const FORMAT_VERSION: u8 = 2;

/// Largest buffer Blosc can hold, decoded (its `BLOSC_MAX_BUFFERSIZE`).
pub const CHUNK_BYTES_MAX: u64 = 2_147_483_631;

/// c-blosc's context and tables beside its blocks.
const BASE_BYTES: u64 = 64 * KIB;

/// Decodes to exactly the size the header says, at most `bound`.
pub fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
    blocksize: u32,
) -> Result<(), String> {
    decode_part(encoded, decoded, bound, blocksize, 0..usize::MAX)
}

/// [`decode`] where only the bytes `wanted` are wanted: what is elsewhere in `decoded`, which gets
/// the size of the whole, may be anything. Blocks without such a byte are not looked at, nor is
/// what follows the last such byte in a stream of LZ4: damage there is found by who wants it.
pub fn decode_part(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
    blocksize: u32,
    wanted: Range<usize>,
) -> Result<(), String> {
    let (length, block_bytes) = check_header(encoded, encoded.len() as u64, bound, blocksize)?;
    if length == 0 {
        decoded.clear();
        return Ok(());
    }
    if let Some(blocks) = Blocks::new(encoded, block_bytes) {
        if decoded.capacity() < length {
            *decoded = Vec::new(); // two buffers at once would be more than was accounted for
            decoded.reserve_exact(length);
        }
        decoded.resize(length, 0);
        return blocks.decode(decoded, wanted);
    }
    // c-blosc's wrapper allocates.
    *decoded = Vec::new();
    if blosc_validate(encoded) != Some(length) {
        return Err("the header is damaged".to_owned());
    }
    *decoded =
        blosc_decompress_bytes(encoded, length, 1).map_err(|_| "the data is damaged".to_owned())?;
    Ok(())
}

/// Returns the number of a chunk's first bytes that hold the places of its blocks, for at most
/// `bound` decoded bytes. More are needed if blocks are smaller than `blocksize` (0: than 16 KiB,
/// which c-blosc makes of large chunks at its lowest level) by more than an incomplete element.
pub fn head_bytes(bound: usize, blocksize: u32) -> usize {
    let block_bytes = usize::try_from(blocksize).ok().filter(|&bytes| bytes > 0);
    let blocks = bound.div_ceil(block_bytes.unwrap_or(16 << 10));
    let places = blocks.saturating_add(blocks / 16 + 1);
    places.saturating_mul(4).saturating_add(HEADER_BYTES).clamp(512, 64 << 10)
}

/// Returns the range behind `head`, the first bytes of a chunk of `stored_bytes`, that
/// [`decode_part`] needs for the `wanted` parts. `head` is changed so that both together are a
/// chunk of which these parts can be decoded, to the same bytes as of all of it. (It is an error to
/// decode others; and, because blocks are taken to end where others begin, one that does not is an
/// error there though it is none in the whole chunk.) `None`, and nothing is changed, where nothing
/// much is saved or known.
pub fn narrow(
    head: &mut [u8],
    stored_bytes: u64,
    bound: usize,
    blocksize: u32,
    wanted: Range<usize>,
) -> Option<Range<u64>> {
    let (length, block_bytes) = check_header(head, stored_bytes, bound, blocksize).ok()?;
    let narrowed = Blocks::new(head, block_bytes)?.narrowed(length, stored_bytes, wanted)?;
    narrowed.put_in(head);
    Some(narrowed.body)
}

/// Bytes of the blocks that a chunk of `bytes` is probably made of; `None` where [`decode_part`]
/// has to decode all. (Another writer may have cut it otherwise: its header says how.)
pub fn block_bytes(settings: &BloscSettings, bytes: usize) -> Option<usize> {
    let &BloscSettings { cname, clevel, typesize, blocksize, .. } = settings;
    let is_ours = !matches!(cname, BloscName::BloscLz | BloscName::Snappy);
    let blocksize = usize::try_from(blocksize).ok()?;
    is_ours.then(|| {
        blosc_block_size::block_bytes(cname, clevel, usize::from(typesize), blocksize, bytes)
    })
}

/// Returns the decoded size of a whole chunk, bytes, as its header says; an error if it cannot be
/// right. Blocks may be of any size: nothing is decoded.
pub fn decoded_bytes(encoded: &[u8], bound: usize) -> Result<usize, String> {
    check_header(encoded, encoded.len() as u64, bound, u32::MAX).map(|(length, _)| length)
}

/// Checks the header's claims of a chunk of `stored_bytes`; returns the decoded size and that of a
/// block.
fn check_header(
    encoded: &[u8],
    stored_bytes: u64,
    bound: usize,
    blocksize: u32,
) -> Result<(usize, usize), String> {
    let [version, _, _, typesize, sizes @ ..] = encoded
        .first_chunk::<HEADER_BYTES>()
        .ok_or_else(|| format!("{} bytes are too few for a header", encoded.len()))?;
    if *version != FORMAT_VERSION {
        return Err(format!("format version {version}, but only {FORMAT_VERSION} can be read"));
    }
    if *typesize == 0 {
        return Err("the header says elements of 0 bytes".to_owned());
    }
    let word = |at: usize| {
        let bytes = [sizes[at], sizes[at + 1], sizes[at + 2], sizes[at + 3]];
        u64::from(u32::from_le_bytes(bytes))
    };
    let (decoded, block, stored) = (word(0), word(4), word(8));
    if stored != stored_bytes {
        return Err(format!("the header says {stored} bytes, but there are {stored_bytes}"));
    }
    let decoded_size = usize::try_from(decoded).ok().filter(|&size| size <= bound);
    let decoded_size = decoded_size
        .ok_or_else(|| format!("the header says {decoded} decoded bytes, more than {bound}"))?;
    let block_max = block_bytes_max(blocksize, decoded);
    if block > block_max {
        return Err(format!("the header says blocks of {block} bytes, more than {block_max}"));
    }
    Ok((decoded_size, usize::try_from(block).map_err(|error| error.to_string())?))
}

/// Largest block of a chunk of `decoded` bytes where the metadata says `blocksize` (0: automatic).
fn block_bytes_max(blocksize: u32, decoded: u64) -> u64 {
    u64::from(blocksize).max(AUTO_BLOCK_BYTES_MAX).min(decoded)
}

/// Most bytes that `decoded` bytes can become: the format stores what it cannot compress as it is,
/// behind its header.
pub fn encoded_bytes_max(decoded: u64) -> u64 {
    decoded.saturating_add(HEADER_BYTES as u64)
}

/// The most that decoding allocates for `decoded` bytes.
pub fn decode_workspace_bytes(cname: BloscName, blocksize: u32, decoded: u64) -> u64 {
    let inner = match cname {
        BloscName::Zstd => zstd_frames::DECODE_WORKSPACE_BYTES,
        BloscName::Zlib => deflate::DECODE_WORKSPACE_BYTES,
        _ => 0,
    };
    BASE_BYTES + 3 * block_bytes_max(blocksize, decoded) + inner
}

/// The most that encoding allocates for `decoded` bytes.
pub fn encode_workspace_bytes(cname: BloscName, clevel: u8, blocksize: u32, decoded: u64) -> u64 {
    let block = block_bytes_max(blocksize, decoded);
    let inner = match cname {
        BloscName::Zstd => {
            zstd_frames::encode_workspace_bytes(blosc_encode::zstd_level(clevel), block)
        }
        BloscName::Zlib | BloscName::Lz4hc => 512 * KIB,
        BloscName::BloscLz | BloscName::Lz4 | BloscName::Snappy => 128 * KIB,
    };
    BASE_BYTES + 3 * block + inner
}

/// Encodes on one thread: as c-blosc does.
pub fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    settings: &BloscSettings,
) -> Result<(), String> {
    if blosc_encode::encode(*settings, decoded, encoded) {
        return Ok(());
    }
    *encoded = Vec::new(); // two at once would be more than was accounted for
    *encoded = encode_by_library(decoded, *settings)?;
    Ok(())
}

/// Encodes into a new buffer: c-blosc's wrapper allocates.
pub(crate) fn encode_by_library(
    decoded: &[u8],
    settings: BloscSettings,
) -> Result<Vec<u8>, String> {
    let BloscSettings { cname, clevel, shuffle, typesize, blocksize } = settings;
    let clevel = clevel.try_into().map_err(|level| format!("there is no level {level}"))?;
    let blocksize = usize::try_from(blocksize).map_err(|error| error.to_string())?;
    blosc_compress_bytes(
        decoded,
        clevel,
        shuffle_mode(shuffle.resolved(typesize)),
        usize::from(typesize),
        compressor(cname),
        blocksize,
        1,
    )
    .map_err(|error| error.to_string())
}

fn shuffle_mode(shuffle: Shuffle) -> BloscShuffleMode {
    match shuffle {
        Shuffle::None => BloscShuffleMode::NoShuffle,
        Shuffle::Byte | Shuffle::Auto => BloscShuffleMode::Shuffle,
        Shuffle::Bit => BloscShuffleMode::BitShuffle,
    }
}

fn compressor(cname: BloscName) -> BloscCompressor {
    match cname {
        BloscName::BloscLz => BloscCompressor::BloscLZ,
        BloscName::Lz4 => BloscCompressor::LZ4,
        BloscName::Lz4hc => BloscCompressor::LZ4HC,
        BloscName::Snappy => BloscCompressor::Snappy,
        BloscName::Zlib => BloscCompressor::Zlib,
        BloscName::Zstd => BloscCompressor::Zstd,
    }
}
