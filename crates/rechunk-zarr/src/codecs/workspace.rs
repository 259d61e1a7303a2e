//! Bytes that codecs allocate beside a chunk and its encoded form.

use rechunk_codec::{blosc, bzip2_streams, deflate, lz4_block, lzma, tiff, zstd_frames};

use super::stage::Stage;
use super::{n5_blocks, pcodec, predictor, shards};
use crate::codec_spec::{CodecSpec, TiffCompressor};

/// The most that decoding allocates for one chunk.
pub(super) fn decode_bytes(stage: &Stage) -> u64 {
    if let Some(zfp) = &stage.zfp {
        return zfp.decode_workspace_bytes();
    }
    let decoded = stage.decoded_bytes_max as u64;
    match &stage.codec {
        CodecSpec::Blosc { cname, blocksize, .. } => {
            blosc::decode_workspace_bytes(*cname, *blocksize, decoded)
        }
        CodecSpec::Zstd { .. } => zstd_frames::DECODE_WORKSPACE_BYTES,
        CodecSpec::Gzip { .. } | CodecSpec::Zlib { .. } => deflate::DECODE_WORKSPACE_BYTES,
        CodecSpec::Bz2 { .. } => bzip2_streams::DECODE_WORKSPACE_BYTES,
        CodecSpec::Lzma(spec) => lzma::decode_workspace_bytes(spec, decoded),
        CodecSpec::Pcodec { element, .. } => pcodec::decode_workspace_bytes(*element, decoded),
        CodecSpec::Tiff(TiffCompressor::Lzw) => tiff::LZW_WORKSPACE_BYTES,
        CodecSpec::Predictor(codec) => predictor::decode_workspace_bytes(codec, decoded),
        CodecSpec::Lz4 { .. }
        | CodecSpec::Checksum { .. }
        | CodecSpec::Shuffle { .. }
        | CodecSpec::Delta(_)
        | CodecSpec::FixedScaleOffset { .. }
        | CodecSpec::Quantize { .. }
        | CodecSpec::AsType(_)
        | CodecSpec::BitRound { .. }
        | CodecSpec::PackBits(_)
        | CodecSpec::PackedNumbers(_)
        | CodecSpec::ScaleOffset(_)
        | CodecSpec::CastValue(_)
        | CodecSpec::Reshape(_)
        | CodecSpec::Tiff(TiffCompressor::PackBits)
        | CodecSpec::Zfp { .. } => 0,
        CodecSpec::Shards(shards) => {
            shards::workspace_bytes(shards, |cost| cost.decode_workspace_bytes)
        }
        CodecSpec::N5Block(block) => {
            n5_blocks::workspace_bytes(block, decoded, |cost| cost.decode_workspace_bytes)
        }
    }
}

/// The most that encoding allocates for one chunk.
pub(super) fn encode_bytes(stage: &Stage) -> u64 {
    if let Some(zfp) = &stage.zfp {
        return zfp.encode_workspace_bytes();
    }
    let decoded = stage.decoded_bytes_max as u64;
    match &stage.codec {
        CodecSpec::Blosc { cname, clevel, blocksize, .. } => {
            blosc::encode_workspace_bytes(*cname, *clevel, *blocksize, decoded)
        }
        CodecSpec::Zstd { level, .. } => zstd_frames::encode_workspace_bytes(*level, decoded),
        CodecSpec::Gzip { .. } | CodecSpec::Zlib { .. } => deflate::ENCODE_WORKSPACE_BYTES,
        CodecSpec::Bz2 { level } => bzip2_streams::encode_workspace_bytes(*level),
        CodecSpec::Lz4 { .. } => lz4_block::ENCODE_WORKSPACE_BYTES,
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
        | CodecSpec::PackBits(_)
        | CodecSpec::PackedNumbers(_)
        | CodecSpec::ScaleOffset(_)
        | CodecSpec::CastValue(_)
        | CodecSpec::Reshape(_)
        | CodecSpec::Tiff(_)
        | CodecSpec::Predictor(_)
        | CodecSpec::Zfp { .. } => 0,
        CodecSpec::Shards(shards) => {
            shards::workspace_bytes(shards, |cost| cost.encode_workspace_bytes)
        }
        CodecSpec::N5Block(block) => {
            n5_blocks::workspace_bytes(block, decoded, |cost| cost.encode_workspace_bytes)
        }
    }
}
