//! Files that lie in a group beside its arrays and metadata documents. They are copied byte by
//! byte, in every format, from and to every store, and never lead out of the target.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{BINARY, Done, Folder, Run, rechunk, tool, tree};
use crate::report::number;

/// Real names of such files, and one of each odd kind. Some are in a group, in a plain directory,
/// hidden, empty, with a space, of more than one piece.
const FILES: [(&str, usize); 9] = [
    ("datasource-properties.json", 40),
    ("OME/METADATA.ome.xml", 3000),
    ("points/pts/points.parquet/part.0.parquet", 70_000),
    ("points/pts/points.parquet/part.1.parquet", 1),
    ("shapes/cells/shapes.parquet", 900),
    (".DS_Store", 6),
    ("notes/read me [1].txt", 20),
    ("notes/deep/er/empty", 0),
    ("large.bin", (9 << 20) + 3),
];

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from((at * 31 + seed * 7 + at / 251) % 256).unwrap()).collect()
}

/// Writes a group of that format with arrays `a` and `g/b`, groups for the files of [`FILES`], and
/// those.
pub(crate) fn group(root: &str, format: &str) {
    let version = if format == "zarr2" { RawArray::v2 } else { RawArray::v3 };
    for (path, shape) in [("a", 12), ("g/b", 5)] {
        version(&[shape, 4], &[3, 4]).of_uint16().write(&format!("{root}/{path}"));
    }
    for path in ["", "g", "OME", "points", "points/pts", "shapes", "shapes/cells"] {
        let directory = Path::new(root).join(path);
        fs::create_dir_all(&directory).unwrap();
        let attributes = json!({"at": path});
        if format == "zarr2" {
            write_json(&directory.join(".zgroup"), &json!({"zarr_format": 2}));
            write_json(&directory.join(".zattrs"), &attributes);
        } else {
            let document =
                json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
            write_json(&directory.join("zarr.json"), &document);
        }
    }
    for (seed, (path, length)) in FILES.into_iter().enumerate() {
        let path = Path::new(root).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes(length, seed)).unwrap();
    }
}

/// The files of [`FILES`] that are at `root`, as they have to be.
#[track_caller]
pub(crate) fn assert_has_files(root: &str, expected: impl Fn(&str) -> bool) {
    for (seed, (path, length)) in FILES.into_iter().enumerate() {
        let found = fs::read(Path::new(root).join(path)).ok();
        let wanted = expected(path).then(|| bytes(length, seed));
        assert!(found == wanted, "{path} in {root}: {:?} bytes", found.map(|found| found.len()));
    }
}

/// The command has printed these texts.
#[track_caller]
pub(crate) fn prints(done: &Done, texts: &[&str]) {
    for text in texts {
        assert!(done.stdout.contains(text), "`{text}` is missing in:\n{}", done.stdout);
    }
}

/// Predicted numbers were counted, of arrays and other files together.
#[track_caller]
pub(crate) fn assert_counted(report: &Value) {
    for role in ["source", "target"] {
        for name in ["get_requests", "put_requests", "part_requests", "objects"] {
            let path = format!("{role}.{name}");
            let [planned, counted] =
                ["estimate", "traffic"].map(|of| number(report, &format!("{of}.{path}")));
            assert_eq!(planned, counted, "{path}");
        }
    }
}

