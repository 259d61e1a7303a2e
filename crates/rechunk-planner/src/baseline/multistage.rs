//! Rechunker's plan of one or several stages.

use super::geometry::{
    calculate_single_stage_io_ops, check_chunks, check_nonzero, check_rank, memory_bytes,
};
use super::root::geometric_floor;
use super::{BaselineError, Limit, consolidate_chunks};

/// The most stages tried, as in the original.
const STAGES_MAX: u32 = 99;

/// Array to be re-cut, and its two regular grids, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rechunking<'a> {
    /// The shape of the array.
    pub shape: &'a [u64],
    /// The chunk shape of the source.
    pub source_chunks: &'a [u64],
    /// The chunk shape of the target.
    pub target_chunks: &'a [u64],
    /// The size of one element, bytes.
    pub itemsize_bytes: u64,
}

/// The knobs of rechunker's planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannerOptions {
    /// Stages are added until no intermediate chunk is smaller than this (`min_mem`), bytes.
    pub intermediate_bytes_min: u64,
    /// The largest chunk a task may hold (`max_mem`), bytes. It bounds one buffer, not a process.
    pub memory_bytes_max: u64,
    /// Whether a task may read more than one source chunk.
    pub consolidate_reads: bool,
    /// Whether a task may write more than one target chunk.
    pub consolidate_writes: bool,
}

/// The chunk shapes of one stage, in elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageChunks {
    /// Chunks that a task of the push reads.
    pub read: Vec<u64>,
    /// Chunks that are stored between push and pull: the elementwise minimum of the other two.
    pub intermediate: Vec<u64>,
    /// Chunks that a task of the pull writes.
    pub write: Vec<u64>,
}

impl StageChunks {
    fn between(read: &[u64], write: &[u64]) -> Self {
        let intermediate = read.iter().zip(write).map(|(&read, &write)| read.min(write)).collect();
        Self { read: read.to_vec(), intermediate, write: write.to_vec() }
    }

    /// Whether the intermediate is skipped: the reads are the writes, or cut no further.
    pub fn is_direct(&self) -> bool {
        self.read == self.write || self.read == self.intermediate
    }
}

/// A plan of one or more stages, with the facts the search went by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultistagePlan {
    /// The stages in order; each reads what the one before wrote.
    pub stages: Vec<StageChunks>,
    /// Chunk operations per stage: pairs of read and write chunks that meet.
    pub io_ops: Vec<u64>,
    /// Whether the search stopped, above the asked-for minimum or not, because another stage
    /// would have cost more operations.
    pub excessive_io_warning: bool,
}

impl MultistagePlan {
    /// The smallest intermediate chunk of any stage, bytes.
    pub fn intermediate_bytes_min(&self, itemsize_bytes: u64) -> u128 {
        let sizes =
            self.stages.iter().map(|stage| memory_bytes(itemsize_bytes, &stage.intermediate));
        sizes.min().unwrap_or(u128::MAX)
    }

    fn between(shape: &[u64], ends: &[Vec<u64>]) -> Result<Self, BaselineError> {
        let pairs = || ends.iter().zip(ends.iter().skip(1));
        let io_ops = pairs().map(|(pre, post)| calculate_single_stage_io_ops(shape, pre, post));
        Ok(Self {
            stages: pairs().map(|(pre, post)| StageChunks::between(pre, post)).collect(),
            io_ops: io_ops.collect::<Result<_, _>>()?,
            excessive_io_warning: false,
        })
    }

    fn io_ops_total(&self) -> u128 {
        self.io_ops.iter().map(|&ops| u128::from(ops)).sum()
    }
}

/// Rule for the chunk shapes between two stages.
#[derive(Debug, Clone, Copy)]
pub(super) enum StageRule {
    /// Rechunker: geometric means, rounded down.
    Geometric,
    /// Cubed: multiples of one another, with reads rounded to what follows.
    Regular,
}

/// The chunk shapes between `stage_count` stages: `stage_count - 1` of them, geometrically spaced
/// from `read_chunks` to `write_chunks` (elements) and rounded down. Rechunker's
/// `calculate_stage_chunks`, with exact roots.
///
/// The original floors NumPy's `geomspace`, that is `10^(log10(read) + step * difference)`. Where
/// the exact value is an integer, axes of equal extents among them, that may come out as one less:
/// in 2 % of random multistage plans. Which ones depends on the logarithm and the power of NumPy's
/// build, the C library and the processor: two machines made 42 and 43 of
/// `[43, 16, 1]` → `[43, 1, 1]` in four stages. So no arithmetic equals the original everywhere.
pub fn calculate_stage_chunks(
    read_chunks: &[u64],
    write_chunks: &[u64],
    stage_count: u32,
) -> Result<Vec<Vec<u64>>, BaselineError> {
    check_rank("the write chunk shape", read_chunks, write_chunks)?;
    let at_step = |step| {
        let axes = read_chunks.iter().zip(write_chunks);
        axes.map(|(&read, &write)| geometric_floor(read, write, step, stage_count)).collect()
    };
    Ok((1..stage_count).map(at_step).collect())
}

