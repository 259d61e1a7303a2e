//! Shares of a plan at an object store: killed, twice at once, and finished.

use std::time::Duration;

use rechunk_testkit::{Filter, Moment};

use super::S3;
use crate::arrays::RawArray;
use crate::harness::Run;
use crate::report::number;

const OPTIONS: [&str; 6] = ["--chunks", "24,4,4", "--strategy", "push-pull", "--max-mem", "24MiB"];

/// A plan of `source.zarr` to `t.zarr`, and a run of it.
fn planned(s3: &S3) -> impl Fn(&[&str]) -> Run + '_ {
    let file = s3.folder.at("plan.json");
    let (source, target) = (s3.server.url("source.zarr"), s3.server.url("t.zarr"));
    let plan = ["plan", &source, &target, "--threads", "2", "--out", &file];
    s3.run(&[&plan[..], &OPTIONS].concat()).go().ok();
    move |arguments| s3.run(&[&["run", &file, "--json"], arguments].concat())
}

#[test]
fn parts_that_are_killed_or_come_twice_leave_a_whole_target_and_nothing_else() {
    let s3 = S3::with(&RawArray::v3(&[24, 32, 48], &[4, 32, 48]));
    let run = planned(&s3);
    for (stage, key) in [("0", "t.zarr.rechunk/intermediate/*"), ("1", "t.zarr/c/*")] {
        for moment in [Moment::Before, Moment::After] {
            let hold = s3.server.hold_nth(Filter::any().method("PUT").key(key), 1, moment);
            let mut part = run(&["--stage", stage, "--part", "0/2"]).start();
            let reached = hold.wait(Duration::from_mins(1));
            assert!(reached.is_some(), "stage {stage}, {moment:?}: {:?}", part.try_wait());
            part.kill().unwrap();
            part.wait().unwrap();
            hold.abandon();
        }
        let parts = ["0/2", "1/2", "0/1"].map(|part| run(&["--stage", stage, "--part", part]));
        for mut part in parts.map(Run::start) {
            assert!(part.wait().unwrap().success());
        }
        let again = run(&["--stage", stage, "--part", "1/2"]).go().ok().json();
        assert_eq!(number(&again, "tasks.resumed"), number(&again, "tasks.total"));
    }
    run(&["--finish", "--verify"]).go().ok();
    s3.assert_copied("t.zarr");
}

#[test]
fn processes_that_open_a_job_at_once_open_one() {
    let s3 = S3::with(&RawArray::v3(&[24, 32, 48], &[4, 32, 48]));
    let run = planned(&s3);
    let all: Vec<_> =
        (0..6).map(|part| run(&["--stage", "0", "--part", &format!("{part}/6")]).start()).collect();
    for mut part in all {
        assert!(part.wait().unwrap().success());
    }
    run(&["--stage", "1", "--part", "0/1"]).go().ok();
    run(&["--finish"]).go().ok();
    s3.assert_copied("t.zarr");
}
