//! The array as regions see it: checked sizes, and where the elements of a chunk lie.

use rechunk_format::{Plain, ShardFormat};
use rechunk_grid::{ChunkGrid, Endian, Region};

use rechunk_kernel::narrow;

use super::error::RegionError;
use super::frame::{Frame, Item};
use crate::Array;

/// Geometry of an array and a region of it.
#[derive(Debug)]
pub(crate) struct Geometry {
    pub(crate) region: Region,
    pub(crate) grid: ChunkGrid,
    /// Grid and format of shards, where chunks lie in some.
    pub(crate) shards: Option<(ChunkGrid, ShardFormat)>,
    pub(crate) item: Item,
    pub(crate) item_bytes: u64,
    /// Bytes of the region.
    pub(crate) region_bytes: u64,
    /// Bytes of a decoded chunk, the largest.
    pub(crate) chunk_bytes: u64,
    /// Element of a missing chunk, in native order.
    pub(crate) fill: Vec<u8>,
    /// Element of a missing chunk, as it stands in a chunk.
    pub(crate) stored_fill: Vec<u8>,
}

impl Geometry {
    /// That of `region`, which has to lie in `array`. Sizes that no buffer can have are refused.
    pub(crate) fn new(array: &Array, region: Region) -> Result<Self, RegionError> {
        let (layout, location) = (array.layout(), || array.location().to_owned());
        let spec = layout.spec();
        if spec.data_type.is_variable() {
            return Err(RegionError::Variable { array: location() });
        }
        let axes = region.start.iter().zip(&region.shape).zip(&spec.shape);
        let is_inside = |((start, extent), all): ((&u64, &u64), &u64)| {
            start.checked_add(*extent).is_some_and(|end| end <= *all)
        };
        let ranks = [region.start.len(), region.shape.len()];
        if ranks != [spec.shape.len(); 2] || !axes.into_iter().all(is_inside) {
            let (start, extent, shape) = (region.start, region.shape, spec.shape.clone());
            return Err(RegionError::Outside { array: location(), start, extent, shape });
        }
        let grid = spec.grid()?;
        let shards = match layout.shards() {
            Some(format) => {
                Some((ChunkGrid::new(&spec.shape, format.shard_shape())?, format.clone()))
            }
            None => None,
        };
        let item_bytes = spec.item_bytes();
        let bytes = |elements: u64| {
            let bytes = elements.checked_mul(item_bytes);
            bytes.filter(|&bytes| isize::try_from(bytes).is_ok()).ok_or_else(|| {
                RegionError::Memory {
                    array: location(),
                    needed_bytes: elements.saturating_mul(item_bytes),
                    memory_bytes: isize::MAX.unsigned_abs() as u64,
                }
            })
        };
        let (chunk_bytes, region_bytes) =
            (bytes(grid.chunk_elements())?, bytes(region.elements())?);
        let swap_bytes = match layout.element_order().endian {
            endian if endian == Endian::NATIVE => 1,
            _ => spec.data_type.swap_bytes(),
        };
        Ok(Self {
            region,
            grid,
            shards,
            item: Item { bytes: narrow(item_bytes), swap_bytes: narrow(swap_bytes) },
            item_bytes,
            region_bytes,
            chunk_bytes,
            fill: spec.fill_item(Endian::NATIVE),
            stored_fill: spec.fill_item(layout.element_order().endian),
        })
    }

    /// The elements of a decoded chunk.
    pub(crate) fn chunk_frame(&self, array: &Array, index: &[u64]) -> Frame {
        Frame::new(&self.grid.chunk(index), array.layout().element_order(), self.item_bytes)
    }

    /// The elements of a chunk that is stored as it is.
    pub(crate) fn plain_frame(&self, array: &Array, plain: Plain, index: &[u64]) -> Frame {
        let stored = match plain {
            Plain::Padded => self.grid.chunk(index),
            Plain::Clipped => self.grid.region(index),
        };
        Frame::new(&stored, array.layout().element_order(), self.item_bytes)
    }

    /// The elements of the caller's buffer.
    pub(crate) fn region_frame(&self) -> Frame {
        Frame::in_c_order(&self.region, self.item_bytes)
    }

    /// Chunks and shards that meet the region: each chunk with its shard, shard by shard.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Vec<u64>> + Send + use<> {
        let grid = self.shards.as_ref().map_or(&self.grid, |(grid, _)| grid);
        grid.covering(&self.region).positions()
    }

    /// The chunks of an object that meet the region.
    pub(crate) fn chunks_of(
        &self,
        object: &[u64],
    ) -> impl Iterator<Item = Vec<u64>> + Send + use<> {
        let chunks = match &self.shards {
            Some((shards, _)) => match shards.region(object).intersect(&self.region) {
                Some(common) => self.grid.covering(&common),
                None => Region::new(vec![0; object.len()], vec![0; object.len()]),
            },
            None => Region::new(object.to_vec(), vec![1; object.len()]),
        };
        chunks.positions()
    }
}
