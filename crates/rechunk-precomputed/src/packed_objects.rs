//! Objects that are compressed as a whole.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use rechunk_codec::deflate;

use crate::metadata::Packing;

/// First bytes of a gzip member.
const MAGIC: &[u8] = &[0x1f, 0x8b, 8];

/// Endings of the names of files that are compressed.
pub(crate) const GZIP_ENDING: &str = ".gz";
pub(crate) const BROTLI_ENDING: &str = ".br";

/// Most bytes that a decoder of brotli allocates: a window of 16 MiB, and its tables.
pub(crate) const BROTLI_WORKSPACE_BYTES: u64 = 18 << 20;

/// Form of an encoded chunk, by which an object that is none is known to be compressed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks<'a> {
    /// Bytes of a chunk that is stored as it is.
    pub raw_bytes: Option<usize>,
    /// First bytes of every chunk of the encoding.
    pub head: &'a [u8],
}

impl Looks<'_> {
    fn fits(&self, chunk: &[u8]) -> bool {
        self.raw_bytes.is_none_or(|bytes| bytes == chunk.len()) && chunk.starts_with(self.head)
    }
}

/// The encoded chunk in an object: the object itself, or `buffer`. At most `bound` bytes are made.
pub(crate) fn unpack<'a>(
    packing: Packing,
    object: &'a [u8],
    looks: Looks<'_>,
    bound: usize,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8], String> {
    match packing {
        Packing::None => Ok(object),
        Packing::Gzip { .. } => {
            gzip(object, bound, buffer)?;
            Ok(buffer)
        }
        Packing::Brotli => {
            brotli(object, bound, buffer)?;
            Ok(buffer)
        }
        Packing::Told if object.starts_with(MAGIC) => {
            let unpacked = gzip(object, bound, buffer);
            // Elements may look so by chance; their checksum does not.
            if looks.raw_bytes == Some(object.len()) {
                let is_chunk = unpacked.is_ok() && looks.raw_bytes == Some(buffer.len());
                return Ok(if is_chunk { buffer } else { object });
            }
            unpacked?;
            Ok(buffer)
        }
        // Brotli begins with anything: it is what is no chunk, and becomes one.
        Packing::Told if looks.fits(object) => Ok(object),
        Packing::Told => {
            let is_chunk = brotli(object, bound, buffer).is_ok() && looks.fits(buffer);
            Ok(if is_chunk { buffer } else { object })
        }
    }
}

fn gzip(object: &[u8], bound: usize, buffer: &mut Vec<u8>) -> Result<(), String> {
    buffer.clear();
    buffer.reserve_exact(bound);
    deflate::decode_gzip(object, buffer, bound).map_err(|reason| format!("gzip: {reason}"))
}

/// Decodes a stream of brotli, after which there is nothing, into at most `bound` bytes. Its window
/// is one of RFC 7932: larger ones, which are an extension, are refused.
fn brotli(object: &[u8], bound: usize, buffer: &mut Vec<u8>) -> Result<(), String> {
    let (bytes, heap) = (StandardAlloc::default(), StandardAlloc::default());
    let mut state = BrotliState::new_strict(bytes, heap, StandardAlloc::default());
    buffer.clear();
    buffer.resize(bound, 0);
    let (mut left, mut read, mut room, mut filled, mut total) = (object.len(), 0, bound, 0, 0);
    let result = BrotliDecompressStream(
        &mut left,
        &mut read,
        object,
        &mut room,
        &mut filled,
        buffer,
        &mut total,
        &mut state,
    );
    match result {
        BrotliResult::ResultSuccess if left == 0 => {
            buffer.truncate(filled);
            Ok(())
        }
        BrotliResult::ResultSuccess => Err(format!("brotli: {left} bytes follow its end")),
        BrotliResult::NeedsMoreInput => Err("brotli: it ends too early".to_owned()),
        BrotliResult::NeedsMoreOutput => {
            Err(format!("brotli: it makes more than the {bound} bytes possible"))
        }
        BrotliResult::ResultFailure => Err(format!("brotli: {:?}", state.error_code)),
    }
}
