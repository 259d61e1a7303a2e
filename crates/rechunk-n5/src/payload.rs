//! Bytes behind the header of a block.

use rechunk_codec::{
    BloscSettings, LzmaCheck, LzmaFormat, LzmaSpec, blosc, bzip2_streams, deflate, lz4_block,
    lz4_frame, lz4_stream, lzma, zstd_frames,
};

use crate::compression::Compression;

/// First bytes of gzip streams, and of no zlib stream.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// xz as Java writes it.
fn xz(preset: u8) -> LzmaSpec {
    let preset = Some(u32::from(preset));
    LzmaSpec { format: LzmaFormat::Xz, check: LzmaCheck::Crc64, preset, filters: None }
}

/// Decodes to at most `bound` bytes, into `decoded`. `bound` is also what there should be.
pub(crate) fn decode(
    compression: &Compression,
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
) -> Result<(), String> {
    match compression {
        Compression::Raw => raw(encoded, decoded, bound),
        // Some writers ignore `useZlib`; the streams tell which they are.
        Compression::Gzip { .. } if encoded.starts_with(GZIP_MAGIC) => {
            deflate::decode_gzip(encoded, decoded, bound)
        }
        Compression::Gzip { .. } => deflate::decode_zlib(encoded, decoded, bound),
        Compression::Bzip2 { .. } => bzip2_streams::decode(encoded, decoded, bound),
        Compression::Xz { preset } => lzma::decode(encoded, decoded, bound, &xz(*preset)),
        Compression::Lz4 { .. } => lz4(encoded, decoded, bound),
        Compression::Blosc { blocksize, .. } => blosc::decode(encoded, decoded, bound, *blocksize),
        Compression::Zstd { .. } => zstd_frames::decode(encoded, decoded, bound),
    }?;
    if decoded.len() != bound {
        return Err(format!("decodes to {} bytes instead of {bound}", decoded.len()));
    }
    Ok(())
}

fn raw(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    if encoded.len() != bound {
        return Err(format!("{} bytes of elements instead of {bound}", encoded.len()));
    }
    decoded.clear();
    decoded.extend_from_slice(encoded);
    Ok(())
}

/// Decodes everything that writers mean by "lz4". These are the blocks of lz4-java, which is what
/// N5 means; a frame; a block behind its size, as numcodecs has it; a block alone, as z5 has it.
/// Their first bytes tell them apart: no block can begin like the first two.
fn lz4(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    if encoded.starts_with(lz4_stream::MAGIC) {
        return lz4_stream::decode(encoded, decoded, bound);
    }
    if encoded.starts_with(&lz4_frame::MAGIC) {
        return lz4_frame::decode(encoded, decoded, bound);
    }
    let size = encoded.first_chunk().map(|size| u32::from_le_bytes(*size));
    let is_behind_size = size.is_some_and(|size| usize::try_from(size) == Ok(bound));
    if is_behind_size && lz4_block::decode(encoded, decoded, bound).is_ok() {
        return Ok(());
    }
    lz4_block::decode_bare(encoded, decoded, bound)
        .map_err(|reason| format!("neither LZ4 blocks of Java, nor a frame, nor a block: {reason}"))
}

/// Encodes for readers of N5; elements of `item_bytes`.
pub(crate) fn encode(
    compression: &Compression,
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    item_bytes: u64,
) -> Result<(), String> {
    let most = encoded_bytes_max(compression, decoded.len() as u64);
    let most = usize::try_from(most).map_err(|error| error.to_string())?;
    match compression.resolved(item_bytes) {
        Compression::Raw => {
            encoded.clear();
            encoded.extend_from_slice(decoded);
            Ok(())
        }
        Compression::Gzip { level, use_zlib: false } => {
            deflate::encode_gzip(decoded, encoded, level)
        }
        Compression::Gzip { level, .. } => deflate::encode_zlib(decoded, encoded, level),
        Compression::Bzip2 { block_size } => {
            bzip2_streams::encode(decoded, encoded, block_size, most)
        }
        Compression::Xz { preset } => lzma::encode(decoded, encoded, most, &xz(preset)),
        Compression::Lz4 { block_bytes } => lz4_stream::encode(decoded, encoded, block_bytes),
        Compression::Blosc { cname, clevel, shuffle, blocksize, typesize } => {
            let typesize = typesize.unwrap_or(1);
            let settings = BloscSettings { cname, clevel, shuffle, typesize, blocksize };
            blosc::encode(decoded, encoded, &settings)
        }
        Compression::Zstd { level } => zstd_frames::encode(decoded, encoded, level, false),
    }
}

/// Most bytes that `decoded` bytes can become, by other writers too.
pub(crate) fn encoded_bytes_max(compression: &Compression, decoded: u64) -> u64 {
    let general = rechunk_codec::encoded_bytes_max(decoded);
    match compression {
        Compression::Raw => decoded,
        Compression::Blosc { .. } => blosc::encoded_bytes_max(decoded),
        Compression::Lz4 { block_bytes } => {
            lz4_stream::encoded_bytes_max(decoded, *block_bytes).max(general)
        }
        _ => general,
    }
}

/// The most that decoding allocates for `decoded` bytes.
pub(crate) fn decode_workspace_bytes(compression: &Compression, decoded: u64) -> u64 {
    match compression {
        Compression::Raw => 0,
        Compression::Gzip { .. } => deflate::DECODE_WORKSPACE_BYTES,
        Compression::Bzip2 { .. } => bzip2_streams::DECODE_WORKSPACE_BYTES,
        Compression::Xz { preset } => lzma::decode_workspace_bytes(&xz(*preset), decoded),
        Compression::Lz4 { .. } => lz4_frame::DECODE_WORKSPACE_BYTES,
        // Its decoder makes a buffer of its own, which has to move to grow to a full block.
        Compression::Blosc { cname, blocksize, .. } => {
            decoded + blosc::decode_workspace_bytes(*cname, *blocksize, decoded)
        }
        Compression::Zstd { .. } => zstd_frames::DECODE_WORKSPACE_BYTES,
    }
}

/// The most that encoding allocates for `decoded` bytes.
pub(crate) fn encode_workspace_bytes(compression: &Compression, decoded: u64) -> u64 {
    match *compression {
        Compression::Raw => 0,
        Compression::Gzip { .. } => deflate::ENCODE_WORKSPACE_BYTES,
        Compression::Bzip2 { block_size } => bzip2_streams::encode_workspace_bytes(block_size),
        Compression::Xz { preset } => lzma::encode_workspace_bytes(&xz(preset), decoded),
        Compression::Lz4 { .. } => lz4_block::ENCODE_WORKSPACE_BYTES,
        // Its encoder makes a buffer of its own, which has to move for the header.
        Compression::Blosc { cname, clevel, blocksize, .. } => {
            blosc::encoded_bytes_max(decoded)
                + blosc::encode_workspace_bytes(cname, clevel, blocksize, decoded)
        }
        Compression::Zstd { level } => {
            let level = if level == 0 { 3 } else { level };
            zstd_frames::encode_workspace_bytes(level, decoded)
        }
    }
}