#[test]
fn other_files_are_copied_in_every_format() {
    for from in ["zarr3", "zarr2"] {
        let folder = Folder::new();
        let source = folder.at("source");
        group(&source, from);
        let total: usize = FILES.iter().map(|(_, length)| length).sum();
        let info = rechunk(&["info", &source, "--json"]).ok().json();
        assert_eq!(
            (number(&info, "others.files"), number(&info, "others.bytes")),
            (9, total as u64)
        );
        prints(&rechunk(&["info", &source]).ok(), &["other files 9 (9", ".DS_Store"]);
        for to in ["zarr3", "zarr2", "n5"] {
            let target = folder.at(to);
            let copy = ["copy", &source, &target, "--format", to, "--verify", "--json"];
            let planned = rechunk(&[&copy[..], &["--dry-run"]].concat()).ok().json();
            assert_eq!(number(&planned, "others.files"), 9);
            let report = rechunk(&copy).ok().json();
            assert_counted(&report);
            assert_eq!(report["others"]["paths"].as_array().unwrap().len(), 9);
            assert_eq!(
                (number(&report, "others.bytes"), number(&report, "others.resumed")),
                (total as u64, 0)
            );
            assert_eq!(report["verified"], json!(true));
            assert_has_files(&target, |_| true);
            // A directory of nothing but files stays one.
            let plain = format!("{target}/points/pts/points.parquet");
            assert_eq!(tree(Path::new(&plain)).len(), 2, "{from} to {to}");
            let verified = rechunk(&["verify", &source, &target]).ok();
            prints(&verified, &["equal: 2 arrays and 9 other files"]);
            let again = folder.at(&format!("{to}-again"));
            rechunk(&["copy", &target, &again, "--format", from, "-q"]).ok();
            assert_has_files(&again, |_| true);
            rechunk(&["verify", &source, &again, "-q"]).ok();
            let plain = format!("{again}/points/pts/points.parquet");
            assert_eq!(tree(Path::new(&plain)).len(), 2, "{to} to {from}");
        }
    }
}

