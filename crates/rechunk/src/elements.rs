//! Reads a part of an array into memory: a coordinate, a few elements that are to be named.

use std::sync::Arc;

use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_array::{Array, ArrayError};
use rechunk_format::{ElementOrder, Layout};
use rechunk_grid::{ArraySpec, ChunkGrid, Endian, Region};
use rechunk_kernel::copy_region;
use rechunk_store::{Meter, Role};

use crate::Error;
use crate::consolidated::at_once;
use crate::open::OpenArray;

/// Most bytes that reading a chunk may take: what is read so is no part of a plan.
const CHUNK_BYTES_MAX: u64 = 128 << 20;

/// The chunks of an array, each of which can be read by itself; where they lie in shards, those.
/// Requests are not counted.
pub(crate) struct Chunks {
    layout: Arc<dyn Layout>,
    grid: ChunkGrid,
    reader: Array,
    /// Memory that reading a chunk takes, bytes.
    bytes: u64,
}

impl Chunks {
    /// Those of `array`, if they are no larger than what may be read beside a plan.
    pub(crate) fn of(array: &OpenArray) -> Result<Self, Error> {
        let layout = array.without_shards()?;
        let grid = layout.spec().grid();
        let grid = grid.map_err(|error| Error::source_grid(&array.location, &error))?;
        let bytes = chunk_bytes(array)?;
        if bytes > CHUNK_BYTES_MAX {
            return Err(Error::NotAnArray {
                location: array.location.clone(),
                reason: format!(
                    "reading a chunk of it takes {bytes} bytes, and it is to be looked at beside \
                     the plan, with no more than {CHUNK_BYTES_MAX}"
                ),
                hint: Some("copy it with smaller --chunks".into()),
            });
        }
        let store = array.array.store().with_role(Role::Control).with_meter(&Meter::new());
        let reader = Array::new(Arc::clone(&layout), store);
        Ok(Self { layout, grid, reader, bytes })
    }

    /// Grid of the chunks.
    pub(crate) fn grid(&self) -> &ChunkGrid {
        &self.grid
    }

    /// Specification of the array.
    pub(crate) fn spec(&self) -> &ArraySpec {
        self.layout.spec()
    }

    /// Order of elements in a decoded chunk.
    pub(crate) fn element_order(&self) -> &ElementOrder {
        self.layout.element_order()
    }

    /// A chunk as it is stored; `None` if it is missing.
    pub(crate) async fn fetch(&self, index: &[u64]) -> Result<Option<Vec<u8>>, ArrayError> {
        let mut encoded = Vec::new();
        let is_there = self.reader.read_chunk_into(index, &mut encoded).await?;
        Ok(is_there.then_some(encoded))
    }

    /// The elements of a chunk that is stored so.
    pub(crate) fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], ArrayError> {
        let decoded = self.layout.decode(index, encoded, scratch);
        decoded.map_err(|error| self.reader.decode_error(index, error))
    }

    /// The element that a chunk that is missing holds everywhere, little-endian; `None` if nothing
    /// says so.
    pub(crate) fn fill(&self) -> Option<&[u8]> {
        let fill = self.spec().fill_value.as_ref().filter(|_| !self.layout.tells_absence());
        fill.map(|fill| &*fill.bytes)
    }

    /// A few at once where answers take long, and no more than the bytes of the largest chunk
    /// allowed.
    fn at_once(&self) -> usize {
        let most = usize::try_from(CHUNK_BYTES_MAX / self.bytes.max(1)).unwrap_or(1).max(1);
        at_once(self.reader.store()).min(most)
    }
}

/// The elements of `region` of an array, in C order and little-endian. Its requests are not
/// counted; its bytes are the caller's to bound.
pub(crate) async fn read_region(array: &OpenArray, region: &Region) -> Result<Vec<u8>, Error> {
    let chunks = Chunks::of(array)?;
    let (grid, spec) = (chunks.grid(), chunks.spec());
    let item = usize::try_from(spec.item_bytes()).unwrap_or(1);
    let room = usize::try_from(region.elements()).unwrap_or(usize::MAX).saturating_mul(item);
    let mut elements = vec![0; room];
    let fetched = grid.covering(region).positions().map(|index| {
        let chunks = &chunks;
        async move { chunks.fetch(&index).await.map(|encoded| (index, encoded)) }
    });
    let mut fetched = Box::pin(stream::iter(fetched).buffered(chunks.at_once()));
    let failed = |error: ArrayError| Error::Compare { source: Box::new(error) };
    let mut scratch = Vec::new();
    while let Some((index, encoded)) = fetched.try_next().await.map_err(failed)? {
        let part = Part { grid, index: &index, region };
        if let Some(encoded) = encoded {
            let decoded = chunks.decode(&index, &encoded, &mut scratch).map_err(failed)?;
            let order = chunks.element_order();
            let strides = order.strides_bytes(&grid.chunk(&index).shape, spec.item_bytes());
            let swap = if order.endian == Endian::Big { spec.data_type.swap_bytes() } else { 1 };
            part.copy((decoded, &strides), swap, item, &mut elements)
        } else {
            // Without a fill value, what is missing reads as zero.
            let zero = vec![0; item];
            let fill = chunks.fill().unwrap_or(&zero);
            part.copy((fill, &vec![0; region.rank()]), 1, item, &mut elements)
        }
        .map_err(|source| Error::Compare { source: Box::new(source) })?;
    }
    Ok(elements)
}

/// Bytes that reading one chunk of an array takes, as stored and decoded; a shard if they lie in
/// those.
pub(crate) fn chunk_bytes(array: &OpenArray) -> Result<u64, Error> {
    let layout = array.without_shards()?;
    let (spec, cost) = (layout.spec(), layout.codec_cost());
    let decoded = spec.chunk_shape.iter().fold(spec.item_bytes(), |a, b| a.saturating_mul(*b));
    let encoded = if cost.is_raw { 0 } else { cost.encoded_bytes_max };
    Ok(decoded.saturating_add(encoded).saturating_add(cost.decode_workspace_bytes))
}

/// Common part of a chunk and a region.
struct Part<'a> {
    grid: &'a ChunkGrid,
    index: &'a [u64],
    region: &'a Region,
}

impl Part<'_> {
    /// Copies it from a decoded chunk, or one element to every place, into the region's elements.
    fn copy(
        &self,
        (source, strides): (&[u8], &[u64]),
        swap_bytes: u64,
        item: usize,
        elements: &mut [u8],
    ) -> Result<(), rechunk_kernel::KernelError> {
        let Some(common) = self.grid.region(self.index).intersect(self.region) else {
            return Ok(());
        };
        let offset = |start: &[u64], strides: &[u64]| -> u64 {
            common
                .start
                .iter()
                .zip(start)
                .zip(strides)
                .map(|((at, from), by)| (at - from) * by)
                .sum()
        };
        let mut own = vec![0; self.region.rank()];
        let mut stride = item as u64;
        for axis in (0..own.len()).rev() {
            own[axis] = stride;
            stride *= self.region.shape[axis];
        }
        copy_region(
            item,
            &common.shape,
            source,
            offset(&self.grid.chunk(self.index).start, strides),
            strides,
            elements,
            offset(&self.region.start, &own),
            &own,
            usize::try_from(swap_bytes).unwrap_or(1),
        )
    }
}
