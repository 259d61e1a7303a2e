//! Reading a region.

use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt};
use rechunk_format::{Plain, ShardFormat};
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_store::may_block;

use super::budget;
use super::error::RegionError;
use super::frame::{Frame, Item, copy, fill};
use super::geometry::Geometry;
use super::options::RegionOptions;
use super::pieces::{PieceLimits, Pieces};
use super::unpack::{part_of_chunk, part_of_chunk_here, part_of_plain, scratch_of};
use crate::{Array, ArrayError, LazyIndexes};

/// Longest gap that is read and thrown away, where answers come soon.
const GAP_BYTES: u64 = 64 << 10;
/// Longest gap that is read and thrown away, where a request takes as long as a megabyte.
const LATE_GAP_BYTES: u64 = 1 << 20;

/// Chunks that a region was read of. Of one that is stored as it is, each read counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegionRead {
    /// Chunks that were there.
    pub found: u64,
    /// Chunks that were missing, and read as the fill value.
    pub missing: u64,
}

impl Array {
    /// Bytes of a buffer for `region`, if one may be made for it: the region lies in the array, and
    /// has no more than [`RegionOptions::returned_bytes_max`].
    pub fn region_bytes(
        &self,
        region: &Region,
        options: &RegionOptions,
    ) -> Result<u64, RegionError> {
        let geometry = Geometry::new(self, region.clone())?;
        check_returned(self, &geometry, options)?;
        Ok(geometry.region_bytes)
    }

    /// Reads the elements of `region` in C order and native byte order into a buffer of exactly
    /// their bytes. Missing chunks read as the fill value, or as zero where the metadata has none;
    /// false if there were some. After an error the buffer may hold some elements.
    ///
    /// Only chunks that meet the region are fetched: one request each, in shards one more for the
    /// index of each shard, or two for each table of an index that has some. Of chunks that are
    /// stored as they are only the elements are fetched. A chunk that does not decode is an error
    /// that names it.
    pub async fn read_region_into(
        &self,
        region: &Region,
        buffer: &mut [u8],
        options: &RegionOptions,
    ) -> Result<bool, RegionError> {
        Ok(self.read_region_counting(region, buffer, options).await?.missing == 0)
    }

    /// Reads as [`Array::read_region_into`], and counts what was there and what was missing.
    pub async fn read_region_counting(
        &self,
        region: &Region,
        buffer: &mut [u8],
        options: &RegionOptions,
    ) -> Result<RegionRead, RegionError> {
        self.read_into(region, buffer, options, |_| {}).await
    }

    /// Reads as [`Array::read_region_counting`], and adds the parts of the region whose chunks are
    /// missing to `missing`.
    pub async fn read_region_noting(
        &self,
        region: &Region,
        buffer: &mut [u8],
        options: &RegionOptions,
        missing: &mut Vec<Region>,
    ) -> Result<RegionRead, RegionError> {
        self.read_into(region, buffer, options, |part| missing.push(part)).await
    }

    async fn read_into(
        &self,
        region: &Region,
        buffer: &mut [u8],
        options: &RegionOptions,
        mut is_missing: impl FnMut(Region),
    ) -> Result<RegionRead, RegionError> {
        let geometry = Geometry::new(self, region.clone())?;
        check_buffer(self, &geometry, buffer.len())?;
        let mut parts_read = RegionRead::default();
        if geometry.region.is_empty() {
            return Ok(parts_read);
        }
        let plain = self.plain();
        let (span_bytes_max, at_once) = match plain {
            Some(_) => budget::plain_reads(self, &geometry, options)?,
            None => (u64::MAX, budget::reads(self, &geometry, options)?),
        };
        let gap_bytes_max = match plain {
            Some(_) if self.store().answers_late() => LATE_GAP_BYTES,
            Some(_) => GAP_BYTES,
            None => u64::MAX,
        };
        let limits = PieceLimits { span_bytes_max, gap_bytes_max };
        let frame = geometry.region_frame();
        if geometry.grid.edges().is_some() {
            // Chunks that differ in length may leave a border that none of them holds.
            fill(&geometry.fill, &geometry.region, (&mut *buffer, &frame))?;
        }
        let native = Item { swap_bytes: 1, ..geometry.item };
        let reader = Reader { array: self, geometry: &geometry, plain, limits };
        let mut parts = reader.parts();
        let mut under_way = FuturesUnordered::new();
        // Chunks that are decoded here use these again: the system would clear each new buffer.
        let mut scratch = scratch_of(self, if may_block() { geometry.chunk_bytes } else { 0 });
        let mut spare: Vec<Vec<u8>> = Vec::new();
        loop {
            while under_way.len() < at_once
                && let Some(part) = parts.next()
            {
                under_way.push(reader.fetch(part, spare.pop().unwrap_or_default()));
            }
            let Some(fetched) = under_way.next().await else { return Ok(parts_read) };
            let (region, found) = fetched?;
            let target = (&mut *buffer, &frame);
            let Some(found) = found else {
                parts_read.missing += 1;
                fill(&geometry.fill, &region, target)?;
                is_missing(region);
                continue;
            };
            parts_read.found += 1;
            match found {
                Found::Elements(elements) => {
                    let own = Frame::in_c_order(&region, geometry.item_bytes);
                    copy(native, &region, (&elements, &own), target)?;
                }
                Found::Stored { index, encoded } => {
                    let (stored, own) = ((&*index, &*encoded), reader.frame(&index));
                    let own = (&own, geometry.item);
                    part_of_chunk_here(self, stored, own, &region, target, &mut scratch)?;
                    spare.push(encoded);
                }
            }
        }
    }
}

