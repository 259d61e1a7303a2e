//! Missing chunks, and chunks under other keys, at stores that are asked: what it costs, and what
//! is noticed.

use std::fs;
use std::time::Duration;

use rechunk_testkit::{Filter, HttpServer, Moment, Operation, ServerOptions};

use super::{S3, assert_same, count, run, small};
use crate::arrays::RawArray;
use crate::harness::{Folder, looks_finished, rechunk};
use crate::report::number;

/// Six chunks of which some are lost.
fn with_lost(lost: &[u64]) -> S3 {
    let s3 = S3::with(&small());
    for chunk in lost {
        fs::remove_file(s3.disk(&format!("source.zarr/c/{chunk}/0/0"))).unwrap();
    }
    s3
}

#[test]
fn missing_chunks_of_a_bucket_are_told_and_refused() {
    let s3 = with_lost(&[1, 4]);
    let report = s3.copy("t.zarr", &["--chunks", "24,8,16"]).go().ok().json();
    assert_eq!((number(&report, "missing.chunks"), number(&report, "missing.of")), (2, 6));
    s3.assert_copied("t.zarr");
    s3.forget("t.zarr");
    for (most, code) in [("0", 3), ("1", 3), ("20%", 3), ("2", 0), ("34%", 0)] {
        s3.server.clear_requests();
        let done = s3.copy("t.zarr", &["--chunks", "24,8,16", "--max-missing", most]).go();
        let done = done.ends_with(code);
        if code == 3 {
            done.says(&["2 of 6 source chunks are missing", "c/1/0/0"]);
            let requests = s3.server.requests();
            assert_eq!(count(&requests, |r| r.method == "PUT"), 0, "{most}");
        } else {
            s3.assert_copied("t.zarr");
            s3.forget("t.zarr");
        }
    }
}

/// A store that cannot be listed says it only when it was asked for each: then nothing is
/// published.
#[test]
fn a_web_server_is_refused_at_the_end() {
    let server = HttpServer::start(&ServerOptions::default()).unwrap();
    let folder = Folder::new();
    small().write(&server.root().join("s.zarr").display().to_string());
    fs::remove_file(server.root().join("s.zarr/c/3/0/0")).unwrap();
    let (source, target) = (server.url("s.zarr"), folder.at("t.zarr"));
    let copy = ["copy", &source, &target, "--chunks", "24,8,16", "--max-missing"];
    let done = run(&[&copy[..], &["0"]].concat(), &[]).go();
    done.ends_with(3).says(&["1 of 6 source chunks is missing", "c/3/0/0"]);
    assert!(!looks_finished(&target));
    run(&[&copy[..], &["0", "--resume"]].concat(), &[]).go().ends_with(3);
    assert!(!looks_finished(&target));
    run(&[&copy[..], &["1", "--overwrite"]].concat(), &[]).go().ok();
}

/// Chunks that were there when the copy was planned, or when the run had listed them, are no gaps
/// when they are missing later.
#[test]
fn what_was_there_before_is_not_missing() {
    for options in [
        &["--chunks", "24,8,16", "--codec", "zstd:1"][..],
        &["--chunks", "24,8,16", "--max-missing", "50%"],
        &["--chunks", "keep", "--verify"],
        &["--chunks", "24,8,16", "--strategy", "push-pull", "--max-missing", "6"],
        &["--chunks", "24,8,16", "--verify"],
    ] {
        let s3 = S3::new();
        let raw = s3.folder.at("raw.zarr");
        small().write(&raw);
        // Of what is compressed a few sizes are asked for when it is planned.
        let source = s3.disk("source.zarr").display().to_string();
        rechunk(&["copy", &raw, &source, "--chunks", "keep", "--codec", "zstd:1"]).ok();
        let reads = Filter::any().method("GET").key("source.zarr/c/*");
        let hold = s3.server.hold_nth(reads, 1, Moment::Before);
        let copying = s3.copy("t.zarr", options).start();
        hold.wait(Duration::from_mins(1)).expect("a chunk is read");
        for chunk in 0..6 {
            fs::remove_file(s3.disk(&format!("source.zarr/c/{chunk}/0/0"))).unwrap();
        }
        hold.release();
        let done = copying.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(matches!(done.status.code(), Some(1 | 3)), "{options:?}: {said}");
        assert!(said.contains("removed"), "{options:?}: {said}");
        assert!(!looks_finished(&s3.disk("t.zarr").display().to_string()), "{options:?}");
    }
}

