//! What is asked of everything that decodes a chunk.

use rechunk_format::Layout;

use crate::memory::peak_of;

/// What a decoder may allocate beside what it declares, bytes: messages, and small tables.
const SLACK_BYTES: u64 = 16 << 10;

/// What is in a buffer before it is used.
const STALE: u8 = 0xa5;

/// Decodes a stored chunk; true if it can be. What decodes is a whole chunk, whatever the buffer held
/// before, its parts are those of the whole, and it survives another round through the codecs (every
/// bit of it if it `keeps_all`); each way takes no more memory than the layout says.
pub(crate) fn round_trip(layout: &dyn Layout, chunk: &[u8], keeps_all: bool) -> bool {
    let cost = layout.codec_cost();
    let index = &vec![0; layout.spec().shape.len()];
    let spec = layout.spec();
    let chunk_bytes = spec.chunk_shape.iter().product::<u64>() * spec.item_bytes();
    let mut scratch = Vec::new();
    let decode = || layout.decode(index, chunk, &mut scratch).map(|decoded| decoded.len() as u64);
    let (decoded, peak_bytes) = peak_of(decode);
    let most = chunk_bytes + cost.decode_workspace_bytes + SLACK_BYTES;
    assert!(peak_bytes <= most, "decoding took {peak_bytes} bytes, more than {most}");
    let Ok(decoded_bytes) = decoded else { return false };
    assert_eq!(decoded_bytes, chunk_bytes);
    let elements = if cost.is_raw { chunk } else { &scratch };
    let mut used = vec![STALE; 2 * elements.len()];
    assert!(
        layout.decode(index, chunk, &mut used) == Ok(elements),
        "other elements in a used buffer"
    );
    let third = elements.len() / 3;
    for part in [0..third, third..2 * third, elements.len() - third..elements.len()] {
        used.fill(STALE);
        let found = layout.decode_part(index, chunk, part.clone(), &mut used);
        assert_eq!(found.as_ref().map(|found| found.len()), Ok(elements.len()));
        let is_same = found.is_ok_and(|found| found[part.clone()] == elements[part.clone()]);
        assert!(is_same, "the bytes {part:?} are others alone");
    }
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
    true
}
