//! Costs of the codecs of a scale, and their words.

use rechunk_codec::deflate;
use rechunk_format::CodecCost;

use crate::encoding::Encoding;
use crate::metadata::{Packing, PrecomputedMetadata};
use crate::{cseg, images, packed_objects};

/// Most bytes of an encoded chunk, without a compression around it.
pub(super) fn inner_bytes_max(metadata: &PrecomputedMetadata) -> u64 {
    let bytes = metadata.chunk_bytes();
    match metadata.encoding {
        Encoding::Raw => bytes,
        Encoding::CompressedSegmentation(block) => {
            let item_bytes = metadata.data_type.item_bytes();
            cseg::encoded_bytes_max(metadata.chunk_size, metadata.channels, block, item_bytes)
        }
        Encoding::Png => images::encoded_bytes_max(bytes),
        Encoding::Jpeg(_) => {
            let written = images::jpeg_bytes_max(metadata.chunk_size, metadata.channels);
            images::encoded_bytes_max(bytes).max(written)
        }
    }
}

pub(super) fn cost(metadata: &PrecomputedMetadata) -> CodecCost {
    let (bytes, inner) = (metadata.chunk_bytes(), inner_bytes_max(metadata));
    let is_clipped =
        metadata.size.iter().zip(metadata.chunk_size).any(|(size, chunk)| size % chunk > 0);
    let clipped = if is_clipped { bytes } else { 0 };
    let (is_packed, may_be_packed) =
        (matches!(metadata.packing, Packing::Gzip { .. }), metadata.packing != Packing::None);
    let is_bare = metadata.encoding == Encoding::Raw && !may_be_packed;
    let packed_max = if may_be_packed { rechunk_codec::encoded_bytes_max(inner) } else { inner };
    // What is unpacked is a buffer of its own, which may move to see its end.
    let workspace = match metadata.packing {
        Packing::None | Packing::Gzip { .. } => deflate::DECODE_WORKSPACE_BYTES,
        Packing::Brotli | Packing::Told => packed_objects::BROTLI_WORKSPACE_BYTES,
    };
    let unpacked = if may_be_packed { workspace + inner + 64 } else { 0 };
    let (decode, encode) = match metadata.encoding {
        Encoding::Raw => (0, 0),
        Encoding::CompressedSegmentation(block) => {
            let grid = metadata.chunk_size.iter().zip(block.xyz());
            let blocks = grid.map(|(chunk, block)| chunk.div_ceil(block)).product();
            (0, cseg::workspace_bytes(blocks, block.xyz().iter().product()))
        }
        Encoding::Jpeg(_) => (
            images::decode_workspace_bytes(bytes, metadata.channels),
            images::encode_jpeg_workspace_bytes(bytes, inner),
        ),
        Encoding::Png => (
            images::decode_workspace_bytes(bytes, metadata.channels),
            images::encode_workspace_bytes(bytes),
        ),
    };
    let own_buffer = if metadata.encoding == Encoding::Raw { 0 } else { inner };
    CodecCost {
        name: match (is_bare, is_packed, metadata.encoding) {
            (true, ..) => "none".to_owned(),
            (_, true, _) | (_, _, Encoding::Raw) => "gzip".to_owned(),
            (.., encoding) => encoding.name().to_owned(),
        },
        is_raw: is_bare && !is_clipped,
        encoded_bytes_max: packed_max.max(inner),
        decode_workspace_bytes: if is_bare { 0 } else { unpacked + clipped + decode },
        encode_workspace_bytes: clipped
            + encode
            + if is_packed { deflate::ENCODE_WORKSPACE_BYTES + own_buffer } else { 0 },
    }
}

/// Data type, channels, encoding and compression.
pub(super) fn identity(metadata: &PrecomputedMetadata) -> String {
    let packing = match metadata.packing {
        Packing::None => "none",
        Packing::Gzip { .. } => "gzip",
        Packing::Brotli => "brotli",
        // Of no use to others: one object may be compressed and the next not.
        Packing::Told => "told by each object",
    };
    let (name, channels) = (metadata.data_type.name(), metadata.channels);
    format!("precomputed {name} {channels} {:?} {packing}", metadata.encoding)
}

pub(super) fn summary(metadata: &PrecomputedMetadata) -> String {
    match metadata.packing {
        Packing::None | Packing::Told => metadata.encoding.to_string(),
        Packing::Gzip { .. } if metadata.sharding.is_some() => {
            format!("{}, gzip", metadata.encoding)
        }
        Packing::Gzip { level } => format!("{}, files gzip(level {level})", metadata.encoding),
        Packing::Brotli => format!("{}, files brotli", metadata.encoding),
    }
}
