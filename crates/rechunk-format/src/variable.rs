//! Chunks of elements that differ in length: strings, byte strings, lists of numbers.
//!
//! Decoded, such a chunk is a *stream*: the number of its elements, then each behind its length in
//! bytes, all of these little-endian words of 32 bits. That is what `vlen-utf8`, `vlen-bytes` and
//! `vlen-array` of numcodecs make, and `vlen-utf8` and `vlen-bytes` of Zarr v3 (zarr-extensions,
//! codecs `vlen-utf8` and `vlen-bytes`).

use std::fmt::Debug;
use std::ops::Range;

use rechunk_grid::Region;

use crate::{CodecCost, ElementOrder, FormatError};

/// Bytes of the number of elements, and of each length.
const WORD_BYTES: usize = 4;

/// Largest stream, bytes: positions in it are kept in 32 bits.
pub const STREAM_BYTES_MAX: u64 = u32::MAX as u64;

/// Bytes that [`VariableChunk`] keeps for each element beside the stream.
pub const POSITION_BYTES: u64 = 4;

/// Bytes that assembling a stream takes for each of its elements ([`assemble`]).
pub const SLOT_BYTES: u64 = 8;

/// Kind of the elements of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableKind {
    /// Text in UTF-8.
    Text,
    /// Any bytes.
    Bytes,
    /// Lists of items of so many bytes.
    Items(u64),
}

impl VariableKind {
    /// Name of the codec that makes streams of such elements.
    pub fn codec(self) -> &'static str {
        match self {
            Self::Text => "vlen-utf8",
            Self::Bytes => "vlen-bytes",
            Self::Items(_) => "vlen-array",
        }
    }

    /// The error of a stream of such elements that cannot be right.
    fn damaged(self, reason: String) -> FormatError {
        FormatError::Decode { codec: self.codec(), reason }
    }

    fn check(self, number: usize, element: &[u8]) -> Result<(), FormatError> {
        match self {
            Self::Text => std::str::from_utf8(element).map(drop).map_err(|error| {
                let at = error.valid_up_to();
                self.damaged(format!("element {number} is no UTF-8 from its byte {at} on"))
            }),
            Self::Bytes => Ok(()),
            Self::Items(bytes) => {
                let length = element.len() as u64;
                if bytes > 0 && length.is_multiple_of(bytes) {
                    return Ok(());
                }
                Err(self.damaged(format!(
                    "element {number} has {length} bytes, no whole number of items of {bytes}"
                )))
            }
        }
    }
}

/// Codecs of chunks whose elements differ in length, as far as they are decoded.
pub trait VariableLayout: Debug + Send + Sync {
    /// Kind of the elements.
    fn kind(&self) -> VariableKind;

    /// Element that an absent chunk is full of; `None` if the metadata names none, which reads as
    /// an empty element.
    fn fill(&self) -> Option<&[u8]>;

    /// Costs of the codecs for chunks of at most `stream_bytes`, decoded.
    fn cost(&self, stream_bytes: u64) -> Result<CodecCost, FormatError>;

    /// Decodes a chunk to a stream of at most `limit_bytes`. Returns false, and leaves anything in
    /// `stream`, if it is longer. Allocates no more than [`VariableLayout::cost`] of that limit
    /// says.
    fn decode(
        &self,
        encoded: &[u8],
        limit_bytes: usize,
        stream: &mut Vec<u8>,
    ) -> Result<bool, FormatError>;

    /// Encodes a stream; what `encoded` held is lost.
    fn encode(&self, stream: &[u8], encoded: &mut Vec<u8>) -> Result<(), FormatError>;
}

/// A decoded chunk, whose elements are found by their number.
#[derive(Debug)]
pub struct VariableChunk {
    stream: Vec<u8>,
    /// Position of each element's length.
    starts: Vec<u32>,
}

