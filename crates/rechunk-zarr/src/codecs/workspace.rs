//! What codecs allocate beside a chunk and its encoded form, bytes.

use super::blosc::block_bytes_max;
use super::{lzma, pcodec, shards};
use crate::codec_spec::{BloscName, CodecSpec};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// zstd's own estimate (1.5.7) of a compression context at its largest, KiB, for levels 0 to 22.
const ZSTD_CONTEXT_KIB: [u64; 23] = [
    1273, 569, 761, 1273, 2553, 3577, 3577, 6649, 6649, 12_793, 25_081, 25_081, 49_657, 49_657,
    49_657, 66_041, 66_041, 66_041, 66_041, 83_200, 165_120, 328_960, 722_256,
];

/// A zstd decoder's context: 94 KiB, and no window, because the output serves as one.
const ZSTD_DECODER_BYTES: u64 = 128 * KIB;

/// libdeflate's decoder is 12 KiB; the decoder for several gzip members has a window beside it.
const DEFLATE_DECODER_BYTES: u64 = 128 * KIB;

/// libdeflate's encoder up to level 9, as measured (657 KiB).
const DEFLATE_ENCODER_BYTES: u64 = 704 * KIB;

/// A bzip2 decoder at its largest: blocks of 900 kB in words of 4 bytes, and tables.
const BZIP2_DECODER_BYTES: u64 = 4 * MIB;

/// A bzip2 encoder: 8 bytes for each byte of a block, and tables (400 kB).
const BZIP2_ENCODER_BYTES_PER_LEVEL: u64 = 800_000;
const BZIP2_ENCODER_BYTES: u64 = MIB;

/// lz4_flex's hash table.
const LZ4_ENCODER_BYTES: u64 = 64 * KIB;

/// c-blosc's context and tables beside its blocks.
const BLOSC_BASE_BYTES: u64 = 64 * KIB;

/// The most that decoding allocates for one chunk of `decoded` bytes.
pub(super) fn decode_bytes(codec: &CodecSpec, decoded: u64) -> u64 {
    match codec {
        CodecSpec::Blosc { cname, blocksize, .. } => {
            let inner = match cname {
                BloscName::Zstd => ZSTD_DECODER_BYTES,
                BloscName::Zlib => DEFLATE_DECODER_BYTES,
                _ => 0,
            };
            BLOSC_BASE_BYTES + 3 * block_bytes_max(*blocksize, decoded) + inner
        }
        CodecSpec::Zstd { .. } => ZSTD_DECODER_BYTES,
        CodecSpec::Gzip { .. } | CodecSpec::Zlib { .. } => DEFLATE_DECODER_BYTES,
        CodecSpec::Bz2 { .. } => BZIP2_DECODER_BYTES,
        CodecSpec::Lzma(spec) => lzma::decode_workspace_bytes(spec, decoded),
        CodecSpec::Pcodec { element, .. } => pcodec::decode_workspace_bytes(*element, decoded),
        CodecSpec::Lz4 { .. }
        | CodecSpec::Checksum { .. }
        | CodecSpec::Shuffle { .. }
        | CodecSpec::Delta(_)
        | CodecSpec::FixedScaleOffset { .. }
        | CodecSpec::Quantize { .. }
        | CodecSpec::AsType(_)
        | CodecSpec::BitRound { .. }
        | CodecSpec::PackBits(_) => 0,
        CodecSpec::Shards(shards) => {
            shards::workspace_bytes(shards, |cost| cost.decode_workspace_bytes)
        }
    }
}

/// The most that encoding allocates for one chunk of `decoded` bytes.
pub(super) fn encode_bytes(codec: &CodecSpec, decoded: u64) -> u64 {
    match codec {
        &CodecSpec::Blosc { cname, clevel, blocksize, .. } => {
            let block = block_bytes_max(blocksize, decoded);
            let inner = match cname {
                // c-blosc's own mapping of its levels; 9 is zstd's highest.
                BloscName::Zstd if clevel >= 8 => zstd_encode_bytes(22, block),
                BloscName::Zstd => zstd_encode_bytes(2 * i32::from(clevel) - 1, block),
                BloscName::Zlib | BloscName::Lz4hc => 512 * KIB,
                BloscName::BloscLz | BloscName::Lz4 | BloscName::Snappy => 128 * KIB,
            };
            BLOSC_BASE_BYTES + 3 * block + inner
        }
        CodecSpec::Zstd { level, .. } => zstd_encode_bytes(*level, decoded),
        CodecSpec::Gzip { .. } | CodecSpec::Zlib { .. } => DEFLATE_ENCODER_BYTES,
        CodecSpec::Bz2 { level } => {
            BZIP2_ENCODER_BYTES + u64::from(*level) * BZIP2_ENCODER_BYTES_PER_LEVEL
        }
        CodecSpec::Lz4 { .. } => LZ4_ENCODER_BYTES,
        CodecSpec::Lzma(spec) => lzma::encode_workspace_bytes(spec, decoded),
        CodecSpec::Pcodec { spec, element } => {
            pcodec::encode_workspace_bytes(spec, *element, decoded)
        }
        // The buffer may have to move to grow by the checksum.
        CodecSpec::Checksum { .. } => decoded,
        CodecSpec::Shuffle { .. }
        | CodecSpec::Delta(_)
        | CodecSpec::FixedScaleOffset { .. }
        | CodecSpec::Quantize { .. }
        | CodecSpec::AsType(_)
        | CodecSpec::BitRound { .. }
        | CodecSpec::PackBits(_) => 0,
        CodecSpec::Shards(shards) => {
            shards::workspace_bytes(shards, |cost| cost.encode_workspace_bytes)
        }
    }
}

/// A bound of zstd's compression context for one piece of `decoded` bytes.
pub(super) fn zstd_encode_bytes(level: i32, decoded: u64) -> u64 {
    // Tables shrink with the data: by zstd's estimates never more than 18 times its size (rounded
    // up to a power of two) and a constant.
    let by_size = 18_u64.saturating_mul(decoded.next_power_of_two()).saturating_add(MIB);
    // Negative levels use less than level 1.
    let level = usize::try_from(level.max(1)).unwrap_or(1).min(ZSTD_CONTEXT_KIB.len() - 1);
    by_size.min(ZSTD_CONTEXT_KIB[level] * KIB)
}
