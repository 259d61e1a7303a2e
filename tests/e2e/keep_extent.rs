//! Chunks longer than their axis, for an archive that will grow: kept where that is asked for, and
//! said where they are cut.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::RawArray;
use crate::harness::{Folder, rechunk};
use crate::oracle::{World, available, job, read};
use crate::report::assert_done;

const SHAPE: [u64; 2] = [3, 10];

/// An array of three days, and a group with it and its coordinate.
fn day(folder: &Folder) -> String {
    let source = folder.at("day.zarr");
    for (name, shape) in [("ta", &SHAPE[..]), ("time", &SHAPE[..1])] {
        let place = format!("{source}/{name}");
        RawArray::v3(shape, shape).of_uint16().write(&place);
        let document = Path::new(&place).join("zarr.json");
        let mut array: Value = serde_json::from_slice(&std::fs::read(&document).unwrap()).unwrap();
        array["dimension_names"] = json!(&["time", "x"][..shape.len()]);
        std::fs::write(document, array.to_string()).unwrap();
    }
    let group = r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;
    std::fs::write(format!("{source}/zarr.json"), group).unwrap();
    source
}

fn chunks(location: &str) -> Value {
    rechunk(&["info", location, "--json"]).ok().json()["chunk_shape"].clone()
}

fn objects(location: &str) -> usize {
    let is_chunk = |name: &String| !name.contains("json") && !name.contains(".za");
    let files = crate::harness::tree(Path::new(location));
    files.iter().filter(|(name, digest)| is_chunk(name) && !digest.is_empty()).count()
}

#[test]
fn chunks_longer_than_the_axis_are_kept_when_asked_for() {
    let folder = Folder::new();
    let source = format!("{}/ta", day(&folder));
    for (number, (options, expected)) in [
        (&["--chunks", "time=8!,x=4"][..], json!([8, 4])),
        (&["--chunks", "8!,-1"], json!([8, 10])),
        (&["--chunks", "8,20", "--keep-extent"], json!([8, 20])),
        (&["--chunks", "time=8!,x=20!", "--format", "zarr2"], json!([8, 20])),
        (&["--chunks", "time=8!", "--format", "n5"], json!([8, 10])),
        (&["--chunks", "time=8!,x=4", "--format", "n5", "--codec", "raw"], json!([8, 4])),
        (&["--chunks", "time=4!,x=5", "--shards", "time=8!,x=10"], json!([4, 5])),
        (&["--chunks", "2,5", "--shards", "8,10", "--keep-extent"], json!([2, 5])),
        (&["--chunks", "time=8!,x=auto"], json!([8, 10])),
        (&["--chunks", "time=8!,x=4", "--strategy", "push-pull"], json!([8, 4])),
    ]
    .into_iter()
    .enumerate()
    {
        let target = folder.at(&format!("{number}.zarr"));
        let copy = ["copy", &source, &target, "--verify", "--json"];
        let report = rechunk(&[&copy[..], options].concat()).ok().json();
        assert_done(&report);
        assert_eq!(report.get("notes"), None, "{options:?}");
        assert_eq!(report["plan"]["target_chunks"], expected, "{options:?}");
        assert_eq!(chunks(&target), expected, "{options:?}");
        if options.contains(&"--shards") {
            assert_eq!(report["plan"]["target_shards"], json!([8, 10]), "{options:?}");
        }
        // It grows into them: what fits the first chunks takes no more.
        let before = objects(&target);
        for days in [6, 9] {
            let append = ["copy", &source, &target, "--append", "0", "--verify", "--json"];
            assert_done(&rechunk(&append).ok().json());
            assert_eq!(chunks(&target), expected, "{options:?}");
            let shape = rechunk(&["info", &target, "--json"]).ok().json()["shape"].clone();
            assert_eq!(shape, json!([days, 10]));
            let grown = if days > 8 { 2 * before } else { before };
            assert_eq!(objects(&target), grown, "{options:?}: {days}");
        }
        let part = |start: u64| format!("{}:{},:", start, start + 3);
        for start in [0, 3, 6] {
            let (copy, select) = (folder.at(&format!("{number}-{start}.zarr")), part(start));
            rechunk(&["copy", &target, &copy, "--select", &select, "--chunks", "3,10", "-q"]).ok();
            rechunk(&["verify", &source, &copy]).ok();
        }
    }
}

