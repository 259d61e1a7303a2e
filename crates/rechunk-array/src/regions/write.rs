//! Writing a region.

use std::borrow::Cow;

use bytes::Bytes;
use futures::stream::{FuturesUnordered, StreamExt};
use rechunk_format::{ShardFormat, ShardIndex};
use rechunk_grid::{Region, WriteEmpty};
use rechunk_kernel::{is_all, narrow};
use rechunk_store::may_block;

use super::budget;
use super::error::RegionError;
use super::frame::{Frame, copy};
use super::geometry::Geometry;
use super::options::RegionOptions;
use super::read::check_buffer;
use super::unpack::{encoded_chunk, whole_chunk};
use crate::array::Unit;
use crate::error::Cause;
use crate::{Array, ShardWriter};

impl Array {
    /// Writes `elements`, in C order and native byte order, as those of `region`.
    ///
    /// Chunks (in shards: shards) that lie in the region are written directly. One that the region
    /// cuts through is read, changed and written back: two writers that do so with one chunk at
    /// the same time lose what one of them wrote. Every object is replaced as a whole, so a reader
    /// sees the old one or the new one; after an error some are new and the others as before.
    ///
    /// The array has to be as it is stored: not a region of another, nor cast.
    pub async fn write_region(
        &self,
        region: &Region,
        elements: &[u8],
        options: &RegionOptions,
    ) -> Result<(), RegionError> {
        let geometry = Geometry::new(self, region.clone())?;
        check_buffer(self, &geometry, elements.len())?;
        self.check_writable()?;
        if geometry.region.is_empty() {
            return Ok(());
        }
        let at_once = budget::writes(self, &geometry, options)?;
        let writer = Writer::new(self, &geometry, elements, options.write_empty);
        let mut objects = geometry.objects();
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < at_once
                && let Some(object) = objects.next()
            {
                under_way.push(writer.object(object));
            }
            let Some(written) = under_way.next().await else { break };
            written?;
        }
        if options.durable {
            let synced = self.store().sync().await;
            synced.map_err(|error| self.error(Unit::Files, Cause::Store(error)))?;
        }
        Ok(())
    }

    /// Writes chunk `index` from `elements`: those of it that lie in the array, in C order and
    /// native byte order. Where chunks lie in shards it goes into `shard`, which is the writer of
    /// its own. One that holds only the fill value may be left out; a chunk that is there then
    /// stays.
    pub async fn write_whole_chunk(
        &self,
        index: &[u64],
        elements: &[u8],
        (shard, write_empty): (Option<&ShardWriter>, WriteEmpty),
    ) -> Result<(), RegionError> {
        let region = self.layout().spec().grid()?.region(index);
        let geometry = Geometry::new(self, region)?;
        check_buffer(self, &geometry, elements.len())?;
        let writer = Writer::new(self, &geometry, elements, write_empty);
        match (writer.encoded(index, Before::Missing).await?, shard) {
            (Some(encoded), Some(shard)) => drop(shard.add(index, encoded).await?),
            (Some(encoded), None) => self.write_chunk(index, encoded).await?,
            // A shard is left out when it is finished.
            (None, Some(_)) => {}
            (None, None) => self.leave_out(index, false).await?,
        }
        Ok(())
    }

    /// Counts the chunks that `region` meets as encoded, and the objects that they are in as left
    /// out: nothing is to be written there.
    pub fn leave_out_region(&self, region: &Region) -> Result<(), RegionError> {
        let geometry = Geometry::new(self, region.clone())?;
        if geometry.region.is_empty() {
            return Ok(());
        }
        let chunks = geometry.grid.covering(&geometry.region).elements();
        let grid = geometry.shards.as_ref().map_or(&geometry.grid, |(grid, _)| grid);
        let objects = grid.covering(&geometry.region).elements();
        let (meter, role) = (self.store().meter(), self.store().role());
        meter.add_puts_skipped(role, objects);
        meter.add_decoded_written(role, chunks.saturating_mul(geometry.chunk_bytes));
        Ok(())
    }

    /// Counts chunk `index` as encoded and left out: none of its input is there. In a shard it is
    /// the shard that may be left out.
    pub async fn leave_out_chunk(
        &self,
        index: &[u64],
        is_in_shard: bool,
    ) -> Result<(), RegionError> {
        let region = self.layout().spec().grid()?.region(index);
        let geometry = Geometry::new(self, region)?;
        let bytes = geometry.chunk_frame(self, index).bytes;
        self.store().meter().add_decoded_written(self.store().role(), bytes);
        if !is_in_shard {
            self.leave_out(index, false).await?;
        }
        Ok(())
    }

    /// Refuses stores and files in which no object can be replaced by itself.
    fn check_writable(&self) -> Result<(), RegionError> {
        let refuse = |reason: &str| {
            let (array, reason) = (self.location().to_owned(), reason.to_owned());
            Err(RegionError::ReadOnly { array, reason })
        };
        if let Some(what) = self.store().read_only() {
            return refuse(what);
        }
        if self.is_scattered() {
            return refuse("shards by a hash, which hold chunks from anywhere");
        }
        let Some(runs) = self.layout().runs() else { return Ok(()) };
        if runs.is_single || runs.has_tail || runs.offset_bytes > 0 {
            return refuse(&format!("one file ({})", self.layout().format_name()));
        }
        if runs.block_shape != self.layout().spec().chunk_shape {
            return refuse("files of raw elements that are read in parts");
        }
        Ok(())
    }

    /// Whether a chunk that holds only the fill value is removed instead of being written.
    fn leaves_out(&self, write_empty: WriteEmpty) -> bool {
        let layout = self.layout();
        let may = layout.spec().fill_value.is_some() && layout.runs().is_none();
        may && match write_empty {
            WriteEmpty::Always => false,
            WriteEmpty::Never => true,
            WriteEmpty::Auto => !layout.tells_absence(),
        }
    }
}

