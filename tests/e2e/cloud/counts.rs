//! Requests to a store that a report counts are those that the store got.

use rechunk_testkit::{Operation, RequestRecord};
use serde_json::Value;

use super::{S3, count, small};
use crate::arrays::RawArray;
use crate::report::{assert_done, number};

/// Which role a request has by its key; metadata, journal, lease have none.
fn role(request: &RequestRecord) -> Option<&'static str> {
    let key = &request.key;
    let is_data = |key: &str| key.contains("/c/") || key.contains("/p/");
    match () {
        () if key.contains(".rechunk/intermediate/") => Some("intermediate"),
        () if key.starts_with("source.zarr/") && is_data(key) => Some("source"),
        () if key.starts_with("t.zarr/") && is_data(key) => Some("target"),
        () => None,
    }
}

fn is_read(request: &RequestRecord) -> bool {
    request.operation == Operation::Get
}

/// Every number of the report against the log of the server.
pub(super) fn assert_counted(report: &Value, requests: &[RequestRecord]) {
    assert_done(report);
    assert!(requests.iter().all(|request| request.fault.is_none()));
    for name in ["source", "intermediate", "target"] {
        let of =
            |kind: Operation| count(requests, |r| role(r) == Some(name) && r.operation == kind);
        let said = |field: &str| number(report, &format!("traffic.{name}.{field}"));
        assert_eq!(of(Operation::Get), said("get_requests") + said("get_missing"), "{name}");
        assert_eq!(of(Operation::Put), said("put_requests"), "{name}");
        assert_eq!(of(Operation::Copy), said("copy_requests"), "{name}");
        let all = [Operation::Get, Operation::Put, Operation::Copy].map(of);
        assert_eq!(all.iter().sum::<u64>(), said("http_attempts"), "{name}");
        let sent: u64 = requests
            .iter()
            .filter(|r| role(r) == Some(name) && is_read(r) && r.status.is_some_and(|s| s < 300))
            .map(|r| r.response_body_bytes)
            .sum();
        assert_eq!(sent, said("read_bytes"), "{name}: bytes read");
        let stored: u64 = requests
            .iter()
            .filter(|r| role(r) == Some(name) && r.operation == Operation::Put)
            .map(|r| r.request_body_bytes)
            .sum();
        assert!(stored >= said("written_bytes"), "{name}: {stored} bytes arrived");
    }
    let control = |kind: Operation| count(requests, |r| role(r).is_none() && r.operation == kind);
    let said = |field: &str| number(report, &format!("traffic.control.{field}"));
    assert_eq!(control(Operation::Get), said("get"), "control");
    assert_eq!(control(Operation::Put), said("put"), "control");
    assert_eq!(count(requests, |r| r.operation == Operation::Head), said("head"), "head");
    assert_eq!(count(requests, |r| r.operation == Operation::List), said("list"), "list");
}

#[test]
fn the_report_counts_what_the_server_counts() {
    let s3 = S3::with(&small());
    for options in [
        "--chunks 24,8,16 --strategy push-pull",
        "--chunks 24,8,16 --strategy pull",
        "--chunks 5,8,16 --strategy keep",
        "--chunks 8,32,48 --strategy direct",
        "--chunks keep",
        "--chunks 8,8,16 --shards 24,16,48 --strategy pull --codec zstd:1",
    ] {
        s3.server.clear_requests();
        let options: Vec<&str> = options.split_whitespace().collect();
        let report = s3.copy("t.zarr", &options).go().ok().json();
        assert_counted(&report, &s3.server.requests());
        s3.assert_copied("t.zarr");
        s3.forget("t.zarr");
    }
}

/// Chunks that are not there are asked for and counted apart.
#[test]
fn missing_chunks_are_counted_apart() {
    let s3 = S3::with(&small());
    for chunk in ["1/0/0", "4/0/0"] {
        std::fs::remove_file(s3.disk("source.zarr/c").join(chunk)).unwrap();
    }
    let report = s3.copy("t.zarr", &["--chunks", "24,8,16", "--strategy", "pull"]).go().ok().json();
    assert_counted(&report, &s3.server.requests());
    assert!(number(&report, "traffic.source.get_missing") >= 2);
    s3.assert_copied("t.zarr");
}

/// A sharded source is read by ranges: indexes and chunks are requests too.
#[test]
fn reads_of_shards_are_counted() {
    let s3 = S3::new();
    let (raw, source) = (s3.folder.at("raw.zarr"), s3.disk("source.zarr").display().to_string());
    RawArray::v3(&[24, 32, 48], &[4, 32, 48]).write(&raw);
    let shards = ["--chunks", "4,8,16", "--shards", "12,16,48", "--codec", "zstd:1"];
    crate::harness::rechunk(&[&["copy", &raw, &source], &shards[..]].concat()).ok();
    for shards in ["none", "24,32,48"] {
        s3.server.clear_requests();
        let options = ["--chunks", "8,8,16", "--shards", shards, "--overwrite"];
        let report = s3.copy("t.zarr", &options).go().ok().json();
        assert_counted(&report, &s3.server.requests());
        s3.assert_copied("t.zarr");
    }
}