#[test]
fn others_read_chunks_longer_than_the_axis() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let source = format!("{}/ta", day(&folder));
    let mut jobs = vec![job(&source, 3, "zarr")];
    for (name, version, options) in [
        ("v3", 3, &["--chunks", "8!,4"][..]),
        ("v2", 2, &["--chunks", "8!,20!", "--format", "zarr2", "--codec", "zstd:1"]),
        ("sharded", 3, &["--chunks", "4!,5", "--shards", "8!,10"]),
    ] {
        let target = folder.at(&format!("{name}.zarr"));
        rechunk(&[&["copy", &source, &target][..], options].concat()).ok();
        jobs.extend(["zarr", "tensorstore"].map(|reader| job(&target, version, reader)));
    }
    let answers = read(World::Z3, &jobs);
    for (job, found) in jobs.iter().zip(&answers) {
        assert_eq!(found["sha256"], answers[0]["sha256"], "{job}: {found}");
        assert!(found["sha256"].is_string(), "{found}");
    }
}

#[test]
fn a_group_keeps_them_for_its_arrays_and_their_coordinate() {
    let folder = Folder::new();
    let source = day(&folder);
    for (number, (options, ta, time)) in [
        (&["--chunks", "time=8!,x=4"][..], json!([8, 4]), json!([8])),
        (&["--chunks", "time=8,x=4", "--keep-extent"], json!([8, 4]), json!([8])),
        (&["--chunks", "time=8!", "--coords", "follow"], json!([8, 10]), json!([8])),
        (&["--var", "ta: chunks 8!,5", "--var", "time: chunks 100!"], json!([8, 5]), json!([100])),
        (&["--var", "*: chunks time=9", "--keep-extent"], json!([9, 10]), json!([9])),
        (&["--chunks", "time=8,x=4"], json!([3, 4]), json!([3])),
    ]
    .into_iter()
    .enumerate()
    {
        let target = folder.at(&format!("{number}.zarr"));
        rechunk(&[&["copy", &source, &target, "--verify", "-q"][..], options].concat()).ok();
        assert_eq!(chunks(&format!("{target}/ta")), ta, "{options:?}");
        assert_eq!(chunks(&format!("{target}/time")), time, "{options:?}");
    }
}

#[test]
fn what_an_axis_cuts_is_said() {
    let folder = Folder::new();
    let source = day(&folder);
    let array = format!("{source}/ta");
    for (options, says) in [
        (&["--chunks", "time=8"][..], "time=8 (3)"),
        (&["--chunks", "8,20"], "time=8 (3), x=20 (10)"),
        (&["--chunks", "8!,20"], "x=20 (10)"),
        (&["--chunks", "2,5", "--shards", "8,10"], "shards time=8 (4)"),
        (&["--chunks", "time=8", "--format", "n5"], "time=8 (3)"),
    ] {
        let target = folder.at("never.zarr");
        let copy = [&["copy", &array, &target, "--dry-run"][..], options].concat();
        let text = rechunk(&copy).ok().stdout;
        let line = text.lines().find(|line| line.starts_with("  note ")).unwrap_or_default();
        assert!(line.contains(says) && line.contains("10!"), "{options:?}:\n{text}");
        let report = rechunk(&[&copy[..], &["--json"]].concat()).ok().json();
        assert!(report["notes"][0].as_str().unwrap().contains(says), "{report:#}");
    }
    let never = folder.at("never.zarr");
    for options in [&["--chunks", "3,10"][..], &["--chunks", "-1,5"], &["--chunks", "keep"], &[]] {
        let copy = [&["copy", &array, &never, "--dry-run"][..], options].concat();
        assert!(!rechunk(&copy).ok().stdout.contains("  note "), "{options:?}");
    }
    let copy = ["copy", &source, &folder.at("never.zarr"), "--dry-run", "--chunks", "time=8"];
    let text = rechunk(&copy).ok().stdout;
    assert_eq!(text.lines().filter(|line| line.starts_with("  note ")).count(), 1, "{text}");
    rechunk(&["copy", &array, &folder.at("never.zarr"), "--chunks", "-1!,3"])
        .ends_with(2)
        .says(&["! keeps a number"]);
    let append = ["copy", &array, &folder.at("never.zarr"), "--append", "0", "--keep-extent"];
    rechunk(&append).ends_with(2).says(&["--keep-extent cannot be given"]);
}
