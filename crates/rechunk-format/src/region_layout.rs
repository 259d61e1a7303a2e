//! A region of an array as an array of its own.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rechunk_grid::{ArraySpec, AxisChunks, ChunkGrid, Edges, GridError, Region};

use crate::view::View;
use crate::{CodecCost, ElementOrder, FormatError, Layout, ShardFormat};

/// The layout of a region of an array, to read it: its chunks are those of the array which the
/// region meets. Of a chunk that begins before the region, only what lies in it is decoded; what a
/// chunk has behind the region is padding, as at the end of any array.
///
/// Where a region begins inside a chunk, the grid has edges (its first chunk is shorter).
#[derive(Debug)]
pub struct RegionLayout {
    inner: Arc<dyn Layout>,
    inner_grid: ChunkGrid,
    spec: ArraySpec,
    /// Index, in the array, of the chunk that the region's first element is in.
    first_chunk: Vec<u64>,
    /// Index, in the array, of the object that the region's first element is in.
    first_object: Vec<u64>,
    /// Elements of the first chunk of each axis that lie before the region.
    skip: Vec<u64>,
    cost: CodecCost,
    identity: String,
}

impl RegionLayout {
    /// `region` of an array with `inner` layout, in which it lies. Where there are shards, it
    /// begins where one does, on every axis.
    pub fn new(inner: Arc<dyn Layout>, region: &Region) -> Result<Self, GridError> {
        let inner_grid = inner.spec().grid()?;
        let rank = inner_grid.rank();
        let (mut first_chunk, mut skip, mut axes) = (vec![0; rank], vec![0; rank], Vec::new());
        for axis in 0..rank {
            let chunks;
            (first_chunk[axis], skip[axis], chunks) = cut(&inner_grid, axis, region)?;
            axes.push(chunks);
        }
        let spec = ArraySpec {
            shape: region.shape.clone(),
            chunk_shape: axes.iter().map(AxisChunks::longest).collect(),
            edges: Edges::new(axes.into_iter().map(AxisChunks::into_edges).collect()),
            ..inner.spec().clone()
        };
        spec.grid()?;
        let first_object = match inner.shards() {
            Some(shards) => shards.shard_of(&first_chunk),
            None => first_chunk.clone(),
        };
        let begins_inside = skip.iter().any(|skip| *skip > 0);
        let mut cost = inner.codec_cost().clone();
        if begins_inside {
            // What is left of a chunk is moved to where the chunk would begin.
            cost.is_raw = false;
            let more =
                inner_grid.chunk_elements().saturating_sub(spec.chunk_shape.iter().product());
            let more_bytes = more.saturating_mul(spec.item_bytes());
            cost.decode_workspace_bytes = cost.decode_workspace_bytes.saturating_add(more_bytes);
        }
        let identity = if begins_inside || ends_inside(&*inner, &inner_grid, region) {
            // Encoded chunks at the border have elements that are not the region's.
            format!("a region of {}", inner.encoding_identity())
        } else {
            inner.encoding_identity().to_owned()
        };
        Ok(Self { inner, inner_grid, spec, first_chunk, first_object, skip, cost, identity })
    }

    /// Whether a region that begins at `start` is one that [`RegionLayout::new`] takes of an array
    /// in `shards`.
    pub fn begins_with(shards: &ShardFormat, start: &[u64]) -> bool {
        start.iter().zip(shards.shard_shape()).all(|(start, shard)| start.is_multiple_of(*shard))
    }

    /// Index in the array of chunk `index` of the region.
    fn in_array(&self, index: &[u64]) -> Vec<u64> {
        index.iter().zip(&self.first_chunk).map(|(index, first)| index + first).collect()
    }

    /// The part of chunk `index` that lies in the region or behind it, in elements of the chunk;
    /// `None` if that is all of it.
    fn part(&self, index: &[u64]) -> Option<Region> {
        let skips = |axis: usize| if index[axis] == 0 { self.skip[axis] } else { 0 };
        let start: Vec<u64> = (0..index.len()).map(skips).collect();
        if start.iter().all(|start| *start == 0) {
            return None;
        }
        let chunk = self.inner_grid.chunk(&self.in_array(index)).shape;
        let shape = chunk.iter().zip(&start).map(|(extent, start)| extent - start).collect();
        Some(Region::new(start, shape))
    }
}

/// Cuts `axis` of the grid by the region. Returns the first chunk that it meets, the elements of it
/// that lie before the region, and the chunks as the region has them.
fn cut(
    grid: &ChunkGrid,
    axis: usize,
    region: &Region,
) -> Result<(u64, u64, AxisChunks), GridError> {
    let (start, extent) = (region.start[axis], region.shape[axis]);
    let chunk = grid.chunk_shape()[axis];
    let Some(edges) = grid.edges().and_then(|edges| edges.axis(axis)) else {
        let (first, skip) = (start / chunk, start % chunk);
        if skip == 0 {
            return Ok((first, 0, AxisChunks::Regular(chunk)));
        }
        let others = extent.div_ceil(chunk).max(1);
        let chunks = AxisChunks::of_runs(axis, extent, [(chunk - skip, 1), (chunk, others)])?;
        return Ok((first, skip, chunks));
    };
    let first = edges.position(start);
    let ahead = usize::try_from(first).unwrap_or(usize::MAX);
    let begins = edges.chunk(first).map_or(start, |(begins, _)| begins);
    let rest = edges.chunks().skip(ahead).map(|(from, to)| (to - from.max(start), 1));
    Ok((first, start - begins, AxisChunks::of_runs(axis, extent, rest)?))
}

