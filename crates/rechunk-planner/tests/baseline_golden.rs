//! The baselines against what rechunker 0.5.4 and cubed themselves computed, case by case.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

#[path = "baseline_golden/cases.rs"]
mod cases;
#[path = "baseline_golden/multistage.rs"]
mod multistage;

use std::collections::BTreeMap;
use std::fs;

use rechunk_planner::baseline::{
    CopyOp, Limit, MultistagePlan, Rechunking, StageChunks, calculate_single_stage_io_ops,
    calculate_stage_chunks, chunk_count, consolidate_chunks, cubed_copy_ops, cubed_multspace,
    cubed_regular_plan, cubed_stage_chunks, multistage_rechunking_plan, naive, rechunking_plan,
    split_chunksizes, traffic_as_designed, traffic_as_executed,
};

use cases::{
    Case, Chunks, Consolidate, CopyOps, Golden, Kind, MultiAnswer, Multistage, SingleAnswer,
    SingleStage, Stages, Triple,
};

const GOLDEN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/golden/push_pull_cases.json");

const CUBED_EQUAL: &str = "cubed plans, equal";
const CUBED_FRAGILE: &str = "cubed plans, its float rounding collapsed the stages";

/// Number of comparisons, by their subject.
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
    assert_eq!(golden.cases.len(), 795);
    assert_eq!(tally[CUBED_EQUAL], 227);
    assert_eq!(tally[CUBED_FRAGILE], 14);
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
    assert_eq!(found != case.cubed_regular, case.float_fragile, "{id}: {found:?}");
    count(tally, "cubed stage chunks");
}

fn single_stage(id: &str, case: &SingleStage, tally: &mut Tally) {
    let (rechunking, options) = case.question.ask();
    match (rechunking_plan(&rechunking, &options), &case.answer, &case.question.error) {
        (Ok(stage), Some(expected), None) => {
            assert_eq!(&describe(&rechunking, stage.clone()), expected, "{id}");
            traffic(id, &rechunking, stage, expected, tally);
        }
        (Err(found), None, Some(error)) => assert!(error.is(&found), "{id}: {found}"),
        (found, ..) => panic!("{id}: {found:?}"),
    }
    count(tally, "single-stage plans");
}

/// The traffic of a single stage against the counts the golden file has.
fn traffic(
    id: &str,
    rechunking: &Rechunking<'_>,
    stage: StageChunks,
    expected: &SingleAnswer,
    tally: &mut Tally,
) {
    let bytes = |requests: u64, chunks: &[u64]| {
        requests * rechunking.itemsize_bytes * chunks.iter().product::<u64>()
    };
    let written_from =
        calculate_single_stage_io_ops(rechunking.shape, &stage.write, rechunking.source_chunks);
    let io_ops = vec![expected.io_ops];
    let plan = MultistagePlan { stages: vec![stage], io_ops, excessive_io_warning: false };
    let designed = traffic_as_designed(rechunking, &plan).unwrap();
    let executed = traffic_as_executed(rechunking, &plan).unwrap();
    if expected.no_intermediate {
        assert_eq!(Ok(designed.source_get), written_from, "{id}");
        assert_eq!(designed, executed, "{id}");
        assert_eq!((designed.intermediate_put, designed.intermediate_get), (0, 0), "{id}");
    } else {
        assert_eq!(designed.source_get, expected.source_gets_stage1_by_read_chunk, "{id}");
        assert_eq!(executed.source_get, expected.source_gets_stage1_by_int_chunk, "{id}");
        assert_eq!(designed.intermediate_put, expected.n_int_chunks, "{id}");
        let written = bytes(expected.n_int_chunks, &expected.int_chunks);
        assert_eq!(executed.intermediate_written_bytes, written, "{id}");
    }
    for traffic in [designed, executed, naive(rechunking).unwrap()] {
        assert_eq!(traffic.target_put, expected.n_target_chunks, "{id}");
        let source_bytes = bytes(traffic.source_get, rechunking.source_chunks);
        assert_eq!(traffic.source_bytes, source_bytes, "{id}");
        let target_bytes = bytes(traffic.target_put, rechunking.target_chunks);
        assert_eq!(traffic.target_bytes, target_bytes, "{id}");
    }
    count(tally, "traffic");
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
        let expected =
            (answer.exact_root_plan.clone().unwrap(), answer.exact_root_warning.unwrap());
        assert_eq!(found, expected, "{id}");
    } else {
        assert_eq!(found, (answer.plan.clone(), answer.excessive_io_warning), "{id}");
        assert_eq!(plan.stages.len(), answer.n_stages, "{id}");
        assert_eq!(plan.io_ops, answer.io_ops, "{id}");
        assert_eq!(
            plan.intermediate_bytes_min(rechunking.itemsize_bytes),
            answer.min_int_bytes.into()
        );
    }
    let regular = cubed_regular_plan(&rechunking, &options).unwrap();
    cubed_plan(id, &regular, answer, tally);
}

fn cubed_plan(id: &str, found: &MultistagePlan, answer: &MultiAnswer, tally: &mut Tally) {
    let expected = (answer.cubed_regular_plan.clone(), answer.cubed_regular_warning);
    if (triples(found), found.excessive_io_warning) == expected {
        return count(tally, CUBED_EQUAL);
    }
    // In floating point an axis that is read as it is written gets stages of one element less,
    // and the multiples of them collapse to 1: cubed then gives up and keeps its single stage.
    let (read, _, write) = &answer.cubed_regular_plan[0];
    let unchanged_axis = read.iter().zip(write).any(|(read, write)| read == write && *read > 1);
    let gave_up = answer.cubed_regular_plan.len() == 1 && answer.cubed_regular_warning;
    assert!(unchanged_axis && gave_up && found.stages.len() > 1, "{id}: {found:?}");
    count(tally, CUBED_FRAGILE);
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
