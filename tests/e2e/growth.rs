//! Arrays and groups that grow (`--append`, `--region`), as the binary does it on a disk. Any array
//! in any steps, and deaths at every call, are in `crates/rechunk/tests/growth`.

use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::arrays::RawArray;
use crate::harness::{Folder, Run, elements, rechunk, tree};
use crate::oracle::{World, ask, available};
use crate::report::{assert_done, text};

const SHAPE: [u64; 3] = [23, 17, 13];

/// An array, and an archive that begins with it in chunks that its end is inside of.
fn archive(folder: &Folder) -> (String, String) {
    let (source, target) = (folder.at("day.zarr"), folder.at("archive.zarr"));
    RawArray::v2(&SHAPE, &[5, 4, 6]).of_uint16().write(&source);
    let make = ["--chunks", "4,17,5", "--format", "zarr3", "--shards", "8,17,10", "-q"];
    rechunk(&[&["copy", &source, &target][..], &make].concat()).ok();
    (source, target)
}

fn length(location: &str) -> u64 {
    rechunk(&["info", location, "--json"]).ok().json()["shape"][0].as_u64().unwrap()
}

/// One archive grows by this program, another by xarray: they are the same, also by their
/// consolidated metadata. What xarray writes of a day by itself counts from that day: it is counted
/// anew.
#[test]
fn an_archive_grows_as_xarray_makes_it_grow() {
    if !available() {
        return;
    }
    for format in ["3", "2"] {
        let folder = Folder::new();
        let directory = folder.path().to_str().unwrap();
        let script = "tests/oracle/growth.py";
        let days = ask(World::Z3, script, &["make", directory, format]);
        assert_eq!(days["days"], json!([3, 11]));
        let ours = folder.at("ours.zarr");
        for part in ["more-1.zarr", "more-2.zarr"] {
            let append =
                ["copy", &folder.at(part), &ours, "--append", "time", "--verify", "--json"];
            let report = rechunk(&append).ok().json();
            assert_eq!(report["unmoved"], json!(["lat", "lon", "mask"]));
            for array in report["arrays"].as_array().unwrap() {
                assert_done(array);
            }
        }
        let found = ask(World::Z3, script, &["compare", &ours, &folder.at("theirs.zarr")]);
        assert_eq!(found, json!({"identical": true, "days": 21}), "v{format}");
        let append = ["copy", &folder.at("other.zarr"), &ours, "--append", "time", "--dry-run"];
        let text = rechunk(&append).ok().stdout;
        assert!(text.contains("2026-01-22") && text.contains("2026-01-01"), "{text}");
        rechunk(&append[..5]).ok();
        let found = ask(World::Z3, script, &["compare", &ours, &folder.at("theirs.zarr")]);
        assert_eq!(found["days"], 22, "v{format}");
    }
}

#[test]
fn what_goes_where_is_said() {
    let folder = Folder::new();
    let (source, target) = archive(&folder);
    let append = ["copy", &source, &target, "--append", "0"];
    let plan = rechunk(&[&append[..], &["--dry-run"]].concat()).ok().stdout;
    let second = plan.lines().nth(1).unwrap();
    assert_eq!(
        second,
        "  appends 23 to 23 along axis 0, which becomes 46 × 17 × 13; 8 requests for what chunks \
         at the border keep"
    );
    let plan = rechunk(&[&append[..], &["--dry-run", "--json"]].concat()).ok().json();
    let region = |start: u64, shape: [u64; 3]| json!({"start": [start, 0, 0], "shape": shape});
    assert_eq!(
        plan["growth"],
        json!({
            "before": [23, 17, 13], "after": [46, 17, 13], "axis": 0,
            "region": region(23, [23, 17, 13]), "written": region(16, [30, 17, 13]),
            "summary": "appends 23 to 23 along axis 0",
        })
    );
    assert_eq!(length(&target), 23);
    let done = rechunk(&[&append[..], &["--json", "--verify"]].concat()).ok().json();
    assert_done(&done);
    assert_eq!(done["growth"], plan["growth"]);
    assert_eq!(done["plan"], plan["plan"]);
    let once = elements(&folder, &source);
    assert_eq!(elements(&folder, &target), [&once[..], &once].concat());
    // A part of the source goes into the middle.
    let region = ["--select", "3:5,:,:", "--region", "22:24,:,:", "--json"];
    let done = rechunk(&[&["copy", &source, &target][..], &region].concat()).ok().json();
    assert_done(&done);
    assert_eq!(text(&done, "growth.summary"), "writes into 22:24 of axis 0");
    let row = once.len() / 23;
    let middle = [&once[..22 * row], &once[3 * row..5 * row], &once[row..]].concat();
    assert_eq!(elements(&folder, &target), middle);
}

