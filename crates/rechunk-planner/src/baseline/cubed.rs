//! Cubed's planner for regular intermediate grids: every stage a multiple of the next smaller one.

use super::geometry::{check_nonzero, check_rank};
use super::multistage::{StageRule, search};
use super::root::geometric_floor;
use super::{BaselineError, MultistagePlan, PlannerOptions, Rechunking};

/// The smallest intermediate chunk cubed asks for is the memory limit divided by this.
const MEMORY_PER_INTERMEDIATE: u64 = 20;

/// One pass of cubed: tasks of one chunk shape into a stored grid of another, in elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyOp {
    /// Shape of the elements that one task copies.
    pub copy_chunks: Vec<u64>,
    /// The chunk shape of the array it writes to.
    pub stored_chunks: Vec<u64>,
}

/// `count` numbers between `start` and `stop`, roughly geometric, each a multiple of the smaller
/// ones before it, the ends left out. Cubed's `multspace`, with exact roots.
pub fn cubed_multspace(start: u64, stop: u64, count: u32) -> Result<Vec<u64>, BaselineError> {
    check_nonzero("the start", start)?;
    check_nonzero("the stop", stop)?;
    let steps = count.saturating_add(1);
    let mut multiple = start.min(stop);
    let rising = (1..steps).map(|step| {
        let value = geometric_floor(start.min(stop), start.max(stop), step, steps);
        // The values rise, so this never falls below the multiple before it.
        multiple = value / multiple * multiple;
        multiple
    });
    let mut values: Vec<u64> = rising.collect();
    if start > stop {
        values.reverse();
    }
    Ok(values)
}

/// The chunk shapes between `stage_count` stages, each axis by [`cubed_multspace`]. Cubed's
/// `calculate_regular_stage_chunks`.
pub fn cubed_stage_chunks(
    read_chunks: &[u64],
    write_chunks: &[u64],
    stage_count: u32,
) -> Result<Vec<Vec<u64>>, BaselineError> {
    check_rank("the write chunk shape", read_chunks, write_chunks)?;
    let between = stage_count.saturating_sub(1);
    let mut stages: Vec<Vec<u64>> = (0..between).map(|_| Vec::new()).collect();
    for (&read, &write) in read_chunks.iter().zip(write_chunks) {
        let values = cubed_multspace(read, write, between)?;
        stages.iter_mut().zip(values).for_each(|(stage, value)| stage.push(value));
    }
    Ok(stages)
}

/// Cubed's `multistage_regular_rechunking_plan`: rechunker's search over
/// [`cubed_stage_chunks`], with the first reads rounded down to multiples of what follows them.
pub fn cubed_regular_plan(
    rechunking: &Rechunking<'_>,
    options: &PlannerOptions,
) -> Result<MultistagePlan, BaselineError> {
    search(rechunking, options, StageRule::Regular)
}

/// Returns the passes that cubed runs with regular intermediates. A worker is allowed
/// `allowed_bytes` of memory, and a task may hold `buffer_copies` buffers at once (5 with local
/// storage, 7 in the cloud).
pub fn cubed_copy_ops(
    rechunking: &Rechunking<'_>,
    allowed_bytes: u64,
    buffer_copies: u64,
) -> Result<Vec<CopyOp>, BaselineError> {
    check_nonzero("the number of buffer copies", buffer_copies)?;
    let memory_bytes_max = allowed_bytes / buffer_copies;
    let array_bytes = super::geometry::memory_bytes(rechunking.itemsize_bytes, rechunking.shape);
    let wanted = memory_bytes_max / MEMORY_PER_INTERMEDIATE;
    let options = PlannerOptions {
        intermediate_bytes_min: u64::try_from(array_bytes).map_or(wanted, |all| all.min(wanted)),
        memory_bytes_max,
        consolidate_reads: true,
        consolidate_writes: true,
    };
    let plan = cubed_regular_plan(rechunking, &options)?;
    Ok(copy_ops(&plan, rechunking.target_chunks))
}

/// Turns stages into copies. Each copies its reads into its intermediate, the last one also its
/// writes into the target; a stage that reads what it writes is a single copy.
fn copy_ops(plan: &MultistagePlan, target_chunks: &[u64]) -> Vec<CopyOp> {
    let mut ops = Vec::new();
    for (index, stage) in plan.stages.iter().enumerate() {
        let is_last = index + 1 == plan.stages.len();
        if !(is_last && stage.read == stage.write) {
            let (copy_chunks, stored_chunks) = (stage.read.clone(), stage.intermediate.clone());
            ops.push(CopyOp { copy_chunks, stored_chunks });
        }
        if is_last {
            let copy_chunks = stage.write.clone();
            ops.push(CopyOp { copy_chunks, stored_chunks: target_chunks.to_vec() });
        }
    }
    ops
}

/// Rounds each extent of `chunks` above that of `next` down to a multiple of it. Then no two tasks
/// write one chunk. Extents of a whole axis stay.
pub(super) fn round_down_to_multiples(shape: &[u64], chunks: &[u64], next: &[u64]) -> Vec<u64> {
    let axes = shape.iter().zip(chunks).zip(next);
    let round = |((&length, &chunk), &next): ((&u64, &u64), &u64)| {
        if chunk <= next || chunk == length { chunk } else { chunk - chunk % next }
    };
    axes.map(round).collect()
}
