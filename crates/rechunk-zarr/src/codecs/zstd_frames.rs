//! Zstandard, in one call per chunk.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::compress_bound;

use super::workspace::zstd_encode_bytes;

/// Largest context that a thread keeps from one chunk to the next. A larger one (level 9 and up)
/// takes far longer to use than to set up, and would stay in memory that nobody accounts for.
const KEPT_BYTES_MAX: u64 = 8 << 20;

thread_local! {
    static DECODER: RefCell<Decompressor<'static>> = RefCell::new(Decompressor::default());
    static ENCODER: RefCell<Compressor<'static>> = RefCell::new(Compressor::default());
}

/// Decodes one frame or several into at most `bound` bytes. What the frames claim is not believed:
/// the output buffer is the limit, and serves as the window, so that nothing else is allocated.
pub(super) fn decode(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.resize(bound, 0);
    let length = DECODER
        .with_borrow_mut(|decoder| decoder.decompress_to_buffer(encoded, &mut decoded[..]))
        .map_err(|error| error.to_string())?;
    decoded.truncate(length);
    Ok(())
}

/// One frame that says its content size, as readers expect.
pub(super) fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    level: i32,
    checksum: bool,
) -> Result<(), String> {
    encoded.clear();
    encoded.reserve_exact(compress_bound(decoded.len()));
    let mut run = |encoder: &mut Compressor<'static>| {
        encoder.set_compression_level(level)?;
        encoder.include_checksum(checksum)?;
        encoder.compress_to_buffer(decoded, encoded).map(|_| ())
    };
    let is_kept = zstd_encode_bytes(level, decoded.len() as u64) <= KEPT_BYTES_MAX;
    let done = if is_kept { ENCODER.with_borrow_mut(run) } else { run(&mut Compressor::default()) };
    done.map_err(|error| error.to_string())
}
