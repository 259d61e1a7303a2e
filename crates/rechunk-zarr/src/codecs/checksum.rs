//! A checksum of 32 bits before or after the bytes, little-endian.

use std::borrow::Cow;

use rechunk_format::FormatError;

use crate::codec_spec::{ChecksumKind, CodecSpec};

/// Bytes of the checksum.
pub(super) const BYTES: usize = 4;

/// Words that can be summed before the halves of Fletcher's sum must be folded.
const FLETCHER_BLOCK_WORDS: usize = 360;

/// Checks the checksum and takes it off.
pub(super) fn strip(
    bytes: &mut Cow<'_, [u8]>,
    kind: ChecksumKind,
    is_first: bool,
) -> Result<(), FormatError> {
    let codec = CodecSpec::Checksum { kind, is_first }.name();
    let damaged = |reason: String| FormatError::Decode { codec, reason };
    let split = if is_first {
        bytes.split_first_chunk::<BYTES>().map(|(stored, content)| (content, stored))
    } else {
        bytes.split_last_chunk::<BYTES>()
    };
    let (content, stored) = split
        .ok_or_else(|| damaged(format!("{} bytes are too few for a checksum", bytes.len())))?;
    let (stored, found) = (u32::from_le_bytes(*stored), checksum(content, kind));
    if stored != found {
        return Err(damaged(format!("checksum {found:08x}, but {stored:08x} is stored")));
    }
    let length = content.len();
    match bytes {
        Cow::Borrowed(slice) if is_first => *slice = &slice[BYTES..],
        Cow::Borrowed(slice) => *slice = &slice[..length],
        Cow::Owned(vec) if is_first => drop(vec.drain(..BYTES)),
        Cow::Owned(vec) => vec.truncate(length),
    }
    Ok(())
}

/// Puts the checksum to the bytes.
pub(super) fn add(bytes: &mut Vec<u8>, kind: ChecksumKind, is_first: bool) {
    let checksum = checksum(bytes, kind).to_le_bytes();
    bytes.reserve_exact(BYTES);
    if is_first {
        drop(bytes.splice(..0, checksum));
    } else {
        bytes.extend_from_slice(&checksum);
    }
}

fn checksum(bytes: &[u8], kind: ChecksumKind) -> u32 {
    match kind {
        ChecksumKind::Crc32 => libdeflater::crc32(bytes),
        ChecksumKind::Crc32c => crc32c::crc32c(bytes),
        ChecksumKind::Adler32 => libdeflater::adler32(bytes),
        ChecksumKind::Fletcher32 => fletcher32(bytes),
    }
}

/// Fletcher's sum as HDF5 and numcodecs compute it: big-endian words, ones' complement.
fn fletcher32(bytes: &[u8]) -> u32 {
    let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
    let (mut low, mut high) = (0_u32, 0_u32);
    for block in bytes.chunks(2 * FLETCHER_BLOCK_WORDS) {
        for word in block.chunks(2) {
            let second = word.get(1).copied().unwrap_or(0);
            low += u32::from(u16::from_be_bytes([word[0], second]));
            high += low;
        }
        (low, high) = (fold(low), fold(high));
    }
    (low, high) = (fold(low), fold(high));
    (high << 16) | low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As numcodecs 0.16 computes them.
    #[test]
    fn known_fletcher_sums() {
        let every: Vec<u8> = (0..=255).cycle().take(1280).collect();
        assert_eq!(fletcher32(b"abcd").to_le_bytes(), [0xc6, 0xc4, 0x29, 0x26]);
        assert_eq!(fletcher32(b"abcde").to_le_bytes(), [0xc7, 0x29, 0xf0, 0x4f]);
        assert_eq!(fletcher32(&every).to_le_bytes(), [0x3e, 0xc1, 0x0b, 0xea]);
        assert_eq!(fletcher32(&[0xff; 1000]), u32::MAX);
        assert_eq!(fletcher32(&[0; 10]), 0);
        assert_eq!(fletcher32(&[]), 0);
    }
}
