//! Saved plans and killed jobs that a program wrote before plans had several arrays: they are run,
//! and gone on with (`fixtures/plan_version_2`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::harness::{Done, Folder, Run, copy_directory, fixture, tree};

/// Copies a directory. What it holds was last written in 2020, as sources were before their plans.
fn copy(from: &Path, to: &Path) {
    copy_directory(from, to);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_hours(438_288);
    for path in tree(to).into_keys().map(|name| to.join(name)).filter(|path| path.is_file()) {
        fs::File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
}

fn taken(name: &str) -> (Folder, PathBuf) {
    let folder = Folder::new();
    let path = folder.path().join("taken");
    copy(fixture(&format!("plan_version_2/{name}")).as_ref(), &path);
    (folder, path)
}

fn rechunk_in(directory: &Path, arguments: &[&str]) -> Done {
    Run::rechunk(arguments).in_directory(directory).go()
}

fn names() -> BTreeSet<String> {
    let entries = fs::read_dir(fixture("plan_version_2/plans")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "json")).collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_saved_plan_of_version_2_is_run() {
    let names = names();
    assert!(names.len() >= 14, "{names:?}");
    for name in names {
        let (_folder, directory) = taken("plans");
        let saved = json(&directory.join(&name));
        let report = rechunk_in(&directory, &["run", &name, "--json"]).ok().json();
        assert_eq!(report["plan"]["fingerprint"], saved["plan"]["fingerprint"], "{name}");
        assert_eq!(report["plan"]["kind"], saved["plan"]["kind"], "{name}");
        let (source, target) = (&saved["request"]["source"], &saved["request"]["target"]);
        if name == "region.json" {
            continue; // the target has more than its region
        }
        let arrays = [source.as_str().unwrap(), target.as_str().unwrap()];
        rechunk_in(&directory, &["verify", arrays[0], arrays[1]]).ok();
    }
}

#[test]
fn every_killed_job_of_version_2_is_gone_on_with() {
    for name in ["killed-array", "killed-stages", "killed-group"] {
        let (_folder, directory) = taken(name);
        let command: Vec<String> =
            serde_json::from_value(json(&directory.join("command.json"))).unwrap();
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.extend(["--resume", "--json"]);
        let report = rechunk_in(&directory, &arguments).ok().json();
        if name != "killed-group" {
            assert_eq!(report["tasks"]["resumed"], 1, "{name}: {report}");
        }
        rechunk_in(&directory, &["verify", arguments[1], "out.zarr"]).ok();
        assert!(!directory.join("out.zarr.rechunk").exists(), "{name}");
    }
}

#[test]
fn plans_that_cannot_be_run_are_refused_by_name() {
    let (_folder, directory) = taken("plans");
    let path = directory.join("direct.json");
    let mut saved = json(&path);
    saved["plan"]["version"] = 7.into();
    fs::write(&path, saved.to_string()).unwrap();
    let refused = rechunk_in(&directory, &["run", "direct.json"]).ends_with(2);
    refused.says(&["version 7 of a plan's form", "plan again"]);
}
