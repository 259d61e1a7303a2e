//! Plans of raw files on both sides.

/// The problems that the keep strategy itself is tested with.
#[expect(dead_code, reason = "schedules and places are for those tests")]
#[path = "../../../rechunk-plan/tests/keep/cases.rs"]
mod cases;

use proptest::prelude::*;
use rechunk_plan::keep::{Baseline, Model, Problem, Schedule};
use rechunk_plan::{
    Estimate, Kernel, Plan, PlanRequest, Profile, RunsSide, Side, StoreProfile, Strategy as Kind,
    Way,
};
use rechunk_planner::{PlanError, plan, runs_baseline};

use crate::cases::{Case, cases};

fn request(case: &Case, memory_bytes: u64) -> PlanRequest {
    let problem = &case.problem;
    let side = |block: &[u64], order: &[usize]| {
        let mut side = Side::raw(block, problem.item_bytes);
        let (block_shape, order) = (block.to_vec(), order.to_vec());
        side.runs = Some(RunsSide { block_shape, order, offset_bytes: 0 });
        side
    };
    let source = side(&problem.source_block, &problem.source_order);
    let target = side(&problem.target_block, &problem.target_order);
    PlanRequest::local(&problem.shape, problem.item_bytes, (source, target), memory_bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_plan_keeps_its_budget_and_predicts_what_its_schedule_asks(
        case in cases(), memory_bytes in (2_u64 << 20)..(4 << 20),
    ) {
        let request = request(&case, memory_bytes);
        let planned = match plan(&request) {
            Ok(planned) => planned.plan,
            Err(PlanError::DoesNotFit { minimum_bytes, .. }) => {
                prop_assert!(minimum_bytes > memory_bytes);
                let mut enough = request;
                enough.budget.memory_bytes = minimum_bytes;
                plan(&enough).unwrap().plan
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert_eq!(planned.kind, Kind::Keep);
        prop_assert!(planned.memory.planned_peak_bytes <= planned.memory.budget_bytes);
        planned.check().unwrap();
        let text = serde_json::to_string(&planned).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Plan>(&text).unwrap(), &planned);

        let schedule = planned.stages[0].schedule().unwrap();
        let model = Model::new(&case.problem).unwrap();
        let counts = model.counts(schedule);
        let (source, target) = (&planned.estimate.source, &planned.estimate.target);
        prop_assert_eq!((source.opens, source.runs), (counts.source.opens, counts.source.runs));
        prop_assert_eq!((target.opens, target.runs), (counts.target.opens, counts.target.runs));
        prop_assert_eq!((source.get_requests, target.put_requests), (source.runs, target.runs));
        prop_assert_eq!(source.opens + source.seeks, counts.source.seeks());
        prop_assert_eq!(target.opens + target.seeks, counts.target.seeks());
        let array_bytes = case.problem.shape.iter().product::<u64>() * 4;
        prop_assert_eq!(source.decoded_read_bytes, array_bytes);
        prop_assert_eq!(target.decoded_written_bytes, array_bytes);
        let buffers = planned.buffers(0).unwrap().unwrap();
        prop_assert_eq!(buffers.count(), model.buffers(schedule));
        let held = model.memory_exact(schedule, u64::MAX).unwrap() * 4;
        prop_assert!(held <= planned.stages[0].resident_bytes);
    }
}

#[expect(clippy::unwrap_used, reason = "it is called by tests, of plans that have one")]
fn schedule_of(plan: &mut Plan) -> &mut Schedule {
    let schedule = match &mut plan.stages[0].kernel {
        Kernel::Copy(Way::Runs(schedule)) => Some(schedule),
        _ => None,
    };
    schedule.unwrap()
}

fn transposed() -> PlanRequest {
    let problem = Problem::in_c_order(&[6000, 6000], &[1, 6000], &[6000, 1], 4, 0);
    let schedule = Schedule { buffer: vec![1, 1], kept: vec![false, false], step_axes: vec![0, 1] };
    request(&Case { problem, schedule }, 32 << 20)
}

#[test]
fn less_memory_is_more_runs_and_one_schedule_for_any_number_of_threads() {
    let mut runs = Vec::new();
    for memory_mib in [4, 8, 16, 32, 64, 256] {
        let mut request = transposed();
        request.budget.memory_bytes = memory_mib << 20;
        let plan = plan(&request).unwrap().plan;
        runs.push(plan.estimate.source.runs + plan.estimate.target.runs);
    }
    assert!(runs.windows(2).all(|pair| pair[0] >= pair[1]), "{runs:?}");
    assert_eq!(runs.last(), Some(&12_000), "all in memory: every file at once");
    assert!(runs[0] < 36_000_000 / 10, "not element by element: {runs:?}");
}

#[test]
fn a_few_more_seeks_are_made_where_half_the_memory_saves_more() {
    let problem = Problem::in_c_order(&[600; 3], &[75; 3], &[600; 3], 2, 0);
    let schedule = Schedule { buffer: vec![1; 3], kept: vec![false; 3], step_axes: vec![0, 1, 2] };
    let mut request = request(&Case { problem, schedule }, 122 << 20);
    let of = |request: &PlanRequest| {
        let plan = plan(request).unwrap().plan;
        (plan.estimate.target.opens, plan.stages[0].resident_bytes >> 20)
    };
    assert_eq!(of(&request), (8, 51), "8 buffers of 75 rows");
    let of_store = |name| Profile::uniform(&StoreProfile::built_in(name).unwrap());
    request.profile = of_store("hdd");
    assert_eq!(of(&request), (4, 102), "a seek takes 10 ms there");
    request.profile = of_store("local");
    request.budget.box_bytes = Some(122 << 20);
    assert_eq!(of(&request), (4, 102), "as the literature has it");
    // Of an array a hundred times as long, the memory is no hundredth of the time.
    request.budget.box_bytes = None;
    request.shape[0] = 60_000;
    let plan = plan(&request).unwrap().plan;
    assert_eq!(plan.stages[0].schedule().unwrap().buffer, [150, 600, 600]);
}

#[test]
fn scalars_and_empty_arrays_have_plans() {
    for (shape, runs) in [(vec![], 1), (vec![0, 4], 0), (vec![1, 1], 1)] {
        let block = vec![1; shape.len()];
        let problem = Problem::in_c_order(&shape, &block, &block, 4, 0);
        let schedule = Model::new(&Problem { memory_bytes: 64, ..problem.clone() })
            .unwrap()
            .schedule(&block, &vec![false; block.len()]);
        let plan = plan(&request(&Case { problem, schedule }, 32 << 20)).unwrap().plan;
        plan.check().unwrap();
        assert_eq!((plan.estimate.source.runs, plan.task_count()), (runs, runs));
    }
}

#[test]
fn less_memory_makes_do_with_fewer_lanes() {
    let mut plan = plan(&transposed()).unwrap().plan;
    let fingerprint = plan.fingerprint.clone();
    let (peak, lanes) = (plan.memory.planned_peak_bytes, plan.stages[0].lanes);
    assert!(lanes > 1);
    assert!(plan.fit_to(peak - 1));
    assert!(plan.stages[0].lanes < lanes && plan.memory.planned_peak_bytes < peak);
    plan.check().unwrap();
    assert_eq!(plan.computed_fingerprint(), fingerprint);
    assert!(!plan.fit_to(plan.stages[0].resident_bytes), "the schedule is what it is");
}

#[test]
fn other_strategies_take_chunks_as_before() {
    let mut request = transposed();
    request.strategy = Kind::PushPull;
    let chunks = plan(&request).unwrap().plan;
    assert!(chunks.stages.iter().all(|stage| stage.schedule().is_none()));
    assert!(chunks.source().runs.is_none() && chunks.estimate.source.runs == 0);
    chunks.check().unwrap();
    request.strategy = Kind::Auto;
    request.target.runs = None;
    assert!(plan(&request).unwrap().plan.stages.iter().all(|stage| stage.schedule().is_none()));
}

#[test]
fn a_header_makes_every_run_a_seek() {
    let mut request = transposed();
    let without = plan(&request).unwrap().plan.estimate;
    request.source.runs.as_mut().unwrap().offset_bytes = 80;
    let with = plan(&request).unwrap().plan.estimate;
    assert_eq!(with.source.seeks, with.source.runs);
    assert_eq!(with.source.seeks, without.source.seeks + 6000);
}

#[test]
fn an_edited_schedule_is_refused() {
    let good = plan(&transposed()).unwrap().plan;
    let edit = |change: &dyn Fn(&mut Plan)| {
        let mut plan = good.clone();
        change(&mut plan);
        assert_ne!(plan.computed_fingerprint(), good.fingerprint);
        plan.fingerprint = plan.computed_fingerprint();
        plan.check()
    };
    let buffer = |plan: &mut Plan, length| {
        schedule_of(plan).buffer[0] = length;
    };
    assert!(edit(&|plan| buffer(plan, 17)).is_ok());
    assert!(edit(&|plan| buffer(plan, 6000)).is_err(), "it holds more than it reserves");
    assert!(edit(&|plan| buffer(plan, 0)).is_err());
    assert!(edit(&|plan| buffer(plan, 6001)).is_err());
    assert!(edit(&|plan| plan.arrays[0].runs = None).is_err());
    assert!(edit(&|plan| plan.arrays[1].runs.as_mut().unwrap().order = vec![1, 1]).is_err());
    assert!(edit(&|plan| plan.arrays[1].runs.as_mut().unwrap().block_shape = vec![0, 1]).is_err());
    let order = |plan: &mut Plan| schedule_of(plan).step_axes = vec![0];
    assert!(edit(&order).is_err());
}

#[test]
fn baselines_are_asked_the_same_question() {
    let request = transposed();
    let sides = (request.source.runs.as_ref().unwrap(), request.target.runs.as_ref().unwrap());
    let seeks = |estimate: &Estimate| estimate.source.seeks + estimate.target.seeks;
    let ours = plan(&request).unwrap().plan.estimate;
    let mut answers = 0;
    for baseline in Baseline::ALL {
        let (shape, memory_bytes) = (&request.shape, request.budget.memory_bytes);
        let theirs = runs_baseline(baseline, shape, 4, sides, memory_bytes).unwrap();
        if let Some(theirs) = theirs {
            assert!(theirs.memory_bytes <= memory_bytes);
            assert!(seeks(&ours) < seeks(&theirs.estimate), "{}", baseline.name());
            assert_eq!(ours.decoded_bytes(), theirs.estimate.decoded_bytes());
            answers += 1;
        }
    }
    assert_eq!(answers, 4, "all but keep-paper, which needs all of a kept column");
}
