//! ZIP files as targets, `.zip` and `.ozx`: what others read of them, replacements and refusals.

mod killed;

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk, tree};
use crate::oracle::{World, answer, available};
use crate::report::assert_done;

const COMMENT: &str =
    r#"{"ome":{"version":"0.5","zipFile":{"centralDirectory":{"jsonFirst":true}}}}"#;

/// An array to read, 20 × 40 × 60 of uint16 in Zarr v3.
fn source(folder: &Folder) -> String {
    let source = folder.at("source.zarr");
    RawArray::v3(&[20, 40, 60], &[8, 40, 60]).of_uint16().write(&source);
    source
}

/// A group of Zarr v2 with two arrays, one in a group, and a file beside them.
fn group(folder: &Folder) -> String {
    let group = folder.at("group.zarr");
    RawArray::v2(&[6, 8], &[3, 8]).write(&format!("{group}/a"));
    RawArray::v2(&[9], &[4]).of_uint16().write(&format!("{group}/sub/b"));
    for path in ["", "sub"] {
        let place = Path::new(&group).join(path);
        write_json(&place.join(".zgroup"), &json!({"zarr_format": 2}));
        write_json(&place.join(".zattrs"), &json!({"title": path}));
    }
    std::fs::write(format!("{group}/README"), "of a group").unwrap();
    group
}

/// Files and directories beside each other.
fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Has zarr-python, and tensorstore, compare a ZIP file with a directory; what is in the file.
#[track_caller]
fn read_by_others(world: World, zip: &str, directory: &str) -> Value {
    let jobs = [json!({"zip": zip, "directory": directory})];
    let found = answer(world, "tests/oracle/zip_store.py", &jobs).remove(0);
    assert_eq!(found["problems"], json!([]), "{zip}: {found}");
    found
}

