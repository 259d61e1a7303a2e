//! Plans for several workers: each has something to do.

use proptest::prelude::*;
use rechunk_plan::{Plan, PlanRequest, Side, Strategy as Kind};
use rechunk_planner::{cheapest, plan};

use crate::requests::{arrays, request, split};

/// A full shuffle of a time series of images: case A of the benchmark.
fn shuffle() -> PlanRequest {
    let side = |chunk: &[u64]| {
        let mut side = Side::raw(chunk, 2);
        (side.is_raw, side.codec) = (false, "blosc-lz4".to_owned());
        side.encoded_bytes_expected = side.encoded_bytes_expected * 6 / 10;
        side
    };
    let sides = (side(&[1, 720, 1440]), side(&[1460, 30, 30]));
    PlanRequest::local(&[1460, 720, 1440], 2, sides, 1_000_000_000)
}

fn with_workers(request: &PlanRequest, workers: u32) -> Plan {
    let mut request = request.clone();
    request.budget.workers = workers;
    cheapest(&request).unwrap().plan
}

#[test]
fn a_shuffle_for_eight_workers_keeps_all_of_them_busy() {
    for workers in [2, 3, 8, 20, 40] {
        let plan = with_workers(&shuffle(), workers);
        for stage in &plan.stages {
            assert!(stage.tasks >= u64::from(workers), "{workers}: {} tasks", stage.tasks);
            let busy = stage.busy_workers(workers);
            assert!(busy > 0.8 * f64::from(workers), "{busy} of {workers} busy in {}", stage.name);
        }
    }
}

#[test]
fn no_more_tasks_are_asked_for_than_there_are_chunks() {
    let sides = (Side::raw(&[100, 100], 4), Side::raw(&[100, 100], 4));
    let request = PlanRequest::local(&[100, 200], 4, sides, 64 << 20);
    assert_eq!(with_workers(&request, 50).stages[0].tasks, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// More workers never take longer than fewer of them are said to.
    #[test]
    fn more_workers_are_not_slower(axes in arrays(), workers in 2_u32..20, extra in 0_u64..60_000) {
        let (shape, source, target) = split(&axes);
        let mut request = request(&shape, &source, &target, (4 << 20) + extra);
        request.strategy = Kind::Auto;
        let seconds = |workers| {
            let mut request = request.clone();
            request.budget.workers = workers;
            plan(&request).map(|planned| planned.plan.estimate.seconds)
        };
        if let (Ok(one), Ok(several)) = (seconds(1), seconds(workers)) {
            prop_assert!(several <= one * 1.02, "{several} s with {workers}, {one} s with one");
        }
    }
}
