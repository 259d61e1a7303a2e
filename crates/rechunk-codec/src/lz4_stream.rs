//! LZ4 blocks behind records, as lz4-java's `LZ4BlockOutputStream` writes them.

use std::ops::RangeInclusive;

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use twox_hash::XxHash32;

/// First bytes of every record.
pub const MAGIC: &[u8; 8] = b"LZ4Block";

/// Sizes of a block that lz4-java takes, bytes.
pub const BLOCK_BYTES: RangeInclusive<u32> = 64..=1 << 25;

/// Bytes of a record before its block: magic, token, size after and before compression, checksum.
const RECORD_BYTES: usize = 21;

/// High half of the token: the block is stored as it is, or compressed.
const STORED: u8 = 0x10;
const COMPRESSED: u8 = 0x20;

/// The block size that the low half of the token counts its powers of two from.
const TOKEN_BASE_BITS: u32 = 10;

/// Seed of the checksum, and the bits of it that lz4-java keeps.
const CHECKSUM_SEED: u32 = 0x9747_b28c;
const CHECKSUM_MASK: u32 = 0x0fff_ffff;

/// Header of a block.
struct Record {
    is_stored: bool,
    stored_bytes: usize,
    decoded_bytes: usize,
    checksum: u32,
}

impl Record {
    /// The record at the start of `bytes`, and what follows it.
    fn read(bytes: &[u8]) -> Result<(Self, &[u8]), String> {
        let (record, rest) = bytes
            .split_first_chunk::<RECORD_BYTES>()
            .ok_or_else(|| format!("is cut short: {} bytes where a record begins", bytes.len()))?;
        let (magic, fields) = record.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err("a record does not begin with its magic".to_owned());
        }
        let word = |at: usize| {
            u32::from_le_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]])
        };
        let is_stored = match fields[0] & 0xf0 {
            STORED => true,
            COMPRESSED => false,
            _ => return Err(format!("token {:#04x} is not known", fields[0])),
        };
        let bytes_of = |at: usize| usize::try_from(word(at)).map_err(|error| error.to_string());
        let (stored_bytes, decoded_bytes) = (bytes_of(1)?, bytes_of(5)?);
        Ok((Self { is_stored, stored_bytes, decoded_bytes, checksum: word(9) }, rest))
    }
}

/// Decodes a stream to at most `bound` bytes. No record's claim is believed: blocks decode into the
/// output itself.
pub fn decode(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.clear();
    decoded.reserve_exact(bound);
    let mut rest = encoded;
    loop {
        let (record, after) = Record::read(rest)?;
        let block = after.get(..record.stored_bytes).ok_or_else(|| {
            let (said, found) = (record.stored_bytes, after.len());
            format!("a record says {said} bytes, but {found} follow")
        })?;
        rest = &after[record.stored_bytes..];
        if record.decoded_bytes == 0 {
            return end(&record, rest);
        }
        decode_block(&record, block, decoded, bound)?;
    }
}

/// Checks what ends a stream: an empty record, and nothing behind it.
fn end(record: &Record, rest: &[u8]) -> Result<(), String> {
    if record.stored_bytes > 0 || record.checksum != 0 {
        return Err("the last record is damaged".to_owned());
    }
    if !rest.is_empty() {
        return Err(format!("{} bytes follow the end of the stream", rest.len()));
    }
    Ok(())
}

fn decode_block(
    record: &Record,
    block: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
) -> Result<(), String> {
    let start = decoded.len();
    let said = record.decoded_bytes;
    if said > bound - start {
        return Err(format!("decodes to more than {bound} bytes"));
    }
    let found = if record.is_stored {
        decoded.extend_from_slice(block.get(..said).unwrap_or(block));
        block.len()
    } else {
        decoded.resize(start + said, 0);
        decompress_into(block, &mut decoded[start..]).map_err(|error| error.to_string())?
    };
    if found != said {
        return Err(format!("a block decodes to {found} bytes, but its record says {said}"));
    }
    let checksum = checksum(&decoded[start..]);
    if checksum != record.checksum {
        let stored = record.checksum;
        return Err(format!("checksum {checksum:08x}, but {stored:08x} is stored"));
    }
    Ok(())
}

fn checksum(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(CHECKSUM_SEED, bytes) & CHECKSUM_MASK
}

