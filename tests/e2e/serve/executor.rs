//! The executor of the datastore: an operation from a version of a data set to a new one.

use std::path::PathBuf;

use serde_json::json;

use super::client::{Lab, SHAPE, write_array};
use crate::harness::Run;

fn python() -> PathBuf {
    std::env::var_os("PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

#[test]
fn an_operation_goes_from_a_version_to_a_new_one_as_it_does_on_its_arrays() {
    let lab = Lab::new();
    let id = lab.create(&json!({}));
    let source = lab.at("a.zarr");
    write_array(&source, "<u2", &SHAPE, 1);
    lab.run(&["copy", &source, &lab.level(&id, "0")]).ok();
    // Per block, and as one full frame.
    for (number, work) in (1..).zip(["8,16,16", "19,53,71"]) {
        let options = ["--op", "gaussian:sigma=1.5", "--work", work, "--crop", "auto"];
        let (from, to) = (lab.level(&id, "0"), lab.level(&id, "new"));
        let words = [&["apply", &from, &to][..], &options].concat();
        let report = lab.run_counted(&words);
        assert_eq!(report["version_made"], lab.level(&id, &number.to_string()));
        let direct = lab.at(&format!("direct{number}.n5"));
        let array = lab.at(&format!("root/{id}/0/export.n5/setup0/timepoint0/s0"));
        lab.run(&[&["apply", &array, &direct][..], &options].concat()).ok();
        lab.run(&["verify", &direct, &lab.level(&id, &number.to_string())]).ok();
    }
    assert_eq!(lab.versions(&id), json!([0, 1, 2]));
}

#[test]
fn an_operation_goes_over_times_and_channels() {
    let lab = Lab::new();
    let id = lab.create(&json!({ "timepoints": 2, "channels": 2, "dimensions": [20, 10, 9] }));
    let source = lab.at("a.zarr");
    write_array(&source, "<u2", &[2, 2, 9, 10, 20], 1);
    lab.run(&["copy", &source, &lab.level(&id, "0")]).ok();
    let options = ["--op", "invert", "--work", "1,1,8,16,16"];
    let (from, to) = (lab.level(&id, "0"), lab.level(&id, "new"));
    lab.run_counted(&[&["apply", &from, &to][..], &options].concat());
    let direct = lab.at("direct.zarr");
    lab.run(&[&["apply", &source, &direct][..], &options].concat()).ok();
    lab.run(&["verify", &direct, &lab.level(&id, "1")]).ok();
}

/// A program that adds one to each element of a TIFF, and notes that it ran.
const PROGRAM: &str = r#"
import struct, sys
given, result, log = sys.argv[1:]
data = bytearray(open(given, "rb").read())
order = "<" if data[:2] == b"II" else ">"
at = struct.unpack_from(order + "I", data, 4)[0]
while at:
    count = struct.unpack_from(order + "H", data, at)[0]
    tags = {}
    for entry in range(count):
        tag, kind, number = struct.unpack_from(order + "HHI", data, at + 2 + 12 * entry)
        size = {3: "H", 4: "I"}.get(kind)
        if size is None:
            continue
        place = at + 2 + 12 * entry + 8
        if number * struct.calcsize(size) > 4:
            place = struct.unpack_from(order + "I", data, place)[0]
        tags[tag] = struct.unpack_from(order + str(number) + size, data, place)
    for start, length in zip(tags[273], tags[279]):
        for place in range(start, start + length, 2):
            value = struct.unpack_from(order + "H", data, place)[0]
            struct.pack_into(order + "H", data, place, (value + 1) & 0xffff)
    at = struct.unpack_from(order + "I", data, at + 2 + 12 * count)[0]
open(result, "wb").write(data)
open(log, "a").write("ran\n")
"#;

#[test]
fn a_program_is_not_started_where_its_input_is_not_available_and_writes_nothing() {
    let lab = Lab::new();
    let id = lab.create(&json!({ "dimensions": [64, 48, 8], "compression": "raw" }));
    let part = lab.at("part.zarr");
    let sent = write_array(&part, "<u2", &[8, 16, 32], 9);
    // Two blocks of twelve.
    lab.run(&["copy", &part, &lab.level(&id, "0"), "--region", "0:8,16:32,16:48"]).ok();
    assert_eq!(lab.blocks(&id, 0).len(), 2);
    let (program, log) = (lab.at("program.py"), lab.at("log"));
    std::fs::write(&program, PROGRAM).unwrap();
    let command = format!("{} {program} {{in}} {{out}} {log}", python().display());
    let words = [
        "apply",
        &lab.level(&id, "0"),
        &lab.level(&id, "new"),
        "--exec",
        &command,
        "--exec-format",
        "tiff",
        "--work",
        "8,16,16",
        "--missing",
        "skip-if-all",
    ];
    lab.run(&words).ok();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "ran\nran\n");
    assert_eq!(lab.blocks(&id, 1), lab.blocks(&id, 0));
    let back = lab.at("back.zarr");
    let select = ["--select", "0:8,16:32,16:48", "--chunks", "8,16,32"];
    let plain = ["--format", "zarr2", "--codec", "none"];
    lab.run(&[&["copy", &lab.level(&id, "1"), &back][..], &select, &plain].concat()).ok();
    let found = std::fs::read(format!("{back}/0.0.0")).unwrap();
    let numbers = |bytes: &[u8]| -> Vec<u16> {
        bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
    };
    let wanted: Vec<u16> = numbers(&sent).iter().map(|number| number.wrapping_add(1)).collect();
    assert!(numbers(&found) == wanted);
    // A version of which nothing is available: no program, no block.
    lab.run(&[
        "apply",
        &lab.level(&id, "1"),
        &lab.level(&id, "new"),
        "--op",
        "identity",
        "--work",
        "8,16,16",
        "--missing",
        "skip-if-all",
        "--box",
        "0:8,0:16,0:16",
    ])
    .ok();
    assert_eq!(lab.blocks(&id, 2).len(), 0);
    std::fs::remove_file(&log).unwrap();
    let words: Vec<String> =
        words
            .iter()
            .map(|word| {
                if *word == lab.level(&id, "0") { lab.level(&id, "2") } else { (*word).to_owned() }
            })
            .collect();
    Run::rechunk(&words).in_directory(lab.folder.path()).go().ok();
    assert!(!std::path::Path::new(&log).exists());
    assert_eq!(lab.versions(&id), json!([0, 1, 2, 3]));
    assert_eq!(lab.blocks(&id, 3).len(), 0);
}
