//! CRC-32C after the bytes, little-endian.

use std::borrow::Cow;

use rechunk_format::FormatError;

/// Bytes of the checksum.
pub(super) const BYTES: usize = 4;

/// Checks the checksum and takes it off.
pub(super) fn strip(bytes: &mut Cow<'_, [u8]>) -> Result<(), FormatError> {
    let damaged = |reason: String| FormatError::Decode { codec: "crc32c", reason };
    let (content, stored) = bytes
        .split_last_chunk::<BYTES>()
        .ok_or_else(|| damaged(format!("{} bytes are too few for a checksum", bytes.len())))?;
    let (stored, found) = (u32::from_le_bytes(*stored), crc32c::crc32c(content));
    if stored != found {
        return Err(damaged(format!("checksum {found:08x}, but {stored:08x} is stored")));
    }
    let length = content.len();
    match bytes {
        Cow::Borrowed(slice) => *slice = &slice[..length],
        Cow::Owned(vec) => vec.truncate(length),
    }
    Ok(())
}

/// Puts the checksum behind the bytes.
pub(super) fn append(bytes: &mut Vec<u8>) {
    let checksum = crc32c::crc32c(bytes);
    bytes.reserve_exact(BYTES);
    bytes.extend_from_slice(&checksum.to_le_bytes());
}
