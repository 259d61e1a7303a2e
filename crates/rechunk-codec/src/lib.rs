//! Byte codecs that formats share. Pure: no I/O, no async.
//!
//! Each codec is a module with the same functions. `decode` takes the most bytes that may come out,
//! which is known before a byte is looked at: no header's claim becomes an allocation. `encode`
//! makes what readers of the format expect. `decode_workspace_bytes` and `encode_workspace_bytes`
//! bound what they allocate beside their two buffers. Errors are sentences without the codec's
//! name.
//!
//! What metadata calls a codec, and what stands before its bytes, is the business of a format.

pub mod blosc;
mod blosc_block_size;
mod blosc_blocks;
mod blosc_encode;
mod blosc_shuffle;
pub mod byte_shuffle;
pub mod bzip2_streams;
pub mod deflate;
pub mod lz4_block;
pub mod lz4_frame;
pub mod lz4_stream;
pub mod lzma;
mod settings;
pub mod tiff;
pub mod zfp;
pub mod zstd_frames;

pub use settings::{
    BloscName, BloscSettings, LzmaCheck, LzmaFilter, LzmaFormat, LzmaSpec, Shuffle,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Bytes beyond an eighth that other encoders may have added: headers and empty blocks.
const SLACK_BYTES: u64 = 64 * KIB;

/// Most bytes that `decoded` bytes can become in any of the streams; generous where other encoders
/// may do worse than ours.
pub fn encoded_bytes_max(decoded: u64) -> u64 {
    decoded.saturating_add(decoded / 8).saturating_add(SLACK_BYTES)
}

/// Whether a decoder has refused bytes because they decode to more than `bound`, the most that it
/// was to make. `reason` is its error.
pub fn is_too_long(reason: &str, bound: usize) -> bool {
    let text = format!("more than {bound}");
    reason
        .match_indices(&text)
        .any(|(at, _)| !reason[at + text.len()..].starts_with(|next: char| next.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
