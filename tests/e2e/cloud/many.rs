//! Groups of many small arrays at an object store: requests, and what a kill leaves.

use std::thread::sleep;
use std::time::Duration;

use rechunk_testkit::{Filter, Moment};
use serde_json::json;

use super::S3;
use crate::harness::rechunk;
use crate::many_arrays::group;
use crate::report::number;

const MANY: usize = 100;
/// Fewer, to count requests for.
const ARRAYS: usize = 40;
/// Most requests for an array of two chunks.
const REQUESTS_MAX: usize = 12;
const TIMEOUT: Duration = Duration::from_mins(3);

#[test]
fn an_array_of_two_chunks_takes_a_dozen_requests() {
    for (version, format, chunks) in [
        (3, "zarr3", "keep"),
        (3, "zarr3", "x=1"),
        (2, "zarr2", "keep"),
        (2, "zarr3", "x=4"),
        (3, "zarr2", "x=4"),
    ] {
        let s3 = S3::new();
        group(&s3.disk("source.zarr"), version, ARRAYS);
        let options = ["--chunks", chunks, "--codec", "gzip:1", "--format", format];
        let options = if chunks == "keep" { &["--format", format][..] } else { &options[..] };
        s3.copy("t.zarr", options).go().ok();
        let requests = s3.server.requests().len();
        println!("v{version} to {format}, {chunks}: {requests} for {ARRAYS} arrays");
        let most = requests / ARRAYS;
        assert!(requests <= ARRAYS * REQUESTS_MAX, "v{version} to {format}, {chunks}: {most} each");
        let [from, to] = ["source.zarr", "t.zarr"].map(|name| s3.disk(name));
        rechunk(&["verify", from.to_str().unwrap(), to.to_str().unwrap()]).ok();
        s3.assert_clean();
    }
}

/// Arrays that keep no state of their own are begun again, those that are complete are not.
#[test]
fn killed_among_many_it_goes_on() {
    let s3 = S3::new();
    group(&s3.disk("source.zarr"), 3, MANY);
    let late = format!("t.zarr/variable_{:05}/zarr.json", MANY - 20);
    let hold = s3.server.hold_nth(Filter::any().method("PUT").key(&late), 1, Moment::Before);
    let options = ["--chunks", "x=4"];
    let mut child = s3.copy("t.zarr", &options).start();
    hold.wait(TIMEOUT).expect("one of the last arrays is written");
    child.kill().unwrap();
    child.wait().unwrap();
    hold.abandon();
    assert!(!s3.disk("t.zarr/zarr.json").exists());
    let done = s3.copy("t.zarr", &[&options[..], &["--resume"]].concat()).go().ok();
    let report = done.json();
    assert!(number(&report, "tasks.resumed") >= MANY as u64 - 60, "{}", report["tasks"]);
    s3.assert_clean();
    let [from, to] = ["source.zarr", "t.zarr"].map(|name| s3.disk(name));
    let [from, to] = [&from, &to].map(|path| path.to_str().unwrap().to_owned());
    rechunk(&["verify", &from, &to]).ok();
    let document = std::fs::read(s3.disk("t.zarr/zarr.json")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["consolidated_metadata"]["metadata"].as_object().unwrap().len(), MANY);
    // All of it is there: nothing is copied again.
    let done = s3.copy("t.zarr", &[&options[..], &["--resume"]].concat()).go().ok();
    assert_eq!(done.json()["already_complete"], json!(true));
}

/// Chunks of an array that never became one are taken away with the state of its group.
#[test]
fn cleaning_removes_what_keeps_no_state() {
    let s3 = S3::new();
    group(&s3.disk("source.zarr"), 3, 5);
    let place = "t.zarr/variable_00003/zarr.json";
    let hold = s3.server.hold_nth(Filter::any().method("PUT").key(place), 1, Moment::Before);
    let mut child = s3.copy("t.zarr", &["--chunks", "keep"]).start();
    hold.wait(TIMEOUT).expect("an array is written");
    // Those beside it are not held.
    while !s3.disk("t.zarr/variable_00001/zarr.json").is_file() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    hold.abandon();
    assert!(s3.disk("t.zarr/variable_00003/c/0").is_file());
    s3.run(&["clean", &s3.server.url("t.zarr")]).go().ok();
    let left: Vec<String> = s3.objects().into_iter().filter(|key| key.contains("t.zarr")).collect();
    assert!(left.iter().all(|key| !key.contains("variable_00003")), "{left:?}");
    // Whole arrays stay.
    assert!(left.iter().any(|key| key.ends_with("/zarr.json")), "{left:?}");
    s3.assert_clean();
}
