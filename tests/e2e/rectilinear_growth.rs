//! Archives in chunks of months, which grow by months: `--append` where chunks differ in length.
//! Any lengths, and deaths at every call, are in `crates/rechunk/tests/facade/growth`.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arrays::write_json;
use crate::harness::{Folder, rechunk, tree};
use crate::oracle::{World, available, job, read};

/// Points of the grid below each day.
const POINTS: u64 = 6;

/// Writes a group of the days from `first` on, counted from 2020-01-01: the days and a value for
/// each point, with consolidated metadata.
fn days(folder: &Folder, name: &str, first: u64, count: u64) -> String {
    let location = folder.at(name);
    let root = Path::new(&location);
    let array = |shape: &[u64], chunk: &[u64], data_type: &str, names: &[&str], units: Value| {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": units, "dimension_names": names,
        })
    };
    let units = json!({"units": "days since 2020-01-01", "calendar": "standard"});
    let time = array(&[count], &[count], "int32", &["time"], units);
    let value = array(&[count, POINTS], &[7, POINTS], "int16", &["time", "x"], json!({}));
    let members = json!({"time": time, "v": value});
    for (name, document) in members.as_object().unwrap() {
        std::fs::create_dir_all(root.join(name).join("c")).unwrap();
        write_json(&root.join(name).join("zarr.json"), document);
    }
    let consolidated = json!({"kind": "inline", "must_understand": false, "metadata": members});
    write_json(
        &root.join("zarr.json"),
        &json!({
            "zarr_format": 3, "node_type": "group", "attributes": {},
            "consolidated_metadata": consolidated,
        }),
    );
    let numbers = (first..first + count).flat_map(|day| i32::try_from(day).unwrap().to_le_bytes());
    std::fs::write(root.join("time/c/0"), numbers.collect::<Vec<u8>>()).unwrap();
    for chunk in 0..count.div_ceil(7) {
        let from = first + 7 * chunk;
        std::fs::create_dir_all(root.join(format!("v/c/{chunk}"))).unwrap();
        std::fs::write(root.join(format!("v/c/{chunk}/0")), values(from, 7)).unwrap();
    }
    location
}

fn values(first: u64, count: u64) -> Vec<u8> {
    let value = |at: u64| i16::try_from(at + 1).unwrap().to_le_bytes();
    (first * POINTS..(first + count) * POINTS).flat_map(value).collect()
}

/// Lengths of chunks along the first axis, in the document of an array.
fn lengths(document: &Value) -> Value {
    let grid = &document["chunk_grid"];
    assert_eq!(grid["name"], "rectilinear", "{grid}");
    grid["configuration"]["chunk_shapes"][0].clone()
}

