//! Arrays of which little is stored: what a list says is missing is not asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rechunk_testkit::{Operation, RequestRecord};

use super::{S3, count};
use crate::arrays::RawArray;
use crate::harness::Run;
use crate::report::{assert_done, number};

/// 16 × 16 × 16 chunks, of which one in 400 stays.
fn sparse() -> S3 {
    let s3 = S3::with(&RawArray::v3(&[64, 64, 64], &[4, 4, 4]));
    let chunks = files(&s3.disk("source.zarr/c"));
    assert_eq!(chunks.len(), 4096);
    for (number, chunk) in chunks.iter().enumerate() {
        if number % 400 != 7 {
            fs::remove_file(chunk).unwrap();
        }
    }
    s3
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn asked_for_chunks(s3: &S3) -> u64 {
    let requests = s3.server.requests();
    count(&requests, |r| r.operation == Operation::Get && r.key.starts_with("source.zarr/c/"))
}

/// Latency of each answer. The server takes 25 to 75 ms for the list while it is busy, so that it
/// is there before many chunks have been asked for.
const LATENCY: Duration = Duration::from_millis(20);

/// Of the requests for chunks, how many came before a list was asked for, and how many when it had
/// been answered.
fn around_the_list(s3: &S3, operation: Operation) -> (u64, u64) {
    let requests = s3.server.requests();
    let list = |r: &&RequestRecord| {
        r.operation == Operation::List && r.query.contains("prefix=source.zarr")
    };
    let list = requests.iter().find(list).expect("a list");
    let listed = list.ended.expect("an answer");
    let chunks = |which: &dyn Fn(&RequestRecord) -> bool| {
        let is_chunk = |r: &RequestRecord| r.operation == operation && r.key.contains(".zarr/c/");
        count(&requests, |r| is_chunk(r) && which(r))
    };
    (chunks(&|r| r.started < list.started), chunks(&|r| r.started > listed))
}

#[test]
fn few_chunks_are_asked_for_where_few_are() {
    let s3 = sparse();
    s3.server.set_latency(LATENCY);
    for options in ["--chunks 8,8,8", "--chunks 64,8,16 --strategy push-pull"] {
        s3.server.clear_requests();
        // As much memory as makes tasks of some chunks.
        let all: Vec<&str> = options.split_whitespace().chain(["--max-mem", "4MiB"]).collect();
        let report = s3.copy("t.zarr", &all).go().ok().json();
        assert_done(&report);
        let said = |field: &str| number(&report, &format!("traffic.source.{field}"));
        assert_eq!((said("get_requests"), said("get_missing")), (11, 4085), "{options}");
        let asked = asked_for_chunks(&s3);
        assert!((11..1000).contains(&asked), "{asked} with {options}");
        let (before, after) = around_the_list(&s3, Operation::Get);
        assert!(before < 256 && after < 256, "{before}, {after} with {options}");
        s3.assert_copied("t.zarr");
        s3.forget("t.zarr");
    }
}

#[test]
fn what_is_missing_is_not_to_be_copied_either() {
    let s3 = sparse();
    s3.server.set_latency(LATENCY);
    let report = s3.copy("t.zarr", &["--chunks", "keep"]).go().ok().json();
    assert_done(&report);
    assert_eq!(number(&report, "traffic.target.copy_requests"), 11);
    assert_eq!(number(&report, "traffic.source.get_missing"), 4085);
    let copies = count(&s3.server.requests(), |r| r.operation == Operation::Copy);
    assert!((11..1000).contains(&copies), "{copies}");
    let (before, after) = around_the_list(&s3, Operation::Copy);
    assert!(before < 256 && after < 256, "{before}, {after}");
    s3.assert_copied("t.zarr");
}

/// A store may show late what it has: who verifies is to see what is there.
#[test]
fn with_verify_each_chunk_is_asked_for() {
    let s3 = sparse();
    s3.copy("t.zarr", &["--chunks", "8,8,8", "--verify"]).go().ok();
    assert!(asked_for_chunks(&s3) >= 4096);
}

/// On a disk too; and a file where a chunk's directory would be is no missing chunk.
#[test]
fn of_a_disk_too() {
    let s3 = sparse();
    let (source, target) = (s3.disk("source.zarr"), s3.disk("local.zarr"));
    let copy = |more: &[&str]| {
        let ends = [source.to_str().unwrap(), target.to_str().unwrap()];
        let options = ["--chunks", "8,8,8", "--max-mem", "4MiB", "--json"];
        Run::rechunk(&[&["copy"], &ends[..], &options[..], more].concat()).go()
    };
    let report = copy(&["--verify"]).ok().json();
    assert_eq!(number(&report, "traffic.source.get_requests"), 11);
    // In the last row, where nothing was.
    let last = source.join("c/15");
    let _ = fs::remove_dir_all(&last);
    fs::write(&last, "a file").unwrap();
    copy(&["--overwrite"]).fails().says(&["c/15"]);
}
