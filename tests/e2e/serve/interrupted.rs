//! Runs that are killed, and servers that go away, in the middle of a copy to a data set.

use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Lab, SHAPE, write_array};
use super::serving::Serving;
use crate::harness::Run;

/// Work directories in the folder.
fn states(lab: &Lab) -> usize {
    let names = std::fs::read_dir(lab.folder.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".rechunk")).count()
}

/// Starts a slow copy to a new version, and waits until some blocks are there.
fn begin(lab: &Lab, words: &[&str], id: &str, version: u64) -> Child {
    let slow = [words, &["--bwlimit", "60KiB", "-q"]].concat();
    let mut child = Run::rechunk(&slow).in_directory(lab.folder.path()).start();
    let begun = Instant::now();
    while lab.blocks(id, version).len() < 3 {
        assert!(begun.elapsed() < Duration::from_mins(1), "nothing is written");
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_run_that_is_killed_goes_on_in_the_version_that_it_has_made() {
    let lab = Lab::new();
    let id = lab.create(&json!({}));
    let source = lab.at("a.zarr");
    write_array(&source, "<u2", &SHAPE, 1);
    // Several tasks: the source in several chunks.
    let cut = lab.at("cut.zarr");
    lab.run(&["copy", &source, &cut, "--chunks", "8,16,71"]).ok();
    let target = lab.level(&id, "new");
    let words = ["copy", &cut, &target, "--max-mem", "64MiB", "--concurrency", "1"];
    for version in 1..4 {
        let mut child = begin(&lab, &words, &id, version);
        child.kill().unwrap();
        child.wait().unwrap();
        let there = lab.blocks(&id, version).len();
        assert!(there < 60, "all was written before the kill");
        assert_eq!(states(&lab), 1);
        lab.run(&words).ends_with(4).says(&["interrupted"]);
        let said = lab.run(&["status", &target]).ok().stdout;
        assert!(said.contains("interrupted run"), "{said}");
        let report = lab.run(&[&words[..], &["--resume", "--json"]].concat()).ok().json();
        assert_eq!(report["version_made"], lab.level(&id, &version.to_string()));
        assert_eq!(states(&lab), 0);
        let made: Vec<u64> = (0..=version).collect();
        assert_eq!(lab.versions(&id), json!(made), "a resume makes no version");
        lab.run(&["verify", &source, &lab.level(&id, &version.to_string())]).ok();
    }
    let mut child = begin(&lab, &words, &id, 4);
    child.kill().unwrap();
    child.wait().unwrap();
    lab.run(&["clean", &target]).ok();
    assert_eq!(states(&lab), 0);
}

#[test]
fn a_server_that_goes_away_is_said_and_the_run_goes_on_when_it_is_back() {
    let lab = Lab::new();
    let id = lab.create(&json!({}));
    let source = lab.at("a.zarr");
    write_array(&source, "<u2", &SHAPE, 2);
    let cut = lab.at("cut.zarr");
    lab.run(&["copy", &source, &cut, "--chunks", "8,16,71"]).ok();
    let target = lab.level(&id, "new");
    let patience = ["--max-retries", "1", "--timeout", "2s"];
    let words = [&["copy", &cut, &target, "--max-mem", "64MiB"][..], &patience].concat();
    let child = begin(&lab, &words, &id, 1);
    let Lab { folder, serving } = lab;
    let address = serving.address.clone();
    drop(serving);
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("--resume"), "{said}");
    let root = folder.at("root");
    let serving = Serving::start_at(&["datastore", &root, "--write"], &address);
    let lab = Lab { folder, serving };
    lab.run(&[&words[..], &["--resume"]].concat()).ok();
    assert_eq!(lab.versions(&id), json!([0, 1]));
    lab.run(&["verify", &source, &lab.level(&id, "1")]).ok();
    // And as a source: nothing that looks finished is left.
    let back = lab.at("back.zarr");
    let there = lab.level(&id, "1");
    let words = [&["copy", &there, &back, "--bwlimit", "60KiB", "-q"][..], &patience];
    let child = Run::rechunk(&words.concat()).in_directory(lab.folder.path()).start();
    std::thread::sleep(Duration::from_millis(400));
    let Lab { folder, serving } = lab;
    drop(serving);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{}", String::from_utf8_lossy(&ended.stderr));
    let serving = Serving::start_at(&["datastore", &root], &address);
    let lab = Lab { folder, serving };
    lab.run(&["copy", &lab.level(&id, "1"), &back, "--resume"]).ok();
    lab.run(&["verify", &source, &back]).ok();
}
