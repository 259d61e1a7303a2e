//! Groups of thousands of arrays: memory and consolidated metadata. What they ask of an object
//! store is in `cloud/many.rs`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Folder, Run, rechunk};
use crate::memory::BEYOND_BYTES;
use crate::report::number;

const MIB: u64 = 1 << 20;

fn write(path: &Path, document: &Value) {
    fs::write(path, document.to_string()).unwrap();
}

/// A group of arrays of two chunks; each has attributes of its own.
pub(crate) fn group(root: &Path, version: u8, arrays: usize) {
    fs::create_dir_all(root).unwrap();
    match version {
        3 => write(
            &root.join("zarr.json"),
            &json!({"zarr_format": 3, "node_type": "group", "attributes": {"title": "many"}}),
        ),
        _ => write(&root.join(".zgroup"), &json!({"zarr_format": 2})),
    }
    for number in 0..arrays {
        let place = root.join(format!("variable_{number:05}"));
        fs::create_dir(&place).unwrap();
        let mut attributes = json!({
            "long_name": format!("the variable with number {number}"), "units": "K",
            "standard_name": "air_temperature", "valid_range": [0, 100], "scale": number as f64 / 2.0,
        });
        let chunks = if version == 3 { place.join("c") } else { place.clone() };
        if version == 3 {
            write(
                &place.join("zarr.json"),
                &json!({
                    "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int16",
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
                    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                    "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                    "attributes": attributes, "dimension_names": ["x"],
                }),
            );
            fs::create_dir(&chunks).unwrap();
        } else {
            write(
                &place.join(".zarray"),
                &json!({
                    "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i2", "compressor": null,
                    "fill_value": 0, "order": "C", "filters": null,
                }),
            );
            attributes["_ARRAY_DIMENSIONS"] = json!(["x"]);
            write(&place.join(".zattrs"), &attributes);
        }
        for chunk in 0..2_u8 {
            let number = u16::try_from(number % 30_000).unwrap() + 1;
            let bytes = [number, u16::from(chunk) + 1].map(u16::to_le_bytes).concat();
            fs::write(chunks.join(chunk.to_string()), bytes).unwrap();
        }
    }
}

/// Memory for the plans of single arrays does not add up.
#[test]
fn memory_does_not_grow_with_the_arrays() {
    let folder = Folder::new();
    let source = folder.at("s.zarr");
    group(Path::new(&source), 3, 5000);
    let target = folder.at("t.zarr");
    let plan = ["plan", &source, &target, "--chunks", "x=4", "--max-mem", "32MiB", "--json"];
    let (done, peak_bytes) = Run::rechunk(&plan).go_measured();
    let report = done.ok().json();
    assert_eq!(report["arrays"].as_array().unwrap().len(), 1000);
    assert_eq!(number(&report, "arrays_left_out"), 4000);
    assert_eq!(number(&report, "estimate.target.put_requests"), 5000);
    assert!(peak_bytes <= 32 * MIB + BEYOND_BYTES, "{} MiB", peak_bytes / MIB);
}