#[test]
fn patterns_mean_other_files_too() {
    let folder = Folder::new();
    let source = folder.at("source");
    group(&source, "zarr3");
    for (round, (options, is_there)) in [
        (&["--no-others"][..], (|_| false) as fn(&str) -> bool),
        (&["--exclude", "**/*.parquet"], |path| !path.ends_with(".parquet")),
        (&["--include", "a", "--include", "points"], |path| path.starts_with("points/")),
        (&["--include", "a", "--include", "OME/**"], |path| path.starts_with("OME/")),
        (&["--include", "g"], |_| false),
        (&["--include", "notes/read me [1].txt"], |path| path == "notes/read me [1].txt"),
        (&["--include", "notes"], |path| path.starts_with("notes/")),
        (&["--exclude", ".*", "--exclude", "large.bin"], |path| {
            !path.starts_with('.') && path != "large.bin"
        }),
    ]
    .into_iter()
    .enumerate()
    {
        let target = folder.at(&format!("{round}.zarr"));
        let report = rechunk(&[&["copy", &source, &target, "--json"][..], options].concat());
        let report = report.ok().json();
        assert_counted(&report);
        assert_has_files(&target, is_there);
        let there = FILES.iter().filter(|(path, _)| is_there(path)).count() as u64;
        assert_eq!(number(&report, "others.files"), there);
        assert_eq!(number(&report, "others.left_out.files"), 9 - there, "{options:?}");
    }
    // The groups above a file that is copied keep what they say.
    let document = fs::read_to_string(format!("{}/points/pts/zarr.json", folder.at("2.zarr")));
    assert!(document.unwrap().contains(r#""at": "points/pts""#));
    let none = folder.at("none.zarr");
    rechunk(&["copy", &source, &none, "--no-others"]).ok().says(&["--no-others: 9 other files (9"]);
    rechunk(&["copy", &source, &folder.at("x"), "--exclude", "*.csv"])
        .ends_with(2)
        .says(&["`*.csv` matches no array"]);
}

/// Documents, state of runs and unfinished files are not somebody's files; links that lead out are
/// not followed.
#[cfg(unix)]
#[test]
fn what_is_no_other_file_is_not_copied() {
    let folder = Folder::new();
    let source = folder.at("source");
    group(&source, "zarr3");
    fs::write(folder.at("secret"), "secret").unwrap();
    for (file, text) in [
        ("a/beside-chunks.txt", "an array's"),
        ("old.zarr.rechunk/job.json", "state"),
        (".zmetadata", "{}"),
        ("g/attributes.json", "{}"),
        ("g/half.part", "half"),
        ("g/zarr.json#1", "torn"),
        ("g/note#2", "a name that is none"),
    ] {
        let path = Path::new(&source).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for (to, link) in [
        ("../secret", "outside"),
        ("large.bin", "inside"),
        ("nothing", "broken"),
        ("OME", "directory"),
    ] {
        std::os::unix::fs::symlink(to, Path::new(&source).join(link)).unwrap();
    }
    let target = folder.at("target.zarr");
    let done = rechunk(&["copy", &source, &target]).ok();
    assert_has_files(&target, |_| true);
    let found = tree(Path::new(&target));
    for absent in [
        "outside",
        "broken",
        "a/beside-chunks.txt",
        "old.zarr.rechunk",
        "g/half.part",
        "g/note#2",
        ".zmetadata",
        "g/attributes.json",
    ] {
        assert!(!found.contains_key(absent), "{absent}");
    }
    assert_eq!(found["inside"], found["large.bin"]);
    assert_eq!(found["directory/METADATA.ome.xml"], found["OME/METADATA.ome.xml"]);
    done.says(&[
        "leads out of the directory that is read: outside",
        "a symbolic link to nothing: broken",
        "an unfinished file: g/half.part",
        "unfinished writes: g/note#2",
    ]);
    assert!(!Path::new(&target).join("inside").is_symlink());
}

/// Killed at any change from the first other file on, and resumed, the copy is whole; cleaned,
/// nothing is left.
#[test]
fn a_copy_that_was_killed_goes_on() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    group(&source, "zarr3");
    let target = folder.at("t.zarr");
    // Before a file at the root gets its first byte, before directories of others are made, and
    // before the root becomes a group.
    for text in ["t.zarr/#", "t.zarr/OME", "points.parquet", "notes/deep", "t.zarr/zarr.json"] {
        for mode in ["--resume", "--overwrite", "clean"] {
            let kill =
                ["--prefix", &target, "--log", &folder.at("log"), "--when", text, "--", BINARY];
            let copy = ["copy", source.as_str(), &target];
            Run::program(&tool("killpoint"), &[&kill[..], &copy].concat()).go().ends_with(137);
            assert!(!Path::new(&target).join("zarr.json").exists(), "{text}");
            if mode == "clean" {
                rechunk(&["clean", &target]).ok();
                assert!(!Path::new(&format!("{target}.rechunk")).exists());
                assert_has_files(&target, |_| false);
                // Complete arrays stay.
                fs::remove_dir_all(&target).ok();
                continue;
            }
            let report = rechunk(&[&copy[..], &[mode, "--verify", "--json"]].concat()).ok().json();
            assert_has_files(&target, |_| true);
            assert_eq!(number(&report, "others.files"), 9);
            if mode == "--resume" && text == "t.zarr/zarr.json" {
                assert_eq!(number(&report, "others.resumed"), 9);
            }
            rechunk(&["verify", &source, &target, "-q"]).ok();
            fs::remove_dir_all(&target).unwrap();
        }
    }
    // A source that has other files now is another job.
    let kill =
        ["--prefix", &target, "--log", &folder.at("log"), "--when", "notes/deep", "--", BINARY];
    let copy = ["copy", source.as_str(), &target];
    Run::program(&tool("killpoint"), &[&kill[..], &copy].concat()).go().ends_with(137);
    fs::write(format!("{source}/new.csv"), "1").unwrap();
    rechunk(&[&copy[..], &["--resume"]].concat())
        .ends_with(4)
        .says(&["new.csv is none of its files"]);
    fs::remove_file(format!("{source}/new.csv")).unwrap();
    fs::write(format!("{source}/OME/METADATA.ome.xml"), bytes(3000, 9)).unwrap();
    rechunk(&[&copy[..], &["--resume"]].concat()).ends_with(4).says(&["METADATA.ome.xml"]);
}

#[test]
fn differences_between_groups_are_found() {
    let folder = Folder::new();
    let [source, target] = [folder.at("source"), folder.at("target.zarr")];
    group(&source, "zarr3");
    rechunk(&["copy", &source, &target, "-q"]).ok();
    let change =
        |path: &str, bytes: &[u8]| fs::write(Path::new(&target).join(path), bytes).unwrap();
    let original = |path: &str| fs::read(Path::new(&source).join(path)).unwrap();
    let flipped = |path: &str, at: usize| {
        let mut bytes = original(path);
        bytes[at] ^= 1;
        bytes
    };
    for (path, changed, says) in [
        ("OME/METADATA.ome.xml", flipped("OME/METADATA.ome.xml", 2999), "at byte 2,999"),
        ("large.bin", flipped("large.bin", (8 << 20) + 1), "at byte 8,388,609"),
        (".DS_Store", b"longer than before".to_vec(), "differs in size"),
        ("notes/new.txt", b"1".to_vec(), "only in"),
        ("a/c/0/0", flipped("a/c/0/0", 0), "the array a differs in 1 elements"),
    ] {
        change(path, &changed);
        let verified = rechunk(&["verify", &source, &target]).ends_with(6);
        prints(&verified, &[path.trim_end_matches("/c/0/0"), says]);
        let found = rechunk(&["verify", &source, &target, "--json"]).ends_with(6).json();
        assert_eq!(found["equal"], json!(false));
        match fs::read(Path::new(&source).join(path)) {
            Ok(bytes) => change(path, &bytes),
            Err(_) => fs::remove_file(Path::new(&target).join(path)).unwrap(),
        }
        rechunk(&["verify", &source, &target, "-q"]).ok();
    }
    fs::remove_file(format!("{target}/shapes/cells/shapes.parquet")).unwrap();
    let verified = rechunk(&["verify", &source, &target]).ends_with(6);
    prints(&verified, &["only in", "shapes.parquet"]);
    let array = format!("{source}/a");
    rechunk(&["verify", &array, &target]).ends_with(3);
}

/// Where arrays go into those of a group that is there, that one keeps its own files.
#[test]
fn a_group_that_grows_keeps_its_files() {
    let folder = Folder::new();
    let [source, target] = [folder.at("source"), folder.at("target.zarr")];
    group(&source, "zarr3");
    rechunk(&[
        "copy",
        &source,
        &target,
        "--include",
        "a",
        "--include",
        "*.json",
        "--include",
        "OME",
        "-q",
    ])
    .ok();
    fs::write(format!("{target}/OME/METADATA.ome.xml"), bytes(3000, 5)).unwrap();
    let names = |root: &str| {
        let place = Path::new(root).join("a/zarr.json");
        let mut document: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
        document["dimension_names"] = json!(["time", "x"]);
        write_json(&place, &document);
    };
    names(&source);
    names(&target);
    let before = fs::read(format!("{target}/OME/METADATA.ome.xml")).unwrap();
    let append = ["copy", &source, &target, "--append", "time", "--exclude", "g"];
    let done = rechunk(&append).ok().says(&[
        "are not in the target, and are not copied there: .DS_Store",
        "the target keeps its own: OME/METADATA.ome.xml",
    ]);
    assert!(!done.stderr.contains("keeps its own: datasource"), "{}", done.stderr);
    assert_eq!(fs::read(format!("{target}/OME/METADATA.ome.xml")).unwrap(), before);
    assert!(!Path::new(&target).join(".DS_Store").exists());
    let quiet = rechunk(&[&append[..], &["--no-others"]].concat()).ok();
    assert!(!quiet.stderr.contains("other files"), "{}", quiet.stderr);
}

#[test]
fn a_zip_file_has_other_files_too() {
    let folder = Folder::new();
    let [source, target] = [folder.at("source"), folder.at("target.zarr")];
    group(&source, "zarr2");
    let zip = folder.at("source.zip");
    let made = Command::new("python3")
        .args([
            "-c",
            "import sys, os, zipfile
with zipfile.ZipFile(sys.argv[2], 'w') as file:
    for root, _, names in os.walk(sys.argv[1]):
        for name in names:
            path = os.path.join(root, name)
            file.write(path, os.path.relpath(path, sys.argv[1]))
    file.writestr('OME/', '')
",
            &source,
            &zip,
        ])
        .status();
    assert!(made.is_ok_and(|made| made.success()), "python3 is needed");
    let report = rechunk(&["copy", &zip, &target, "--json", "--verify"]).ok().json();
    assert_counted(&report);
    assert_has_files(&target, |_| true);
    prints(&rechunk(&["verify", &zip, &target]).ok(), &["9 other files"]);
    let found: BTreeMap<String, String> = tree(folder.path());
    assert!(found.keys().all(|path| path.starts_with("source") || path.starts_with("target")));
}
