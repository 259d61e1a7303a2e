//! Encoding and decoding, within bounds that are known before a byte is looked at.

mod blosc;
mod bzip2_streams;
mod chain;
mod checksum;
mod deflate;
mod filters;
mod lz4_block;
mod lzma;
mod pack_bits;
mod pcodec;
mod shards;
mod shuffle;
mod stage;
mod value;
mod workspace;
mod zstd_frames;

pub(crate) use chain::{Chain, survives};
pub(crate) use lz4_block::CHUNK_BYTES_MAX as LZ4_CHUNK_BYTES_MAX;
pub(crate) use pcodec::has_type as pcodec_has_type;
pub(crate) use stage::decode_filter;

#[cfg(test)]
mod tests;