/// Most bytes that `decoded` bytes become in blocks of `block_bytes`.
pub fn encoded_bytes_max(decoded: u64, block_bytes: u32) -> u64 {
    let records = decoded.div_ceil(u64::from(block_bytes.max(1))).saturating_add(1);
    // What one block can grow by before it is stored as it is.
    let growth = u64::from(block_bytes).min(decoded) / 128 + 64;
    decoded.saturating_add(records.saturating_mul(RECORD_BYTES as u64)).saturating_add(growth)
}

/// Encodes in blocks of `block_bytes` (see [`BLOCK_BYTES`]).
pub fn encode(decoded: &[u8], encoded: &mut Vec<u8>, block_bytes: u32) -> Result<(), String> {
    if !BLOCK_BYTES.contains(&block_bytes) {
        return Err(format!("blocks of {block_bytes} bytes are none that LZ4 streams have"));
    }
    encoded.clear();
    let most = encoded_bytes_max(decoded.len() as u64, block_bytes);
    encoded.reserve_exact(usize::try_from(most).map_err(|error| error.to_string())?);
    let bits = (block_bytes - 1).checked_ilog2().map_or(0, |bits| bits + 1);
    let level = bits.saturating_sub(TOKEN_BASE_BITS).to_le_bytes()[0];
    let block_size = usize::try_from(block_bytes).map_err(|error| error.to_string())?;
    for block in decoded.chunks(block_size) {
        encode_block(block, encoded, level)?;
    }
    write_record(encoded, STORED | level, [0; 3]);
    Ok(())
}

fn encode_block(block: &[u8], encoded: &mut Vec<u8>, level: u8) -> Result<(), String> {
    let start = encoded.len();
    let words = |stored: usize| -> Result<[u32; 3], String> {
        let word = |bytes: usize| u32::try_from(bytes).map_err(|error| error.to_string());
        Ok([word(stored)?, word(block.len())?, checksum(block)])
    };
    // A place for the record, which is only known when the block is.
    encoded.resize(start + RECORD_BYTES + get_maximum_output_size(block.len()), 0);
    let stored = compress_into(block, &mut encoded[start + RECORD_BYTES..])
        .map_err(|error| error.to_string())?;
    if stored < block.len() {
        encoded.truncate(start + RECORD_BYTES + stored);
        let mut record = Vec::with_capacity(RECORD_BYTES);
        write_record(&mut record, COMPRESSED | level, words(stored)?);
        encoded[start..start + RECORD_BYTES].copy_from_slice(&record);
    } else {
        encoded.truncate(start);
        write_record(encoded, STORED | level, words(block.len())?);
        encoded.extend_from_slice(block);
    }
    Ok(())
}

fn write_record(encoded: &mut Vec<u8>, token: u8, words: [u32; 3]) {
    encoded.extend_from_slice(MAGIC);
    encoded.push(token);
    for word in words {
        encoded.extend_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes `abc` in blocks of 64 KiB as lz4-java 1.8 does, by its format.
    #[test]
    fn a_known_stream() {
        let mut encoded = Vec::new();
        encode(b"abc", &mut encoded, 1 << 16).unwrap();
        assert_eq!(encoded.len(), 2 * RECORD_BYTES + 3);
        assert_eq!(&encoded[..13], b"LZ4Block\x16\x03\0\0\0");
        assert_eq!(&encoded[21..24], b"abc");
        assert_eq!(&encoded[24..], b"LZ4Block\x16\0\0\0\0\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn damage_is_named() {
        let data = vec![5; 1000];
        let mut encoded = Vec::new();
        encode(&data, &mut encoded, 256).unwrap();
        let refuse = |bytes: &[u8], bound| decode(bytes, &mut Vec::new(), bound).unwrap_err();
        let with = |at: usize, byte: u8| {
            let mut bytes = encoded.clone();
            bytes[at] = byte;
            refuse(&bytes, 1000)
        };
        assert!(with(0, 0).contains("magic"));
        assert!(with(8, 0x30).contains("token"));
        assert!(with(11, 9).contains("a record says"));
        assert!(with(16, 0x7f).contains("more than 1000 bytes"));
        assert!(with(17, 0).contains("checksum") || with(17, 1).contains("checksum"));
        assert!(refuse(&[&encoded[..], b"x"].concat(), 1000).contains("1 bytes follow"));
        assert!(refuse(&encoded, 999).contains("more than 999"));
        for length in 0..encoded.len() {
            assert!(decode(&encoded[..length], &mut Vec::new(), 1000).is_err(), "{length}");
        }
    }
}
