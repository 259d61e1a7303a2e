//! Sources whose chunks lie under other keys than their metadata says: read, or refused.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, looks_finished, rechunk};
use crate::missing_chunks::{lose, rows, written};

/// Changes a document of an array.
fn edit(place: &str, name: &str, change: impl Fn(&mut Value)) {
    let path = Path::new(place).join(name);
    let mut document = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut document);
    write_json(&path, &document);
}

/// Gives every chunk the key that `rename` makes of its own.
fn rename(place: &str, rename: impl Fn(&str) -> String) {
    let all = crate::harness::tree(Path::new(place));
    for (key, _) in all.iter().filter(|(key, digest)| !digest.is_empty() && is_chunk(key)) {
        let to = Path::new(place).join(rename(key));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let moved = Path::new(place).join(format!("{key}.moved"));
        fs::rename(Path::new(place).join(key), &moved).unwrap();
        fs::rename(moved, to).unwrap();
    }
}

fn is_chunk(key: &str) -> bool {
    !key.contains("zarr") && !key.contains(".z") && !key.contains("attributes")
}

/// Keys of chunks by the documents, and the real ones.
struct Keys {
    name: &'static str,
    array: RawArray,
    /// The key that a chunk is given.
    rename: fn(&str) -> String,
    /// Changes the document.
    says: fn(&mut Value),
    /// A part of the warning.
    told: &'static str,
}