/// NaN is missing in a document that has no NaN, too; and what other groups in the target say is no
/// matter.
#[test]
fn a_copy_of_what_says_that_nan_is_missing_grows() {
    let folder = Folder::new();
    let (source, target) = (folder.at("day.zarr"), folder.at("archive.zarr"));
    RawArray::v2(&[4, 6], &[2, 3]).write(&format!("{source}/t"));
    let attributes = r#"{"_ARRAY_DIMENSIONS": ["time", "x"], "missing_value": NaN, "other": NaN}"#;
    std::fs::write(format!("{source}/t/.zattrs"), attributes).unwrap();
    std::fs::write(format!("{source}/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let done = rechunk(&["copy", &source, &target]).ok();
    done.says(&["missing_value NaN is left out", "it becomes text in \"other\""]);
    let document = std::fs::read_to_string(format!("{target}/t/zarr.json")).unwrap();
    assert!(!document.contains("missing_value") && document.contains(r#""other": "NaN""#));
    std::fs::create_dir(format!("{target}/foreign")).unwrap();
    let foreign = r#"{"zarr_format": 3, "node_type": "group", "note": "hello"}"#;
    std::fs::write(format!("{target}/foreign/zarr.json"), foreign).unwrap();
    rechunk(&["copy", &source, &target, "--append", "time"]).ok();
    rechunk(&["copy", &format!("{source}/t"), &format!("{target}/t"), "--append", "time"]).ok();
    assert_eq!(length(&format!("{target}/t")), 12);
}

#[test]
fn what_cannot_be_put_there_is_refused() {
    let folder = Folder::new();
    let (source, target) = archive(&folder);
    let before = tree(Path::new(&target));
    let append = |more: &[&str]| rechunk(&[&["copy", &source, &target][..], more].concat());
    for (more, says) in [
        (&["--append", "0", "--chunks", "4,4,4"][..], "--chunks"),
        (&["--append", "0", "--overwrite"], "--overwrite"),
        (&["--append", "0", "--region", "0:1,:,:"], "--region"),
        (&["--append", "0", "--format", "zarr2"], "--format"),
        (&["--append", "time"], "`time`"),
        (&["--region", "0:1"], "--region"),
    ] {
        append(more).ends_with(2).says(&[says]);
    }
    let other = ["--append", "1", "--select", "0:5,:,:"];
    append(&other).ends_with(4).says(&["23 elements along axis 0", "source 5"]);
    append(&["--append", "0", "--resume"]).ends_with(4).says(&["no interrupted run"]);
    append(&["--region", "0:1,:,:"]).ends_with(4).says(&["1 × 17 × 13", "23 × 17 × 13"]);
    let (file, blocks) = (folder.at("a.npy"), folder.at("blocks"));
    rechunk(&["copy", &source, &file, "-q"]).ok();
    rechunk(&["copy", &source, &blocks, "--format", "raw", "-q"]).ok();
    for target in [&file, &blocks] {
        rechunk(&["copy", &source, target, "--append", "0"])
            .ends_with(2)
            .says(&["nothing can be put into"]);
    }
    rechunk(&["copy", &source, &folder.at("none.zarr"), "--append", "0"]).ends_with(4);
    assert_eq!(tree(Path::new(&target)), before);
    // From such files it goes.
    rechunk(&["copy", &file, &target, "--append", "0", "-q"]).ok();
    let once = elements(&folder, &source);
    assert_eq!(elements(&folder, &target), [&once[..], &once].concat());
}

/// Appends source chunks so large that they go slab by slab. Beside them is the gap up to the
/// borders of target chunks and shards: some chunks of a shard have nothing else.
#[test]
fn an_archive_grows_by_large_chunks() {
    let folder = Folder::new();
    let source = folder.at("day.zarr");
    for chunk in [[700, 900], [400, 900], [700, 600]] {
        RawArray::v2(&[700, 900], &chunk).write(&source);
        let once = elements(&folder, &source);
        let sharded = ["--format", "zarr3", "--shards", "400,300", "--chunks", "80,300"];
        for (number, make) in [&sharded[..], &["--chunks", "600,35"]].into_iter().enumerate() {
            for strategy in ["pull", "keep", "push-pull"] {
                let name = format!("{}-{}-{number}-{strategy}.zarr", chunk[0], chunk[1]);
                let target = folder.at(&name);
                rechunk(&[&["copy", &source, &target, "-q"][..], make].concat()).ok();
                let append = ["--append", "0", "--strategy", strategy, "--verify", "--json"];
                let done = rechunk(&[&["copy", &source, &target][..], &append].concat()).ok();
                assert_done(&done.json());
                let found = elements(&folder, &target);
                assert!(found == [&once[..], &once].concat(), "{name}: {}", done.stdout);
            }
        }
        std::fs::remove_dir_all(&source).unwrap();
    }
}

/// Starts an append that takes long, and kills it when it has begun.
fn killed(source: &str, target: &str) {
    let append = ["copy", source, target, "--append", "0", "--bwlimit", "2kB", "-q"];
    let mut slow = Run::rechunk(&append).start();
    while !Path::new(&format!("{target}.rechunk/journal")).exists() {
        assert!(slow.try_wait().unwrap().is_none(), "it has ended");
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(300));
    slow.kill().unwrap();
    slow.wait().unwrap();
}

#[test]
fn a_killed_append_goes_on_or_is_given_up() {
    let folder = Folder::new();
    let (source, target) = archive(&folder);
    let once = elements(&folder, &source);
    let keys: Vec<String> = tree(Path::new(&target)).into_keys().collect();
    let append =
        |more: &[&str]| rechunk(&[&["copy", &source, &target, "--append", "0"][..], more].concat());
    killed(&source, &target);
    let status = rechunk(&["status", &target, "--json"]).ok().json();
    assert_eq!(status["state"], "interrupted");
    assert_eq!(elements(&folder, &target), once, "who reads sees the old array");
    append(&[]).ends_with(4).says(&["--resume goes on", "clean"]);
    append(&["--overwrite"]).ends_with(2);
    rechunk(&["clean", &target]).ok();
    assert_eq!(elements(&folder, &target), once);
    assert_eq!(tree(Path::new(&target)).into_keys().collect::<Vec<_>>(), keys);
    killed(&source, &target);
    append(&["--resume", "--verify"]).ok();
    let twice = [&once[..], &once].concat();
    assert_eq!(elements(&folder, &target), twice);
    append(&["--resume"]).ends_with(4).says(&["no interrupted run"]);
    assert_eq!(length(&target), 46);
    assert!(!Path::new(&format!("{target}.rechunk")).exists());
}

/// Appended elements are of one state of the source.
#[test]
fn an_append_does_not_go_on_with_another_source() {
    let folder = Folder::new();
    let (source, target) = archive(&folder);
    let once = elements(&folder, &source);
    killed(&source, &target);
    RawArray::v2(&SHAPE, &[5, 4, 6]).of_uint16().write(&source);
    let resume = ["copy", &source, &target, "--append", "0", "--resume"];
    rechunk(&resume).fails().says(&["was written", "clean"]);
    assert_eq!(length(&target), 23);
    rechunk(&["clean", &target]).ok();
    assert_eq!(elements(&folder, &target), once);
    rechunk(&["copy", &source, &target, "--append", "0", "-q"]).ok();
    assert_eq!(length(&target), 46);
}

#[test]
fn a_saved_plan_appends_once() {
    let folder = Folder::new();
    let (source, target) = archive(&folder);
    let plan = folder.at("plan.json");
    rechunk(&["plan", &source, &target, "--append", "0", "--out", &plan]).ok();
    rechunk(&["run", &plan]).ok();
    assert_eq!(length(&target), 46);
    rechunk(&["run", &plan])
        .ends_with(4)
        .says(&["cannot follow the saved plan", "appends 23 to 23"]);
    assert_eq!(length(&target), 46);
}
