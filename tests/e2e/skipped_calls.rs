//! Applies of several levels in which some calls of a task are not made.
//!
//! Elements that nothing was given for stay as they are, and overlaps are made of the calls that
//! were made.

use std::path::Path;

use serde_json::json;

use crate::arrays::write_json;
use crate::harness::{Folder, elements, rechunk};

/// Writes an array of one axis of float32; chunks that are `None` are not stored.
fn write(path: &str, fill: f32, chunk: usize, chunks: &[Option<f32>]) {
    let directory = Path::new(path);
    std::fs::create_dir_all(directory).unwrap();
    let document = json!({
        "zarr_format": 2, "shape": [chunk * chunks.len()], "chunks": [chunk], "dtype": "<f4",
        "compressor": null, "fill_value": fill, "order": "C", "filters": null,
    });
    write_json(&directory.join(".zarray"), &document);
    for (number, value) in chunks.iter().enumerate() {
        if let Some(value) = value {
            let bytes = value.to_le_bytes().repeat(chunk);
            std::fs::write(directory.join(number.to_string()), bytes).unwrap();
        }
    }
}

/// The elements of an array of float32.
fn numbers(folder: &Folder, path: &str) -> Vec<f32> {
    let bytes = elements(folder, path);
    bytes.chunks(4).map(|item| f32::from_le_bytes(item.try_into().unwrap())).collect()
}

#[test]
fn an_update_leaves_what_nothing_was_given_for() {
    let folder = Folder::new();
    let source = folder.at("source");
    write(&source, 0.0, 4, &[Some(1.0), None, Some(3.0), Some(0.5)]);
    let expected = [[1.0_f32; 4], [60.0; 4], [3.0; 4], [0.5; 4]].concat();
    let skip = ["--op", "identity", "--missing", "skip-if-all"];
    // A program that gives nothing for the second box.
    let script =
        "sh -c 'grep -q \"keep.:..4,8\" \"$3\" && exit 99; cp \"$1\" \"$2\"' sh {in} {out} {meta}";
    let program = ["--exec", script];
    for (name, how) in [("missing", &skip[..]), ("program", &program)] {
        for (number, more) in [
            &[][..],
            &["--level", "16"],
            &["--level", "8"],
            &["--level", "16", "--level", "8"],
            &["--level", "16;blend=0", "--threads", "2", "--verify"],
        ]
        .iter()
        .enumerate()
        {
            for chunk in [2, 8, 16] {
                let target = folder.at(&format!("{name}-{number}-{chunk}"));
                write(&target, 77.0, chunk, &vec![Some(60.0); 16 / chunk]);
                let command = ["apply", &source, &target, "--work", "4", "--update", "-q"];
                rechunk(&[&command[..], how, more].concat()).ok();
                assert_eq!(numbers(&folder, &target), expected, "{name} {more:?} {chunk}");
            }
        }
    }
}

#[test]
fn overlaps_are_made_of_the_calls_that_were_made() {
    let folder = Folder::new();
    let source = folder.at("source");
    let mut chunks = [Some(8.0); 12];
    chunks[3] = None;
    write(&source, 0.0, 1, &chunks);
    // Calls of 4 from -1 on, in two tasks: the second of the first task takes element 3.
    let (mut expected, mut of_two) = (vec![8.0; 12], vec![8.0; 12]);
    expected[3..5].fill(0.0);
    of_two[3..7].fill(0.0);
    for mode in ["linear", "quadratic", "bump", "max"] {
        let level = format!("6;blend=1;mode={mode}");
        let target = folder.at(mode);
        let how = ["--op", "identity", "--expand", "work", "--boundary", "nearest", "-q"];
        let skip = ["--work", "4", "--missing", "skip-if-any"];
        let command = ["apply", &source, &target, "--level", &level];
        rechunk(&[&command[..], &how, &skip].concat()).ok();
        assert_eq!(numbers(&folder, &target), expected, "{mode}");
    }
    // Nothing else has a value where both tasks skip.
    chunks[5] = None;
    let other = folder.at("other");
    write(&other, 0.0, 1, &chunks);
    let target = folder.at("both");
    let command = ["apply", &other, &target, "--work", "4", "--level", "6;blend=1", "-q"];
    let how = ["--op", "identity", "--expand", "work", "--boundary", "nearest"];
    rechunk(&[&command[..], &how, &["--missing", "skip-if-any"]].concat()).ok();
    of_two[7..9].fill(0.0);
    assert_eq!(numbers(&folder, &target), of_two);
}