/// Whether the region ends inside an object (not at its end, nor at that of the array) on some
/// axis.
fn ends_inside(layout: &dyn Layout, grid: &ChunkGrid, region: &Region) -> bool {
    (0..region.rank()).any(|axis| {
        let end = region.end(axis);
        let ends_there = match (grid.edges().and_then(|edges| edges.axis(axis)), layout.shards()) {
            (Some(edges), _) => edges.ends().binary_search(&end).is_ok(),
            (None, Some(shards)) => end.is_multiple_of(shards.shard_shape()[axis]),
            (None, None) => end.is_multiple_of(grid.chunk_shape()[axis]),
        };
        !ends_there && end != grid.array_shape()[axis]
    })
}

/// Calls `run` with offset and length, in bytes, of every run of elements of `part`. They lie in a
/// chunk of `chunk_shape`, and come in the order they are stored.
fn for_each_run(
    chunk_shape: &[u64],
    part: &Region,
    order: &ElementOrder,
    item_bytes: u64,
    mut run: impl FnMut(usize, usize) -> Option<()>,
) -> Option<()> {
    let strides = order.strides_bytes(chunk_shape, item_bytes);
    let Some((&fastest, _)) = order.axes.split_last() else { return Some(()) };
    let length = usize::try_from(part.shape[fastest].checked_mul(item_bytes)?).ok()?;
    let mut rows = part.clone();
    rows.shape[fastest] = part.shape[fastest].min(1);
    for row in rows.positions_in(&order.axes) {
        // `row` counts from the beginning of the chunk or of the part.
        let offset: u64 = row.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        run(usize::try_from(offset).ok()?, length)?;
    }
    Some(())
}

/// Range in `bytes` of the `length` bytes at `address`; `None` if they are not there.
fn at(bytes: &[u8], address: usize, length: usize) -> Option<Range<usize>> {
    let start = address.checked_sub(bytes.as_ptr().addr())?;
    let end = start.checked_add(length).filter(|&end| end <= bytes.len())?;
    Some(start..end)
}

impl View for RegionLayout {
    fn inner(&self) -> &dyn Layout {
        &*self.inner
    }

    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn cost(&self) -> &CodecCost {
        &self.cost
    }

    fn chunk_in<'i>(&self, index: &'i [u64]) -> Cow<'i, [u64]> {
        Cow::Owned(self.in_array(index))
    }

    fn object_in<'i>(&self, index: &'i [u64]) -> Cow<'i, [u64]> {
        Cow::Owned(
            index.iter().zip(&self.first_object).map(|(index, first)| index + first).collect(),
        )
    }

    fn object_of(&self, in_inner: Vec<u64>) -> Option<Vec<u64>> {
        in_inner.iter().zip(&self.first_object).map(|(at, first)| at.checked_sub(*first)).collect()
    }

    fn stored_part(&self, index: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
        let part = self.part(index)?;
        Some((self.inner_grid.chunk(&self.in_array(index)).shape, part.start))
    }

    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        let in_array = self.in_array(index);
        let Some(part) = self.part(index) else {
            return self.inner.decode(&in_array, encoded, scratch);
        };
        let damaged = || FormatError::Decode {
            codec: "region",
            reason: format!("chunk {in_array:?} has fewer elements than its grid says"),
        };
        let chunk = self.inner_grid.chunk(&in_array).shape;
        let (order, item_bytes) = (self.inner.element_order(), self.spec.item_bytes());
        let decoded = self.inner.decode(&in_array, encoded, scratch)?;
        let (address, length) = (decoded.as_ptr().addr(), decoded.len());
        let mut kept = 0_usize;
        let copied = if let Some(chunk_bytes) = at(encoded, address, length) {
            let chunk_bytes = &encoded[chunk_bytes];
            scratch.clear();
            for_each_run(&chunk, &part, order, item_bytes, |offset, run| {
                scratch.extend_from_slice(chunk_bytes.get(offset..)?.get(..run)?);
                kept += run;
                Some(())
            })
        } else {
            // Every run moves towards the beginning.
            let place = at(scratch, address, length).ok_or_else(damaged)?;
            for_each_run(&chunk, &part, order, item_bytes, |offset, run| {
                let from = place.start.checked_add(offset)?;
                let to = from.checked_add(run).filter(|&to| to <= place.end)?;
                scratch.copy_within(from..to, kept);
                kept += run;
                Some(())
            })
        };
        copied.ok_or_else(damaged)?;
        Ok(&scratch[..kept])
    }

    fn decode_part<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        match self.part(index) {
            None => self.inner.decode_part(&self.in_array(index), encoded, wanted, scratch),
            // What is wanted is counted in what is left of the chunk.
            Some(_) => View::decode(self, index, encoded, scratch),
        }
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
        match self.part(index) {
            None => self.inner.narrow(&self.in_array(index), head, stored_bytes, wanted),
            Some(_) => None,
        }
    }

    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        if self.part(index).is_some() {
            let reason = "a part of a chunk cannot be written by itself".to_owned();
            return Err(FormatError::Encode { codec: "region", reason });
        }
        self.inner.encode(&self.in_array(index), elements, encoded)
    }
}
