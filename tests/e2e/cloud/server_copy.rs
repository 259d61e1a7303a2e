//! Source and target in one store with equal chunks: it copies the objects itself. Its log shows
//! the copies, and not one byte of a chunk.

use std::thread::sleep;
use std::time::Duration;

use rechunk_testkit::{
    Fault, Faults, Filter, GcsServer, Moment, Operation, RequestRecord, S3Server, Server,
    ServerOptions,
};
use serde_json::Value;

use super::{S3, assert_same, count, run, small};
use crate::arrays::RawArray;
use crate::harness::rechunk;
use crate::report::{assert_done, assert_planned, number, text};

/// It is about a chunk, or a shard, of source or target.
fn is_data(request: &RequestRecord) -> bool {
    let name = request.key.rsplit('/').next().unwrap_or_default();
    let is_key = !name.is_empty() && !request.key.contains(".rechunk/");
    is_key && name.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Counts of the copies, reads and writes of an array's data.
fn moved(server: &Server) -> (u64, u64, u64) {
    let requests = server.requests();
    let of = |operation| count(&requests, |r| is_data(r) && r.operation == operation);
    (of(Operation::Copy), of(Operation::Get), of(Operation::Put))
}

fn is_copied(report: &Value) -> bool {
    report["plan"]["stages"][0]["copied_by_store"] == true
}

#[track_caller]
fn assert_store_copied(report: &Value, server: &Server, objects: u64) {
    assert_done(report);
    assert!(is_copied(report));
    assert_eq!(text(report, "plan.kind"), "passthrough");
    assert_eq!(moved(server), (objects, 0, 0));
    assert_eq!(number(report, "estimate.target.copy_requests"), objects);
    // With one list at the end: were objects of the source written meanwhile?
    assert!(number(report, "traffic.control.list") >= 1);
}

#[track_caller]
fn assert_passed_through(report: &Value, server: &Server, objects: u64) {
    assert_done(report);
    assert!(!is_copied(report));
    assert_eq!(moved(server), (0, objects, objects));
}

#[test]
fn s3_copies_the_chunks() {
    let s3 = S3::with(&small());
    s3.server.clear_requests();
    let report = s3.copy("t.zarr", &["--chunks", "keep"]).go().ok().json();
    assert_store_copied(&report, &s3.server, 6);
    assert_eq!(number(&report, "traffic.target.copy_requests"), 6);
    assert_eq!(number(&report, "traffic.target.http_attempts"), 6);
    s3.assert_copied("t.zarr");
    let [source, target] = ["source.zarr", "t.zarr"].map(|key| s3.server.url(key));
    s3.run(&["verify", &source, &target]).go().ok();
    // Another layout of keys, under another prefix.
    s3.server.clear_requests();
    let options = ["--chunks", "keep", "--format", "zarr2"];
    let report = s3.copy("deep/er/t.zarr", &options).go().ok().json();
    assert_store_copied(&report, &s3.server, 6);
    s3.assert_copied("deep/er/t.zarr");
}

#[test]
fn gcs_copies_the_chunks() {
    let server = GcsServer::start(&ServerOptions::default()).unwrap();
    let disk = |key: &str| server.root().join(GcsServer::BUCKET).join(key);
    small().write(&disk("source.zarr").display().to_string());
    let [source, target] = ["source.zarr", "t.zarr"].map(|key| server.url(key));
    let copy = ["copy", &source, &target, "--chunks", "keep", "--json"];
    let report = run(&copy, &[server.environment()]).go().ok().json();
    assert_store_copied(&report, &server, 6);
    assert_same(&disk("source.zarr"), &disk("t.zarr"));
}

#[test]
fn the_plan_says_so() {
    let s3 = S3::with(&small());
    let [source, target] = ["source.zarr", "t.zarr"].map(|key| s3.server.url(key));
    let plan = ["plan", &source, &target, "--chunks", "keep"];
    let said = s3.run(&plan).go().ok().stdout;
    assert!(said.contains("copied by the store itself: 6 objects"), "{said}");
    assert!(said.contains("COPY"), "{said}");
    assert!(said.contains("copies inside the store"), "{said}");
    let report = s3.run(&[&plan[..], &["--json"]].concat()).go().ok().json();
    assert_planned(&report);
    assert!(is_copied(&report));
    let usd = report["estimate"]["price"]["copy_usd"].as_f64().unwrap();
    assert!((usd - 6.0 * 5e-6).abs() < 1e-12, "{usd}");
    // What will be verified is moved.
    let dry = s3.copy("t.zarr", &["--chunks", "keep", "--verify", "--dry-run"]).go().ok().json();
    assert!(!is_copied(&dry));
    assert_eq!(number(&dry, "estimate.source.get_requests"), 6);
    assert_eq!(moved(&s3.server), (0, 0, 0), "planning moves nothing");
    // The summary of a run.
    let done = s3.run(&["copy", &source, &target, "--chunks", "keep"]).go().ok();
    done.says(&["copied by the store itself: 6 objects", "COPY", "6 as planned"]);
}

#[test]
fn missing_chunks_stay_missing() {
    let s3 = S3::with(&small());
    for chunk in ["1/0/0", "4/0/0"] {
        std::fs::remove_file(s3.disk("source.zarr/c").join(chunk)).unwrap();
    }
    let report = s3.copy("t.zarr", &["--chunks", "keep"]).go().ok().json();
    assert_store_copied(&report, &s3.server, 6);
    assert_eq!(number(&report, "traffic.target.copy_requests"), 4);
    assert_eq!(number(&report, "traffic.source.get_missing"), 2);
    for chunk in 0..6 {
        let key = format!("t.zarr/c/{chunk}/0/0");
        assert_eq!(s3.disk(&key).exists(), chunk != 1 && chunk != 4, "{key}");
    }
    s3.assert_copied("t.zarr");
}

/// Whole shards are copied where they are the same on both sides.
#[test]
fn whole_shards_are_copied_and_others_are_not() {
    let s3 = S3::new();
    let (raw, source) = (s3.folder.at("raw.zarr"), s3.disk("source.zarr").display().to_string());
    small().write(&raw);
    let shards = ["--chunks", "4,8,16", "--shards", "12,16,48", "--codec", "zstd:1"];
    rechunk(&[&["copy", &raw, &source], &shards[..]].concat()).ok();
    s3.server.clear_requests();
    let report = s3.copy("t.zarr", &["--chunks", "keep"]).go().ok().json();
    assert_store_copied(&report, &s3.server, 4);
    s3.assert_copied("t.zarr");
    for shards in ["24,32,48", "none"] {
        s3.server.clear_requests();
        let options = ["--chunks", "keep", "--shards", shards, "--overwrite"];
        let report = s3.copy("t.zarr", &options).go().ok().json();
        assert_done(&report);
        assert_eq!(number(&report, "traffic.target.copy_requests"), 0);
        assert_eq!(moved(&s3.server).0, 0);
        s3.assert_copied("t.zarr");
    }
}

#[test]
fn what_is_verified_is_read_and_written() {
    let s3 = S3::with(&small());
    s3.server.clear_requests();
    let report = s3.copy("t.zarr", &["--chunks", "keep", "--verify"]).go().ok().json();
    assert_done(&report);
    assert_eq!(report["verified"], true);
    assert!(!is_copied(&report));
    // The target is read back.
    assert_eq!(moved(&s3.server), (0, 12, 6));
    s3.assert_copied("t.zarr");
}

/// A plan that was made without that being said.
#[test]
fn a_saved_plan_copies_unless_it_is_verified() {
    let s3 = S3::with(&small());
    let [source, target] = ["source.zarr", "t.zarr"].map(|key| s3.server.url(key));
    let plan = s3.folder.at("plan.json");
    s3.run(&["plan", &source, &target, "--chunks", "keep", "--out", &plan]).go().ok();
    s3.server.clear_requests();
    let report = s3.run(&["run", &plan, "--json"]).go().ok().json();
    assert_store_copied(&report, &s3.server, 6);
    s3.assert_copied("t.zarr");
    s3.server.clear_requests();
    let options = ["--json", "--overwrite", "--verify"];
    let report = s3.run(&[&["run", &plan][..], &options].concat()).go().ok().json();
    assert_eq!(report["verified"], true);
    assert_eq!(number(&report, "traffic.target.put_requests"), 6);
    assert_eq!(moved(&s3.server), (0, 12, 6));
    s3.assert_copied("t.zarr");
}

/// Another bucket, other options, other credentials, another endpoint.
#[test]
fn two_stores_do_not_copy() {
    let s3 = S3::with(&small());
    let other = s3.server.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let (source, target) = (s3.server.url("source.zarr"), s3.server.url("t.zarr"));
    let keep = ["--chunks", "keep", "--json"];
    s3.server.clear_requests();
    let copy = ["copy", &source, "s3://other/t.zarr"];
    let report = s3.run(&[&copy[..], &keep].concat()).go().ok().json();
    assert_passed_through(&report, &s3.server, 6);
    assert_same(&s3.disk("source.zarr"), &other.join("t.zarr"));
    for option in [
        format!("access_key_id={}", S3Server::ACCESS_KEY_ID),
        format!("endpoint={}", s3.server.endpoint()),
    ] {
        s3.server.clear_requests();
        let option = format!("{target},{option}");
        let copy = ["copy", &source, &target, "--store-option", &option];
        let report = s3.run(&[&copy[..], &keep].concat()).go().ok().json();
        assert_passed_through(&report, &s3.server, 6);
        s3.assert_copied("t.zarr");
        s3.forget("t.zarr");
    }
    // And the disk has hard links, which are no copies.
    let (from, to) = (s3.folder.at("from.zarr"), s3.folder.at("to.zarr"));
    small().write(&from);
    let report = rechunk(&[&["copy", &from, &to], &keep[..]].concat()).ok().json();
    assert_done(&report);
    assert!(!is_copied(&report));
    let links = std::os::unix::fs::MetadataExt::nlink(
        &std::fs::metadata(s3.folder.path().join("to.zarr/c/0/0/0")).unwrap(),
    );
    assert_eq!(links, 1);
}

#[test]
fn a_copy_that_fails_for_a_moment_is_made_again() {
    let s3 = S3::with(&small());
    let faults = Fault::MOMENTARY.into_iter().chain([Fault::ErrorInOk]);
    let copies = || Filter::any().operation(Operation::Copy);
    for (nth, fault) in (0..).zip(faults) {
        s3.server.clear_requests();
        s3.server.fail_nth(copies(), 1 + nth % 6, fault);
        let report = s3.copy("t.zarr", &["--chunks", "keep"]).go().ok().json();
        assert_done(&report);
        assert_eq!(moved(&s3.server), (7, 0, 0), "{fault:?}");
        assert_eq!(number(&report, "traffic.target.copy_requests"), 6, "{fault:?}");
        assert_eq!(number(&report, "traffic.target.http_attempts"), 7, "{fault:?}");
        s3.assert_copied("t.zarr");
        s3.forget("t.zarr");
    }
    // A store that fails for good.
    s3.server.set_faults(Faults::none().with(Fault::InternalError, 1.0).only(copies()));
    let options = ["--chunks", "keep", "--max-retries", "1"];
    s3.copy("t.zarr", &options).go().fails().says(&["cannot copy inside the store", "--resume"]);
    assert!(!s3.disk("t.zarr/zarr.json").exists());
    s3.server.set_faults(Faults::none());
    s3.copy("t.zarr", &["--chunks", "keep", "--resume"]).go().ok();
    s3.assert_copied("t.zarr");
}

/// A policy against it, or an implementation without it: it is no reason to fail.
#[test]
fn what_a_store_refuses_to_copy_is_read_and_written() {
    for fault in [Fault::AccessDenied, Fault::NotImplemented] {
        let s3 = S3::with(&small());
        let copies = Filter::any().operation(Operation::Copy);
        s3.server.set_faults(Faults::none().with(fault, 1.0).only(copies));
        s3.server.clear_requests();
        let [source, target] = ["source.zarr", "t.zarr"].map(|key| s3.server.url(key));
        let done = s3.run(&["copy", &source, &target, "--chunks", "keep"]).go().ok();
        assert_eq!(done.stderr.matches("does not copy objects itself").count(), 1, "{done:?}");
        let (copies, gets, puts) = moved(&s3.server);
        assert!((1..=6).contains(&copies), "{copies} were tried");
        assert_eq!((gets, puts), (6, 6));
        s3.assert_copied("t.zarr");
    }
}

/// Killed in the middle of a copy, or right after it, and begun or resumed the other way.
#[test]
fn a_run_is_begun_one_way_and_resumed_the_other() {
    let s3 = S3::with(&small());
    for (first, second) in [(&[][..], &["--verify"][..]), (&["--verify"], &[])] {
        let operation = if first.is_empty() { Operation::Copy } else { Operation::Put };
        let data = Filter::any().operation(operation).key("t.zarr/c/*");
        let hold = s3.server.hold_nth(data, 3, Moment::After);
        let mut copy = s3.copy("t.zarr", &[&["--chunks", "keep"], first].concat()).start();
        hold.wait(Duration::from_mins(1)).expect("a third chunk is moved");
        copy.kill().unwrap();
        copy.wait().unwrap();
        hold.abandon();
        let again = [&["--chunks", "keep", "--resume"], second].concat();
        let report = s3.copy("t.zarr", &again).go().ok().json();
        assert_eq!(number(&report, "tasks.done"), number(&report, "tasks.total"));
        s3.assert_copied("t.zarr");
        s3.forget("t.zarr");
    }
}

/// Copied objects were not seen; they are looked at when all are copied.
#[test]
fn a_source_that_is_written_meanwhile_is_found_out() {
    let s3 = S3::with(&small());
    let copies = Filter::any().operation(Operation::Copy);
    let hold = s3.server.hold_nth(copies, 2, Moment::Before);
    let copy = s3.copy("t.zarr", &["--chunks", "keep"]);
    let done = std::thread::scope(|scope| {
        let copying = scope.spawn(|| copy.go());
        hold.wait(Duration::from_mins(1)).expect("a chunk is copied");
        sleep(Duration::from_millis(2100)); // stores say whole seconds
        let chunk = s3.disk("source.zarr/c/5/0/0");
        let bytes = std::fs::read(&chunk).unwrap();
        std::fs::write(&chunk, bytes).unwrap();
        sleep(Duration::from_millis(2100));
        hold.release();
        copying.join().unwrap()
    });
    done.ends_with(3).says(&["c/5/0/0", "was written at", "--overwrite"]);
    assert!(!s3.disk("t.zarr/zarr.json").exists(), "it is no array");
    // What was copied of it before stays what it was.
    let resume = s3.copy("t.zarr", &["--chunks", "keep", "--resume"]).go();
    resume.ends_with(4).says(&["c/5/0/0", "was written at", "--overwrite"]);
    s3.copy("t.zarr", &["--chunks", "keep", "--overwrite"]).go().ok();
    s3.assert_copied("t.zarr");
}

/// Each array of a group by itself.
#[test]
fn arrays_of_a_group_are_copied() {
    let s3 = S3::new();
    let group = serde_json::json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
    std::fs::create_dir_all(s3.disk("source.zarr")).unwrap();
    std::fs::write(s3.disk("source.zarr/zarr.json"), group.to_string()).unwrap();
    for name in ["a", "b"] {
        RawArray::v3(&[8, 8], &[4, 8])
            .write(&s3.disk("source.zarr").join(name).display().to_string());
    }
    s3.server.clear_requests();
    let report = s3.copy("t.zarr", &["--chunks", "keep"]).go().ok().json();
    assert_eq!(moved(&s3.server), (4, 0, 0));
    assert_eq!(number(&report, "estimate.target.copy_requests"), 4);
    assert_eq!(number(&report, "traffic.target.copy_requests"), 4);
    let [source, target] = ["source.zarr", "t.zarr"].map(|key| s3.server.url(key));
    let said = s3.run(&["plan", &source, &target, "--chunks", "keep"]).go().ok().stdout;
    assert!(said.contains("copied by the store itself: 4 objects"), "{said}");
    for name in ["a", "b"] {
        let [source, target] = ["source.zarr", "t.zarr"].map(|key| s3.disk(key).join(name));
        assert_same(&source, &target);
    }
    s3.assert_clean();
}
