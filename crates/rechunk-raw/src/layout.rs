//! The byte layout of one array.

use rechunk_format::{CodecCost, ElementOrder, FormatError, Layout, Plain, RunFormat, ShardFormat};
use rechunk_grid::{ArraySpec, ChunkGrid};
use rechunk_kernel::copy_region;

use crate::{Files, RawMetadata};

/// Name of the codec that is none, in messages.
const CODEC: &str = "raw";

/// Layout of the chunks of files of raw elements. A chunk at the edge is clipped in its file.
#[derive(Debug, Clone)]
pub struct RawLayout {
    metadata: RawMetadata,
    grid: ChunkGrid,
    cost: CodecCost,
    runs: RunFormat,
    identity: String,
    summary: String,
    /// Bytes of a full chunk, and of an element.
    chunk_bytes: usize,
    item_bytes: usize,
}

impl RawLayout {
    /// The layout that `metadata` describes.
    pub fn new(metadata: RawMetadata) -> Result<Self, FormatError> {
        metadata.check()?;
        let wrong = |reason: String| FormatError::Metadata { key: "raw array".to_owned(), reason };
        let grid = metadata.spec.grid().map_err(|error| wrong(error.to_string()))?;
        let size = |bytes: u64| {
            usize::try_from(bytes).map_err(|_| wrong(format!("{bytes} bytes are too many here")))
        };
        let (chunk_bytes, item_bytes) =
            (size(metadata.chunk_bytes())?, size(metadata.spec.item_bytes())?);
        let spec = &metadata.spec;
        let extents = spec.shape.iter().zip(&spec.chunk_shape);
        let is_raw = extents.clone().all(|(extent, chunk)| extent.is_multiple_of(*chunk));
        let cost = CodecCost {
            name: "none".to_owned(),
            is_raw,
            encoded_bytes_max: metadata.chunk_bytes(),
            decode_workspace_bytes: 0,
            encode_workspace_bytes: 0,
        };
        let (runs, identity) = (metadata.runs(), identity(&metadata));
        let summary = metadata.order_text();
        Ok(Self { metadata, grid, cost, runs, identity, summary, chunk_bytes, item_bytes })
    }

    /// The metadata it was made from.
    pub fn metadata(&self) -> &RawMetadata {
        &self.metadata
    }

    /// Shape of what is stored of chunk `index`, and its bytes.
    fn stored(&self, index: &[u64]) -> (Vec<u64>, u64) {
        let region = self.grid.region(index);
        let bytes = region.elements() * self.metadata.spec.item_bytes();
        (region.shape, bytes)
    }

    /// Copies what is stored of a clipped chunk between its stored form and a full chunk.
    fn move_clipped(
        &self,
        shape: &[u64],
        source: (&[u8], &[u64]),
        target: (&mut [u8], &[u64]),
    ) -> Result<(), String> {
        let strides =
            |of: &[u64]| self.metadata.order.strides_bytes(of, self.metadata.spec.item_bytes());
        let (source, source_strides) = (source.0, strides(source.1));
        let (target, target_strides) = (target.0, strides(target.1));
        copy_region(
            self.item_bytes,
            shape,
            source,
            0,
            &source_strides,
            target,
            0,
            &target_strides,
            1,
        )
        .map_err(|error| error.to_string())
    }
}

impl Layout for RawLayout {
    fn spec(&self) -> &ArraySpec {
        &self.metadata.spec
    }

    fn format_name(&self) -> &'static str {
        self.metadata.files.format_name()
    }

    fn element_order(&self) -> &ElementOrder {
        &self.metadata.order
    }

    fn codec_cost(&self) -> &CodecCost {
        &self.cost
    }

    fn encoding_identity(&self) -> &str {
        &self.identity
    }

    fn codec_summary(&self) -> &str {
        &self.summary
    }

    fn shards(&self) -> Option<&ShardFormat> {
        None
    }

    fn object_key(&self, index: &[u64]) -> String {
        self.metadata.file_key(index)
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        self.metadata.file_index(key)
    }

    fn chunk_range(&self, index: &[u64]) -> Option<(u64, u64)> {
        let region = self.grid.region(index);
        let item_bytes = self.metadata.spec.item_bytes();
        let length = region.elements() * item_bytes;
        let start = match &self.metadata.files {
            Files::Blocks { .. } => 0,
            Files::Single { .. } => {
                let strides =
                    self.metadata.order.strides_bytes(&self.metadata.spec.shape, item_bytes);
                region.start.iter().zip(strides).map(|(start, stride)| start * stride).sum()
            }
        };
        Some((self.runs.offset_bytes + start, length))
    }

    fn runs(&self) -> Option<&RunFormat> {
        Some(&self.runs)
    }

    fn plain(&self) -> Option<Plain> {
        Some(if self.cost.is_raw { Plain::Padded } else { Plain::Clipped })
    }

    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        let refuse = |reason: String| FormatError::Decode { codec: CODEC, reason };
        let (shape, bytes) = self.stored(index);
        if u64::try_from(encoded.len()) != Ok(bytes) {
            let reason = format!("it has {} bytes, not {bytes}", encoded.len());
            return Err(refuse(reason));
        }
        if encoded.len() == self.chunk_bytes {
            return Ok(encoded);
        }
        scratch.clear();
        scratch.resize(self.chunk_bytes, 0);
        let full = &self.metadata.spec.chunk_shape;
        self.move_clipped(&shape, (encoded, &shape), (scratch, full)).map_err(refuse)?;
        Ok(scratch)
    }

    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let refuse = |reason: String| FormatError::Encode { codec: CODEC, reason };
        if elements.len() != self.chunk_bytes {
            let reason = format!("{} bytes are no chunk of {}", elements.len(), self.chunk_bytes);
            return Err(refuse(reason));
        }
        let (shape, bytes) = self.stored(index);
        let bytes = usize::try_from(bytes).unwrap_or(self.chunk_bytes).min(self.chunk_bytes);
        encoded.clear();
        if bytes == self.chunk_bytes {
            encoded.extend_from_slice(elements);
            return Ok(());
        }
        encoded.resize(bytes, 0);
        let full = &self.metadata.spec.chunk_shape;
        self.move_clipped(&shape, (elements, full), (encoded, &shape)).map_err(refuse)
    }
}

/// Data type and order. Which files the chunks are in does not matter to their bytes: a slab is
/// stored as a block is.
fn identity(metadata: &RawMetadata) -> String {
    let data_type = metadata.spec.data_type;
    let endian = if data_type.swap_bytes() > 1 {
        format!("{:?}", metadata.order.endian)
    } else {
        "Any".to_owned()
    };
    let kind = metadata.record.as_ref().map_or_else(|| data_type.name(), ToString::to_string);
    format!("raw {kind} {endian} {:?}", metadata.order.axes)
}

#[cfg(test)]
mod tests;