#[test]
fn chunks_under_other_keys_are_read_from_a_bucket_and_over_http() {
    let folder = Folder::new();
    let (raw, flat) = (folder.at("raw.zarr"), folder.at("flat.zarr"));
    RawArray::v2(&[24, 32], &[6, 32]).write(&raw);
    rechunk(&["copy", &raw, &flat, "--codec", "zstd:1", "--format", "zarr2"]).ok();
    let write = |place: &std::path::Path| {
        for chunk in 0..4 {
            fs::create_dir_all(place.join(chunk.to_string())).unwrap();
            let from = format!("{flat}/{chunk}.0");
            fs::copy(from, place.join(format!("{chunk}/0"))).unwrap();
        }
        fs::copy(format!("{flat}/.zarray"), place.join(".zarray")).unwrap();
    };
    let s3 = S3::new();
    write(&s3.disk("source.zarr"));
    let copy = s3.copy("t.zarr", &["--chunks", "24,8", "--verify"]).go().ok().json();
    let warnings = copy["warnings"].to_string();
    assert!(warnings.contains("dimension_separator"), "{warnings}");
    assert_same(raw.as_ref(), &s3.disk("t.zarr"));
    let info = s3.run(&["info", &s3.server.url("source.zarr")]).go().ok().stdout;
    assert!(info.contains("none missing") && info.contains("dimension_separator"), "{info}");
    let server = HttpServer::start(&ServerOptions::default()).unwrap();
    write(&server.root().join("s.zarr"));
    let (source, target) = (server.url("s.zarr"), folder.at("h.zarr"));
    let done = run(&["copy", &source, &target, "--chunks", "24,8"], &[]).go().ok();
    done.says(&["warning", "dimension_separator"]);
    assert_same(raw.as_ref(), target.as_ref());
    let info = run(&["info", &source], &[]).go().ok().stdout;
    assert!(info.contains("none missing"), "{info}");
    // Of what is stored as it is nothing is asked for when it is planned: it is refused at the end,
    // by name.
    let nested = s3.disk("nested.zarr");
    RawArray::v2(&[24, 32], &[6, 32]).write(&nested.display().to_string());
    for chunk in 0..4 {
        let bytes = fs::read(nested.join(format!("{chunk}.0"))).unwrap();
        fs::remove_file(nested.join(format!("{chunk}.0"))).unwrap();
        fs::create_dir_all(nested.join(chunk.to_string())).unwrap();
        fs::write(nested.join(format!("{chunk}/0")), bytes).unwrap();
    }
    let copy =
        ["copy", &s3.server.url("nested.zarr"), &s3.server.url("n.zarr"), "--chunks", "24,8"];
    s3.run(&copy).go().ends_with(3).says(&["like 0.0", "0/0"]);
    assert!(!looks_finished(&s3.disk("n.zarr").display().to_string()));
}

/// Where all chunks are there, nothing more is asked for than before.
#[test]
fn an_ordinary_array_is_asked_for_nothing_more() {
    let s3 = S3::with(&small());
    s3.server.clear_requests();
    s3.copy("t.zarr", &["--chunks", "24,8,16"]).go().ok();
    let requests = s3.server.requests();
    let of_source = |operation: Operation| {
        count(&requests, |r| {
            r.operation == operation
                && (r.key.starts_with("source.zarr") || r.query.contains("prefix=source.zarr"))
        })
    };
    assert_eq!((of_source(Operation::Head), of_source(Operation::List)), (0, 0));
}
