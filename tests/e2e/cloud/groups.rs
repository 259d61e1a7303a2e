//! A group whose arrays are mostly small: some are copied at once, as if one had been copied after
//! the other.

use std::path::Path;
use std::time::{Duration, Instant};

use rechunk_testkit::{Fault, Filter, Moment};
use serde_json::{Value, json};

use super::{S3, assert_same};
use crate::arrays::{RawArray, write_json};
use crate::harness::{Done, Run};
use crate::report::number;

/// Of the small arrays, before and after the large one.
const SMALL: usize = 6;
const TIMEOUT: Duration = Duration::from_mins(1);

/// Paths of the arrays, in the order in which they are copied: `a0` to `a5`, a large one, `z0` to
/// `z5`.
fn paths() -> Vec<String> {
    let named = |letter: &'static str| (0..SMALL).map(move |n| format!("{letter}{n}"));
    named("a").chain(["large".to_owned()]).chain(named("z")).collect()
}

fn group() -> S3 {
    let s3 = S3::new();
    for path in paths() {
        let array = match &*path {
            "large" => RawArray::v3(&[9, 512, 512], &[3, 512, 512]),
            _ => RawArray::v3(&[8, 12], &[4, 12]),
        };
        array.write(&s3.disk(&format!("source.zarr/{path}")).display().to_string());
    }
    let document = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
    write_json(&s3.disk("source.zarr/zarr.json"), &document);
    s3
}

fn copy(s3: &S3, more: &[&str]) -> Run {
    s3.copy(
        "t.zarr",
        &[&["--chunks", "keep", "--codec", "zstd:1", "--progress", "json"], more].concat(),
    )
}

#[track_caller]
fn assert_group_copied(s3: &S3) {
    for path in paths() {
        let at = |group: &str| s3.disk(&format!("{group}/{path}"));
        assert_same(&at("source.zarr"), &at("t.zarr"));
    }
    s3.assert_clean();
}

/// The arrays that progress speaks of, in that order.
fn spoken_of(done: &Done) -> Vec<String> {
    let lines = done.stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut paths: Vec<String> =
        lines.filter_map(|line| line["array"].as_str().map(str::to_owned)).collect();
    paths.dedup();
    paths
}

/// Waits until there is a file.
#[track_caller]
fn wait_for(file: &Path) {
    let started = Instant::now();
    while !file.is_file() {
        assert!(started.elapsed() < TIMEOUT, "no {}", file.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn small_arrays_are_copied_at_once_and_told_in_order() {
    let s3 = group();
    let hold =
        s3.server.hold_nth(Filter::any().method("PUT").key("t.zarr/a0/c/*"), 1, Moment::Before);
    let run = copy(&s3, &[]);
    let done = std::thread::scope(|scope| {
        let copying = scope.spawn(|| run.go());
        hold.wait(TIMEOUT).expect("a chunk is written");
        wait_for(&s3.disk("t.zarr/a5/zarr.json"));
        // The large one has the budget for itself, when all before it are done.
        assert!(!s3.disk("t.zarr/large").exists());
        assert!(!s3.disk("t.zarr/a0/zarr.json").exists());
        hold.release();
        copying.join().unwrap().ok()
    });
    assert_group_copied(&s3);
    assert_eq!(spoken_of(&done), paths());
    let report = done.json();
    let planned: Vec<u64> = report["arrays"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| number(array, "memory.planned_peak_bytes"))
        .collect();
    let together: u64 = planned[..SMALL].iter().sum();
    let largest = planned.into_iter().max().unwrap();
    assert_eq!(number(&report, "memory.planned_peak_bytes"), together.max(largest));
}

/// Arrays that do not fit beside each other follow each other.
#[test]
fn together_they_take_no_more_than_the_budget() {
    let s3 = group();
    let plan = copy(&s3, &["--include", "a*"]).go().ok().json();
    let one = number(&plan["arrays"][0], "memory.planned_peak_bytes");
    assert_eq!(number(&plan, "memory.planned_peak_bytes"), one * SMALL as u64);
    s3.forget("t.zarr");
    let budget = (one * 5 / 2).to_string();
    let hold =
        s3.server.hold_nth(Filter::any().method("PUT").key("t.zarr/a0/c/*"), 1, Moment::Before);
    let run = copy(&s3, &["--include", "a*", "--max-mem", &budget]);
    let done = std::thread::scope(|scope| {
        let copying = scope.spawn(|| run.go());
        hold.wait(TIMEOUT).expect("a chunk is written");
        wait_for(&s3.disk("t.zarr/a1/zarr.json"));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!s3.disk("t.zarr/a2").exists() && !s3.disk("t.zarr/a2.rechunk").exists());
        hold.release();
        copying.join().unwrap().ok()
    });
    let report = done.json();
    for array in report["arrays"].as_array().unwrap() {
        let of = |field: &str| number(array, &format!("memory.{field}"));
        assert_eq!(of("budget_bytes"), of("planned_peak_bytes"), "what it may read ahead: {array}");
    }
    let peak = number(&report, "memory.planned_peak_bytes");
    assert!(peak > one && peak <= one * 5 / 2, "{peak} bytes of {budget}");
}

#[test]
fn of_what_fails_the_first_is_named_and_all_goes_on_from_there() {
    let s3 = group();
    for path in ["z4", "z2"] {
        let chunk = Filter::any().method("PUT").key(&format!("t.zarr/{path}/c/*"));
        s3.server.fail_nth(chunk, 1, Fault::AccessDenied);
    }
    let done = copy(&s3, &[]).go().ends_with(1);
    let error = done.json()["error"].to_string();
    assert!(error.contains("z2") && !error.contains("z4"), "{error}");
    assert_eq!(spoken_of(&done).last().map(String::as_str), Some("z5"), "all have begun");
    assert!(s3.disk("t.zarr/z0/zarr.json").is_file() && !s3.disk("t.zarr/z2/zarr.json").exists());
    // Nobody is waited for: who was ended has given up his target.
    let started = Instant::now();
    let done = copy(&s3, &["--resume"]).go().ok();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(number(&done.json(), "tasks.resumed") > 0);
    assert_group_copied(&s3);
}

#[test]
fn killed_while_some_are_under_way_it_goes_on() {
    let s3 = group();
    let hold = s3.server.hold_nth(
        Filter::any().method("PUT").key("t.zarr/z3/zarr.json"),
        1,
        Moment::After,
    );
    let mut child = copy(&s3, &[]).start();
    hold.wait(TIMEOUT).expect("an array is made known");
    child.kill().unwrap();
    child.wait().unwrap();
    hold.abandon();
    copy(&s3, &["--resume"]).go().ok();
    assert_group_copied(&s3);
}