fn document(location: &str, path: &str) -> Value {
    let bytes = std::fs::read(Path::new(location).join(path).join("zarr.json")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// The archive holds so many days, in chunks of these lengths, for others too.
fn assert_archive(archive: &str, days: u64, wanted: &Value) {
    let own = document(archive, "v");
    let above = document(archive, "");
    let above = &above["consolidated_metadata"]["metadata"]["v"];
    for said in [&own, above] {
        assert_eq!((&said["shape"], &lengths(said)), (&json!([days, POINTS]), wanted));
    }
    if available() && World::New.is_installed() {
        let answer = read(World::New, &[job(&format!("{archive}/v"), 3, "zarr")]).remove(0);
        let sha256 = format!("{:x}", Sha256::digest(values(0, days)));
        assert_eq!(answer["sha256"], json!(sha256), "{answer}");
    }
}

#[test]
fn an_archive_of_months_grows_by_months() {
    let folder = Folder::new();
    let archive = folder.at("archive.zarr");
    let first = days(&folder, "first.zarr", 0, 60);
    rechunk(&["copy", &first, &archive, "--chunks", "time=1M", "--no-fsync", "-q"]).ok();
    assert_archive(&archive, 60, &json!([31, 29]));
    // Its chunks are those of the calendar, and so are the new ones.
    let spring = days(&folder, "spring.zarr", 60, 61);
    let append = ["copy", &spring, &archive, "--append", "time", "--no-fsync"];
    let told = rechunk(&[&append[..], &["--dry-run"]].concat()).ok().stdout;
    assert!(told.contains("time=1M (2 chunks of 30 to 31)"), "{told}");
    let done = rechunk(&[&append[..], &["--verify", "--json"]].concat()).ok().json();
    for array in done["arrays"].as_array().unwrap() {
        crate::report::assert_done(array);
    }
    assert_archive(&archive, 121, &json!([31, 29, 31, 30]));
    // A part of a month is one chunk, behind which its other days do not go.
    let part = days(&folder, "part.zarr", 121, 10);
    let append = ["--append", "time", "--no-fsync", "-q"];
    rechunk(&[&["copy", &part, &archive][..], &append].concat()).ok();
    assert_archive(&archive, 131, &json!([31, 29, 31, 30, 10]));
    let rest = days(&folder, "rest.zarr", 131, 21);
    let before = tree(Path::new(&archive));
    rechunk(&[&["copy", &rest, &archive][..], &append].concat()).ends_with(4).says(&[
        "does not end where 2020-05",
        "append whole months",
        "time=21",
    ]);
    assert_eq!(tree(Path::new(&archive)), before);
    let chunks = ["--chunks", "time=20+1"];
    rechunk(&[&["copy", &rest, &archive][..], &append, &chunks].concat()).ok();
    assert_archive(&archive, 152, &json!([31, 29, 31, 30, 10, 20, 1]));
    // Then they are no months any more.
    let june = days(&folder, "june.zarr", 152, 30);
    rechunk(&[&["copy", &june, &archive][..], &append].concat()).ends_with(2).says(&[
        "differ in length",
        "no months",
        "time=31+28",
        "time=1M",
    ]);
    let chunks = ["--chunks", "time=1M"];
    rechunk(&[&["copy", &june, &archive][..], &append, &chunks].concat()).ok();
    assert_archive(&archive, 182, &json!([31, 29, 31, 30, 10, 20, 1, 30]));
}

/// An archive that begins with one month is regular; whoever says months means months.
#[test]
fn an_archive_that_begins_with_one_month_grows_by_months() {
    for sharded in [false, true] {
        let folder = Folder::new();
        let archive = folder.at("archive.zarr");
        let months = if sharded { "--shards" } else { "--chunks" };
        let first = days(&folder, "first.zarr", 0, 31);
        let make = [months, "time=1M", "--no-fsync", "-q"];
        let inner: &[&str] = if sharded { &["--chunks", "time=1"] } else { &[] };
        rechunk(&[&["copy", &first, &archive][..], &make, inner].concat()).ok();
        assert_eq!(document(&archive, "v")["chunk_grid"]["name"], "regular");
        for (name, from, count) in [("feb.zarr", 31, 29), ("mar.zarr", 60, 31)] {
            let month = days(&folder, name, from, count);
            let append = ["--append", "time", months, "time=1M", "--verify", "--no-fsync", "-q"];
            rechunk(&[&["copy", &month, &archive][..], &append].concat()).ok();
        }
        assert_archive(&archive, 91, &json!([31, 29, 31]));
        rechunk(&["verify", &format!("{first}/v"), &format!("{archive}/v"), "--json"]).ends_with(6);
    }
}

/// A part of an archive of months is written anew.
#[test]
fn a_region_goes_into_months() {
    let folder = Folder::new();
    let archive = folder.at("archive.zarr");
    let year = days(&folder, "year.zarr", 0, 366);
    rechunk(&["copy", &year, &archive, "--chunks", "time=1M", "--no-fsync", "-q"]).ok();
    let wanted = json!([31, 29, 31, 30, 31, 30, [31, 2], 30, 31, 30, 31]);
    for (name, from, count) in [("march.zarr", 60, 31), ("some.zarr", 85, 50)] {
        let target = format!("{archive}/v");
        let source = format!("{}/v", days(&folder, name, from, count));
        // What is there is something else.
        for key in ["2", "3", "4"] {
            std::fs::remove_file(Path::new(&target).join(format!("c/{key}/0"))).unwrap();
        }
        rechunk(&[
            "copy",
            &format!("{year}/v"),
            &target,
            "--select",
            "time=60:152",
            "--region",
            "time=60:152",
            "-q",
        ])
        .ok();
        let region = format!("time={from}:{}", from + count);
        let write = ["--region", &region, "--verify", "--no-fsync", "-q"];
        rechunk(&[&["copy", &source, &target][..], &write].concat()).ok();
    }
    assert_archive(&archive, 366, &wanted);
}

/// Lengths are asked for where something says that they may differ, and of the axis that grows.
#[test]
fn other_lengths_are_refused() {
    let folder = Folder::new();
    let archive = folder.at("archive.zarr");
    let first = days(&folder, "first.zarr", 0, 60);
    rechunk(&["copy", &first, &archive, "--chunks", "time=1M", "--no-fsync", "-q"]).ok();
    let march = days(&folder, "march.zarr", 60, 31);
    let (source, target) = (format!("{march}/v"), format!("{archive}/v"));
    let before = tree(Path::new(&archive));
    for (chunks, says) in [
        ("time=20+10", "not the lengths of chunks for the 31 elements"),
        ("time=20+11+1", "not the lengths of chunks for the 31 elements"),
        ("time=auto", "`auto` is no length"),
        ("time=10D", "no months or years"),
        ("time=31,x=3", "the target keeps its own"),
        ("31", "entries"),
    ] {
        let append = ["--append", "time", "--chunks", chunks, "-q"];
        rechunk(&[&["copy", &source, &target][..], &append].concat()).ends_with(2).says(&[says]);
    }
    let append = ["--append", "time", "--shards", "time=1M", "-q"];
    rechunk(&[&["copy", &source, &target][..], &append].concat())
        .ends_with(2)
        .says(&["--shards cannot be given"]);
    assert_eq!(tree(Path::new(&archive)), before);
    // A grid of one length stays so, unless lengths or months are asked for.
    let regular = folder.at("regular.zarr");
    rechunk(&["copy", &first, &regular, "--chunks", "time=30", "--no-fsync", "-q"]).ok();
    let append = ["copy", &march, &regular, "--append", "time", "-q", "--chunks"];
    rechunk(&[&append[..], &["time=31"]].concat()).ends_with(2).says(&["--chunks cannot be given"]);
}
