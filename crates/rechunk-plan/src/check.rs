//! Checks of a plan that was read from somewhere.

use rechunk_grid::{ChunkGrid, GridError, ITEM_BYTES_MAX};

use crate::keep::EXACT_BUFFERS_MAX;
use crate::plan::THREADS;
use crate::{ArrayRole, Kernel, Plan, PlanArray, Stage, Unit, Window};

/// An intermediate that no stage writes or reads, or more than one.
const NOT_ONCE: &str = "an intermediate is not written once and read once";

impl Plan {
    /// Checks a plan that was read from somewhere: that it is whole, and the one that was planned.
    pub fn check(&self) -> Result<(), String> {
        self.check_arrays()?;
        for (number, stage) in self.stages.iter().enumerate() {
            let arrays = self.check_stage_arrays(stage);
            arrays.map_err(|why| format!("stage {number}: {why}"))?;
        }
        self.check_intermediates()?;
        self.check_apply()?;
        self.check_pyramid()?;
        if self.fingerprint != self.computed_fingerprint() {
            return Err("its fingerprint is not that of its contents: it was edited".to_owned());
        }
        // None is what a run has that is simulated.
        if self.threads > *THREADS.end() {
            return Err(format!("{} threads are not planned for", self.threads));
        }
        for (number, stage) in self.stages.iter().enumerate() {
            if !stage.is_whole() || !stage.memory_adds_up(self.memory.fixed_bytes, self.threads) {
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

    /// All chunks and shards are some of their array, also those that no stage looks at.
    fn check_arrays(&self) -> Result<(), String> {
        for role in [ArrayRole::Source, ArrayRole::Target] {
            if !self.arrays.iter().any(|array| array.role == role) {
                return Err("it has no source, or no target".to_owned());
            }
        }
        for array in &self.arrays {
            if !(1..=ITEM_BYTES_MAX).contains(&array.item_bytes) {
                return Err(format!("elements of {} bytes are not planned for", array.item_bytes));
            }
            array.check_grids().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Checks that arrays are read and written by their roles.
    fn check_stage_arrays(&self, stage: &Stage) -> Result<(), &'static str> {
        let parts = stage.inputs.iter().map(|input| (input.array, input.unit, &input.window, true));
        let outputs = stage.outputs.iter();
        let parts = parts.chain(outputs.map(|out| (out.array, out.unit, &out.window, false)));
        for (id, unit, window, is_read) in parts {
            let array = self.arrays.get(id.0).ok_or("it names an array that there is not")?;
            let role = if is_read { ArrayRole::Source } else { ArrayRole::Target };
            // A level may be read by the pass after the one that has written it.
            let is_level = self.pyramid.is_some() && array.role == ArrayRole::Target;
            let fits = match unit {
                Unit::Chunk | Unit::Shard => array.role == role || is_level,
                Unit::Piece => array.role == ArrayRole::Intermediate,
            };
            if !fits {
                return Err("it reads what is written, or writes what is read");
            }
            stage.check_window(array, window)?;
            let is_copy = matches!(stage.kernel, Kernel::Copy(_));
            if is_copy && array.item_bytes != stage.input(self).item_bytes {
                return Err("it copies elements into longer or shorter ones");
            }
        }
        match (&stage.kernel, &stage.inputs[..], &stage.outputs[..]) {
            (Kernel::Copy(_), [_], [_])
            | (Kernel::Op(_) | Kernel::Combine(_), [_, ..], [_])
            | (Kernel::Reduce(_), [_], [_, ..]) => Ok(()),
            _ => Err("its kernel has another number of inputs and outputs"),
        }
    }

    /// Checks that intermediates are regular arrays of chunks. One stage writes each, tile by tile,
    /// and the next one reads it, where the executor looks for its objects.
    fn check_intermediates(&self) -> Result<(), &'static str> {
        let mut uses = vec![(None, None); self.arrays.len()];
        for (number, stage) in self.stages.iter().enumerate() {
            let written = stage.outputs.iter().map(|output| (output.array, true));
            let read = stage.inputs.iter().map(|input| (input.array, false));
            for (id, is_written) in written.chain(read) {
                let Some((writer, reader)) = uses.get_mut(id.0) else { continue };
                let place = if is_written { writer } else { reader };
                let is_twice = place.replace(number).is_some();
                if is_twice && self.array(id).role == ArrayRole::Intermediate {
                    return Err(NOT_ONCE);
                }
            }
        }
        for (array, uses) in self.arrays.iter().zip(uses) {
            if array.role != ArrayRole::Intermediate {
                continue;
            }
            let (Some(writer), Some(reader)) = uses else { return Err(NOT_ONCE) };
            let shapes = [writer, reader].map(|stage| &self.stages[stage].shape);
            // Blocks of an apply are read by boxes of another grid.
            let is_whole = match (&self.apply, &self.pyramid) {
                (Some(_), _) => *shapes[0] == array.shape,
                (None, Some(_)) => *shapes[1] == array.shape,
                (None, None) => shapes == [&array.shape; 2],
            };
            let is_chain = writer + 1 == reader && is_whole;
            // Blocks of a pyramid are a tile in coarser elements.
            let is_tile = self.pyramid.is_some() || self.stages[writer].tile == array.chunk;
            if !is_chain || !is_tile {
                return Err("an intermediate is not read as it is written");
            }
            if array.edges.is_some() || array.shard.is_some() || array.runs.is_some() {
                return Err("an intermediate has other objects than its chunks");
            }
        }
        Ok(())
    }

    /// Checks that a schedule, if the stage has one, is of these files and within its memory.
    fn check_runs(&self, stage: &Stage) -> Result<(), String> {
        let Some(schedule) = stage.schedule() else { return Ok(()) };
        let model = self.keep_model().map_err(|error| error.to_string())?;
        model.check(schedule).map_err(|error| error.to_string())?;
        let fits = |elements| model.bytes(elements) <= stage.resident_bytes;
        let is_within = fits(model.memory_bound(schedule))
            || model.memory_exact(schedule, EXACT_BUFFERS_MAX).is_some_and(fits);
        if is_within { Ok(()) } else { Err("it holds more than it reserves".to_owned()) }
    }

    /// Checks that what a store is to copy are whole objects on both sides.
    fn check_copies(&self, stage: &Stage) -> Result<(), &'static str> {
        let has_shards = stage.input(self).shard.is_some() || stage.output(self).shard.is_some();
        let is_whole = !has_shards || stage.output_unit() == Unit::Shard;
        if !stage.is_copied_by_store() || stage.writes_target() && is_whole {
            return Ok(());
        }
        Err("a store is to copy what are no whole objects")
    }
}

impl PlanArray {
    fn check_grids(&self) -> Result<(), GridError> {
        ChunkGrid::with_edges(&self.shape, &self.chunk, self.edges.as_ref())?;
        self.shard.iter().try_for_each(|shard| ChunkGrid::new(&self.shape, shard).map(drop))
    }
}

impl Stage {
    /// Checks that a window is one of the array. A copy leaves every element where it is.
    fn check_window(&self, array: &PlanArray, window: &Window) -> Result<(), &'static str> {
        if array.shape.len() != self.shape.len() {
            return Err("its domain has other axes than its arrays");
        }
        if let Some(problem) = window.problem(self.shape.len()) {
            return Err(problem);
        }
        let is_copy = matches!(self.kernel, Kernel::Copy(_));
        if is_copy && (!window.is_identity() || array.shape != self.shape) {
            return Err("it copies, but not every element to its own place");
        }
        Ok(())
    }

    /// All its boxes and steps have the axes of its domain.
    fn is_whole(&self) -> bool {
        let rank = self.shape.len();
        let mut axes = self.step_axes.clone();
        axes.sort_unstable();
        let divides = |(axis, part): (usize, &u64)| {
            let (tile, extent) = (self.tile[axis], self.shape[axis]);
            *part > 0 && (tile.is_multiple_of(*part) || tile >= extent)
        };
        let has_boxes =
            |shape: &Vec<u64>| shape.len() == rank && shape.iter().enumerate().all(divides);
        self.tile.len() == rank
            && self.box_shape.as_ref().is_none_or(has_boxes)
            && self.step_chunks.len() == rank
            && !self.step_chunks.contains(&0)
            && axes.iter().copied().eq(0..rank)
            && (1..=4096).contains(&self.tasks_at_once)
            && (1..=65_536).contains(&self.lanes)
    }
}
