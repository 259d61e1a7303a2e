//! Checks of everything that decodes a chunk.

use rechunk_format::Layout;

use crate::memory::peak_of;

/// Bytes that a decoder may allocate beside those it declares: messages, and small tables.
const SLACK_BYTES: u64 = 16 << 10;

/// Value of a buffer's bytes before it is used.
const STALE: u8 = 0xa5;

/// Reads only the bytes that a part of a chunk needs. If they decode, all of the chunk does so, to
/// the same elements there, whether or not the chunk is as it should be. Returns how many parts
/// did.
pub(super) fn parts_are_those_of_the_whole(
    layout: &dyn Layout,
    index: &[u64],
    chunk: &[u8],
) -> usize {
    let mut decoded = 0;
    let spec = layout.spec();
    let chunk_bytes = spec.chunk_shape.iter().product::<u64>() * spec.item_bytes();
    let chunk_bytes = usize::try_from(chunk_bytes).unwrap_or(usize::MAX);
    for (head_bytes, eighths) in [(64, 0..1), (512, 3..5), (4096, 7..8)] {
        let mut part = chunk[..chunk.len().min(head_bytes)].to_vec();
        let wanted = chunk_bytes / 8 * eighths.start..chunk_bytes / 8 * eighths.end;
        let stored_bytes = chunk.len() as u64;
        let body = layout.narrow(index, &mut part, stored_bytes, wanted.clone());
        let Some(body) = body else {
            assert!(chunk.starts_with(&part), "changed for nothing");
            continue;
        };
        let [start, end] = [body.start, body.end].map(|at| usize::try_from(at).unwrap_or(0));
        part.extend_from_slice(&chunk[start..end]);
        let (mut of_part, mut of_all) = (Vec::new(), Vec::new());
        let Ok(found) = layout.decode_part(index, &part, wanted.clone(), &mut of_part) else {
            continue;
        };
        let all = layout.decode_part(index, chunk, wanted.clone(), &mut of_all);
        let is_same = all.is_ok_and(|all| {
            all.len() == found.len() && all.get(wanted.clone()) == found.get(wanted.clone())
        });
        assert!(is_same, "a part has other elements than the whole at {wanted:?}");
        decoded += 1;
    }
    decoded
}

/// Decodes a stored chunk; true if it can be. What decodes is a whole chunk, whatever the buffer
/// held before, its parts are those of the whole, and it survives another round through the codecs
/// (every bit of it if it `keeps_all`); each way takes no more memory than the layout says.
pub(crate) fn round_trip(layout: &dyn Layout, chunk: &[u8], keeps_all: bool) -> bool {
    let cost = layout.codec_cost();
    let index = &vec![0; layout.spec().shape.len()];
    let spec = layout.spec();
    let chunk_bytes = spec.chunk_shape.iter().product::<u64>() * spec.item_bytes();
    parts_are_those_of_the_whole(layout, index, chunk);
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
