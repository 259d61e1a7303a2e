//! An apply in numbers, as programs read it.

use rechunk_apply::{LevelSummary, SourceGrid, Way};
use rechunk_plan::{ApplyWork, Plan, Reads};
use serde::{Deserialize, Serialize};

/// An apply in numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApplyReport {
    /// The operation.
    pub op: String,
    /// Calls of the operation: as planned, or after a run, those that this process has made.
    pub op_calls: u64,
    /// Calls that the plan has.
    pub planned_op_calls: u64,
    /// Levels, bottom first.
    pub levels: Vec<LevelReport>,
    /// Reads of source chunks for each chunk that the region meets. 1 where none is read twice.
    pub read_amplification: f64,
    /// Elements that the operation computes for each that is kept.
    pub work_amplification: f64,
    /// Box worked on: start and end of each axis, elements.
    pub region: Vec<(i64, i64)>,
    /// Box whose results are written.
    pub kept: Vec<(i64, i64)>,
    /// Way of results to the target: `direct`, or through blocks (`pull`).
    pub way: Way,
    /// Extent of reads: of a task, or of each call.
    pub reads: Reads,
    /// Tasks of the top level.
    pub tasks: u64,
    /// Pull tasks.
    pub pull_tasks: u64,
    /// Blocks in the intermediate.
    pub blocks: u64,
    /// Bytes of these.
    pub block_bytes: u64,
}

/// A level of an apply.
pub type LevelReport = LevelSummary;

impl ApplyReport {
    /// The apply of a plan, if it is one.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let work = plan.apply.as_ref()?;
        let job = &work.job;
        let summary = job.summary().ok()?;
        let counts = summary.counts;
        let op = plan.stages.first().map(|stage| match &stage.kernel {
            rechunk_plan::Kernel::Op(spec) => spec.name.clone(),
            other => other.to_string(),
        });
        let spans = |bounds: &rechunk_apply::VoxelBox| {
            bounds.axes.iter().map(|&span| span.into()).collect()
        };
        Some(Self {
            op: op.unwrap_or_default(),
            op_calls: counts.op_calls,
            planned_op_calls: counts.op_calls,
            read_amplification: read_amplification(plan, work),
            work_amplification: summary.work_amplification,
            region: spans(&summary.region),
            kept: spans(&summary.kept),
            way: summary.way,
            reads: work.reads,
            tasks: counts.tasks,
            pull_tasks: counts.pull_tasks,
            blocks: counts.blocks,
            block_bytes: counts.block_bytes,
            levels: summary.levels,
        })
    }
}

/// Chunk reads over the chunks that the kept box meets.
fn read_amplification(plan: &Plan, work: &ApplyWork) -> f64 {
    let ApplyWork { job, boundary, reads, .. } = work;
    let source = plan.source();
    let (shape, chunk, edges) = (source.shape.clone(), source.chunk.clone(), source.edges.clone());
    let grid = SourceGrid { shape, chunk, edges };
    let Ok(found) = job.source_reads(&grid, *boundary) else { return f64::NAN };
    let read = if *reads == Reads::Task { found.by_task } else { found.by_call };
    read as f64 / grid.chunks_met(job.kept()).max(1) as f64
}