fn v3_says(name: &str, separator: &str) -> Value {
    json!({"name": name, "configuration": {"separator": separator}})
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn chunks_under_other_keys_are_read() {
    let v2 = || RawArray::v2(&[24, 10], &[6, 10]);
    let v3 = || RawArray::v3(&[24, 10], &[6, 10]);
    let cases = [
        Keys {
            name: "nested, and no dimension_separator",
            array: v2(),
            rename: |key| key.replace('.', "/"),
            says: |document| drop(document.as_object_mut().unwrap().remove("dimension_separator")),
            told: "\"dimension_separator\": \"/\"",
        },
        Keys {
            name: "nested, and . is said",
            array: v2(),
            rename: |key| key.replace('.', "/"),
            says: |_| (),
            told: "like 0.0",
        },
        Keys {
            name: "flat, and / is said",
            array: v2(),
            rename: str::to_owned,
            says: |document| document["dimension_separator"] = json!("/"),
            told: "\"dimension_separator\": \".\"",
        },
        Keys {
            name: "keys of v3 in v2",
            array: v2(),
            rename: |key| format!("c/{}", key.replace('.', "/")),
            says: |_| (),
            told: "c/",
        },
        Keys {
            name: "keys of v2 where v3 has its own",
            array: v3(),
            rename: |key| key.trim_start_matches("c/").replace('/', "."),
            says: |_| (),
            told: "\"name\": \"v2\"",
        },
        Keys {
            name: "nested keys of v2 where v3 has its own",
            array: v3(),
            rename: |key| key.trim_start_matches("c/").to_owned(),
            says: |_| (),
            told: "\"name\": \"v2\"",
        },
        Keys {
            name: "v3's own keys where v2's are said",
            array: v3(),
            rename: str::to_owned,
            says: |document| document["chunk_key_encoding"] = v3_says("v2", "."),
            told: "\"name\": \"default\"",
        },
        Keys {
            name: "dots in v3's own keys",
            array: v3(),
            rename: |key| key.replace('/', "."),
            says: |_| (),
            told: "\"separator\": \".\"",
        },
        Keys {
            name: "one axis",
            array: RawArray::v3(&[24], &[6]),
            rename: |key| key.trim_start_matches("c/").to_owned(),
            says: |_| (),
            told: "like c/0",
        },
    ];
    for Keys { name, array, rename: to, says, told } in cases {
        let format = ["--format", if array.version == 2 { "zarr2" } else { "zarr3" }];
        let folder = Folder::new();
        let right = written(&folder, "right.zarr", &array);
        for codec in [None, Some("zstd:1")] {
            let source = folder.at("s.zarr");
            match codec {
                None => array.write(&source),
                Some(codec) => {
                    let copy = ["copy", &right, &source, "--codec", codec];
                    rechunk(&[&copy[..], &format].concat()).ok();
                }
            }
            edit(&source, array.metadata().0, says);
            rename(&source, to);
            let target = folder.at("t.zarr");
            let chunks = if array.shape.len() == 1 { "24" } else { "24,3" };
            let copy = ["copy", &source, &target, "--chunks", chunks, "--verify"];
            let done = rechunk(&copy).ok().says(&["warning", told, "verified"]);
            assert!(!done.stderr.contains("missing"), "{name}: {}", done.stderr);
            rechunk(&["verify", &right, &target]).ok();
            rechunk(&["verify", &right, &source]).ok();
            let info = rechunk(&["info", &source]).ok().stdout;
            assert!(info.contains("none missing") && info.contains(told), "{name}: {info}");
            // A copy that keeps the encoding says what is true.
            let kept = folder.at("kept.zarr");
            let keep = ["copy", &source, &kept, "--chunks", "keep"];
            rechunk(&[&keep[..], &format].concat()).ok().says(&["warning"]);
            rechunk(&["verify", &right, &kept]).ok();
            let again = ["copy", &kept, &folder.at("again.zarr")];
            let done = rechunk(&[&again[..], &format].concat()).ok();
            assert!(!done.stderr.contains("warning"), "{name}: {}", done.stderr);
            for place in ["s.zarr", "t.zarr", "kept.zarr", "again.zarr"] {
                fs::remove_dir_all(folder.at(place)).unwrap();
            }
        }
    }
}

#[test]
fn a_region_with_gaps_has_the_keys_that_its_metadata_says() {
    for version in [2, 3] {
        let folder = Folder::new();
        let array = rows(version);
        let source = written(&folder, "s.zarr", &array);
        lose(&source, &array, &[9]);
        let target = folder.at("t.zarr");
        let copy = ["copy", &source, &target, "--select", "6:20,:", "--chunks", "14,5"];
        rechunk(&[&copy[..], &["--verify"]].concat()).ok();
        // Those that lie elsewhere are still found.
        let key = |row: u64| format!("{source}/{}", array.key(&[row, 0]));
        let to = if version == 2 { format!("{source}/12/0") } else { format!("{source}/12.0") };
        fs::create_dir_all(Path::new(&to).parent().unwrap()).unwrap();
        fs::rename(key(12), to).unwrap();
        let other = folder.at("u.zarr");
        let copy = ["copy", &source, &other, "--select", "6:20,:", "--chunks", "14,5"];
        rechunk(&copy).ends_with(3).says(&["others lie there"]);
    }
}

#[test]
fn keys_that_leave_a_doubt_are_refused() {
    let array = RawArray::v2(&[24, 10], &[6, 10]);
    // Some chunks under other keys, the others as the document says.
    for lost in [1_u64, 2, 3] {
        let folder = Folder::new();
        let source = written(&folder, "s.zarr", &array);
        fs::create_dir_all(format!("{source}/{lost}")).unwrap();
        let from = format!("{source}/{lost}.0");
        fs::rename(from, format!("{source}/{lost}/0")).unwrap();
        let target = folder.at("t.zarr");
        let copy = ["copy", &source, &target, "--chunks", "24,3", "--verify"];
        let (own, other) = (format!("{lost}.0"), format!("{lost}/0"));
        rechunk(&copy).ends_with(3).says(&[&own, &other]);
        assert!(!looks_finished(&target));
    }
    // None as it says, and two other ways.
    let folder = Folder::new();
    let source = written(&folder, "s.zarr", &array);
    rename(&source, |key| {
        let nested = key.replace('.', "/");
        if key.starts_with('0') { nested } else { format!("c/{nested}") }
    });
    let copy = ["copy", &source, &folder.at("t.zarr"), "--chunks", "24,3"];
    rechunk(&copy).ends_with(3).says(&["0/0", "c/"]);
    // Blocks of N5 in one directory: which axis comes first is not said.
    let right = written(&folder, "right.zarr", &array);
    let n5 = folder.at("c.n5");
    rechunk(&["copy", &right, &n5]).ok();
    rename(&n5, |key| key.replace('/', "."));
    let copy = ["copy", &n5, &folder.at("u.zarr"), "--chunks", "24,3"];
    rechunk(&copy).ends_with(3).says(&["N5", "no keys with dots"]);
}
