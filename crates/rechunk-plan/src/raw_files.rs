//! Raw files of a plan as [`keep`] asks for them, and the buffers of its schedules.

use crate::keep::{Buffers, KeepError, Model, Problem};
use crate::{Plan, RunsSide};

/// Poses the problem of moving an array between raw files, with `memory_bytes` for buffers and
/// what is carried.
pub fn keep_problem(
    shape: &[u64],
    item_bytes: u64,
    source: &RunsSide,
    target: &RunsSide,
    memory_bytes: u64,
) -> Problem {
    Problem {
        shape: shape.to_vec(),
        source_block: source.block_shape.clone(),
        target_block: target.block_shape.clone(),
        item_bytes,
        memory_bytes,
        source_order: source.order.clone(),
        target_order: target.order.clone(),
    }
}

impl Plan {
    /// The buffers of stage `stage`, where it reads and writes runs of bytes of raw files.
    pub fn buffers(&self, stage: usize) -> Result<Option<Buffers>, KeepError> {
        let Some(schedule) = self.stages[stage].schedule() else { return Ok(None) };
        Buffers::new(&self.problem()?, schedule).map(Some)
    }

    /// The model of the keep strategy for the plan's raw files: counts, carries and memory of a
    /// schedule.
    pub fn keep_model(&self) -> Result<Model, KeepError> {
        Model::new(&self.problem()?)
    }

    /// The files that runs are moved between.
    fn problem(&self) -> Result<Problem, KeepError> {
        let why = "it reads and writes runs but its files are not known";
        let files = self.source().runs.as_ref().zip(self.target().runs.as_ref());
        let (source, target) = files.ok_or(KeepError::NotOfThisArray { why })?;
        let array = self.source();
        let memory_bytes = array.item_bytes.max(self.memory.budget_bytes);
        Ok(keep_problem(&array.shape, array.item_bytes, source, target, memory_bytes))
    }
}
