use thiserror::Error;

/// Why a baseline planner has no answer.
///
/// Variants name the cause, not the wording, of the original's exceptions.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// A list has another number of axes than the array.
    #[error("{what} has {found} axes but the array has {expected}")]
    RankMismatch {
        /// The list that differs.
        what: &'static str,
        /// Axes of the array.
        expected: usize,
        /// Axes of the list.
        found: usize,
    },
    /// A chunk extent or an item size of 0 (the original divides by zero).
    #[error("{what} is 0, it must be at least 1")]
    Zero {
        /// Name of the number.
        what: &'static str,
    },
    /// A consolidation limit below its chunk, or a negative one other than -1.
    #[error("the chunk limit {limit} of axis {axis} is below the chunk or not a limit")]
    InvalidLimit {
        /// The axis, slowest first.
        axis: usize,
        /// The limit, elements; `-1` never appears here.
        limit: i128,
    },
    /// A chunk to consolidate is larger than the memory limit.
    #[error("a chunk of {chunk_bytes} bytes exceeds the memory limit of {memory_bytes_max} bytes")]
    ChunkOverBudget {
        /// The chunk, decoded bytes.
        chunk_bytes: u128,
        /// The limit, bytes.
        memory_bytes_max: u64,
    },
    /// One source chunk is larger than the memory limit.
    #[error(
        "a source chunk of {chunk_bytes} bytes exceeds the memory limit of {memory_bytes_max} bytes"
    )]
    SourceChunkOverBudget {
        /// The chunk, decoded bytes.
        chunk_bytes: u128,
        /// The limit, bytes.
        memory_bytes_max: u64,
    },
    /// One target chunk is larger than the memory limit.
    #[error(
        "a target chunk of {chunk_bytes} bytes exceeds the memory limit of {memory_bytes_max} bytes"
    )]
    TargetChunkOverBudget {
        /// The chunk, decoded bytes.
        chunk_bytes: u128,
        /// The limit, bytes.
        memory_bytes_max: u64,
    },
    /// The memory limit is below the wanted size of an intermediate chunk.
    #[error(
        "the memory limit of {memory_bytes_max} bytes is below the smallest intermediate chunk \
         asked for, {intermediate_bytes_min} bytes"
    )]
    BudgetBelowMinimum {
        /// The limit, bytes.
        memory_bytes_max: u64,
        /// The smallest intermediate chunk asked for, bytes.
        intermediate_bytes_min: u64,
    },
    /// No number of stages up to the limit gave large enough intermediate chunks.
    #[error("no plan of up to {stages_max} stages has intermediate chunks as large as asked for")]
    NoFeasiblePlan {
        /// The most stages tried.
        stages_max: u32,
    },
    /// A count or a number of bytes does not fit 64 bits.
    #[error("{what} does not fit 64 bits")]
    TooLarge {
        /// Name of the count.
        what: &'static str,
    },
}