/// Refuses to make a buffer that is larger than the options allow.
fn check_returned(
    array: &Array,
    geometry: &Geometry,
    options: &RegionOptions,
) -> Result<(), RegionError> {
    let is_small = geometry.region_bytes <= options.returned_bytes_max;
    if is_small { Ok(()) } else { Err(too_large(array, geometry, options)) }
}

fn too_large(array: &Array, geometry: &Geometry, options: &RegionOptions) -> RegionError {
    RegionError::TooLarge {
        array: array.location().to_owned(),
        needed_bytes: geometry.region_bytes,
        returned_bytes_max: options.returned_bytes_max,
    }
}

/// Refuses a buffer of another size than the region.
pub(crate) fn check_buffer(
    array: &Array,
    geometry: &Geometry,
    given_bytes: usize,
) -> Result<(), RegionError> {
    if wide(given_bytes) == geometry.region_bytes {
        return Ok(());
    }
    Err(RegionError::Buffer {
        array: array.location().to_owned(),
        needed_bytes: geometry.region_bytes,
        given_bytes: wide(given_bytes),
    })
}

/// A shard, and the indexes by which its chunks are found.
#[derive(Debug)]
struct Shard {
    format: ShardFormat,
    indexes: LazyIndexes,
}

impl Shard {
    /// Place of a chunk in the shard; `None` if the chunk is missing.
    async fn entry(&self, array: &Array, chunk: &[u64]) -> Result<Option<(u64, u64)>, ArrayError> {
        self.indexes.entry(array, &self.format, chunk).await
    }
}

/// A part of the region that lies in one chunk, and is fetched at once.
#[derive(Debug)]
struct Part {
    index: Vec<u64>,
    region: Region,
    shard: Option<Arc<Shard>>,
}

/// A part as it was fetched.
enum Found {
    /// Its elements, in C order and native byte order.
    Elements(Vec<u8>),
    /// A chunk as it is stored, to be decoded where it is awaited.
    Stored { index: Vec<u64>, encoded: Vec<u8> },
}

/// Reads the parts of a region.
struct Reader<'a> {
    array: &'a Array,
    geometry: &'a Geometry,
    plain: Option<Plain>,
    limits: PieceLimits,
}

impl Reader<'_> {
    /// Parts of the region, shard by shard and chunk by chunk.
    fn parts(&self) -> impl Iterator<Item = Part> + Send {
        let geometry = self.geometry;
        geometry.objects().flat_map(move |object| {
            let shard = geometry.shards.as_ref().map(|(_, format)| {
                Arc::new(Shard { format: format.clone(), indexes: LazyIndexes::default() })
            });
            let chunks = geometry.chunks_of(&object);
            chunks.flat_map(move |index| {
                let shard = shard.clone();
                let pieces = self.pieces(&index);
                pieces.map(move |region| Part {
                    index: index.clone(),
                    region,
                    shard: shard.clone(),
                })
            })
        })
    }

    /// Reads of what a chunk holds of the region: one, unless it is stored as it is.
    fn pieces(&self, index: &[u64]) -> Pieces {
        let geometry = self.geometry;
        let held = geometry.grid.chunk(index).intersect(&geometry.region);
        let nothing = || Region::new(vec![0; index.len()], vec![0; index.len()]);
        Pieces::new(
            self.frame(index),
            held.unwrap_or_else(nothing),
            geometry.item_bytes,
            self.limits,
        )
    }

    fn frame(&self, index: &[u64]) -> Frame {
        match self.plain {
            Some(plain) => self.geometry.plain_frame(self.array, plain, index),
            None => self.geometry.chunk_frame(self.array, index),
        }
    }

    /// Fetches a part into a buffer; nothing if its chunk is missing. On a thread of a runtime it
    /// is decoded beside that.
    async fn fetch(
        &self,
        part: Part,
        mut stored: Vec<u8>,
    ) -> Result<(Region, Option<Found>), RegionError> {
        let (array, Part { index, region, shard }) = (self.array, part);
        let (item, frame) = (self.geometry.item, self.frame(&index));
        let meter = array.store().meter();
        if self.plain.is_some() {
            let wanted = frame.bytes_of(&region, self.geometry.item_bytes);
            let length = wanted.end - wanted.start;
            let read =
                array.read_elements_into(&index, frame.bytes, wanted.clone(), length, &mut stored);
            let is_there = read.await?;
            // Of one that is missing the fill value is its elements.
            meter.add_decoded_read(array.store().role(), length);
            if !is_there {
                return Ok((region, None));
            }
            let elements = part_of_plain(stored, (frame.part(&wanted), item), &region).await?;
            return Ok((region, Some(Found::Elements(elements))));
        }
        let is_there = if let Some(shard) = shard {
            let entry = shard.entry(array, &index).await?;
            match entry {
                Some(entry) => array.read_entry_into(&index, entry, &mut stored).await?,
                None => meter.add_gets_missing(array.store().role(), 1),
            }
            entry.is_some()
        } else {
            array.read_chunk_into(&index, &mut stored).await?
        };
        meter.add_decoded_read(array.store().role(), frame.bytes);
        if !is_there {
            return Ok((region, None));
        }
        if may_block() {
            return Ok((region, Some(Found::Stored { index, encoded: stored })));
        }
        let elements = part_of_chunk(array, &index, stored, (frame, item), &region).await?;
        Ok((region, Some(Found::Elements(elements))))
    }
}
