//! Blosc 1, by way of c-blosc, which believes a chunk's header: it is checked here first.

use zarrs::array::codec::{
    BloscCompressor, BloscShuffleMode, blosc_compress_bytes, blosc_decompress_bytes, blosc_validate,
};

use crate::codec_spec::{BloscName, CodecSpec, Shuffle};

/// Bytes before the content, which are also the most that encoding can add.
pub(super) const HEADER_BYTES: usize = 16;

/// Largest block where the metadata leaves the size to Blosc. It takes 1 MiB at most; another
/// implementation may take more, but a decoder allocates three blocks, so there is a limit.
pub(super) const AUTO_BLOCK_BYTES_MAX: u64 = 4 << 20;

/// The only version of the format that c-blosc 1 reads.
const FORMAT_VERSION: u8 = 2;

/// Decodes into a new buffer of exactly the size the header says, at most `bound`.
pub(super) fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
    blocksize: u32,
) -> Result<(), String> {
    let length = check_header(encoded, bound, blocksize)?;
    // c-blosc's wrapper allocates; two buffers at once would be more than was accounted for.
    *decoded = Vec::new();
    if length == 0 {
        return Ok(());
    }
    if blosc_validate(encoded) != Some(length) {
        return Err("the header is damaged".to_owned());
    }
    *decoded =
        blosc_decompress_bytes(encoded, length, 1).map_err(|_| "the data is damaged".to_owned())?;
    Ok(())
}

/// Checks the header's claims; returns the decoded size.
fn check_header(encoded: &[u8], bound: usize, blocksize: u32) -> Result<usize, String> {
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
    if stored != encoded.len() as u64 {
        return Err(format!("the header says {stored} bytes, but there are {}", encoded.len()));
    }
    let decoded_size = usize::try_from(decoded).ok().filter(|&size| size <= bound);
    let decoded_size = decoded_size
        .ok_or_else(|| format!("the header says {decoded} decoded bytes, more than {bound}"))?;
    let block_max = block_bytes_max(blocksize, decoded);
    if block > block_max {
        return Err(format!("the header says blocks of {block} bytes, more than {block_max}"));
    }
    Ok(decoded_size)
}

/// Largest block of a chunk of `decoded` bytes where the metadata says `blocksize` (0: automatic).
pub(super) fn block_bytes_max(blocksize: u32, decoded: u64) -> u64 {
    u64::from(blocksize).max(AUTO_BLOCK_BYTES_MAX).min(decoded)
}

/// Encodes on one thread, into a new buffer: c-blosc's wrapper allocates.
pub(super) fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    codec: &CodecSpec,
) -> Result<(), String> {
    *encoded = Vec::new(); // two at once would be more than was accounted for
    let CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize } = codec else {
        return Err("not a blosc codec".to_owned());
    };
    let clevel = (*clevel).try_into().map_err(|level| format!("there is no level {level}"))?;
    let blocksize = usize::try_from(*blocksize).map_err(|error| error.to_string())?;
    *encoded = blosc_compress_bytes(
        decoded,
        clevel,
        shuffle_mode(shuffle.resolved(*typesize)),
        usize::from(*typesize),
        compressor(*cname),
        blocksize,
        1,
    )
    .map_err(|error| error.to_string())?;
    Ok(())
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
