//! Byte shuffle: first all first bytes of the elements, then all second bytes, and so on. The
//! buffers are whole numbers of elements.

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
    let planes = encoded.chunks_exact_mut((decoded.len() / element_bytes).max(1));
    for (byte, plane) in planes.enumerate() {
        for (slot, element) in plane.iter_mut().zip(decoded.chunks_exact(element_bytes)) {
            *slot = element[byte];
        }
    }
}

pub(super) fn decode(encoded: &[u8], decoded: &mut Vec<u8>, element_bytes: u32) {
    let element_bytes = usize::try_from(element_bytes).unwrap_or(usize::MAX);
    if is_plain(encoded, decoded, element_bytes) {
        return;
    }
    let planes = encoded.chunks_exact((encoded.len() / element_bytes).max(1));
    for (byte, plane) in planes.enumerate() {
        for (value, element) in plane.iter().zip(decoded.chunks_exact_mut(element_bytes)) {
            element[byte] = *value;
        }
    }
}