/// Rechunker's `multistage_rechunking_plan`: the fewest stages whose intermediate chunks are large
/// enough, or the last plan before another stage costs more chunk operations.
pub fn multistage_rechunking_plan(
    rechunking: &Rechunking<'_>,
    options: &PlannerOptions,
) -> Result<MultistagePlan, BaselineError> {
    search(rechunking, options, StageRule::Geometric)
}

/// Rechunker's `rechunking_plan`: one stage, whatever the size of the intermediate chunks
/// (`options.intermediate_bytes_min` is not looked at).
pub fn rechunking_plan(
    rechunking: &Rechunking<'_>,
    options: &PlannerOptions,
) -> Result<StageChunks, BaselineError> {
    check(rechunking, options)?;
    let (read, write) = consolidate_ends(rechunking, options)?;
    Ok(StageChunks::between(&read, &write))
}

pub(super) fn search(
    rechunking: &Rechunking<'_>,
    options: &PlannerOptions,
    rule: StageRule,
) -> Result<MultistagePlan, BaselineError> {
    let PlannerOptions { intermediate_bytes_min, memory_bytes_max, .. } = *options;
    check(rechunking, options)?;
    if memory_bytes_max < intermediate_bytes_min {
        return Err(BaselineError::BudgetBelowMinimum { memory_bytes_max, intermediate_bytes_min });
    }
    let (mut read, write) = consolidate_ends(rechunking, options)?;
    let mut previous: Option<MultistagePlan> = None;
    for stage_count in 1..=STAGES_MAX {
        let ends = stage_ends(rule, rechunking.shape, &mut read, &write, stage_count)?;
        let plan = MultistagePlan::between(rechunking.shape, &ends)?;
        let smallest = plan.intermediate_bytes_min(rechunking.itemsize_bytes);
        if smallest >= u128::from(intermediate_bytes_min) {
            return Ok(plan);
        }
        match previous {
            Some(previous) if plan.io_ops_total() > previous.io_ops_total() => {
                return Ok(MultistagePlan { excessive_io_warning: true, ..previous });
            }
            _ => previous = Some(plan),
        }
    }
    Err(BaselineError::NoFeasiblePlan { stages_max: STAGES_MAX })
}

/// The chunk shapes before, between and after the stages. The regular rule rounds `read` for good:
/// a later, longer try starts from the rounded reads, as in cubed.
fn stage_ends(
    rule: StageRule,
    shape: &[u64],
    read: &mut Vec<u64>,
    write: &[u64],
    stage_count: u32,
) -> Result<Vec<Vec<u64>>, BaselineError> {
    let mut following = match rule {
        StageRule::Geometric => calculate_stage_chunks(read, write, stage_count)?,
        StageRule::Regular => super::cubed_stage_chunks(read, write, stage_count)?,
    };
    following.push(write.to_vec());
    if let (StageRule::Regular, Some(next)) = (rule, following.first()) {
        *read = super::cubed::round_down_to_multiples(shape, read, next);
    }
    following.insert(0, read.clone());
    Ok(following)
}

fn check(rechunking: &Rechunking<'_>, options: &PlannerOptions) -> Result<(), BaselineError> {
    let Rechunking { shape, source_chunks, target_chunks, itemsize_bytes } = *rechunking;
    let memory_bytes_max = options.memory_bytes_max;
    check_chunks("the source chunk shape", shape, source_chunks)?;
    check_chunks("the target chunk shape", shape, target_chunks)?;
    check_nonzero("the item size", itemsize_bytes)?;
    let chunk_bytes = memory_bytes(itemsize_bytes, source_chunks);
    if chunk_bytes > u128::from(memory_bytes_max) {
        return Err(BaselineError::SourceChunkOverBudget { chunk_bytes, memory_bytes_max });
    }
    let chunk_bytes = memory_bytes(itemsize_bytes, target_chunks);
    if chunk_bytes > u128::from(memory_bytes_max) {
        return Err(BaselineError::TargetChunkOverBudget { chunk_bytes, memory_bytes_max });
    }
    Ok(())
}

/// The first reads and the last writes.
fn consolidate_ends(
    rechunking: &Rechunking<'_>,
    options: &PlannerOptions,
) -> Result<(Vec<u64>, Vec<u64>), BaselineError> {
    let Rechunking { shape, source_chunks, target_chunks, itemsize_bytes } = *rechunking;
    let consolidate = |chunks, limits| {
        consolidate_chunks(shape, chunks, itemsize_bytes, options.memory_bytes_max, limits)
    };
    let write = if options.consolidate_writes {
        consolidate(target_chunks, None)?
    } else {
        target_chunks.to_vec()
    };
    if !options.consolidate_reads {
        return Ok((source_chunks.to_vec(), write));
    }
    // Reading further than one writes only makes the intermediate wait.
    let limit = |(&source, &write): (&u64, &u64)| {
        if write > source { Limit::AtMost(write) } else { Limit::Keep }
    };
    let limits: Vec<Limit> = source_chunks.iter().zip(&write).map(limit).collect();
    Ok((consolidate(source_chunks, Some(&limits))?, write))
}
