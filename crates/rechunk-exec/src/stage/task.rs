//! One task: a tile, filled step by step.

use std::sync::Arc;

use rechunk_format::Plain;
use rechunk_grid::Region;
use rechunk_kernel::{Digest, wide};

use crate::Fault;
use crate::memory::pool::BufferPool;
use crate::memory::workers::Needs;
use crate::stage::digest::DigestSum;
use crate::stage::shards::{SourceIndexes, TargetShards};
use crate::stage::stage_run::StageRun;
use crate::units::input::Input;
use crate::units::unit::Units;

/// A task being run.
#[derive(Debug)]
pub(crate) struct TaskRun {
    pub stage: Arc<StageRun>,
    /// Its number in the stage.
    pub number: u64,
    /// The region it owns, or the box of it that is filled now.
    pub tile: Region,
    pub units: Units,
    pub buffers: Arc<BufferPool>,
    /// Probably no other task of the stage will need its buffers.
    pub is_last: bool,
    pub indexes: SourceIndexes,
    /// The target's shards; boxes of one task share them.
    pub shards: Arc<TargetShards>,
    /// Steps an earlier run has done: the units they completed are not touched again.
    pub steps_done: u64,
    /// Digest of what those steps took from the source, if it is known.
    pub digest_before: Option<Digest>,
    /// Of what was taken from the source and is not counted by unit.
    pub digest: DigestSum,
}

/// Part of a task that an earlier run has done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    /// Steps that are done.
    pub steps: u64,
    /// Digest of what they took from the source, if it is known.
    pub digest: Option<Digest>,
}

impl TaskRun {
    /// Elements of unit `index` in this tile. `None` if the unit is not to be filled: it does not
    /// meet the tile, or an earlier run has finished it, or its shard.
    pub(crate) fn open_unit(&self, index: &[u64]) -> Option<Region> {
        let geometry = &self.stage.geometry;
        let region = geometry.unit_region(index, &self.tile)?;
        if self.steps_done > 0 {
            let commit = geometry.commit_region(index, &self.tile)?;
            if geometry.last_step(&self.tile, &commit) < self.steps_done {
                return None;
            }
        }
        Some(region)
    }

    /// The step that brings the last of `region`.
    pub(crate) fn last_step(&self, region: &Region) -> u64 {
        self.stage.geometry.last_step(&self.tile, region)
    }

    /// Input chunk `index` (see [`rechunk_plan::StageGeometry::grain_grid`]), if it meets the tile.
    pub(crate) fn input(&self, index: &[u64]) -> Result<Option<Input>, Fault> {
        let stage = &self.stage;
        let grid = stage.geometry.grain_grid();
        let chunk = grid.region(index);
        let Some(region) = chunk.intersect(&self.tile) else { return Ok(None) };
        let frame = stage.input_frame(index, &region)?;
        let (held, bytes) = (stage.held_of(&region), frame.bytes);
        let (plain, item_bytes) = (stage.way_in.plain(), stage.item_bytes);
        let wanted = match &held {
            Some(held) => {
                let is_all = plain.is_some_and(|plain| {
                    plain.with_padding
                        && wide(bytes) <= stage.workers.room_bytes(Needs::NONE, 0)
                        && *held == chunk
                });
                if is_all { 0..bytes } else { frame.bytes_of(held, item_bytes) }
            }
            // No more is asked than whether it is there.
            None if plain.is_some() => 0..item_bytes.min(bytes),
            None => 0..bytes,
        };
        let decoded_bytes = match plain.map(|plain| plain.stored) {
            Some(Plain::Clipped) => grid.chunk(index).elements().saturating_mul(wide(item_bytes)),
            Some(Plain::Padded) | None => wide(bytes),
        };
        let frame = frame.part(&wanted);
        Ok(Some(Input { region, held, bytes, decoded_bytes, wanted, frame }))
    }

    /// The part of input chunk `index` in this tile.
    pub(crate) fn input_region(&self, index: &[u64]) -> Option<Region> {
        self.stage.geometry.input_grid().region(index).intersect(&self.tile)
    }

    /// An input is read if it meets a unit that is to be filled. All that later steps read do.
    pub(crate) fn wants(&self, position: u64, index: &[u64]) -> bool {
        if position >= self.steps_done {
            return true;
        }
        self.input_region(index).is_some_and(|region| {
            let units = self.stage.geometry.output_grid().covering(&region);
            units.positions().any(|unit| self.open_unit(&unit).is_some())
        })
    }

    /// The chunks of source shard `shard` that meet this tile, as a box of indices.
    pub(crate) fn chunks_of_shard(&self, shard: &[u64]) -> Region {
        match self.input_region(shard) {
            Some(region) => self.stage.geometry.grain_grid().covering(&region),
            None => Region::new(shard.to_vec(), vec![0; shard.len()]),
        }
    }
}
