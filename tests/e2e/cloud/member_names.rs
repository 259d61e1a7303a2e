//! Names of members with signs that globs, URLs and stores read in their own ways.

use std::path::Path;

use rechunk_testkit::{HttpServer, ServerOptions};
use serde_json::{Map, json};

use super::{S3, assert_same, run, small};
use crate::arrays::write_json;
use crate::harness::{Folder, Run};

/// Each with another one that a glob of the same signs would mean.
const NAMES: [&str; 9] =
    ["t[1]", "t1", "100%", "n%20m", "n m", "a#b", "what?", "x[a-b]y", "deep/c[0]/v"];

/// A group of Zarr v3 with arrays of these names, and its consolidated metadata.
fn write_group(place: &Path) {
    let group = |extra: Map<String, serde_json::Value>| {
        let mut group = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
        group.as_object_mut().unwrap().extend(extra);
        group
    };
    let mut members = Map::new();
    for below in ["deep", "deep/c[0]"] {
        write_json(&place.join(below).join("zarr.json"), &group(Map::new()));
        members.insert(below.to_owned(), group(Map::new()));
    }
    for name in NAMES {
        small().write(&place.join(name).display().to_string());
        members.insert(name.to_owned(), small().metadata().1);
    }
    let consolidated = json!({"kind": "inline", "must_understand": false, "metadata": members});
    let extra = Map::from_iter([("consolidated_metadata".to_owned(), consolidated)]);
    write_json(&place.join("zarr.json"), &group(extra));
}

/// Members that a copy with these options copies.
#[track_caller]
fn copied(start: &dyn Fn(&[&str]) -> Run, source: &str, options: &[&str]) -> Vec<String> {
    let folder = Folder::new();
    let target = folder.at("t.zarr");
    let copy = [&["copy", source, &target, "--json"][..], options].concat();
    let report = start(&copy).go().ok().json();
    let arrays = report["arrays"].as_array().unwrap();
    arrays.iter().map(|array| array["path"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn names_are_found(start: &dyn Fn(&[&str]) -> Run, source: &str) {
    for name in NAMES {
        assert_eq!(copied(start, source, &["--include", name]), [name], "{source}");
        let others = copied(start, source, &["--exclude", name]);
        assert_eq!(others.len(), NAMES.len() - 1, "{source}: {name}");
        assert!(!others.contains(&name.to_owned()), "{source}: {name}");
    }
    for (pattern, meant) in [
        ("t[[]1[]]", &["t[1]"][..]),
        ("t[12]", &["t1"]),
        ("what[?]", &["what?"]),
        ("n*m", &["n m", "n%20m"]),
        ("deep/c[0]", &["deep/c[0]/v"]),
    ] {
        assert_eq!(copied(start, source, &["--include", pattern]), meant, "{source}: {pattern}");
    }
    let all = copied(start, source, &[]);
    assert_eq!(all.len(), NAMES.len(), "{source}: {all:?}");
    let folder = Folder::new();
    let misspelt = ["copy", source, &folder.at("t.zarr"), "--include", "u[1]"];
    start(&misspelt).go().ends_with(2).says(&["matches no array", "[[]"]);
}

#[test]
fn on_a_disk() {
    let folder = Folder::new();
    write_group(&folder.path().join("g.zarr"));
    let start = |arguments: &[&str]| run(arguments, &[]);
    names_are_found(&start, &folder.at("g.zarr"));
    names_are_found(&start, &format!("file://{}", folder.at("g.zarr")));
}

#[test]
fn over_http() {
    let server = HttpServer::start(&ServerOptions::default()).unwrap();
    let disk = server.root().join("g.zarr");
    write_group(&disk);
    let start = |arguments: &[&str]| run(arguments, &[]);
    names_are_found(&start, &server.url("g.zarr"));
    let folder = Folder::new();
    start(&["copy", &server.url("g.zarr"), &folder.at("t.zarr")]).go().ok();
    for name in NAMES {
        assert_same(&disk.join(name), &folder.path().join("t.zarr").join(name));
    }
}

#[test]
fn in_a_bucket() {
    let s3 = S3::new();
    write_group(&s3.disk("g.zarr"));
    let start = |arguments: &[&str]| s3.run(arguments);
    names_are_found(&start, &s3.server.url("g.zarr"));
    s3.run(&["copy", &s3.server.url("g.zarr"), &s3.server.url("t.zarr")]).go().ok();
    for name in NAMES {
        assert_same(&s3.disk("g.zarr").join(name), &s3.disk("t.zarr").join(name));
    }
}
