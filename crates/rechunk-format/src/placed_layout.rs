//! An array as a part of a larger one.

use std::sync::Arc;

use rechunk_grid::{ArraySpec, AxisChunks, Edges, GridError, Region};

use crate::{CodecCost, ElementOrder, FormatError, Layout, ShardFormat};

/// The layout of an array, to read it as the part of a larger one that lies at a place in that. Its
/// chunks stay what they are; those at its ends stand for the gap beside them too ([`rechunk_grid::AxisEdges`]).
#[derive(Debug)]
pub struct PlacedLayout {
    inner: Arc<dyn Layout>,
    spec: ArraySpec,
    identity: String,
}

impl PlacedLayout {
    /// The array of `inner` at `start` in an array of `shape`, into which it fits. It has no shards,
    /// unless it is all of that array.
    pub fn new(inner: Arc<dyn Layout>, start: &[u64], shape: &[u64]) -> Result<Self, GridError> {
        let own = inner.spec();
        let place = Region::new(start.to_vec(), own.shape.clone());
        if inner.shards().is_some() && place != Region::whole(shape) {
            let reason = "are in shards, beside which there can be no gap".to_owned();
            return Err(GridError::ChunkLengths { axis: 0, reason });
        }
        let mut axes = Vec::with_capacity(shape.len());
        for (axis, &extent) in shape.iter().enumerate() {
            let chunks = match own.edges.as_ref().and_then(|edges| edges.axis(axis)) {
                Some(edges) => AxisChunks::Edges(edges.clone()),
                None => AxisChunks::Regular(own.chunk_shape[axis]),
            };
            axes.push(chunks.within(axis, extent, (start[axis], place.end(axis)))?);
        }
        let edges = Edges::new(axes.into_iter().map(AxisChunks::into_edges).collect());
        let spec = ArraySpec { shape: shape.to_vec(), edges, ..own.clone() };
        spec.grid()?;
        let is_whole = place == Region::whole(shape);
        let identity = inner.encoding_identity();
        let identity = if is_whole { identity.to_owned() } else { format!("a part, {identity}") };
        Ok(Self { inner, spec, identity })
    }
}

impl Layout for PlacedLayout {
    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn format_name(&self) -> &'static str {
        self.inner.format_name()
    }

    fn element_order(&self) -> &ElementOrder {
        self.inner.element_order()
    }

    fn codec_cost(&self) -> &CodecCost {
        self.inner.codec_cost()
    }

    fn encoding_identity(&self) -> &str {
        &self.identity
    }

    fn codec_summary(&self) -> &str {
        self.inner.codec_summary()
    }

    fn has_checksum(&self) -> bool {
        self.inner.has_checksum()
    }

    fn shards(&self) -> Option<&ShardFormat> {
        self.inner.shards()
    }

    fn object_key(&self, index: &[u64]) -> String {
        self.inner.object_key(index)
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        self.inner.object_index(key)
    }

    fn chunk_range(&self, index: &[u64]) -> Option<(u64, u64)> {
        self.inner.chunk_range(index)
    }

    fn tells_absence(&self) -> bool {
        self.inner.tells_absence()
    }

    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        self.inner.decode(index, encoded, scratch)
    }

    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        self.inner.encode(index, elements, encoded)
    }
}
