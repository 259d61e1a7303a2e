//! Checks of a plan that was read from somewhere.

use rechunk_grid::{ChunkGrid, GridError, ITEM_BYTES_MAX};

use crate::keep::EXACT_BUFFERS_MAX;
use crate::plan::THREADS;
use crate::{Plan, Stage, StageOutput};

impl Plan {
    /// Checks a plan that was read from somewhere: that it is whole, and the one that was planned.
    pub fn check(&self) -> Result<(), String> {
        if self.fingerprint != self.computed_fingerprint() {
            return Err("its fingerprint is not that of its contents: it was edited".to_owned());
        }
        if !(1..=ITEM_BYTES_MAX).contains(&self.item_bytes) {
            return Err(format!("elements of {} bytes are not planned for", self.item_bytes));
        }
        // None is what a run has that is simulated.
        if self.threads > *THREADS.end() {
            return Err(format!("{} threads are not planned for", self.threads));
        }
        self.check_grids().map_err(|error| error.to_string())?;
        for (number, stage) in self.stages.iter().enumerate() {
            let rank = self.shape.len();
            let mut axes = stage.step_axes.clone();
            axes.sort_unstable();
            let shards = [&self.source_shard, &self.target_shard];
            let divides = |(axis, part): (usize, &u64)| {
                let (tile, extent) = (stage.tile[axis], self.shape[axis]);
                *part > 0 && (tile.is_multiple_of(*part) || tile >= extent)
            };
            let has_boxes =
                |shape: &Vec<u64>| shape.len() == rank && shape.iter().enumerate().all(divides);
            let is_whole = stage.tile.len() == rank
                && stage.box_shape.as_ref().is_none_or(has_boxes)
                && shards.into_iter().flatten().all(|shard| shard.len() == rank)
                && stage.step_chunks.len() == rank
                && !stage.step_chunks.contains(&0)
                && axes.iter().copied().eq(0..rank)
                && (1..=4096).contains(&stage.tasks_at_once)
                && (1..=65_536).contains(&stage.lanes);
            if !is_whole || !stage.memory_adds_up(self.memory.fixed_bytes, self.threads) {
                return Err(format!("stage {number} is not whole"));
            }
            self.check_copies(stage).map_err(|why| format!("stage {number}: {why}"))?;
            self.check_runs(stage).map_err(|why| format!("stage {number}: {why}"))?;
            let geometry = self.geometry(number).map_err(|error| error.to_string())?;
            if geometry.task_count() != stage.tasks {
                return Err(format!("stage {number} has another number of tasks than its tiles"));
            }
        }
        Ok(())
    }

    /// All chunks and shards are some of the array, also those that no stage looks at.
    fn check_grids(&self) -> Result<(), GridError> {
        ChunkGrid::with_edges(&self.shape, &self.source_chunk, self.source_edges.as_ref())?;
        let shards = [&self.source_shard, &self.target_shard].into_iter().flatten();
        shards.chain([&self.target_chunk]).try_for_each(|chunk| {
            ChunkGrid::new(&self.shape, chunk)?;
            Ok(())
        })
    }

    /// Checks that a schedule, if the stage has one, is of these files and within its memory.
    fn check_runs(&self, stage: &Stage) -> Result<(), String> {
        let Some(schedule) = &stage.runs else { return Ok(()) };
        let model = self.keep_model().map_err(|error| error.to_string())?;
        model.check(schedule).map_err(|error| error.to_string())?;
        let fits = |elements| model.bytes(elements) <= stage.resident_bytes;
        let is_within = fits(model.memory_bound(schedule))
            || model.memory_exact(schedule, EXACT_BUFFERS_MAX).is_some_and(fits);
        if is_within { Ok(()) } else { Err("it holds more than it reserves".to_owned()) }
    }

    /// Checks that what a store is to copy are whole objects on both sides.
    fn check_copies(&self, stage: &Stage) -> Result<(), &'static str> {
        let has_shards = self.source_shard.is_some() || self.target_shard.is_some();
        let is_whole = !has_shards || stage.output == StageOutput::TargetShards;
        if !stage.copied_by_store || stage.passthrough && stage.output.is_target() && is_whole {
            return Ok(());
        }
        Err("a store is to copy what are no whole objects")
    }
}
