//! The shape of the golden file: inputs and answers by kind of case.

use rechunk_planner::baseline::{BaselineError, PlannerOptions, Rechunking};
use serde::Deserialize;

pub(crate) type Chunks = Vec<u64>;

#[derive(Deserialize)]
pub(crate) struct Golden {
    pub(crate) cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) of: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Kind {
    ConsolidateChunks(Consolidate),
    CalculateStageChunks(Stages),
    CalculateSingleStageIoOps(IoOps),
    RechunkingPlan(Box<SingleStage>),
    MultistageRechunkingPlan(Box<Multistage>),
    SplitChunksizes(Split),
    CubedMultspace(Multspace),
    CubedRechunkCopyOps(CopyOps),
}

#[derive(Deserialize)]
pub(crate) struct Consolidate {
    pub(crate) shape: Chunks,
    pub(crate) chunks: Chunks,
    pub(crate) itemsize: u64,
    pub(crate) max_mem: u64,
    pub(crate) chunk_limits: Option<Vec<Option<i64>>>,
    pub(crate) expected: Option<Chunks>,
    pub(crate) error: Option<GoldenError>,
}

#[derive(Deserialize)]
pub(crate) struct Stages {
    pub(crate) read_chunks: Chunks,
    pub(crate) write_chunks: Chunks,
    pub(crate) stage_count: u32,
    pub(crate) expected: Vec<Chunks>,
    pub(crate) exact_root: Vec<Chunks>,
    pub(crate) float_fragile: bool,
    pub(crate) cubed_regular: Vec<Chunks>,
}

#[derive(Deserialize)]
pub(crate) struct IoOps {
    pub(crate) shape: Chunks,
    pub(crate) in_chunks: Chunks,
    pub(crate) out_chunks: Chunks,
    pub(crate) expected: u64,
}

/// Question to both planners.
#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) shape: Chunks,
    pub(crate) source_chunks: Chunks,
    pub(crate) target_chunks: Chunks,
    pub(crate) itemsize: u64,
    #[serde(default)]
    pub(crate) min_mem: u64,
    pub(crate) max_mem: u64,
    pub(crate) consolidate_reads: bool,
    pub(crate) consolidate_writes: bool,
    pub(crate) error: Option<GoldenError>,
}

#[derive(Deserialize)]
pub(crate) struct SingleStage {
    #[serde(flatten)]
    pub(crate) question: Question,
    #[serde(flatten)]
    pub(crate) answer: Option<SingleAnswer>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the golden file")]
pub(crate) struct SingleAnswer {
    pub(crate) read_chunks: Chunks,
    pub(crate) int_chunks: Chunks,
    pub(crate) write_chunks: Chunks,
    pub(crate) no_intermediate: bool,
    pub(crate) io_ops: u64,
    pub(crate) n_read_tasks: u64,
    pub(crate) n_int_chunks: u64,
    pub(crate) n_write_tasks: u64,
    pub(crate) n_source_chunks: u64,
    pub(crate) n_target_chunks: u64,
    pub(crate) source_gets_stage1_by_int_chunk: u64,
    pub(crate) source_gets_stage1_by_read_chunk: u64,
    pub(crate) read_multiple_of_source: bool,
    pub(crate) read_multiple_of_int: bool,
    pub(crate) write_multiple_of_int: bool,
    pub(crate) write_multiple_of_target: bool,
}

#[derive(Deserialize)]
pub(crate) struct Multistage {
    #[serde(flatten)]
    pub(crate) question: Question,
    #[serde(flatten)]
    pub(crate) answer: Option<MultiAnswer>,
}

pub(crate) type Triple = (Chunks, Chunks, Chunks);

#[derive(Deserialize)]
pub(crate) struct MultiAnswer {
    pub(crate) plan: Vec<Triple>,
    pub(crate) n_stages: usize,
    pub(crate) io_ops: Vec<u64>,
    pub(crate) excessive_io_warning: bool,
    pub(crate) min_int_bytes: u64,
    pub(crate) exact_root_plan_differs: bool,
    pub(crate) exact_root_plan: Option<Vec<Triple>>,
    pub(crate) exact_root_warning: Option<bool>,
    pub(crate) cubed_regular_plan: Vec<Triple>,
    pub(crate) cubed_regular_warning: bool,
}

#[derive(Deserialize)]
pub(crate) struct Split {
    pub(crate) n: u64,
    pub(crate) source_chunk: u64,
    pub(crate) target_chunk: u64,
    pub(crate) expected: Chunks,
}

#[derive(Deserialize)]
pub(crate) struct Multspace {
    pub(crate) start: u64,
    pub(crate) stop: u64,
    pub(crate) num: u32,
    pub(crate) expected: Chunks,
}

#[derive(Deserialize)]
pub(crate) struct CopyOps {
    pub(crate) shape: Chunks,
    pub(crate) itemsize: u64,
    pub(crate) source_chunks: Chunks,
    pub(crate) target_chunks: Chunks,
    pub(crate) allowed_mem: u64,
    pub(crate) buffer_copies: u64,
    pub(crate) allow_irregular: bool,
    pub(crate) expected: Vec<(Chunks, Chunks)>,
}

#[derive(Deserialize)]
pub(crate) struct GoldenError {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) message: String,
}

impl GoldenError {
    /// Whether `error` is the same refusal with the same numbers.
    pub(crate) fn is(&self, error: &BaselineError) -> bool {
        let numbers_of = |text: &str| {
            let parts = text.split(|c: char| !c.is_ascii_digit());
            parts.filter_map(|part| part.parse::<u128>().ok()).collect::<Vec<_>>()
        };
        let numbers = numbers_of(&self.message);
        let two = |a: u128, b: u64| numbers == [a, u128::from(b)];
        let starts = |start| self.message.starts_with(start);
        assert_eq!(self.kind, "ValueError");
        match *error {
            BaselineError::InvalidLimit { axis, limit } => {
                starts("Invalid chunk_limits") && numbers[axis] == limit.unsigned_abs()
            }
            BaselineError::ChunkOverBudget { chunk_bytes, memory_bytes_max } => {
                starts("chunk_mem") && two(chunk_bytes, memory_bytes_max)
            }
            BaselineError::SourceChunkOverBudget { chunk_bytes, memory_bytes_max } => {
                starts("Source chunk memory") && two(chunk_bytes, memory_bytes_max)
            }
            BaselineError::TargetChunkOverBudget { chunk_bytes, memory_bytes_max } => {
                starts("Target chunk memory") && two(chunk_bytes, memory_bytes_max)
            }
            BaselineError::BudgetBelowMinimum { memory_bytes_max, intermediate_bytes_min } => {
                starts("max_mem") && two(u128::from(memory_bytes_max), intermediate_bytes_min)
            }
            _ => false,
        }
    }
}

impl Question {
    pub(crate) fn ask(&self) -> (Rechunking<'_>, PlannerOptions) {
        let rechunking = Rechunking {
            shape: &self.shape,
            source_chunks: &self.source_chunks,
            target_chunks: &self.target_chunks,
            itemsize_bytes: self.itemsize,
        };
        let options = PlannerOptions {
            intermediate_bytes_min: self.min_mem,
            memory_bytes_max: self.max_mem,
            consolidate_reads: self.consolidate_reads,
            consolidate_writes: self.consolidate_writes,
        };
        (rechunking, options)
    }
}
