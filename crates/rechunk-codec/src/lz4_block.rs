//! One LZ4 block behind its decoded size, as numcodecs writes it.

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

use crate::KIB;

/// lz4_flex's hash table.
pub const ENCODE_WORKSPACE_BYTES: u64 = 64 * KIB;

/// Bytes of the decoded size, little-endian.
const HEADER_BYTES: usize = 4;

/// Largest buffer LZ4 takes (`LZ4_MAX_INPUT_SIZE`).
pub const CHUNK_BYTES_MAX: u64 = 0x7e00_0000;

/// Decodes into a buffer of the size the header says, at most `bound`.
pub fn decode(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    let (header, block) = encoded
        .split_first_chunk::<HEADER_BYTES>()
        .ok_or_else(|| format!("{} bytes are too few for a header", encoded.len()))?;
    let said = u32::from_le_bytes(*header);
    let length = usize::try_from(said).ok().filter(|&length| length <= bound);
    let length =
        length.ok_or_else(|| format!("the header says {said} decoded bytes, more than {bound}"))?;
    decoded.resize(length, 0);
    let found = decompress_into(block, decoded).map_err(|error| error.to_string())?;
    if found != length {
        return Err(format!("decodes to {found} bytes, but the header says {length}"));
    }
    Ok(())
}

/// Decodes a block without its size to at most `bound` bytes.
pub fn decode_bare(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.clear();
    decoded.resize(bound, 0);
    let found = decompress_into(encoded, decoded).map_err(|error| error.to_string())?;
    decoded.truncate(found);
    Ok(())
}

/// Encodes at LZ4's ordinary speed: every acceleration makes the same format.
pub fn encode(decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), String> {
    let length = u32::try_from(decoded.len())
        .ok()
        .filter(|&length| u64::from(length) <= CHUNK_BYTES_MAX)
        .ok_or_else(|| format!("{} bytes are more than LZ4 takes", decoded.len()))?;
    encoded.resize(HEADER_BYTES + get_maximum_output_size(decoded.len()), 0);
    encoded[..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    let written = compress_into(decoded, &mut encoded[HEADER_BYTES..]);
    let written = written.map_err(|error| error.to_string())?;
    encoded.truncate(HEADER_BYTES + written);
    Ok(())
}
