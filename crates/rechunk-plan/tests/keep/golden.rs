//! The keep strategy against the reference model and the published measurements, case by case.
use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use rechunk_plan::keep::{Baseline, Model, Problem, Schedule, SideCounts, search};
use serde::Deserialize;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/golden/keep_cases.json");

#[derive(Deserialize)]
struct Golden {
    format: String,
    count: usize,
    cases: Vec<Case>,
}

/// `R`, `I` and `O` are the shapes of the array, of a source file and of a target file.
#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(rename = "R")]
    shape: Vec<u64>,
    #[serde(rename = "I")]
    source_block: Vec<u64>,
    #[serde(rename = "O")]
    target_block: Vec<u64>,
    memory_bytes: u64,
    itemsize: u64,
    strategy: String,
    #[serde(flatten)]
    answer: Option<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    buffer: Vec<u64>,
    kept_dims: Vec<usize>,
    order_fastest_first: Vec<usize>,
    kappa: Vec<u64>,
    n_buffers: u64,
    input: Side,
    output: Side,
    total_seeks: u64,
    lower_bound_files: u64,
    mem_bound_bytes: u64,
    mem_exact_bytes: u64,
}

#[derive(Deserialize)]
struct Side {
    files: u64,
    opens: u64,
    runs: u64,
    seeks: u64,
    paper: u64,
}

impl Case {
    fn problem(&self) -> Problem {
        Problem::in_c_order(
            &self.shape,
            &self.source_block,
            &self.target_block,
            self.itemsize,
            self.memory_bytes,
        )
    }

    /// Everything but the name and the strategy.
    fn question(&self) -> (&[u64], &[u64], &[u64], u64, u64) {
        let Self { shape, source_block, target_block, itemsize, memory_bytes, .. } = self;
        (shape, source_block, target_block, *itemsize, *memory_bytes)
    }
}

fn golden() -> Vec<Case> {
    let golden: Golden = serde_json::from_str(&fs::read_to_string(GOLDEN).unwrap()).unwrap();
    assert_eq!(golden.format, "keep-golden/1");
    assert_eq!(golden.count, golden.cases.len());
    assert!(golden.count >= 270);
    golden.cases
}

fn same(side: &Side, counts: &SideCounts, name: &str) {
    let found = [counts.files, counts.opens, counts.runs, counts.seeks(), counts.paper()];
    assert_eq!(found, [side.files, side.opens, side.runs, side.seeks, side.paper], "{name}");
}

#[test]
fn all_numbers_of_a_schedule_are_those_of_the_reference() {
    let mut compared = 0;
    for case in golden() {
        let Some(answer) = &case.answer else { continue };
        let model = Model::new(&case.problem()).unwrap();
        let mut step_axes = answer.order_fastest_first.clone();
        step_axes.reverse();
        let kept = (0..case.shape.len()).map(|axis| answer.kept_dims.contains(&axis)).collect();
        let schedule = Schedule { buffer: answer.buffer.clone(), kept, step_axes };
        model.check(&schedule).unwrap();
        let counts = model.counts(&schedule);
        same(&answer.input, &counts.source, &case.name);
        same(&answer.output, &counts.target, &case.name);
        assert_eq!(counts.seeks(), answer.total_seeks, "{}", case.name);
        assert_eq!(model.carries(&schedule.buffer), answer.kappa, "{}", case.name);
        assert_eq!(model.buffers(&schedule), answer.n_buffers, "{}", case.name);
        assert_eq!(model.files(), answer.lower_bound_files, "{}", case.name);
        let bound = model.bytes(model.memory_bound(&schedule));
        assert_eq!(bound, answer.mem_bound_bytes, "{}", case.name);
        let exact = model.memory_exact(&schedule, u64::MAX).map(|elements| model.bytes(elements));
        assert_eq!(exact, Some(answer.mem_exact_bytes), "{}", case.name);
        compared += 1;
    }
    println!("schedules compared: {compared}");
    assert!(compared >= 240);
}

#[test]
fn baselines_have_the_buffers_of_the_reference() {
    let mut compared = BTreeMap::new();
    for case in golden() {
        let Some(baseline) = Baseline::from_name(&case.strategy.replace('_', "-")) else {
            continue;
        };
        let found = baseline.schedule(&Model::new(&case.problem()).unwrap());
        let buffer = found.as_ref().map(|schedule| &schedule.buffer);
        assert_eq!(buffer, case.answer.as_ref().map(|answer| &answer.buffer), "{}", case.name);
        if let (Some(found), Some(answer)) = (&found, &case.answer) {
            let kept: Vec<usize> = (0..found.kept.len()).filter(|&axis| found.kept[axis]).collect();
            assert_eq!(kept, answer.kept_dims, "{}", case.name);
            let order: Vec<usize> = found.step_axes.iter().rev().copied().collect();
            assert_eq!(order, answer.order_fastest_first, "{}", case.name);
        }
        *compared.entry(baseline.name()).or_insert(0) += 1;
    }
    println!("{compared:?}");
    assert!(compared.values().all(|&cases| cases >= 32) && compared.len() == 5);
}

#[test]
fn the_search_is_at_least_as_good_as_every_other_strategy() {
    let cases = golden();
    let (mut optimal, mut of) = (0, 0);
    for case in cases.iter().filter(|case| case.strategy == "search") {
        let began = Instant::now();
        let found = search(&case.problem()).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        let seeks = found.counts.seeks();
        assert!(found.memory_bytes <= case.memory_bytes, "{}", case.name);
        for other in cases.iter().filter(|other| other.question() == case.question()) {
            let Some(answer) = &other.answer else { continue };
            // A published run may hold more than its budget.
            if answer.mem_exact_bytes > case.memory_bytes {
                continue;
            }
            let buffer = &found.schedule.buffer;
            let theirs = answer.total_seeks;
            assert!(seeks <= theirs, "{} {buffer:?}: {seeks} > {theirs}", other.name);
            if other.strategy == "optimal" {
                assert_eq!(seeks, theirs, "{}: no schedule has fewer", other.name);
                optimal += 1;
            }
        }
        of += 1;
        println!("{:40} {seeks:9} seeks {:?} {:.4} s", case.name, found.schedule, seconds);
    }
    println!("searched {of}, compared with the optimum of {optimal}");
    assert!(of >= 35 && optimal >= 29);
}
