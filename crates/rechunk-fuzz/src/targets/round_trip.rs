//! What is asked of everything that decodes a chunk.

use rechunk_format::Layout;

use crate::memory::peak_of;

/// What a decoder may allocate beside what it declares, bytes: messages, and small tables.
const SLACK_BYTES: u64 = 16 << 10;

/// Decodes a stored chunk. What decodes is a whole chunk, and survives another round through the
/// codecs (every bit of it if it `keeps_all`); each way takes no more memory than the layout says.
pub(crate) fn round_trip(layout: &dyn Layout, chunk: &[u8], keeps_all: bool) {
    let cost = layout.codec_cost();
    let index = &vec![0; layout.spec().shape.len()];
    let spec = layout.spec();
    let chunk_bytes = spec.chunk_shape.iter().product::<u64>() * spec.item_bytes();
    let mut scratch = Vec::new();
    let decode = || layout.decode(index, chunk, &mut scratch).map(|decoded| decoded.len() as u64);
    let (decoded, peak_bytes) = peak_of(decode);
    let most = chunk_bytes + cost.decode_workspace_bytes + SLACK_BYTES;
    assert!(peak_bytes <= most, "decoding took {peak_bytes} bytes, more than {most}");
    let Ok(decoded_bytes) = decoded else { return };
    assert_eq!(decoded_bytes, chunk_bytes);
    let elements = if cost.is_raw { chunk } else { &scratch };
    let mut encoded = Vec::new();
    let (written, peak_bytes) = peak_of(|| layout.encode(index, elements, &mut encoded));
    assert!(written.is_ok(), "{written:?}");
    assert!(encoded.len() as u64 <= cost.encoded_bytes_max, "{} bytes", encoded.len());
    let most = cost.encoded_bytes_max + cost.encode_workspace_bytes + SLACK_BYTES;
    assert!(peak_bytes <= most, "encoding took {peak_bytes} bytes, more than {most}");
    let mut again = Vec::new();
    let decoded = layout.decode(index, &encoded, &mut again);
    assert_eq!(decoded.as_ref().map(|decoded| decoded.len()), Ok(elements.len()));
    assert!(!keeps_all || decoded == Ok(elements), "other elements after a round");
}
