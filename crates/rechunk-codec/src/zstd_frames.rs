//! Zstandard, in one call per chunk.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::compress_bound;

use crate::{KIB, MIB};

/// A decoder's context is 94 KiB; there is no window, because the output serves as one.
pub const DECODE_WORKSPACE_BYTES: u64 = 128 * KIB;

/// zstd's own estimate (1.5.7) of a compression context at its largest, KiB, for levels 0 to 22.
const CONTEXT_KIB: [u64; 23] = [
    1273, 569, 761, 1273, 2553, 3577, 3577, 6649, 6649, 12_793, 25_081, 25_081, 49_657, 49_657,
    49_657, 66_041, 66_041, 66_041, 66_041, 83_200, 165_120, 328_960, 722_256,
];

/// Largest context that a thread keeps from one chunk to the next. A larger one (level 9 and up)
/// takes far longer to use than to set up, and would stay in memory that nobody accounts for.
const KEPT_BYTES_MAX: u64 = 8 << 20;

thread_local! {
    static DECODER: RefCell<Decompressor<'static>> = RefCell::new(Decompressor::default());
    static ENCODER: RefCell<Compressor<'static>> = RefCell::new(Compressor::default());
}

/// Decodes one frame or several into at most `bound` bytes. What the frames claim is not believed:
/// the output buffer is the limit, and serves as the window, so that nothing else is allocated.
pub fn decode(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.resize(bound, 0);
    let length = decode_into(encoded, decoded).map_err(|reason| {
        if reason == TOO_SMALL { format!("decodes to more than {bound} bytes") } else { reason }
    })?;
    decoded.truncate(length);
    Ok(())
}

/// The library's words for an output buffer that does not hold what is decoded.
const TOO_SMALL: &str = "Destination buffer is too small";

/// [`decode`] into a place; how many bytes of it were filled.
pub(crate) fn decode_into(encoded: &[u8], decoded: &mut [u8]) -> Result<usize, String> {
    DECODER
        .with_borrow_mut(|decoder| decoder.decompress_to_buffer(encoded, decoded))
        .map_err(|error| error.to_string())
}

/// One frame that says its content size, as readers expect.
pub fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    level: i32,
    checksum: bool,
) -> Result<(), String> {
    encoded.clear();
    encoded.reserve_exact(compress_bound(decoded.len()));
    with_encoder(level, decoded.len(), |encoder| {
        encoder.set_compression_level(level)?;
        encoder.include_checksum(checksum)?;
        encoder.compress_to_buffer(decoded, encoded).map(|_| ())
    })
    .map_err(|error| error.to_string())
}

/// One frame in a place, without a checksum, as `ZSTD_compress` makes it; how many bytes it has,
/// `None` if there is no room for it.
pub(crate) fn encode_into(decoded: &[u8], encoded: &mut [u8], level: i32) -> Option<usize> {
    // (Where the room is too small, the other way of encoding leaves a context that has to be
    // reset.)
    with_encoder(level, decoded.len(), |encoder| {
        encoder.context_mut().compress(encoded, decoded, level).ok()
    })
}

/// Runs an encoder that is to encode a piece of so many bytes with a level: this thread's, where
/// that is kept.
fn with_encoder<T>(
    level: i32,
    decoded_bytes: usize,
    run: impl FnOnce(&mut Compressor<'static>) -> T,
) -> T {
    let is_kept = encode_workspace_bytes(level, decoded_bytes as u64) <= KEPT_BYTES_MAX;
    if is_kept { ENCODER.with_borrow_mut(run) } else { run(&mut Compressor::default()) }
}

/// A bound of the compression context for one piece of `decoded` bytes.
pub fn encode_workspace_bytes(level: i32, decoded: u64) -> u64 {
    // Tables shrink with the data: by zstd's estimates never more than 18 times its size (rounded
    // up to a power of two) and a constant.
    let by_size = 18_u64.saturating_mul(decoded.next_power_of_two()).saturating_add(MIB);
    // Negative levels use less than level 1.
    let level = usize::try_from(level.max(1)).unwrap_or(1).min(CONTEXT_KIB.len() - 1);
    by_size.min(CONTEXT_KIB[level] * KIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread's encoder is as good after a frame that had no room as before.
    #[test]
    fn no_room_for_one_frame_changes_no_other() {
        let noise: Vec<u8> = (0..50_000_u32).map(|n| ((n * n) >> 7).to_le_bytes()[0]).collect();
        let encoded = |level| {
            let mut encoded = Vec::new();
            encode(&noise, &mut encoded, level, true).unwrap();
            encoded
        };
        let before = [1, 3].map(encoded);
        let mut place = vec![0; 60_000];
        let length = encode_into(&noise, &mut place, 3).unwrap();
        let frame = place[..length].to_vec();
        assert_eq!(encode_into(&noise, &mut place[..100], 3), None);
        assert_eq!([1, 3].map(encoded), before);
        assert_eq!(encode_into(&noise, &mut place[..length - 1], 1), None);
        assert_eq!(encode_into(&noise, &mut place, 3), Some(length));
        assert_eq!(place[..length], frame);
    }
}
