use std::ops::Range;

use super::chunk::Chunk;
use crate::Violation;
use crate::violation::ensure;

/// Checks that parts of a chunk are decoded as the whole is.
pub(super) fn check(chunk: &Chunk<'_>, encoded: &[u8]) -> Result<(), Violation> {
    let lost = |error| Violation::new(chunk.wrong(&format!("is lost: {error}")));
    let (whole, _) = chunk.decode(encoded).map_err(lost)?;
    let bytes = whole.len();
    for wanted in [0..0, 0..1, 0..bytes / 2, bytes / 3..bytes, bytes - 1..bytes, 0..bytes] {
        let mut scratch = vec![9; 5];
        let part = chunk.layout.decode_part(chunk.index, encoded, wanted.clone(), &mut scratch);
        let part = part.map_err(lost)?;
        check_part(chunk, part, &whole, &wanted)?;
        check_narrowed(chunk, encoded, &whole, &wanted)?;
    }
    Ok(())
}

/// Checks that the first bytes and the range they lead to make the same of what is wanted, or are
/// refused.
fn check_narrowed(
    chunk: &Chunk<'_>,
    encoded: &[u8],
    whole: &[u8],
    wanted: &Range<usize>,
) -> Result<(), Violation> {
    let head_bytes = chunk.layout.head_bytes().filter(|&bytes| bytes < encoded.len());
    let Some(head_bytes) = head_bytes else { return Ok(()) };
    let mut head = encoded[..head_bytes].to_vec();
    let (stored_bytes, before) = (encoded.len() as u64, head.clone());
    let range = chunk.layout.narrow(chunk.index, &mut head, stored_bytes, wanted.clone());
    let Some(range) = range else {
        return ensure(head == before, || chunk.wrong("its head was changed for nothing"));
    };
    let rest = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
    let rest = rest.filter(|(start, _)| *start >= head_bytes);
    let rest = rest.and_then(|(start, end)| encoded.get(start..end));
    let rest = rest.ok_or_else(|| {
        Violation::new(chunk.wrong(&format!("{range:?} is not in what follows its head")))
    })?;
    let together = [&head[..], rest].concat();
    let mut scratch = vec![9; 5];
    match chunk.layout.decode_part(chunk.index, &together, wanted.clone(), &mut scratch) {
        Ok(part) => check_part(chunk, part, whole, wanted),
        Err(_) => Ok(()),
    }
}

fn check_part(
    chunk: &Chunk<'_>,
    part: &[u8],
    whole: &[u8],
    wanted: &Range<usize>,
) -> Result<(), Violation> {
    ensure(part.len() == whole.len(), || chunk.wrong("a part has another size than the whole"))?;
    ensure(part[wanted.clone()] == whole[wanted.clone()], || {
        chunk.wrong(&format!("the bytes {wanted:?} are others when they are decoded alone"))
    })
}
