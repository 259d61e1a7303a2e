//! An array as a part of a larger one.

use std::ops::Range;
use std::sync::Arc;

use rechunk_grid::{ArraySpec, AxisChunks, Edges, GridError, Region};

use crate::view::View;
use crate::{FormatError, Layout, Plain};

/// The layout of an array, to read it as the part of a larger one that lies at a place in that. Its
/// chunks stay what they are; those at its ends stand for the gap beside them too
/// ([`rechunk_grid::AxisEdges`]).
#[derive(Debug)]
pub struct PlacedLayout {
    inner: Arc<dyn Layout>,
    spec: ArraySpec,
    identity: String,
}

impl PlacedLayout {
    /// The array of `inner` at `start` in an array of `shape`, into which it fits. It has no
    /// shards, unless it is all of that array.
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

impl View for PlacedLayout {
    fn inner(&self) -> &dyn Layout {
        &*self.inner
    }

    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn plain(&self) -> Option<Plain> {
        self.inner.plain()
    }

    fn decode_part<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        self.inner.decode_part(index, encoded, wanted, scratch)
    }

    fn head_bytes(&self) -> Option<usize> {
        self.inner.head_bytes()
    }

    fn narrow(
        &self,
        index: &[u64],
        head: &mut [u8],
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        self.inner.narrow(index, head, stored_bytes, wanted)
    }
}