impl VariableChunk {
    /// Takes a stream of `elements` elements apart. Refuses another number of them, lengths that
    /// do not add up, and elements that are not of their kind. Allocates [`POSITION_BYTES`] for
    /// each element, when the stream has room for all.
    pub fn new(stream: Vec<u8>, elements: u64, kind: VariableKind) -> Result<Self, FormatError> {
        let bytes = stream.len();
        if bytes as u64 > STREAM_BYTES_MAX {
            let reason = format!("{bytes} bytes; at most {STREAM_BYTES_MAX} are read at once");
            return Err(kind.damaged(reason));
        }
        let found = word(&stream, 0)
            .ok_or_else(|| kind.damaged(format!("{bytes} bytes, too few for their number")))?;
        if u64::from(found) != elements {
            let reason = format!("says {found} elements, but a chunk has {elements}");
            return Err(kind.damaged(reason));
        }
        let least = elements.saturating_add(1).saturating_mul(WORD_BYTES as u64);
        if (bytes as u64) < least {
            let reason = format!("{bytes} bytes, too few for {elements} elements");
            return Err(kind.damaged(reason));
        }
        let mut starts = Vec::with_capacity(usize::try_from(elements).unwrap_or(0));
        let mut at = WORD_BYTES;
        for number in 0..usize::try_from(elements).unwrap_or(usize::MAX) {
            let range = element_at(&stream, at).ok_or_else(|| {
                kind.damaged(format!("element {number} ends behind the {bytes} bytes of the chunk"))
            })?;
            kind.check(number, &stream[range.clone()])?;
            // No more than the stream's length, which was looked at.
            starts.push(u32::try_from(at).unwrap_or(u32::MAX));
            at = range.end;
        }
        if at != bytes {
            let reason = format!("{} bytes follow its last element", bytes - at);
            return Err(kind.damaged(reason));
        }
        Ok(Self { stream, starts })
    }

    /// Bytes of the stream.
    pub fn stream_bytes(&self) -> usize {
        self.stream.len()
    }

    /// Element `number`, counted as they are stored. Empty if there is none.
    pub fn element(&self, number: usize) -> &[u8] {
        let start = self.starts.get(number).map_or(usize::MAX, |&start| start as usize);
        element_at(&self.stream, start).map_or(&[], |range| &self.stream[range])
    }

    /// Position in the stream behind element `number`.
    fn end(&self, number: usize) -> usize {
        self.starts.get(number + 1).map_or(self.stream.len(), |&next| next as usize)
    }

    /// The element at `position` of `chunk`, the box of which this chunk has all elements in
    /// `order`.
    pub fn element_of(&self, chunk: &Region, order: &ElementOrder, position: &[u64]) -> &[u8] {
        let strides = order.strides_bytes(&chunk.shape, 1);
        self.element(number_of(position, &chunk.start, &strides))
    }

    /// Bytes of [`VariableChunk::cut`].
    pub fn cut_bytes(&self, chunk: &Region, order: &ElementOrder, part: &Region) -> usize {
        self.runs(chunk, order, part).map(|run| run.len()).sum()
    }

    /// The elements of `part`, each behind its length, in C order. `part` lies in `chunk`, the box
    /// of which this chunk has all elements in `order`.
    pub fn cut(&self, chunk: &Region, order: &ElementOrder, part: &Region) -> Vec<u8> {
        let runs = || self.runs(chunk, order, part);
        let mut body = Vec::with_capacity(self.cut_bytes(chunk, order, part));
        runs().for_each(|run| body.extend_from_slice(&self.stream[run]));
        body
    }

    /// Ranges of the stream that are `part`, in C order.
    fn runs<'a>(
        &'a self,
        chunk: &'a Region,
        order: &ElementOrder,
        part: &Region,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let strides = order.strides_bytes(&chunk.shape, 1);
        // Elements that follow each other in storage are taken at once.
        let is_row = strides.last() == Some(&1);
        let row = if is_row { part.shape.last().copied().unwrap_or(1) } else { 1 };
        let mut rows = part.clone();
        if is_row && let Some(last) = rows.shape.last_mut() {
            *last = u64::from(*last > 0);
        }
        rows.positions().map(move |position| {
            let first = number_of(&position, &chunk.start, &strides);
            let last = first + usize::try_from(row).unwrap_or(1) - 1;
            let start = self.starts.get(first).map_or(self.stream.len(), |&start| start as usize);
            start..self.end(last).max(start)
        })
    }
}

