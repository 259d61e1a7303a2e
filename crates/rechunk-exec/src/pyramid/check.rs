//! Does the plan of a pyramid fit the arrays? Asked once, before anything moves.

use rechunk_array::Array;
use rechunk_plan::{PlanArray, PyramidWork};

use crate::regions::{self, check::refuse};
use crate::{Execution, Fault};

/// Refuses what would go wrong later, or quietly.
pub(crate) fn check(execution: &Execution, work: &PyramidWork) -> Result<(), Fault> {
    let plan = &execution.plan;
    if work.levels.len() != execution.levels.len() {
        return refuse("its levels are not as many as arrays for them");
    }
    let source = execution.source.layout().spec();
    if source.shape != plan.source().shape {
        return refuse("its source has another shape");
    }
    work.method
        .check(source.data_type)
        .map_err(|error| Fault::Plan { reason: error.to_string() })?;
    for (number, (level, arrays)) in work.levels.iter().zip(&execution.levels).enumerate() {
        let planned = plan.array(level.array);
        let split = arrays.split_axes;
        let count = planned.shape.iter().take(split).fold(1_u64, |n, &axis| n.saturating_mul(axis));
        let is_whole = u64::try_from(arrays.arrays.len()).is_ok_and(|found| found == count);
        let fits = |array: &Array| fits(array, planned, split, execution);
        if !is_whole || !arrays.arrays.iter().all(fits) {
            return refuse(&format!("its level {number} is one of other arrays"));
        }
    }
    regions::check::check(execution, "it has no threads, on which levels are computed")
}

/// True if an array is the part of a level behind its first `split` axes.
fn fits(array: &Array, planned: &PlanArray, split: usize, execution: &Execution) -> bool {
    let layout = array.layout();
    let spec = layout.spec();
    let behind = |axes: &[u64]| axes.get(split..).map(<[u64]>::to_vec).unwrap_or_default();
    let are_ones = planned.commit_shape().iter().take(split).all(|&extent| extent == 1);
    let shard = layout.shards().map(|shards| shards.shard_shape().to_vec());
    are_ones
        && spec.shape == behind(&planned.shape)
        && spec.chunk_shape == behind(&planned.chunk)
        && shard == planned.shard.as_deref().map(behind)
        && spec.data_type == execution.source.layout().spec().data_type
}
