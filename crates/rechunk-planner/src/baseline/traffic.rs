//! Traffic of a baseline plan at the stores.

use super::geometry::{
    calculate_single_stage_io_ops, check_nonzero, checked_product, chunk_count, memory_bytes,
};
use super::{BaselineError, MultistagePlan, Rechunking};

/// Requests, and decoded bytes of the whole (padded) chunks they move, by role.
///
/// A chunk at the edge of the array counts in full, as Zarr stores it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BaselineTraffic {
    /// Source chunks read, repeats included.
    pub source_get: u64,
    /// Decoded bytes of those.
    pub source_bytes: u64,
    /// Intermediate chunks written, each once: two writers of one chunk would be a race, not a
    /// cost.
    pub intermediate_put: u64,
    /// Decoded bytes of those.
    pub intermediate_written_bytes: u64,
    /// Intermediate chunks read, repeats included.
    pub intermediate_get: u64,
    /// Decoded bytes of those.
    pub intermediate_read_bytes: u64,
    /// Target chunks written, each once.
    pub target_put: u64,
    /// Decoded bytes of those.
    pub target_bytes: u64,
}

/// Counts the traffic of `plan` as its method describes it. Each read task reads each source chunk
/// it meets once, each write task each intermediate chunk it meets.
///
/// A single stage without intermediate runs one task per write chunk instead.
pub fn traffic_as_designed(
    rechunking: &Rechunking<'_>,
    plan: &MultistagePlan,
) -> Result<BaselineTraffic, BaselineError> {
    traffic(rechunking, plan, |first| &first.read)
}

/// Counts the traffic of `plan` as rechunker 0.5 and later run it. The tasks of the first stage are
/// the chunks of its intermediate, so that a source chunk is read again for every one it meets.
///
/// Later stages are counted as designed: rechunker never runs them, and those who do use reads.
pub fn traffic_as_executed(
    rechunking: &Rechunking<'_>,
    plan: &MultistagePlan,
) -> Result<BaselineTraffic, BaselineError> {
    traffic(rechunking, plan, |first| &first.intermediate)
}

/// The traffic without a planner: one task per target chunk, which reads every source chunk it
/// meets whole.
pub fn naive(rechunking: &Rechunking<'_>) -> Result<BaselineTraffic, BaselineError> {
    direct(rechunking, rechunking.target_chunks)
}

fn traffic(
    rechunking: &Rechunking<'_>,
    plan: &MultistagePlan,
    first_tasks: impl Fn(&super::StageChunks) -> &Vec<u64>,
) -> Result<BaselineTraffic, BaselineError> {
    let (first, only) = match plan.stages.as_slice() {
        [] => return Err(BaselineError::Zero { what: "the number of stages" }),
        [only] => (only, only.is_direct()),
        [first, ..] => (first, false),
    };
    if only {
        return direct(rechunking, &first.write);
    }
    let Rechunking { shape, itemsize_bytes, .. } = *rechunking;
    let mut sum = direct(rechunking, first_tasks(first))?;
    for stage in &plan.stages {
        let put = chunk_count(shape, &stage.intermediate)?;
        let get = calculate_single_stage_io_ops(shape, &stage.write, &stage.intermediate)?;
        let written = moved_bytes(put, itemsize_bytes, &stage.intermediate)?;
        let read = moved_bytes(get, itemsize_bytes, &stage.intermediate)?;
        add("the intermediate chunks written", &mut sum.intermediate_put, put)?;
        add("the intermediate bytes written", &mut sum.intermediate_written_bytes, written)?;
        add("the intermediate chunks read", &mut sum.intermediate_get, get)?;
        add("the intermediate bytes read", &mut sum.intermediate_read_bytes, read)?;
    }
    Ok(sum)
}

/// Source reads by tasks of `task_chunks` and target writes, nothing between.
fn direct(
    rechunking: &Rechunking<'_>,
    task_chunks: &[u64],
) -> Result<BaselineTraffic, BaselineError> {
    let Rechunking { shape, source_chunks, target_chunks, itemsize_bytes } = *rechunking;
    check_nonzero("the item size", itemsize_bytes)?;
    let source_get = calculate_single_stage_io_ops(shape, task_chunks, source_chunks)?;
    let target_put = chunk_count(shape, target_chunks)?;
    Ok(BaselineTraffic {
        source_get,
        source_bytes: moved_bytes(source_get, itemsize_bytes, source_chunks)?,
        target_put,
        target_bytes: moved_bytes(target_put, itemsize_bytes, target_chunks)?,
        ..BaselineTraffic::default()
    })
}

fn moved_bytes(requests: u64, itemsize_bytes: u64, chunks: &[u64]) -> Result<u64, BaselineError> {
    let factors = [u128::from(requests), memory_bytes(itemsize_bytes, chunks)];
    checked_product("the number of bytes moved", factors)
}

fn add(what: &'static str, sum: &mut u64, more: u64) -> Result<(), BaselineError> {
    *sum = sum.checked_add(more).ok_or(BaselineError::TooLarge { what })?;
    Ok(())
}
