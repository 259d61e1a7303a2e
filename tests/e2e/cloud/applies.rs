//! Applies from a store to a store: what they write, what they cost, faults, and kills.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rechunk_testkit::{Faults, Filter, Moment};

use super::counts::assert_counted;
use super::{S3, small};
use crate::harness::{Run, rechunk, tree};
use crate::report::number;

/// Requests that the apply is killed at.
const POINTS: u64 = 14;

/// Two levels with overlaps, by way of blocks: tasks of 12 calls for each work chunk.
const BY_BLOCKS: &str = "--op gaussian:sigma=0.5 --crop auto --work 4,8,14 --blend 1 \
    --level 10,14,26;blend=1 --expand work --chunks 6,16,24 --max-mem 64MiB --threads 2";

/// Straight into shards.
const DIRECT: &str = "--op median:size=3 --crop auto --work 12,16,24 --chunks 6,8,24 \
    --shards 12,16,24 --codec zstd:1 --max-mem 64MiB --threads 2";

/// A server with a compressed source, whose chunks are read whole.
fn server() -> S3 {
    let s3 = S3::new();
    let (raw, source) = (s3.folder.at("raw.zarr"), s3.disk("source.zarr").display().to_string());
    small().write(&raw);
    rechunk(&["copy", &raw, &source, "--chunks", "keep", "--codec", "zstd:1"]).ok();
    s3
}

fn apply(s3: &S3, options: &str, more: &[&str]) -> Run {
    let (source, target) = (s3.server.url("source.zarr"), s3.server.url("t.zarr"));
    let apply = ["apply", &source, &target, "--json"];
    let options: Vec<&str> = options.split_whitespace().collect();
    s3.run(&[&apply[..], &options, more].concat())
}

/// Files of the result on a disk.
fn on_a_disk(s3: &S3, options: &str) -> BTreeMap<String, String> {
    let (source, target) = (s3.disk("source.zarr"), s3.folder.at("here.zarr"));
    let source = source.display().to_string();
    let apply = ["apply", &source, &target];
    let options: Vec<&str> = options.split_whitespace().collect();
    rechunk(&[&apply[..], &options].concat()).ok();
    chunks(Path::new(&target))
}

/// Chunks of an array; its attributes tell where it came from.
fn chunks(array: &Path) -> BTreeMap<String, String> {
    tree(array)
        .into_iter()
        .filter(|(key, digest)| key.contains('/') && !digest.is_empty())
        .collect()
}

#[test]
fn the_result_is_that_of_a_disk_and_every_request_is_counted() {
    for options in [BY_BLOCKS, DIRECT] {
        let s3 = server();
        let expected = on_a_disk(&s3, options);
        assert!(expected.len() > 3, "{expected:?}");
        let report = apply(&s3, options, &[]).go().ok().json();
        assert_counted(&report, &s3.server.requests());
        assert_eq!(chunks(&s3.disk("t.zarr")), expected);
        s3.assert_clean();
        assert!(apply(&s3, options, &["--resume"]).go().ok().json()["already_complete"] == true);
    }
}

#[test]
fn three_requests_of_ten_may_fail() {
    let s3 = server();
    let expected = on_a_disk(&s3, BY_BLOCKS);
    for seed in 1..=3 {
        s3.server.clear_requests();
        s3.server.set_faults(Faults::rate(0.3).seed(seed));
        apply(&s3, BY_BLOCKS, &["--timeout", "120"]).go().ok();
        s3.server.set_faults(Faults::none());
        assert!(s3.server.requests().iter().any(|request| request.fault.is_some()));
        assert_eq!(chunks(&s3.disk("t.zarr")), expected, "seed {seed}");
        s3.assert_clean();
        s3.forget("t.zarr");
    }
}

#[test]
fn an_apply_survives_kills_at_its_requests() {
    let s3 = server();
    let expected = on_a_disk(&s3, BY_BLOCKS);
    let whole = apply(&s3, BY_BLOCKS, &[]).go().ok().json();
    let requests = s3.server.requests().len() as u64;
    let (calls, tasks) = (number(&whole, "apply.op_calls"), number(&whole, "tasks.total"));
    let mut resumed = 0;
    for point in 0..POINTS {
        s3.forget("t.zarr");
        let nth = 1 + point * (requests - 1) / POINTS;
        let moment = if point % 2 == 0 { Moment::Before } else { Moment::After };
        let hold = s3.server.hold_nth(Filter::any(), nth, moment);
        let mut running = apply(&s3, BY_BLOCKS, &[]).start();
        assert!(hold.wait(Duration::from_mins(1)).is_some(), "request {nth} was never made");
        running.kill().unwrap();
        running.wait().unwrap();
        hold.abandon();
        let report = apply(&s3, BY_BLOCKS, &["--resume"]).go().ok().json();
        assert_eq!(chunks(&s3.disk("t.zarr")), expected, "{moment:?} of request {nth}");
        s3.assert_clean();
        let done = number(&report, "tasks.resumed");
        if done == 0 {
            assert_eq!(number(&report, "apply.op_calls"), calls, "{moment:?} of request {nth}");
        } else {
            assert!(number(&report, "apply.op_calls") < calls, "{moment:?} of request {nth}");
        }
        resumed += u64::from(done > 0 && done < tasks);
    }
    assert!(resumed > 0, "no kill came after a mark: resuming is not tested");
}