/// Writes the chunks of a region.
struct Writer<'a> {
    array: &'a Array,
    geometry: &'a Geometry,
    elements: &'a [u8],
    frame: Frame,
    leaves_out: bool,
}

/// A chunk as it is stored before it is changed.
enum Before {
    /// An object of its own.
    Object,
    /// Bytes of a shard.
    Entry((u64, u64)),
    Missing,
}

impl<'a> Writer<'a> {
    fn new(
        array: &'a Array,
        geometry: &'a Geometry,
        elements: &'a [u8],
        write_empty: WriteEmpty,
    ) -> Self {
        let (frame, leaves_out) = (geometry.region_frame(), array.leaves_out(write_empty));
        Self { array, geometry, elements, frame, leaves_out }
    }

    async fn object(&self, index: Vec<u64>) -> Result<(), RegionError> {
        match &self.geometry.shards {
            Some((grid, format)) => self.shard(&grid.region(&index), format, &index).await,
            None => self.chunk(&index).await,
        }
    }

    /// Writes a chunk that is an object of its own.
    async fn chunk(&self, index: &[u64]) -> Result<(), RegionError> {
        match self.encoded(index, Before::Object).await? {
            Some(encoded) => self.array.write_chunk(index, encoded).await?,
            None => self.array.leave_out(index, true).await?,
        }
        Ok(())
    }