/// Number, as elements are stored, of the one at `position`.
fn number_of(position: &[u64], origin: &[u64], strides: &[u64]) -> usize {
    let steps = position.iter().zip(origin).zip(strides);
    let number: u64 = steps.map(|((at, origin), stride)| (at - origin) * stride).sum();
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The word at `at`.
fn word(stream: &[u8], at: usize) -> Option<u32> {
    let bytes = stream.get(at..at.checked_add(WORD_BYTES)?)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// The bytes of the element whose length is at `at`.
fn element_at(stream: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at.checked_add(WORD_BYTES)?;
    let end = start.checked_add(usize::try_from(word(stream, at)?).ok()?)?;
    (end <= stream.len()).then_some(start..end)
}

/// Elements of a box, each behind its length, in C order, as [`VariableChunk::cut`] leaves them.
#[derive(Debug)]
pub struct VariablePart {
    /// The box.
    pub region: Region,
    /// The elements; `None` where nothing is stored: each is the fill value.
    pub body: Option<Vec<u8>>,
}

impl VariablePart {
    /// The elements in C order; `fill` where nothing is stored.
    pub fn elements<'a>(&'a self, fill: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let mut at = 0;
        (0..self.region.elements()).map(move |_| {
            let Some(body) = &self.body else { return fill };
            let range = element_at(body, at).unwrap_or_default();
            at = range.end;
            &body[range]
        })
    }
}

/// Most bytes of the stream of a chunk of `elements` elements that is assembled of `parts`.
pub fn assembled_bytes(parts: &[VariablePart], elements: u64, fill: &[u8]) -> u64 {
    let (mut bytes, mut stored) = (WORD_BYTES as u64, 0_u64);
    for part in parts {
        if let Some(body) = &part.body {
            bytes = bytes.saturating_add(body.len() as u64);
            stored = stored.saturating_add(part.region.elements());
        }
    }
    let each = (WORD_BYTES as u64).saturating_add(fill.len() as u64);
    bytes.saturating_add(elements.saturating_sub(stored).saturating_mul(each))
}

/// The stream of `chunk` in `order`, from parts that share no element; others are `fill`. `None` if
/// it were longer than [`STREAM_BYTES_MAX`].
pub fn assemble(
    chunk: &Region,
    order: &ElementOrder,
    parts: &[VariablePart],
    fill: &[u8],
) -> Option<Vec<u8>> {
    const NOTHING: (u32, u32) = (u32::MAX, 0);
    let count = u32::try_from(chunk.elements()).ok()?;
    let bytes = assembled_bytes(parts, chunk.elements(), fill);
    let bytes = usize::try_from(bytes).ok().filter(|_| bytes <= STREAM_BYTES_MAX)?;
    let strides = order.strides_bytes(&chunk.shape, 1);
    let mut slots = vec![NOTHING; usize::try_from(count).ok()?];
    for (number, part) in (0_u32..).zip(parts) {
        let Some(body) = &part.body else { continue };
        let mut at = 0;
        for position in part.region.positions() {
            let slot = slots.get_mut(number_of(&position, &chunk.start, &strides))?;
            *slot = (number, u32::try_from(at).ok()?);
            at = element_at(body, at)?.end;
        }
    }
    let mut stream = Vec::with_capacity(bytes);
    stream.extend_from_slice(&count.to_le_bytes());
    let fill_bytes = u32::try_from(fill.len()).ok()?.to_le_bytes();
    for (number, at) in slots {
        let part = usize::try_from(number).ok().and_then(|number| parts.get(number));
        if let Some(body) = part.and_then(|part| part.body.as_deref()) {
            let at = usize::try_from(at).ok()?;
            stream.extend_from_slice(&body[at..element_at(body, at)?.end]);
        } else {
            stream.extend_from_slice(&fill_bytes);
            stream.extend_from_slice(fill);
        }
    }
    Some(stream)
}

#[cfg(test)]
mod tests;
