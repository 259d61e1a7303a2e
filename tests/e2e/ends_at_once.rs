//! Several processes end one job at once, while parts of it come late: none of them fails.

use std::process::Child;

use crate::group_parts::Plan as GroupPlan;
use crate::harness::{Run, rechunk};
use crate::parts::{PLANS, Plan};

/// Rounds of each plan: which process comes first differs.
const ROUNDS: usize = 4;

/// Ends a job twice, beside two parts of its last stage.
fn end(run: impl Fn(&[&str]) -> Run, last_stage: usize) {
    let stage = last_stage.to_string();
    let late = ["--stage", &stage, "--part", "0/2"];
    let all: [&[&str]; 4] = [&["--finish"], &late, &["--finish"], &late];
    let processes: Vec<Child> = all.iter().map(|arguments| run(arguments).start()).collect();
    for (mut process, arguments) in processes.into_iter().zip(all) {
        let code = process.wait().unwrap().code();
        assert_eq!(code, Some(0), "{arguments:?}");
    }
}

#[test]
fn an_array_is_finished_twice_at_once() {
    for (options, _) in [PLANS[0], PLANS[3]] {
        for _ in 0..ROUNDS {
            let plan = Plan::new(options);
            for stage in 0..plan.stages() {
                plan.part(stage, "0/1").go().ok();
            }
            end(|arguments| plan.run(arguments), plan.stages() - 1);
            plan.assert_copied();
        }
    }
}

#[test]
fn a_zip_file_is_finished_twice_at_once() {
    for _ in 0..2 * ROUNDS {
        let plan = Plan::new(PLANS[3].0);
        plan.save("t.zarr.zip", &[]);
        plan.part(0, "0/1").go().ok();
        end(|arguments| plan.run(arguments), 0);
        let (source, target) = (plan.folder.at("s.zarr"), plan.folder.at("t.zarr.zip"));
        rechunk(&["verify", &source, &target]).ok();
        assert!(!std::path::Path::new(&format!("{target}.rechunk")).exists());
    }
}

#[test]
fn a_group_is_finished_twice_at_once() {
    for _ in 0..ROUNDS {
        let plan = GroupPlan::new();
        for stage in ["0", "1"] {
            plan.run(&["--stage", stage, "--part", "0/1"]).go().ok();
        }
        end(|arguments| plan.run(arguments), 1);
        plan.assert_copied();
    }
}

/// Where no other process ends it, what is wrong is said at once, and stays as it is.
#[test]
fn another_job_is_not_finished() {
    let plan = Plan::new(PLANS[3].0);
    let at = |name: &str| plan.folder.at(name);
    let (source, target, file) = (at("s.zarr"), at("t.zarr"), at("other.json"));
    rechunk(&["plan", &source, &target, "--chunks", "24,4,4", "--out", &file]).ok();
    plan.part(0, "0/1").go().ok();
    rechunk(&["run", &file, "--finish"]).ends_with(4).says(&["another"]);
    plan.finish();
    plan.assert_copied();
}
