//! Objects that are compressed as a whole.

use rechunk_codec::deflate;

use crate::metadata::Packing;

/// First bytes of a gzip member.
const MAGIC: &[u8] = &[0x1f, 0x8b, 8];

/// Ending of the names of files that are compressed.
pub(crate) const ENDING: &str = ".gz";

/// The encoded chunk in an object: the object itself, or `buffer`. `raw_bytes` are those of a chunk
/// that is stored as it is; at most `bound` bytes are made.
pub(crate) fn unpack<'a>(
    packing: Packing,
    object: &'a [u8],
    raw_bytes: Option<usize>,
    bound: usize,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8], String> {
    let is_packed = match packing {
        Packing::None => false,
        Packing::Gzip { .. } => true,
        Packing::Told => object.starts_with(MAGIC),
    };
    if !is_packed {
        return Ok(object);
    }
    buffer.clear();
    buffer.reserve_exact(bound);
    let unpacked = deflate::decode_gzip(object, buffer, bound);
    // Elements may look so by chance; their checksum does not.
    if packing == Packing::Told && raw_bytes == Some(object.len()) {
        let is_chunk = unpacked.is_ok() && raw_bytes == Some(buffer.len());
        return Ok(if is_chunk { buffer } else { object });
    }
    unpacked.map_err(|reason| format!("gzip: {reason}"))?;
    Ok(buffer)
}