#[test]
fn a_pyramid_becomes_one_file() {
    let folder = Folder::new();
    let source = source(&folder);
    let (file, plain) = (folder.at("image.ozx"), folder.at("image.zarr"));
    let options = ["--levels", "2", "--chunks", "8,16,16", "--verify", "--json"];
    let pyramid =
        |target: &str| rechunk(&[&["pyramid", &source, target][..], &options].concat()).ok().json();
    let (report, expected) = (pyramid(&file), pyramid(&plain));
    assert_eq!(report["traffic"]["target"], expected["traffic"]["target"]);
    assert_eq!(report["estimate"], expected["estimate"]);
    assert_eq!(report["verified"], json!(true));
    let bytes = std::fs::metadata(&file).unwrap().len();
    assert_eq!(report["archive"]["bytes"], json!(bytes));
    assert_eq!(expected.get("archive"), None);
    assert_eq!(names(&folder), ["image.ozx", "image.zarr", "source.zarr"]);
    rechunk(&["verify", &file, &plain]).ok();
    let info = rechunk(&["info", &file, "--json"]).ok().json();
    assert_eq!(info["archive_comment"], json!(COMMENT));
    if !available() {
        return;
    }
    let found = read_by_others(World::Z3, &file, &plain);
    assert_eq!(found["comment"], json!(COMMENT));
    let entries: Vec<&str> =
        found["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let documents = ["zarr.json", "s0/zarr.json", "s1/zarr.json", "s2/zarr.json"];
    assert_eq!(entries[..4], documents);
    assert!(entries[4..].iter().all(|name| name.contains("/c/")), "{entries:?}");
    let files = tree(Path::new(&plain)).into_values().filter(|digest| !digest.is_empty());
    assert_eq!(entries.len(), files.count());
}

#[test]
fn arrays_and_groups_become_zip_files() {
    let folder = Folder::new();
    let (array, group) = (source(&folder), group(&folder));
    let directory = folder.at("plain");
    for (number, (from, format, more)) in [
        (&array, "zarr3", &["--chunks", "20,8,8", "--shards", "20,16,16"][..]),
        (&array, "zarr2", &["--chunks", "20,8,8"]),
        (&group, "zarr3", &["--codec", "zstd:3"]),
        (&group, "zarr2", &["--codec", "gzip:1"]),
        (&array, "zarr3", &["--chunks", "1,4,4", "--strategy", "push-pull", "--no-fsync"]),
    ]
    .into_iter()
    .enumerate()
    {
        let (file, plain) =
            (folder.at(&format!("{number}.zarr.zip")), format!("{directory}/{number}"));
        let options = [&["--format", format, "--verify", "--json"], more].concat();
        let copy = |to: &str| rechunk(&[&["copy", from, to][..], &options].concat()).ok().json();
        let report = copy(&file);
        assert_eq!(report["estimate"], copy(&plain)["estimate"]);
        if report.get("arrays").is_none() {
            assert_done(&report);
        }
        rechunk(&["verify", from, &file]).ok();
        assert!(!Path::new(&format!("{file}.rechunk")).exists());
        if !available() {
            continue;
        }
        let found = read_by_others(World::Z3, &file, &plain);
        assert_eq!(found["comment"], json!(""));
        if format == "zarr2" {
            read_by_others(World::Z2, &file, &plain);
        }
        let first = if format == "zarr3" { "zarr.json" } else { ".z" };
        assert!(found["names"][0].as_str().unwrap().starts_with(first), "{found}");
    }
}

#[test]
fn an_apply_becomes_a_zip_file() {
    let folder = Folder::new();
    let source = source(&folder);
    let apply = |target: &str| {
        let words = ["--op", "gaussian:sigma=1", "--crop", "auto", "--work", "10,20,20", "-q"];
        rechunk(&[&["apply", &source, target][..], &words].concat()).ok();
    };
    let (file, plain) = (folder.at("smooth.zip"), folder.at("smooth.zarr"));
    apply(&file);
    apply(&plain);
    rechunk(&["verify", &file, &plain]).ok();
}

/// An image of version 0.4 becomes one of 0.5.
#[test]
fn a_copied_image_becomes_one_file() {
    let folder = Folder::new();
    let image = folder.at("image.zarr");
    RawArray::v2(&[8, 8], &[4, 8]).write(&format!("{image}/0"));
    write_json(&Path::new(&image).join(".zgroup"), &json!({"zarr_format": 2}));
    let axes = json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
    let scale = json!([{"type": "scale", "scale": [1.0, 1.0]}]);
    let datasets = json!([{"path": "0", "coordinateTransformations": scale}]);
    let multiscales = json!([{"version": "0.4", "axes": axes, "datasets": datasets}]);
    write_json(&Path::new(&image).join(".zattrs"), &json!({"multiscales": multiscales}));
    let (file, plain) = (folder.at("x.OZX"), folder.at("plain"));
    rechunk(&["copy", &image, &file, "-q"]).ok();
    rechunk(&["copy", &image, &plain, "-q"]).ok();
    rechunk(&["verify", &file, &plain]).ok();
    let info = rechunk(&["info", &file, "--json"]).ok().json();
    assert_eq!(info["archive_comment"], json!(COMMENT));
    // A file from a file.
    let again = folder.at("again.ozx");
    rechunk(&["copy", &file, &again, "-q"]).ok();
    assert_eq!(std::fs::read(again).unwrap(), std::fs::read(file).unwrap());
}

#[test]
fn what_is_there_is_replaced_when_asked() {
    let folder = Folder::new();
    let (source, group) = (source(&folder), group(&folder));
    let file = folder.at("x.zip");
    let copy = |from: &str, more: &[&str]| {
        rechunk(&[&["copy", from, &file, "--codec", "zstd:1"][..], more].concat())
    };
    copy(&source, &[]).ok();
    let first = std::fs::read(&file).unwrap();
    copy(&source, &[]).ends_with(4).says(&["x.zip", "exists", "--overwrite"]);
    // That is said of a plan, too.
    copy(&source, &["--dry-run"]).ok().says(&["exists"]);
    copy(&group, &[]).ends_with(4).says(&["exists", "--overwrite"]);
    copy(&source, &["--resume", "--json"]).ok();
    assert_eq!(std::fs::read(&file).unwrap(), first);
    copy(&group, &["--resume"]).ends_with(4);
    assert_eq!(std::fs::read(&file).unwrap(), first);
    copy(&group, &["--overwrite"]).ok();
    rechunk(&["verify", &group, &file]).ok();
    let done = copy(&group, &["--resume", "--json"]).ok().json();
    assert_eq!(done["already_complete"], json!(true));
    copy(&source, &["--overwrite"]).ok();
    assert_eq!(std::fs::read(&file).unwrap(), first);
    // What is not ours to replace.
    for content in ["PK", "", "no ZIP file"] {
        std::fs::write(&file, content).unwrap();
        for more in [&[][..], &["--resume"], &["--overwrite"]] {
            copy(&source, more).ends_with(4).says(&["x.zip"]);
            copy(&group, more).ends_with(4).says(&["x.zip"]);
        }
        assert_eq!(std::fs::read(&file).unwrap(), content.as_bytes());
    }
    assert_eq!(names(&folder), ["group.zarr", "source.zarr", "x.zip"]);
}

#[test]
fn what_cannot_be_one_file_is_refused() {
    let folder = Folder::new();
    let (source, group) = (source(&folder), group(&folder));
    let there = folder.at("there.zip");
    rechunk(&["copy", &source, &there, "-q"]).ok();
    let image = folder.at("there.ozx");
    rechunk(&["pyramid", &source, &image, "--levels", "1", "-q"]).ok();
    let before = tree(folder.path());
    let (new, new_ozx) = (folder.at("new.zip"), folder.at("new.ozx"));
    let inside = folder.at("group.zarr/new.zip");
    let below = format!("{there}/0");
    for (arguments, code, said) in [
        (&["copy", &source, &new_ozx][..], 2, "OME-Zarr image"),
        (&["copy", &group, &new_ozx], 2, "OME-Zarr 0.5"),
        (&["copy", &source, &new_ozx, "--format", "zarr2"], 2, "Zarr v3"),
        (&["pyramid", &source, &new_ozx, "--levels", "1", "--as", "plain"], 2, "OME-Zarr 0.5"),
        (&["pyramid", &source, &new_ozx, "--levels", "1", "--as", "bdv-n5"], 2, "n5"),
        (&["copy", &source, &new, "--format", "n5"], 2, "n5"),
        (&["copy", &source, &new, "--format", "raw"], 2, "raw"),
        (&["copy", &source, &below], 2, "as a whole"),
        (&["copy", &source, &folder.at("new.zip/a")], 2, "new.zip"),
        (&["copy", &source, &there, "--append", "0"], 2, "stays as it is"),
        (&["copy", &source, &there, "--region", "0:20,:,:"], 2, "stays as it is"),
        (&["pyramid", &image, &image, "--levels", "2"], 2, "stays as it is"),
        (&["migrate", &there, "--to", "zarr2"], 2, "stays as it is"),
        (&["copy", &source, "s3://bucket/new.zip"], 2, "upload it"),
        (&["copy", &source, "gs://bucket/a/new.OZX"], 2, "upload it"),
        (&["copy", &source, "memory://m/new.zip"], 2, "local disk"),
        (&["copy", &source, &new, "--keep-temp"], 2, "packed too"),
        (&["copy", &group, &new, "--keep-temp"], 2, "packed too"),
        (&["copy", &source, &inside], 4, "lies inside"),
        (&["copy", &group, &folder.at("other.zarr/new.zip")], 4, "hierarchy"),
        (&["copy", &there, &there], 4, "is the source"),
    ] {
        rechunk(arguments).ends_with(code).says(&[said, "hint"]);
        assert_eq!(tree(folder.path()), before, "{arguments:?}");
    }
}

/// The plan says that the disk needs twice the room.
#[test]
fn a_plan_says_where_it_is_built() {
    let folder = Folder::new();
    let source = source(&folder);
    let file = folder.at("x.zip");
    for plan in [&["plan", &source, &file][..], &["copy", &source, &file, "--dry-run"]] {
        let said = rechunk(plan).ok().stdout;
        assert!(said.contains("x.zip.rechunk/target") && said.contains("twice"), "{said}");
    }
    let image = folder.at("x.ozx");
    let said = rechunk(&["pyramid", &source, &image, "--levels", "1", "--dry-run"]).ok().stdout;
    assert!(said.contains("x.ozx.rechunk/target") && said.contains("twice"), "{said}");
    let report = rechunk(&["plan", &source, &file, "--json"]).ok().json();
    let built_in = format!("{file}.rechunk/target");
    assert_eq!(report["archive"], json!({"built_in": built_in}));
    assert_eq!(names(&folder), ["source.zarr"]);
}

/// A plan that is done in parts.
#[test]
fn parts_end_in_one_file() {
    let folder = Folder::new();
    let (source, group) = (source(&folder), group(&folder));
    for (from, name) in [(&source, "array"), (&group, "group")] {
        let (plan, file) =
            (folder.at(&format!("plan-{name}.json")), folder.at(&format!("{name}.zip")));
        rechunk(&["plan", from, &file, "--codec", "zstd:1", "--workers", "2", "--out", &plan]).ok();
        for part in ["0/2", "1/2"] {
            rechunk(&["run", &plan, "--part", part]).ok();
        }
        assert!(!Path::new(&file).exists());
        rechunk(&["run", &plan, "--finish", "--verify"]).ok();
        rechunk(&["verify", from, &file]).ok();
        assert!(!Path::new(&format!("{file}.rechunk")).exists());
    }
}

/// A link is followed: the file that it leads to is replaced, and state lies beside that.
#[test]
fn a_link_stays_one() {
    let folder = Folder::new();
    let source = source(&folder);
    let real = folder.path().join("real");
    std::fs::create_dir(&real).unwrap();
    let file = real.join("x.zip").display().to_string();
    rechunk(&["copy", &source, &file, "-q"]).ok();
    let link = folder.at("link.zip");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    rechunk(&["copy", &source, &link, "--chunks", "5,5,5", "--overwrite", "-q"]).ok();
    assert!(Path::new(&link).is_symlink());
    let info = rechunk(&["info", &file, "--json"]).ok().json();
    assert_eq!(info["chunk_shape"], json!([5, 5, 5]));
    assert_eq!(std::fs::read_dir(&real).unwrap().count(), 1);
}

/// A file or directory that comes to be at the place of one that is begun is somebody else's.
#[test]
fn what_comes_to_be_there_is_not_replaced() {
    let folder = Folder::new();
    let (source, group) = (source(&folder), group(&folder));
    for (from, name) in [(&source, "array"), (&group, "group")] {
        let (plan, file) =
            (folder.at(&format!("plan-{name}.json")), folder.at(&format!("{name}.zip")));
        // An old file of the same kind, which is to be replaced.
        rechunk(&["copy", from, &file, "-q"]).ok();
        rechunk(&["plan", from, &file, "--codec", "zstd:1", "--out", &plan]).ok();
        rechunk(&["run", &plan, "--begin", "--overwrite"]).ok();
        rechunk(&["run", &plan, "--part", "0/1"]).ok();
        // A text in its place.
        std::fs::write(&file, "precious").unwrap();
        rechunk(&["run", &plan, "--finish"]).ends_with(4).says(&["by somebody else"]);
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");
        let again = ["copy", from, &file, "--codec", "zstd:1", "--overwrite", "-q"];
        rechunk(&again).ends_with(4);
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");
        // A directory.
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        rechunk(&["run", &plan, "--finish"]).ends_with(4).says(&["by somebody else"]);
        assert_eq!(std::fs::read_dir(&file).unwrap().count(), 0);
        std::fs::remove_dir(&file).unwrap();
        rechunk(&["run", &plan, "--finish"]).ok();
        rechunk(&["verify", from, &file]).ok();
        assert!(!Path::new(&format!("{file}.rechunk")).exists());
    }
}
