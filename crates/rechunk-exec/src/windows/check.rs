//! Does the plan of an apply fit the arrays? Asked once, before anything moves.

use rechunk_grid::DataType;
use rechunk_plan::{ApplyWork, Kernel};

use crate::regions::{self, check::refuse};
use crate::{Execution, Fault, Sink};

/// Refuses what would go wrong later, or quietly.
pub(crate) fn check(execution: &Execution, work: &ApplyWork) -> Result<(), Fault> {
    let plan = &execution.plan;
    let Some(windows) = &execution.windows else {
        return refuse("it applies an operation, and none was brought");
    };
    let sources = std::iter::once(&execution.source).chain(&windows.others);
    let types: Vec<DataType> =
        sources.clone().map(|source| source.layout().spec().data_type).collect();
    let first = plan.stages.first().map(|stage| &stage.kernel);
    if !matches!(first, Some(Kernel::Op(spec)) if windows.op.computes(spec, &types)) {
        return refuse("its operation is not the one that was brought");
    }
    if windows.constants.len() != types.len() {
        return refuse("its sources are not as many as values for voxels beyond them");
    }
    for ((source, constant), data_type) in sources.zip(&windows.constants).zip(&types) {
        if source.layout().spec().shape != plan.source().shape {
            return refuse("its sources have different shapes");
        }
        if constant.len() as u64 != data_type.item_bytes() {
            return refuse("a value for voxels beyond a source is not one element");
        }
    }
    let target = execution.sink.array().layout();
    let spec = target.spec();
    let commit = target.shards().map_or(&spec.chunk_shape[..], |shards| shards.shard_shape());
    let is_of_target = match work.job.written_grid() {
        Some(grid) => grid.shape == spec.shape && grid.chunk == commit,
        None => matches!(execution.sink, Sink::Digest { .. }),
    };
    if !is_of_target || work.job.data_type() != spec.data_type {
        return refuse("its apply is one of another target");
    }
    regions::check::check(execution, "it has no threads, which operations run on")
}
