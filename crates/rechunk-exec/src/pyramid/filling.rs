//! Chunks and shards of a level that a task has begun.

use std::collections::BTreeMap;
use std::sync::Arc;

use rechunk_array::ShardWriter;
use rechunk_grid::{ChunkGrid, Region};
use rechunk_plan::StepLevel;

use super::stored::Stored;
use crate::Fault;
use crate::units::frame::{self, Frame};

/// A level as a task fills it.
#[derive(Debug)]
pub(super) struct Filling {
    /// Its number in the pyramid.
    pub level: usize,
    pub grid: ChunkGrid,
    /// Grid of shards, where chunks lie in some.
    shard_grid: Option<ChunkGrid>,
    /// Elements of the input of a cell along each axis.
    factors: Vec<u64>,
    item_bytes: usize,
    chunks: BTreeMap<Vec<u64>, Unfinished>,
    pub shards: BTreeMap<Vec<u64>, OpenShard>,
}

/// A chunk of which some elements are there.
#[derive(Debug)]
struct Unfinished {
    region: Region,
    bytes: Vec<u8>,
    /// Elements that are not there.
    left: u64,
    is_found: bool,
}

/// A shard that is being written.
#[derive(Debug)]
pub(super) struct OpenShard {
    pub writer: Arc<ShardWriter>,
    /// Chunks that are not written.
    pub left: u64,
}

/// A chunk that is complete.
#[derive(Debug)]
pub(super) struct Complete {
    pub index: Vec<u64>,
    /// Its elements; `None`: those of the step.
    pub bytes: Option<Vec<u8>>,
    /// Some of its input is stored.
    pub is_found: bool,
}

impl Filling {
    pub(super) fn new(level: &StepLevel, number: usize, item_bytes: usize) -> Result<Self, Fault> {
        let grid = |unit: &[u64]| ChunkGrid::new(&level.shape, unit).map_err(Fault::Grid);
        let shard_grid = level.shard.as_deref().map(grid).transpose()?;
        Ok(Self {
            level: number,
            grid: grid(&level.chunk)?,
            shard_grid,
            factors: level.factors.clone(),
            item_bytes,
            chunks: BTreeMap::new(),
            shards: BTreeMap::new(),
        })
    }

    /// Adds the elements of `cells`. Returns the chunks that they complete.
    pub(super) fn add(
        &mut self,
        cells: &Region,
        values: &[u8],
        stored: &Stored,
    ) -> Result<Vec<Complete>, Fault> {
        let mut complete = Vec::new();
        if cells.is_empty() {
            return Ok(complete);
        }
        let all = Frame::of_region(cells, self.item_bytes)?;
        for index in self.grid.covering(cells).positions() {
            let region = self.grid.region(&index);
            let Some(common) = region.intersect(cells) else { continue };
            let is_found = stored.has(&common, &self.factors);
            if common == region {
                complete.push(Complete { index, bytes: None, is_found });
                continue;
            }
            let own = Frame::of_region(&region, self.item_bytes)?;
            let chunk = self.chunks.entry(index.clone()).or_insert_with(|| Unfinished {
                bytes: vec![0; own.bytes],
                left: region.elements(),
                region,
                is_found: false,
            });
            let target = (&mut *chunk.bytes, &own);
            frame::copy(self.item_bytes, &common, (values, &all), target, 1)?;
            chunk.is_found |= is_found;
            chunk.left = chunk.left.saturating_sub(common.elements());
            if chunk.left == 0
                && let Some(chunk) = self.chunks.remove(&index)
            {
                let (bytes, is_found) = (Some(chunk.bytes), chunk.is_found);
                complete.push(Complete { index, bytes, is_found });
            }
        }
        Ok(complete)
    }

    /// Index of the shard of a chunk, where chunks lie in some.
    pub(super) fn shard_of(&self, chunk: &[u64]) -> Option<Vec<u64>> {
        let grid = self.shard_grid.as_ref()?;
        Some(grid.covering(&self.grid.region(chunk)).start)
    }

    /// Number of chunks of the level in a shard.
    pub(super) fn chunks_in(&self, shard: &[u64]) -> u64 {
        let region = self.shard_grid.as_ref().map(|grid| grid.region(shard));
        region.map_or(0, |region| self.grid.covering(&region).elements())
    }

    /// Notes that a chunk of a shard is written. Returns its writer, if it was the last one.
    pub(super) fn written(&mut self, shard: &[u64]) -> Option<Arc<ShardWriter>> {
        let open = self.shards.get_mut(shard)?;
        open.left = open.left.saturating_sub(1);
        let is_last = open.left == 0;
        is_last.then(|| self.shards.remove(shard))?.map(|open| open.writer)
    }

    /// Refuses to end a task of which a chunk or a shard is not complete.
    pub(super) fn check_complete(&self) -> Result<(), Fault> {
        let chunk = self.chunks.first_key_value().map(|(index, chunk)| (index, &chunk.region));
        if let Some((index, region)) = chunk {
            let reason = format!("chunk {index:?} of level {} ends at {region:?}", self.level);
            return Err(Fault::Plan { reason: format!("its tiles cut chunks: {reason}") });
        }
        if let Some(index) = self.shards.keys().next() {
            let reason = format!("its tiles cut shard {index:?} of level {}", self.level);
            return Err(Fault::Plan { reason });
        }
        Ok(())
    }
}
