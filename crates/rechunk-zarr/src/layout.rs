//! The byte layout of one array.

use std::borrow::Cow;
use std::ops::Range;

use rechunk_format::variable::VariableLayout;
use rechunk_format::{CodecCost, ElementOrder, FormatError, Layout, ShardFormat};
use rechunk_grid::{ArraySpec, ChunkGrid};

use crate::codec_spec::CodecSpec;
use crate::codecs::{Chain, stored_shape};
use crate::metadata::ArrayMetadata;
use crate::shard_codec::ShardCodec;
use crate::variable::{self, VariableCodecs};

/// A Zarr array's layout: where its chunks are and what their bytes mean.
#[derive(Debug, Clone)]
pub struct ZarrLayout {
    metadata: ArrayMetadata,
    /// The codecs for a chunk of the chunk shape.
    chain: Chain,
    /// The grid, where chunks differ in length: the codecs are those for a chunk's own size.
    lengths: Option<ChunkGrid>,
    /// The codecs of elements of variable length, where these can be told apart.
    variable: Option<VariableCodecs>,
    cost: CodecCost,
    identity: String,
    summary: String,
}

impl ZarrLayout {
    /// The layout that `metadata` describes.
    pub fn new(metadata: ArrayMetadata) -> Result<Self, FormatError> {
        metadata.check()?;
        let chain = metadata.chain()?;
        let lengths = metadata.spec.edges.as_ref().and_then(|_| metadata.spec.grid().ok());
        let is_variable = metadata.spec.data_type.is_variable();
        let variable = VariableCodecs::of(&metadata);
        let cost = if is_variable { variable::cost(variable.as_ref()) } else { chain.cost() };
        let identity = identity(&metadata);
        let summary = summary(&metadata);
        Ok(Self { metadata, chain, lengths, variable, cost, identity, summary })
    }

    /// The metadata it was made from.
    pub fn metadata(&self) -> &ArrayMetadata {
        &self.metadata
    }

    /// The codecs for chunk `index`. Making them for each chunk is nothing beside decoding it.
    fn chain_of(&self, index: &[u64]) -> Result<Cow<'_, Chain>, FormatError> {
        let Some(grid) = &self.lengths else { return Ok(Cow::Borrowed(&self.chain)) };
        let chunk = grid.chunk(index);
        if chunk.shape == self.metadata.spec.chunk_shape {
            return Ok(Cow::Borrowed(&self.chain));
        }
        // No more than the largest, which was counted.
        let bytes = chunk.elements().saturating_mul(self.metadata.spec.item_bytes());
        let shape = stored_shape(&self.metadata.order, &chunk.shape);
        let codecs = ShardCodec::for_shape(&self.metadata.codecs, &shape)?;
        Chain::new(&codecs, bytes, &shape).map(Cow::Owned)
    }

    /// Refuses elements of variable length, which are no bytes of a known number.
    fn check_decodes(&self) -> Result<(), FormatError> {
        if self.metadata.spec.data_type.is_variable() {
            return Err(variable::not_decoded(&self.metadata));
        }
        Ok(())
    }
}

impl Layout for ZarrLayout {
    fn spec(&self) -> &ArraySpec {
        &self.metadata.spec
    }

    fn format_name(&self) -> &'static str {
        self.metadata.version.format_name()
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

    fn has_checksum(&self) -> bool {
        let of_stream = self.variable.iter().flat_map(|variable| &variable.codecs);
        self.metadata.codecs.iter().chain(of_stream).any(CodecSpec::has_checksum)
    }

    fn variable(&self) -> Option<&dyn VariableLayout> {
        self.variable.as_ref().map(|variable| variable as &dyn VariableLayout)
    }

    fn shards(&self) -> Option<&ShardFormat> {
        self.metadata.sharding.as_ref()
    }

    fn object_key(&self, index: &[u64]) -> String {
        self.metadata.key_encoding.chunk_key(index)
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        self.metadata.key_encoding.chunk_index(key, self.metadata.spec.shape.len())
    }

    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        self.check_decodes()?;
        self.chain_of(index)?.decode(encoded, scratch)
    }

    fn decode_part<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        self.check_decodes()?;
        self.chain_of(index)?.decode_part(encoded, wanted, scratch)
    }

    fn head_bytes(&self) -> Option<usize> {
        self.chain.head_bytes()
    }

    fn block_bytes(&self) -> Option<u64> {
        self.chain.block_bytes()
    }

    fn narrow(
        &self,
        index: &[u64],
        head: &mut [u8],
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        self.chain_of(index).ok()?.narrow(head, stored_bytes, wanted)
    }

    fn check_stored(&self, index: &[u64], encoded: &[u8]) -> Result<(), FormatError> {
        if self.metadata.spec.data_type.is_variable() {
            return Ok(()); // nothing is known of them
        }
        self.chain_of(index)?.check_stored(encoded)
    }

    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        self.check_decodes()?;
        self.chain_of(index)?.encode(elements, encoded)
    }
}

/// Data type, order and resolved codecs; neither the version nor how it spells them.
fn identity(metadata: &ArrayMetadata) -> String {
    if metadata.spec.data_type.is_variable() {
        return variable::identity(metadata);
    }
    let resolved: Vec<_> = metadata.codecs.iter().map(CodecSpec::resolved).collect();
    format!(
        "{} {:?} {:?} {:?}",
        metadata.data_type_name(),
        metadata.order.endian,
        metadata.order.axes,
        resolved
    )
}

fn summary(metadata: &ArrayMetadata) -> String {
    if metadata.spec.data_type.is_variable() {
        return variable::summary(metadata);
    }
    let names: Vec<String> = metadata.codecs.iter().map(ToString::to_string).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" + ") }
}

#[cfg(test)]
mod tests;
