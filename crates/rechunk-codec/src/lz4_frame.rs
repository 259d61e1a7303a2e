//! LZ4 frames, as the `lz4` tool writes them.

use std::io::Read;

use lz4_flex::frame::FrameDecoder;

use crate::MIB;

/// First bytes of a frame.
pub const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// A decoder's buffers: blocks of at most 4 MiB before and twice after decoding, and a window.
pub const DECODE_WORKSPACE_BYTES: u64 = 13 * MIB;

/// Decodes one frame or several to at most `bound` bytes.
pub fn decode(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    // The older frames have blocks of 8 MiB, and nobody who writes chunks writes them.
    if !encoded.starts_with(&MAGIC) {
        return Err("this is no LZ4 frame".to_owned());
    }
    decoded.clear();
    decoded.resize(bound, 0);
    let (mut decoder, mut filled) = (FrameDecoder::new(encoded), 0);
    loop {
        // When all room is taken, one byte more tells a stream that ends from one that goes on.
        let mut spare = [0];
        let room = if filled < bound { &mut decoded[filled..] } else { &mut spare[..] };
        match decoder.read(room).map_err(|error| error.to_string())? {
            0 => break,
            _ if filled >= bound => return Err(format!("decodes to more than {bound} bytes")),
            count => filled += count,
        }
    }
    decoded.truncate(filled);
    Ok(())
}