    /// Writes a shard: its chunks one after the other, those outside of the region as they are
    /// stored.
    async fn shard(
        &self,
        all: &Region,
        format: &ShardFormat,
        shard: &[u64],
    ) -> Result<(), RegionError> {
        let (array, grid) = (self.array, &self.geometry.grid);
        let is_whole = self.geometry.region.contains(all);
        let before = if is_whole { None } else { array.read_index(format, shard).await? };
        let entry = |index: &ShardIndex, chunk: &[u64]| index.entry(format.slot(chunk));
        let writer = array.begin_shard(format, shard)?;
        let mut stored = Vec::new();
        for chunk in grid.covering(all).positions() {
            let entry = before.as_ref().and_then(|index| entry(index, &chunk));
            let held = grid.region(&chunk);
            // A chunk that is not written whole is wanted of what is there.
            if !is_whole && entry.is_none() && !self.geometry.region.contains(&held) {
                array.store().meter().add_gets_missing(array.store().role(), 1);
            }
            if held.intersect(&self.geometry.region).is_none() {
                if let Some(entry) = entry {
                    array.read_entry_into(&chunk, entry, &mut stored).await?;
                    stored = writer.add(&chunk, stored.into()).await?.into();
                }
                continue;
            }
            let before = entry.map_or(Before::Missing, Before::Entry);
            if let Some(encoded) = self.encoded(&chunk, before).await? {
                writer.add(&chunk, encoded).await?;
            }
        }
        if !writer.finish().await? {
            array.leave_out(shard, true).await?; // none of its chunks is left
        }
        Ok(())
    }

    /// The chunk with the elements of the region, encoded; `None` if it is left out.
    async fn encoded(&self, index: &[u64], before: Before) -> Result<Option<Bytes>, RegionError> {
        let elements = self.changed(index, before).await?;
        if self.is_left_out(&elements) {
            return Ok(None);
        }
        encoded_chunk(self.array, index, elements).await.map(Some)
    }

    /// The elements of a chunk with those of the region, in its own order. They are the caller's
    /// where these are the whole chunk as it is, and this thread may encode them.
    async fn changed(&self, index: &[u64], before: Before) -> Result<Cow<'_, [u8]>, RegionError> {
        let (array, geometry) = (self.array, self.geometry);
        let chunk = geometry.grid.chunk(index);
        let frame = geometry.chunk_frame(array, index);
        let is_as_given = geometry.item.swap_bytes == 1 && frame == self.frame;
        let elements = if is_as_given && may_block() {
            Cow::Borrowed(self.elements)
        } else {
            Cow::Owned(self.merged(index, (&chunk, &frame), before).await?)
        };
        array.store().meter().add_decoded_written(array.store().role(), frame.bytes);
        Ok(elements)
    }

    /// The elements of a chunk that is read, or filled, and gets those of the region.
    async fn merged(
        &self,
        index: &[u64],
        (chunk, frame): (&Region, &Frame),
        before: Before,
    ) -> Result<Vec<u8>, RegionError> {
        let (array, geometry) = (self.array, self.geometry);
        let held = geometry.grid.region(index);
        let common = held.intersect(&geometry.region).and_then(|common| common.intersect(chunk));
        let is_covered = common.as_ref().is_some_and(|common| *common == held);
        let before = if is_covered { Before::Missing } else { before };
        let mut elements = if let Some(stored) = self.stored(index, before).await? {
            whole_chunk(array, index, stored, frame.bytes).await?
        } else {
            let mut elements = vec![0; narrow(frame.bytes)];
            if common.as_ref() != Some(chunk) {
                rechunk_kernel::fill(&geometry.stored_fill, &mut elements);
            }
            elements
        };
        if let Some(common) = common {
            let source = (self.elements, &self.frame);
            copy(geometry.item, &common, source, (&mut elements, frame))?;
        }
        Ok(elements)
    }

    /// The bytes of a chunk as it is stored; `None` if it is missing.
    async fn stored(&self, index: &[u64], before: Before) -> Result<Option<Vec<u8>>, RegionError> {
        let mut stored = Vec::new();
        match before {
            Before::Missing => return Ok(None),
            Before::Object => {
                if !self.array.read_chunk_into(index, &mut stored).await? {
                    return Ok(None);
                }
            }
            Before::Entry(entry) => self.array.read_entry_into(index, entry, &mut stored).await?,
        }
        Ok(Some(stored))
    }

    fn is_left_out(&self, elements: &[u8]) -> bool {
        self.leaves_out && is_all(&self.geometry.stored_fill, elements)
    }
}
