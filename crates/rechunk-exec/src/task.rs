//! One task: a tile, filled step by step.

use std::sync::Arc;

use rechunk_grid::Region;
use rechunk_kernel::Digest;

use crate::Fault;
use crate::digest::DigestSum;
use crate::lane::Lane;
use crate::pool::BufferPool;
use crate::shards::{SourceIndexes, TargetShards};
use crate::stage_run::StageRun;
use crate::unit::Units;
use crate::{flow, runs};

/// Lanes and buffers of one of the tasks that run at once; the next task goes on with them.
#[derive(Debug)]
pub(crate) struct Slot {
    lanes: Vec<Lane>,
    buffers: Arc<BufferPool>,
}

impl Slot {
    pub(crate) fn new(stage: &StageRun) -> Self {
        let lanes = stage.stage.lanes.saturating_add(stage.ahead_lanes);
        let lanes = (0..lanes).map(|_| Lane::default()).collect();
        let most_bytes = unit_bytes_max(stage);
        // What lanes pay for mostly covers buffers that lie idle; where threads pay, nothing does.
        let is_shared = stage.stage.worker_bytes > 0;
        let kept_bytes = if is_shared { stage.stage.resident_bytes } else { most_bytes };
        let buffers = if stage.stage.runs.is_some() {
            BufferPool::of_many_sizes(most_bytes, stage.run.execution.spare_bytes())
        } else {
            BufferPool::new(most_bytes, kept_bytes)
        };
        Self { lanes, buffers: Arc::new(buffers) }
    }
}

/// Most bytes of the buffers of units: all that are resident, and where steps overlap, one in each
/// lane.
fn unit_bytes_max(stage: &StageRun) -> u64 {
    let lanes = if stage.stage.is_stepped { u64::from(stage.stage.lanes) } else { 0 };
    stage.stage.resident_bytes.saturating_add(lanes.saturating_mul(stage.target_chunk_bytes()))
}

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

/// Runs a task. `slot` is fit for use again only if this succeeds. Returns the digest of what the
/// whole task took from the source, if that is known and the stage takes one.
pub(crate) async fn run_task(
    stage: Arc<StageRun>,
    slot: &mut Slot,
    number: u64,
    begun: Begun,
) -> Result<Option<Digest>, Fault> {
    slot.buffers.set_open(true);
    if stage.stage.runs.is_some() {
        runs::run_task(stage, Arc::clone(&slot.buffers), number, begun.steps).await?;
        return Ok(None);
    }
    let mut digest = stage.digest.method().map(|_| Digest::default());
    let shards = Arc::new(TargetShards::default());
    let owned = stage.geometry.tile(number);
    for tile in stage.geometry.boxes(&owned) {
        let task = Arc::new(TaskRun {
            number,
            is_last: stage.is_last(number) && tile == owned,
            tile,
            units: Units::default(),
            buffers: Arc::clone(&slot.buffers),
            indexes: SourceIndexes::default(),
            shards: Arc::clone(&shards),
            steps_done: begun.steps,
            digest_before: begun.digest,
            digest: DigestSum::default(),
            stage: Arc::clone(&stage),
        });
        let of_units = flow::run(&task, &mut slot.lanes).await?;
        digest = digest.zip(of_units).map(|(sum, new)| sum + new + task.digest.get());
    }
    Ok(digest)
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
}
