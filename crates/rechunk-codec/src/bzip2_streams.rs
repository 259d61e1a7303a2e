//! Bzip2.

use bzip2::{Action, Compress, Compression, Decompress, Error, Status};

use crate::MIB;

/// A decoder at its largest: blocks of 900 kB in words of 4 bytes, and tables.
pub const DECODE_WORKSPACE_BYTES: u64 = 4 * MIB;

/// An encoder: 8 bytes for each byte of a block, and tables (400 kB).
const ENCODER_BYTES_PER_LEVEL: u64 = 800_000;
const ENCODER_BYTES: u64 = MIB;

/// The most that encoding at `level` allocates.
pub fn encode_workspace_bytes(level: u8) -> u64 {
    ENCODER_BYTES + u64::from(level) * ENCODER_BYTES_PER_LEVEL
}

/// Decodes one stream or several into at most `bound` bytes. What follows a whole stream and is
/// none itself is ignored, as Python does.
pub fn decode(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.clear();
    decoded.reserve_exact(bound);
    let mut rest = encoded;
    loop {
        let before = decoded.len();
        match decode_stream(rest, decoded, bound)? {
            Some(used) => rest = &rest[used.min(rest.len())..],
            None if rest.len() == encoded.len() => return Err("this is no bzip2 stream".to_owned()),
            None => {
                decoded.truncate(before);
                return Ok(());
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// Decodes the stream at the start of `encoded` behind what is in `decoded`; how many bytes it
/// has, or `None` if there is none.
fn decode_stream(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
) -> Result<Option<usize>, String> {
    let mut decoder = Decompress::new(false);
    let mut spare = [0];
    loop {
        let used = usize::try_from(decoder.total_in()).unwrap_or(usize::MAX).min(encoded.len());
        let (input, filled) = (&encoded[used..], decoded.len());
        let out = decoder.total_out();
        // When all room is taken, one byte more tells a stream that ends from one that goes on.
        let status = if filled < bound {
            decoder.decompress_vec(input, decoded)
        } else {
            decoder.decompress(input, &mut spare)
        };
        let total = usize::try_from(decoder.total_in()).unwrap_or(usize::MAX);
        match status {
            Err(Error::DataMagic) => return Ok(None),
            Err(error) => return Err(error.to_string()),
            Ok(_) if filled >= bound && decoder.total_out() > out => {
                return Err(format!("decodes to more than {bound} bytes"));
            }
            Ok(Status::StreamEnd) => return Ok(Some(total)),
            Ok(Status::MemNeeded) => return Err("no memory for the decoder".to_owned()),
            Ok(_) if decoder.total_out() == out && total == used => {
                return Err("is cut short".to_owned());
            }
            Ok(_) => {}
        }
    }
}

/// One stream of at most `bound` bytes, at `level` 1 to 9: blocks of so many times 100 kB.
pub fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    level: u8,
    bound: usize,
) -> Result<(), String> {
    encoded.clear();
    encoded.reserve_exact(bound);
    let mut encoder = Compress::new(Compression::new(u32::from(level)), 0);
    loop {
        let used = usize::try_from(encoder.total_in()).unwrap_or(usize::MAX).min(decoded.len());
        let filled = encoded.len();
        let status = encoder.compress_vec(&decoded[used..], encoded, Action::Finish);
        match status.map_err(|error| error.to_string())? {
            Status::StreamEnd => return Ok(()),
            _ if encoded.len() == filled && encoder.total_in() == used as u64 => {
                return Err(format!("encodes to more than {bound} bytes"));
            }
            _ => {}
        }
    }
}
