//! Gzip and zlib.

use std::cell::RefCell;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use libdeflater::{
    CompressionError, CompressionLvl, Compressor, DecompressionError, Decompressor, adler32, crc32,
};
use memchr::memmem;

use crate::KIB;

/// libdeflate's decoder is 12 KiB; the decoder for several gzip members has a window beside it.
pub const DECODE_WORKSPACE_BYTES: u64 = 128 * KIB;

/// libdeflate's encoder up to level 9, as measured (657 KiB).
pub const ENCODE_WORKSPACE_BYTES: u64 = 704 * KIB;

/// Bytes at the end of a gzip member: CRC-32 and length, little-endian.
const GZIP_TRAILER_BYTES: usize = 8;

/// First bytes of a gzip member.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b, 8];

/// Bytes at the end of a zlib stream: Adler-32, big-endian.
const ZLIB_TRAILER_BYTES: usize = 4;

/// Spare room that lets `read_to_end` see the end without growing the buffer.
const READ_AHEAD_BYTES: usize = 64;

thread_local! {
    static DECODER: RefCell<Decompressor> = RefCell::new(Decompressor::new());
    /// The encoder that was used last, with its level.
    static ENCODER: RefCell<Option<(i32, Compressor)>> = const { RefCell::new(None) };
}

/// Decodes a gzip stream of one member or several into at most `bound` bytes.
pub fn decode_gzip(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.resize(bound, 0);
    let length = DECODER
        .with_borrow_mut(|decoder| decoder.gzip_decompress(encoded, decoded))
        .map_err(|error| explain(&error, bound))?;
    // The fast decoder stops after the first member. It was the only one if the stream ends with
    // that member's own checksum and length, and they are not followed by another member before
    // (two that are alike end alike); else the slow decoder knows about members.
    let trailer = gzip_trailer(&decoded[..length]);
    let followed = [&trailer[..], GZIP_MAGIC].concat();
    let is_only =
        encoded.last_chunk() == Some(&trailer) && memmem::find(encoded, &followed).is_none();
    if is_only {
        decoded.truncate(length);
        return Ok(());
    }
    decode_members(encoded, decoded, bound)
}

fn gzip_trailer(content: &[u8]) -> [u8; GZIP_TRAILER_BYTES] {
    // The length counts modulo 2^32: the low half of the 64 bits.
    let length = (content.len() as u64) << 32;
    (length | u64::from(crc32(content))).to_le_bytes()
}

fn decode_members(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.clear();
    // One byte more than allowed tells a stream that is too long from one that just fits.
    let limit = u64::try_from(bound).unwrap_or(u64::MAX).saturating_add(1);
    let mut decoder = MultiGzDecoder::new(encoded).take(limit);
    decoded.reserve_exact(bound.saturating_add(READ_AHEAD_BYTES));
    decoder.read_to_end(decoded).map_err(|error| error.to_string())?;
    if decoded.len() > bound {
        return Err(explain(&DecompressionError::InsufficientSpace, bound));
    }
    Ok(())
}

/// Decodes a zlib stream into at most `bound` bytes.
pub fn decode_zlib(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.resize(bound, 0);
    let length = decode_zlib_into(encoded, decoded)?;
    decoded.truncate(length);
    Ok(())
}

/// [`decode_zlib`] into a place; how many bytes of it were filled.
pub(crate) fn decode_zlib_into(encoded: &[u8], decoded: &mut [u8]) -> Result<usize, String> {
    let bound = decoded.len();
    let length = DECODER
        .with_borrow_mut(|decoder| decoder.zlib_decompress(encoded, decoded))
        .map_err(|error| explain(&error, bound))?;
    let trailer: [u8; ZLIB_TRAILER_BYTES] = adler32(&decoded[..length]).to_be_bytes();
    if encoded.last_chunk() != Some(&trailer) {
        return Err("there are bytes after the end of the stream".to_owned());
    }
    Ok(length)
}

fn explain(error: &DecompressionError, bound: usize) -> String {
    match error {
        DecompressionError::BadData => "the data is damaged or cut short".to_owned(),
        DecompressionError::InsufficientSpace => format!("decodes to more than {bound} bytes"),
    }
}

/// One gzip member.
pub fn encode_gzip(decoded: &[u8], encoded: &mut Vec<u8>, level: i32) -> Result<(), String> {
    encode(level, encoded, |encoder, encoded| {
        encoded.resize(encoder.gzip_compress_bound(decoded.len()), 0);
        encoder.gzip_compress(decoded, encoded)
    })
}

/// One zlib stream.
pub fn encode_zlib(decoded: &[u8], encoded: &mut Vec<u8>, level: i32) -> Result<(), String> {
    encode(level, encoded, |encoder, encoded| {
        encoded.resize(encoder.zlib_compress_bound(decoded.len()), 0);
        encoder.zlib_compress(decoded, encoded)
    })
}

/// Runs the encoder of `level`, kept from the last chunk where that had the same; `run` returns
/// how much of the buffer it has filled.
fn encode(
    level: i32,
    encoded: &mut Vec<u8>,
    run: impl FnOnce(&mut Compressor, &mut Vec<u8>) -> Result<usize, CompressionError>,
) -> Result<(), String> {
    let valid = CompressionLvl::new(level).map_err(|error| format!("level {level}: {error:?}"))?;
    ENCODER.with_borrow_mut(|kept| {
        let mut encoder = match kept.take() {
            Some((kept_level, encoder)) if kept_level == level => encoder,
            _ => Compressor::new(valid),
        };
        let length = run(&mut encoder, encoded).map_err(|error| error.to_string());
        *kept = Some((level, encoder));
        encoded.truncate(length?);
        Ok(())
    })
}
