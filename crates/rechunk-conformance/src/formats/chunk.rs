use rechunk_format::{FormatError, Layout, Plain};
use rechunk_grid::{ChunkGrid, FillValue, Region};

use super::about::about;
use crate::Violation;
use crate::violation::ensure;

/// One chunk of a layout.
pub(super) struct Chunk<'a> {
    pub(super) layout: &'a dyn Layout,
    pub(super) index: &'a [u64],
    /// All its elements, padding included.
    shape: Vec<u64>,
    /// Elements of the array in it, relative to its first.
    inside: Region,
}

impl<'a> Chunk<'a> {
    pub(super) fn new(layout: &'a dyn Layout, grid: &ChunkGrid, index: &'a [u64]) -> Self {
        let whole = grid.chunk(index);
        let inside = grid.region(index).relative_to(&whole.start);
        Self { layout, index, shape: whole.shape, inside }
    }

    /// A sentence on this chunk.
    pub(super) fn wrong(&self, text: &str) -> String {
        format!("{}, chunk {:?}: {text}", about(self.layout), self.index)
    }

    /// Bytes of one element.
    fn item_bytes(&self) -> usize {
        narrow(self.layout.spec().item_bytes())
    }

    /// Bytes of the decoded chunk.
    pub(super) fn bytes(&self) -> usize {
        narrow(self.shape.iter().product()) * self.item_bytes()
    }

    /// Elements that differ, and compress.
    pub(super) fn elements(&self) -> Vec<u8> {
        // Types of few bits have values that a byte can exceed.
        let most = if self.item_bytes() == 1 { 1 } else { 7 };
        (0..self.bytes()).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[2] & most).collect()
    }

    /// The elements of the array, without the padding.
    pub(super) fn inside(&self, chunk: &[u8]) -> Vec<u8> {
        let item_bytes = self.item_bytes();
        let order = self.layout.element_order();
        let strides = order.strides_bytes(&self.shape, item_bytes as u64);
        let mut kept = Vec::with_capacity(narrow(self.inside.elements()) * item_bytes);
        for position in self.inside.positions() {
            let at = position.iter().zip(&strides).map(|(n, stride)| n * stride).sum();
            kept.extend(&chunk[narrow(at)..][..item_bytes]);
        }
        kept
    }

    /// Decodes bytes with a scratch buffer that held something else. Returns the elements, and the
    /// capacity that the buffer has afterwards.
    pub(super) fn decode(&self, encoded: &[u8]) -> Result<(Vec<u8>, usize), FormatError> {
        let mut scratch = vec![9; 5];
        let decoded = self.layout.decode(self.index, encoded, &mut scratch)?.to_vec();
        Ok((decoded, scratch.capacity()))
    }

    fn encode(&self, elements: &[u8]) -> Result<Vec<u8>, Violation> {
        let mut encoded = vec![7; 11];
        let done = self.layout.encode(self.index, elements, &mut encoded);
        done.map_err(|error| Violation::new(self.wrong(&format!("cannot be encoded: {error}"))))?;
        Ok(encoded)
    }

    /// Checks that the chunk comes back as it was, in the sizes that are promised. Returns its
    /// stored bytes.
    pub(super) fn check_comes_back(&self) -> Result<Vec<u8>, Violation> {
        let elements = self.elements();
        let encoded = self.encode(&elements)?;
        let decoded = self.check_decodes(&encoded, &elements)?;
        let again = self.encode(&decoded)?;
        self.check_decodes(&again, &elements)?;
        self.check_sizes(&elements, &encoded)?;
        let stored = self.layout.check_stored(self.index, &encoded);
        stored.map_err(|error| Violation::new(self.wrong(&format!("is refused: {error}"))))?;
        for length in [self.bytes() - 1, self.bytes() + 1] {
            let refused = self.layout.encode(self.index, &vec![0; length], &mut Vec::new());
            ensure(refused.is_err(), || self.wrong(&format!("{length} bytes are no chunk")))?;
        }
        Ok(encoded)
    }

    fn check_decodes(&self, encoded: &[u8], elements: &[u8]) -> Result<Vec<u8>, Violation> {
        let decoded = self.decode(encoded);
        let (decoded, _) =
            decoded.map_err(|error| Violation::new(self.wrong(&format!("is lost: {error}"))))?;
        ensure(decoded.len() == self.bytes(), || self.wrong("decodes to another size"))?;
        ensure(self.inside(&decoded) == self.inside(elements), || {
            self.wrong("decodes to other elements")
        })?;
        Ok(decoded)
    }

    fn check_sizes(&self, elements: &[u8], encoded: &[u8]) -> Result<(), Violation> {
        let (cost, length) = (self.layout.codec_cost(), encoded.len() as u64);
        ensure(length <= cost.encoded_bytes_max, || {
            self.wrong(&format!("{length} bytes are more than the {} said", cost.encoded_bytes_max))
        })?;
        if let Some((_, range)) = self.layout.chunk_range(self.index) {
            ensure(range == length, || self.wrong("its place in its file has another length"))?;
        }
        ensure(!cost.is_raw || encoded == elements, || self.wrong("is not stored as it is"))?;
        let is_plain = match self.layout.plain() {
            None => true,
            Some(Plain::Padded) => encoded == elements,
            Some(Plain::Clipped) => encoded.len() == self.inside(elements).len(),
        };
        ensure(is_plain, || self.wrong("more than the elements is stored"))
    }

    /// Checks that a chunk of the fill value comes back: an absent chunk reads as that.
    pub(super) fn check_fill(&self) -> Result<(), Violation> {
        let spec = self.layout.spec();
        let fill = spec.fill_value.clone().unwrap_or_else(|| FillValue::zero(spec.item_bytes()));
        ensure(fill.bytes.len() == self.item_bytes(), || {
            self.wrong("the fill value is no element")
        })?;
        let element = fill.stored(spec.data_type, self.layout.element_order().endian);
        let elements = element.repeat(self.bytes() / self.item_bytes());
        let encoded = self.encode(&elements)?;
        self.check_decodes(&encoded, &elements).map(|_| ())
    }
}

/// A size in memory; what does not fit is larger than any chunk here.
fn narrow(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
