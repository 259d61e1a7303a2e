//! An array without its axes of length 1.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rechunk_grid::{ArraySpec, ChunkGrid, Edges, GridError};

use crate::view::View;
use crate::{CodecCost, ElementOrder, FormatError, Layout, Plain, ShardFormat};

/// The layout of an array without some axes of length 1, to read it. Chunks stay what they are; of
/// one that is longer than the array along such an axis, only the first elements are decoded.
#[derive(Debug)]
pub struct SqueezedLayout {
    inner: Arc<dyn Layout>,
    spec: ArraySpec,
    /// The axes of the array that are kept.
    kept: Vec<usize>,
    order: ElementOrder,
    shards: Option<ShardFormat>,
    cost: CodecCost,
    identity: String,
    /// The grid, where chunks of the array are longer along axes that are left out.
    cut: Option<ChunkGrid>,
}

impl SqueezedLayout {
    /// The array of `inner` without the axes `left_out`, each of length 1. Refuses those along
    /// which chunks are longer, where they are not the slowest in storage or there are shards.
    pub fn new(inner: Arc<dyn Layout>, left_out: &[usize]) -> Result<Self, GridError> {
        let whole = inner.spec();
        let rank = whole.shape.len();
        let kept: Vec<usize> = (0..rank).filter(|axis| !left_out.contains(axis)).collect();
        let of_kept = |list: &[u64]| -> Vec<u64> { kept.iter().map(|axis| list[*axis]).collect() };
        if let Some(axis) = left_out.iter().find(|axis| whole.shape.get(**axis) != Some(&1)) {
            let reason = "are of an axis that is to be left out, and is not of length 1".to_owned();
            return Err(GridError::ChunkLengths { axis: *axis, reason });
        }
        let long = left_out.iter().find(|axis| whole.chunk_shape[**axis] > 1);
        let order = inner.element_order();
        let is_slowest = order.axes.iter().take(left_out.len()).all(|axis| left_out.contains(axis));
        let shards = inner.shards().map(|shards| {
            let is_flat = shards.tables().is_none();
            let is_one = left_out.iter().all(|axis| shards.chunks()[*axis] == 1);
            let shapes = (of_kept(shards.shard_shape()), of_kept(&whole.chunk_shape));
            (is_flat && is_one).then(|| shards.reshaped(&shapes.0, &shapes.1).ok()).flatten()
        });
        if let Some(axis) = long.filter(|_| !is_slowest || shards.is_some()) {
            let reason = "are more than the one element of an axis that is left out".to_owned();
            return Err(GridError::ChunkLengths { axis: *axis, reason });
        }
        if let Some(None) = shards {
            let reason =
                "are, in shards, more than the one element of an axis that is left out".to_owned();
            return Err(GridError::ChunkLengths { axis: left_out[0], reason });
        }
        let axes = |edges: &Edges| kept.iter().map(|axis| edges.axis(*axis).cloned()).collect();
        let names = whole.dimension_names.as_ref();
        let spec = ArraySpec {
            shape: of_kept(&whole.shape),
            chunk_shape: of_kept(&whole.chunk_shape),
            edges: whole.edges.as_ref().and_then(|edges| Edges::new(axes(edges))),
            dimension_names: names
                .map(|names| kept.iter().map(|axis| names[*axis].clone()).collect()),
            ..whole.clone()
        };
        let grid = spec.grid()?;
        let place = |axis: &usize| kept.iter().position(|kept| kept == axis);
        let order = ElementOrder { axes: order.axes.iter().filter_map(place).collect(), ..*order };
        let (mut cost, mut cut) = (inner.codec_cost().clone(), None);
        let mut identity = inner.encoding_identity().to_owned();
        if long.is_some() {
            // All of a chunk is decoded, and encoded chunks have more than the array.
            let (own, item_bytes) = (grid.chunk_elements(), spec.item_bytes());
            let all = whole.grid()?.chunk_elements();
            let more_bytes = all.saturating_sub(own).saturating_mul(item_bytes);
            cost.is_raw = false;
            cost.decode_workspace_bytes = cost.decode_workspace_bytes.saturating_add(more_bytes);
            identity = format!("the first of {identity}");
            cut = Some(grid);
        }
        let shards = shards.flatten();
        Ok(Self { inner, spec, kept, order, shards, cost, identity, cut })
    }

    /// An index of the array with its axes that are left out, all at 0.
    fn with_all(&self, index: &[u64]) -> Vec<u64> {
        let mut all = vec![0; self.inner.spec().shape.len()];
        for (axis, at) in self.kept.iter().zip(index) {
            all[*axis] = *at;
        }
        all
    }

    fn of_kept(&self, list: &[u64]) -> Vec<u64> {
        self.kept.iter().map(|axis| list[*axis]).collect()
    }

    /// The elements of decoded chunk `index` that are of the array.
    fn own<'a>(&self, index: &[u64], decoded: &'a [u8]) -> &'a [u8] {
        let Some(grid) = &self.cut else { return decoded };
        let bytes = grid.chunk(index).elements().saturating_mul(self.spec.item_bytes());
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        &decoded[..bytes.min(decoded.len())]
    }
}

impl View for SqueezedLayout {
    fn inner(&self) -> &dyn Layout {
        &*self.inner
    }

    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn order(&self) -> &ElementOrder {
        &self.order
    }

    fn cost(&self) -> &CodecCost {
        &self.cost
    }

    fn plain(&self) -> Option<Plain> {
        self.inner.plain().filter(|_| self.cut.is_none())
    }

    fn shards(&self) -> Option<&ShardFormat> {
        self.shards.as_ref()
    }

    fn chunk_in<'i>(&self, index: &'i [u64]) -> Cow<'i, [u64]> {
        Cow::Owned(self.with_all(index))
    }

    fn object_in<'i>(&self, index: &'i [u64]) -> Cow<'i, [u64]> {
        Cow::Owned(self.with_all(index))
    }

    fn object_of(&self, in_inner: Vec<u64>) -> Option<Vec<u64>> {
        let own =
            (in_inner.len() == self.inner.spec().shape.len()).then(|| self.of_kept(&in_inner));
        own.filter(|own| self.with_all(own) == in_inner)
    }

    fn stored_part(&self, index: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
        let (shape, start) = self.inner.stored_part(&self.with_all(index))?;
        Some((self.of_kept(&shape), self.of_kept(&start)))
    }

    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        Ok(self.own(index, self.inner.decode(&self.with_all(index), encoded, scratch)?))
    }

    fn decode_part<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        let decoded = self.inner.decode_part(&self.with_all(index), encoded, wanted, scratch)?;
        Ok(self.own(index, decoded))
    }

    fn head_bytes(&self) -> Option<usize> {
        self.inner.head_bytes()
    }

    fn block_bytes(&self) -> Option<u64> {
        self.inner.block_bytes()
    }

    fn narrow(
        &self,
        index: &[u64],
        head: &mut [u8],
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        self.inner.narrow(&self.with_all(index), head, stored_bytes, wanted)
    }

    fn encode(&self, _: &[u64], _: &[u8], _: &mut Vec<u8>) -> Result<(), FormatError> {
        let reason = "an array that is read without some axes is not written".to_owned();
        Err(FormatError::Encode { codec: "squeeze", reason })
    }
}
