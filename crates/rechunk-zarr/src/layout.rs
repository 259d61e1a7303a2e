//! The byte layout of one array.

use rechunk_format::{CodecCost, ElementOrder, FormatError, Layout, ShardFormat};
use rechunk_grid::ArraySpec;

use crate::codecs::Chain;
use crate::metadata::ArrayMetadata;

/// A Zarr array's layout: where its chunks are and what their bytes mean.
#[derive(Debug, Clone)]
pub struct ZarrLayout {
    metadata: ArrayMetadata,
    chain: Chain,
    cost: CodecCost,
    identity: String,
    summary: String,
}

impl ZarrLayout {
    /// The layout that `metadata` describes.
    pub fn new(metadata: ArrayMetadata) -> Result<Self, FormatError> {
        metadata.check()?;
        let chain = Chain::new(&metadata.codecs, metadata.chunk_bytes())?;
        let cost = chain.cost();
        let identity = identity(&metadata);
        let summary = summary(&metadata);
        Ok(Self { metadata, chain, cost, identity, summary })
    }

    /// The metadata it was made from.
    pub fn metadata(&self) -> &ArrayMetadata {
        &self.metadata
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

    fn shards(&self) -> Option<&ShardFormat> {
        self.metadata.sharding.as_ref()
    }

    fn object_key(&self, index: &[u64]) -> String {
        self.metadata.key_encoding.chunk_key(index)
    }

    fn decode<'a>(
        &self,
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        self.chain.decode(encoded, scratch)
    }

    fn encode(&self, elements: &[u8], encoded: &mut Vec<u8>) -> Result<(), FormatError> {
        self.chain.encode(elements, encoded)
    }
}

/// Data type, order and resolved codecs; neither the version nor how it spells them.
fn identity(metadata: &ArrayMetadata) -> String {
    let resolved: Vec<_> = metadata.codecs.iter().map(crate::CodecSpec::resolved).collect();
    format!(
        "{} {:?} {:?} {:?}",
        metadata.spec.data_type.name(),
        metadata.order.endian,
        metadata.order.axes,
        resolved
    )
}

fn summary(metadata: &ArrayMetadata) -> String {
    let names: Vec<String> = metadata.codecs.iter().map(ToString::to_string).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" + ") }
}

#[cfg(test)]
mod tests;