/// The plan of 50 000 arrays, and a copy of 5 000.
#[test]
#[ignore = "minutes: just test-many"]
fn fifty_thousand_arrays_take_little_memory() {
    let folder = Folder::new();
    let [source, target] = ["s.zarr", "t.zarr"].map(|name| folder.at(name));
    for (verb, arrays) in [("plan", 50_000), ("copy", 5000)] {
        group(Path::new(&source), 3, arrays);
        let options = ["--chunks", "x=4", "--max-mem", "64MiB", "--json"];
        let no_fsync = if verb == "copy" { &["--no-fsync"][..] } else { &[] };
        let run = Run::rechunk(&[&[verb, &source, &target], &options[..], no_fsync].concat());
        let (done, peak_bytes) = run.go_measured();
        let left_out = number(&done.ok().json(), "arrays_left_out");
        println!("{verb} of {arrays} arrays: {} MiB at the peak", peak_bytes / MIB);
        assert_eq!(left_out, arrays as u64 - 1000);
        assert!(peak_bytes <= 64 * MIB + BEYOND_BYTES, "{} MiB", peak_bytes / MIB);
        fs::remove_dir_all(&source).unwrap();
    }
    let document = fs::read(format!("{target}/zarr.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["consolidated_metadata"]["metadata"].as_object().unwrap().len(), 5000);
}

/// More than are held: the last are planned again when their turn comes, also when a run goes on.
#[test]
fn arrays_that_are_not_held_are_copied_too() {
    let folder = Folder::new();
    let [source, target] = ["s.zarr", "t.zarr"].map(|name| folder.at(name));
    group(Path::new(&source), 2, 1030);
    let chunk = format!("{source}/variable_01020/1");
    let bytes = fs::read(&chunk).unwrap();
    fs::write(&chunk, [bytes.clone(), vec![0]].concat()).unwrap();
    let copy = ["copy", &source, &target, "--chunks", "x=4", "--no-fsync", "--json"];
    rechunk(&copy).fails().says(&["variable_01020"]);
    fs::write(&chunk, bytes).unwrap();
    let report = rechunk(&[&copy[..], &["--resume"]].concat()).ok().json();
    assert_eq!(number(&report, "tasks.resumed"), 1020);
    assert_eq!(number(&report, "tasks.total"), 1030);
    let outcome = rechunk(&["verify", &source, &target, "--json"]).ok().json();
    assert_eq!(outcome["arrays"].as_array().unwrap().len(), 1030);
    let document: Value =
        serde_json::from_slice(&fs::read(format!("{target}/zarr.json")).unwrap()).unwrap();
    let members = document["consolidated_metadata"]["metadata"].as_object().unwrap();
    assert_eq!(members.len(), 1030);
    for member in ["variable_00000", "variable_01029"] {
        let own = fs::read(format!("{target}/{member}/zarr.json")).unwrap();
        assert_eq!(members[member], serde_json::from_slice::<Value>(&own).unwrap());
    }
}

/// Its consolidated metadata has more values than any one document may have.
#[test]
fn consolidated_metadata_of_thousands_of_arrays_is_read_and_written() {
    let folder = Folder::new();
    let [source, again] = ["s.zarr", "again.zarr"].map(|name| folder.at(name));
    for version in [3, 2] {
        group(Path::new(&source), version, 20);
        // As many as matter here, in documents alone.
        let key = if version == 3 { "zarr.json" } else { ".zmetadata" };
        let target = folder.at(&format!("t{version}.zarr"));
        let format = format!("zarr{version}");
        let options = ["--chunks", "keep", "--format", &format, "--no-fsync"];
        rechunk(&[&["copy", &source, &target][..], &options].concat()).ok();
        let path = Path::new(&target).join(key);
        let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let members = match version {
            3 => &mut document["consolidated_metadata"]["metadata"],
            _ => &mut document["metadata"],
        };
        let members = members.as_object_mut().unwrap();
        let own: Vec<(String, Value)> = members.clone().into_iter().collect();
        for number in 0..700 {
            for (name, member) in own.iter().filter(|(name, _)| name.starts_with("variable")) {
                let name = name.replacen("variable", &format!("only_described_{number:03}"), 1);
                members.insert(name, member.clone());
            }
        }
        fs::write(&path, serde_json::to_vec_pretty(&document).unwrap()).unwrap();
        // One more array in it: all that is said of others stays.
        let array = format!("{target}/new");
        rechunk(&["copy", &format!("{source}/variable_00003"), &array, "--format", &format]).ok();
        let mut now: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let members = match version {
            3 => &mut now["consolidated_metadata"]["metadata"],
            _ => &mut now["metadata"],
        };
        let names: Vec<String> = members.as_object().unwrap().keys().cloned().collect();
        let new: Vec<&String> = names.iter().filter(|name| name.starts_with("new")).collect();
        assert_eq!(new.len(), if version == 3 { 1 } else { 2 }, "{new:?}");
        members.as_object_mut().unwrap().retain(|name, _| !name.starts_with("new"));
        assert_eq!(now, document);
        let info = rechunk(&["info", &target, "--json"]).ok().json();
        assert_eq!(info["members"].as_array().unwrap().len(), 14_021);
        // What is there is copied, of what is only described there is nothing.
        let options = ["--include", "variable_*", "--include", "new", "--no-fsync"];
        rechunk(&[&["copy", &target, &again][..], &options].concat()).ok();
        let differ = rechunk(&["verify", &source, &again, "--json"]).ends_with(6).json();
        assert_eq!(differ["only_in_second"], json!(["new"]), "{differ:#}");
        for place in [&source, &target, &again] {
            fs::remove_dir_all(place).unwrap();
        }
    }
}
