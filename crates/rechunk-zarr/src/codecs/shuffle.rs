//! The filter that shuffles bytes. The buffers are whole numbers of elements.

use rechunk_codec::byte_shuffle;

/// Copies where there is nothing to rearrange, as numcodecs does.
fn is_plain(input: &[u8], output: &mut Vec<u8>, element_bytes: usize) -> bool {
    output.clear();
    if element_bytes <= 1 || input.is_empty() {
        output.extend_from_slice(input);
        return true;
    }
    output.resize(input.len(), 0);
    false
}

pub(super) fn encode(decoded: &[u8], encoded: &mut Vec<u8>, element_bytes: u32) {
    let element_bytes = usize::try_from(element_bytes).unwrap_or(usize::MAX);
    if is_plain(decoded, encoded, element_bytes) {
        return;
    }
    byte_shuffle::shuffle(element_bytes, decoded, encoded);
}

pub(super) fn decode(encoded: &[u8], decoded: &mut Vec<u8>, element_bytes: u32) {
    let element_bytes = usize::try_from(element_bytes).unwrap_or(usize::MAX);
    if is_plain(encoded, decoded, element_bytes) {
        return;
    }
    byte_shuffle::unshuffle(element_bytes, encoded, decoded);
}
