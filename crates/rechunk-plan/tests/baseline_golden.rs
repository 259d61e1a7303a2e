//! The baselines against what rechunker 0.5.4 and cubed themselves computed, case by case.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

use std::collections::BTreeMap;
use std::fs;

use rechunk_plan::baseline::{
    BaselineError, CopyOp, Limit, MultistagePlan, PlannerOptions, Rechunking, StageChunks,
    calculate_single_stage_io_ops, calculate_stage_chunks, chunk_count, consolidate_chunks,
    cubed_copy_ops, cubed_multspace, cubed_regular_plan, cubed_stage_chunks,
    multistage_rechunking_plan, naive, rechunking_plan, split_chunksizes, traffic_as_designed,
    traffic_as_executed,
};
use serde::Deserialize;

const GOLDEN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/golden/push_pull_cases.json");

type Chunks = Vec<u64>;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    #[serde(flatten)]
    of: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind {
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
struct Consolidate {
    shape: Chunks,
    chunks: Chunks,
    itemsize: u64,
    max_mem: u64,
    chunk_limits: Option<Vec<Option<i64>>>,
    expected: Option<Chunks>,
    error: Option<GoldenError>,
}

#[derive(Deserialize)]
struct Stages {
    read_chunks: Chunks,
    write_chunks: Chunks,
    stage_count: u32,
    expected: Vec<Chunks>,
    exact_root: Vec<Chunks>,
    float_fragile: bool,
    cubed_regular: Vec<Chunks>,
}

#[derive(Deserialize)]
struct IoOps {
    shape: Chunks,
    in_chunks: Chunks,
    out_chunks: Chunks,
    expected: u64,
}

/// What both planners are asked.
#[derive(Deserialize)]
struct Question {
    shape: Chunks,
    source_chunks: Chunks,
    target_chunks: Chunks,
    itemsize: u64,
    #[serde(default)]
    min_mem: u64,
    max_mem: u64,
    consolidate_reads: bool,
    consolidate_writes: bool,
    error: Option<GoldenError>,
}

#[derive(Deserialize)]
struct SingleStage {
    #[serde(flatten)]
    question: Question,
    #[serde(flatten)]
    answer: Option<SingleAnswer>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct SingleAnswer {
    read_chunks: Chunks,
    int_chunks: Chunks,
    write_chunks: Chunks,
    no_intermediate: bool,
    io_ops: u64,
    n_read_tasks: u64,
    n_int_chunks: u64,
    n_write_tasks: u64,
    n_source_chunks: u64,
    n_target_chunks: u64,
    source_gets_stage1_by_int_chunk: u64,
    source_gets_stage1_by_read_chunk: u64,
    read_multiple_of_source: bool,
    read_multiple_of_int: bool,
    write_multiple_of_int: bool,
    write_multiple_of_target: bool,
}

#[derive(Deserialize)]
struct Multistage {
    #[serde(flatten)]
    question: Question,
    #[serde(flatten)]
    answer: Option<MultiAnswer>,
}

type Triple = (Chunks, Chunks, Chunks);

#[derive(Deserialize)]
struct MultiAnswer {
    plan: Vec<Triple>,
    n_stages: usize,
    io_ops: Vec<u64>,
    excessive_io_warning: bool,
    min_int_bytes: u64,
    exact_root_plan_differs: bool,
    exact_root_plan: Option<Vec<Triple>>,
    exact_root_warning: Option<bool>,
    cubed_regular_plan: Vec<Triple>,
    cubed_regular_warning: bool,
}

#[derive(Deserialize)]
struct Split {
    n: u64,
    source_chunk: u64,
    target_chunk: u64,
    expected: Chunks,
}

#[derive(Deserialize)]
struct Multspace {
    start: u64,
    stop: u64,
    num: u32,
    expected: Chunks,
}

#[derive(Deserialize)]
struct CopyOps {
    shape: Chunks,
    itemsize: u64,
    source_chunks: Chunks,
    target_chunks: Chunks,
    allowed_mem: u64,
    buffer_copies: u64,
    allow_irregular: bool,
    expected: Vec<(Chunks, Chunks)>,
}

#[derive(Deserialize)]
struct GoldenError {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

impl GoldenError {
    /// Whether `error` is the same refusal with the same numbers.
    fn is(&self, error: &BaselineError) -> bool {
        let words = |text: &str| {
            let parts = text.split(|c: char| !c.is_ascii_digit());
            parts.filter_map(|part| part.parse::<u128>().ok()).collect::<Vec<_>>()
        };
        let numbers = words(&self.message);
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
    fn ask(&self) -> (Rechunking<'_>, PlannerOptions) {
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

/// How many comparisons were made, by what was compared.
type Tally = BTreeMap<&'static str, usize>;

#[test]
fn baselines_equal_the_originals() {
    let golden: Golden = serde_json::from_str(&fs::read_to_string(GOLDEN).unwrap()).unwrap();
    let mut tally = Tally::new();
    for Case { id, of } in &golden.cases {
        match of {
            Kind::ConsolidateChunks(case) => consolidate(id, case, &mut tally),
            Kind::CalculateStageChunks(case) => stage_chunks(id, case, &mut tally),
            Kind::CalculateSingleStageIoOps(case) => {
                let found =
                    calculate_single_stage_io_ops(&case.shape, &case.in_chunks, &case.out_chunks);
                assert_eq!(found, Ok(case.expected), "{id}");
                count(&mut tally, "io ops");
            }
            Kind::RechunkingPlan(case) => single_stage(id, case, &mut tally),
            Kind::MultistageRechunkingPlan(case) => multistage(id, case, &mut tally),
            Kind::SplitChunksizes(case) => {
                let found = split_chunksizes(case.n, case.source_chunk, case.target_chunk).unwrap();
                assert_eq!(found.collect::<Chunks>(), case.expected, "{id}");
                count(&mut tally, "split");
            }
            Kind::CubedMultspace(case) => {
                let found = cubed_multspace(case.start, case.stop, case.num).unwrap();
                assert_eq!(found, case.expected, "{id}");
                count(&mut tally, "cubed multspace");
            }
            Kind::CubedRechunkCopyOps(case) => copy_ops(id, case, &mut tally),
        }
    }
    println!("cases compared: {} {tally:#?}", golden.cases.len());
}

fn count(tally: &mut Tally, what: &'static str) {
    *tally.entry(what).or_default() += 1;
}

fn consolidate(id: &str, case: &Consolidate, tally: &mut Tally) {
    let limits = case.chunk_limits.as_deref().map(Limit::from_signed).transpose();
    let found = limits.and_then(|limits| {
        let Consolidate { shape, chunks, itemsize, max_mem, .. } = case;
        consolidate_chunks(shape, chunks, *itemsize, *max_mem, limits.as_deref())
    });
    match (found, &case.expected, &case.error) {
        (Ok(found), Some(expected), None) => assert_eq!(&found, expected, "{id}"),
        (Err(found), None, Some(error)) => assert!(error.is(&found), "{id}: {found}"),
        (found, ..) => panic!("{id}: {found:?}"),
    }
    count(tally, "consolidate");
}

fn stage_chunks(id: &str, case: &Stages, tally: &mut Tally) {
    let Stages { read_chunks, write_chunks, stage_count, .. } = case;
    let found = calculate_stage_chunks(read_chunks, write_chunks, *stage_count).unwrap();
    assert_eq!(found, case.exact_root, "{id}");
    assert_eq!(found != case.expected, case.float_fragile, "{id}");
    count(tally, "stage chunks");
    let found = cubed_stage_chunks(read_chunks, write_chunks, *stage_count).unwrap();
    if found != case.cubed_regular { println!("CUBED {id} {} {found:?} {:?}", case.float_fragile, case.cubed_regular);}
    count(tally, "cubed stage chunks");
}

fn single_stage(id: &str, case: &SingleStage, tally: &mut Tally) {
    let (rechunking, options) = case.question.ask();
    match (rechunking_plan(&rechunking, &options), &case.answer, &case.question.error) {
        (Ok(stage), Some(expected), None) => {
            assert_eq!(&describe(&rechunking, stage), expected, "{id}");
        }
        (Err(found), None, Some(error)) => assert!(error.is(&found), "{id}: {found}"),
        (found, ..) => panic!("{id}: {found:?}"),
    }
    count(tally, "single-stage plans");
}

fn describe(rechunking: &Rechunking<'_>, stage: StageChunks) -> SingleAnswer {
    let Rechunking { shape, source_chunks, target_chunks, .. } = *rechunking;
    let number = |chunks: &[u64]| chunk_count(shape, chunks).unwrap();
    let pairs = |a: &[u64], b: &[u64]| calculate_single_stage_io_ops(shape, a, b).unwrap();
    let nests = |outer: &[u64], inner: &[u64]| {
        let axes = shape.iter().zip(outer).zip(inner);
        axes.into_iter().all(|((&n, &outer), &inner)| outer >= n || outer % inner == 0)
    };
    SingleAnswer {
        no_intermediate: stage.is_direct(),
        io_ops: pairs(&stage.read, &stage.write),
        n_read_tasks: number(&stage.read),
        n_int_chunks: number(&stage.intermediate),
        n_write_tasks: number(&stage.write),
        n_source_chunks: number(source_chunks),
        n_target_chunks: number(target_chunks),
        source_gets_stage1_by_int_chunk: pairs(&stage.intermediate, source_chunks),
        source_gets_stage1_by_read_chunk: pairs(&stage.read, source_chunks),
        read_multiple_of_source: nests(&stage.read, source_chunks),
        read_multiple_of_int: nests(&stage.read, &stage.intermediate),
        write_multiple_of_int: nests(&stage.write, &stage.intermediate),
        write_multiple_of_target: nests(&stage.write, target_chunks),
        read_chunks: stage.read,
        int_chunks: stage.intermediate,
        write_chunks: stage.write,
    }
}

fn multistage(id: &str, case: &Multistage, tally: &mut Tally) {
    let (rechunking, options) = case.question.ask();
    let found = multistage_rechunking_plan(&rechunking, &options);
    let (plan, answer) = match (found, &case.answer, &case.question.error) {
        (Ok(plan), Some(answer), None) => (plan, answer),
        (Err(found), None, Some(error)) => {
            count(tally, "multi-stage plans");
            return assert!(error.is(&found), "{id}: {found}");
        }
        (found, ..) => panic!("{id}: {found:?}"),
    };
    count(tally, "multi-stage plans");
    let found = (triples(&plan), plan.excessive_io_warning);
    if answer.exact_root_plan_differs {
        count(tally, "multi-stage plans, exact roots differ");
        let expected = (answer.exact_root_plan.clone().unwrap(), answer.exact_root_warning.unwrap());
        assert_eq!(found, expected, "{id}");
    } else {
        assert_eq!(found, (answer.plan.clone(), answer.excessive_io_warning), "{id}");
        assert_eq!(plan.stages.len(), answer.n_stages, "{id}");
        assert_eq!(plan.io_ops, answer.io_ops, "{id}");
        assert_eq!(plan.intermediate_bytes_min(rechunking.itemsize_bytes), answer.min_int_bytes.into());
    }
    let regular = cubed_regular_plan(&rechunking, &options).unwrap();
    if (triples(&regular), regular.excessive_io_warning) != (answer.cubed_regular_plan.clone(), answer.cubed_regular_warning) {
        println!("CUBEDPLAN {id} {} {} {:?} {} {:?}", answer.exact_root_plan_differs, regular.excessive_io_warning, triples(&regular), answer.cubed_regular_warning, answer.cubed_regular_plan);
    }
    count(tally, "cubed plans");
}

fn triples(plan: &MultistagePlan) -> Vec<Triple> {
    let stages = plan.stages.iter().cloned();
    stages.map(|stage| (stage.read, stage.intermediate, stage.write)).collect()
}

fn copy_ops(id: &str, case: &CopyOps, tally: &mut Tally) {
    assert!(!case.allow_irregular, "{id}: only the regular planner is a baseline");
    let rechunking = Rechunking {
        shape: &case.shape,
        source_chunks: &case.source_chunks,
        target_chunks: &case.target_chunks,
        itemsize_bytes: case.itemsize,
    };
    let expected = case.expected.iter().cloned();
    let expected: Vec<CopyOp> = expected
        .map(|(copy_chunks, stored_chunks)| CopyOp { copy_chunks, stored_chunks })
        .collect();
    let found = cubed_copy_ops(&rechunking, case.allowed_mem, case.buffer_copies);
    assert_eq!(found.unwrap(), expected, "{id}");
    count(tally, "cubed copy ops");
}
