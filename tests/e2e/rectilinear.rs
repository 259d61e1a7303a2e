//! Sources whose chunks differ in length (Zarr v3's `rectilinear` grid), written chunk by chunk
//! here.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk, tree};
use crate::oracle::{World, available, job, read};

/// Five months of days, on a small grid.
const SHAPE: [u64; 3] = [151, 60, 50];
/// Shapes of the chunks of targets.
const TARGETS: [[u64; 3]; 3] = [[151, 10, 10], [20, 60, 50], [31, 17, 20]];

/// Lengths of chunks as the metadata says them, and as they are within the array.
fn lengths() -> (Value, [Vec<u64>; 3]) {
    (
        // With chunks beyond the end, and one that reaches over it.
        json!([[31, 28, 31, 30, 31, [7, 2]], [[17, 2], 11, 40], 20]),
        [vec![31, 28, 31, 30, 31], vec![17, 17, 11, 40], vec![20, 20, 20]],
    )
}

/// The elements of the array, C order: those of every [`RawArray`] of the shape.
fn elements() -> Vec<u8> {
    RawArray::v3(&SHAPE, &SHAPE).chunk(&[0; 3])
}

fn ranges(lengths: &[u64]) -> Vec<(u64, u64)> {
    let mut end = 0;
    let mut range = |length: &u64| {
        end += length;
        (end - length, *length)
    };
    lengths.iter().map(&mut range).collect()
}

/// Writes the array with gzip; chunks of which `skip` is true are left out.
fn write(directory: &str, skip: impl Fn(usize) -> bool) {
    let directory = Path::new(directory);
    let (chunk_shapes, lengths) = lengths();
    let (_, mut document) = RawArray::v3(&SHAPE, &SHAPE).metadata();
    document["chunk_grid"] = json!({
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes},
    });
    document["dimension_names"] = json!(["time", "y", "x"]);
    document["codecs"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "gzip", "configuration": {"level": 1}}));
    write_json(&directory.join("zarr.json"), &document);
    let all = elements();
    let [times, rows, columns] = lengths.map(|lengths| ranges(&lengths));
    let mut ordinal = 0;
    for (t, &time) in times.iter().enumerate() {
        for (y, &row) in rows.iter().enumerate() {
            for (x, &column) in columns.iter().enumerate() {
                if !skip(ordinal) {
                    let path = directory.join(format!("c/{t}/{y}/{x}"));
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, gzip(&cut(&all, [time, row, column]))).unwrap();
                }
                ordinal += 1;
            }
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// All of a chunk; what lies beyond the array is no number.
fn cut(all: &[u8], [time, row, column]: [(u64, u64); 3]) -> Vec<u8> {
    let mut chunk = Vec::new();
    for t in time.0..time.0 + time.1 {
        for y in row.0..row.0 + row.1 {
            for x in column.0..column.0 + column.1 {
                if t < SHAPE[0] && y < SHAPE[1] && x < SHAPE[2] {
                    let at = usize::try_from((t * SHAPE[1] + y) * SHAPE[2] + x).unwrap() * 4;
                    chunk.extend(&all[at..at + 4]);
                } else {
                    chunk.extend(f32::NAN.to_le_bytes());
                }
            }
        }
    }
    chunk
}

/// Every chunk of two directories is the same, byte by byte.
fn assert_same_chunks(a: &str, b: &str, what: &str) {
    let chunks = |path: &str| {
        let mut files = tree(path.as_ref());
        files.remove("zarr.json");
        files
    };
    assert_eq!(chunks(a), chunks(b), "{what}");
}

#[test]
fn every_plan_in_several_budgets_copies_every_element() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    write(&source, |_| false);
    for (number, target_chunks) in TARGETS.iter().enumerate() {
        let expected = folder.at(&format!("expected-{number}"));
        RawArray::v3(&SHAPE, target_chunks).write(&expected);
        let chunks = target_chunks.map(|extent| extent.to_string()).join(",");
        for strategy in ["auto", "keep", "pull", "push-pull", "multistage", "memory"] {
            for (budget, is_small) in [("3MiB", true), ("64MiB", false)] {
                let target = folder.at(&format!("{number}-{strategy}-{budget}"));
                let what = format!("{chunks} {strategy} {budget}");
                let done = rechunk(&[
                    "copy",
                    &source,
                    &target,
                    "--chunks",
                    &chunks,
                    "--codec",
                    "none",
                    "--max-mem",
                    budget,
                    "--strategy",
                    strategy,
                    "--threads",
                    "2",
                    "--no-fsync",
                    "--json",
                ]);
                if is_small && done.code == 5 && strategy != "auto" && strategy != "pull" {
                    continue; // it says what it needs
                }
                let report = done.ok().json();
                assert_same_chunks(&target, &expected, &what);
                let (planned, counted) =
                    (&report["estimate"]["source"], &report["traffic"]["source"]);
                for count in ["get_requests", "decoded_read_bytes"] {
                    assert_eq!(planned[count], counted[count], "{what}: {count}");
                }
            }
        }
    }
}

#[test]
fn chunks_that_are_missing_hold_the_fill_value() {
    let folder = Folder::new();
    let (source, target) = (folder.at("source.zarr"), folder.at("target.zarr"));
    write(&source, |ordinal| ordinal % 3 == 1);
    let arguments = ["--chunks", "time=-1,y=10,x=25", "--verify", "--no-fsync", "-q"];
    rechunk(&[&["copy", &source, &target][..], &arguments].concat()).ok();
    let info = rechunk(&["info", &source, "--json"]).ok().json();
    assert_eq!(info["missing_chunks"], 20);
    if available() {
        let answer = read(World::Z3, &[job(&target, 3, "zarr")]).remove(0);
        let mut all = elements();
        let [times, rows, columns] = lengths().1.map(|lengths| ranges(&lengths));
        let chunk_of = |ranges: &[(u64, u64)], at: u64| {
            ranges.iter().position(|&(start, length)| at < start + length).unwrap()
        };
        for (element, position) in all.chunks_exact_mut(4).zip(0_u64..) {
            let (t, y, x) = (position / 3000, position / 50 % 60, position % 50);
            let row = chunk_of(&times, t) * rows.len() + chunk_of(&rows, y);
            if (row * columns.len() + chunk_of(&columns, x)) % 3 == 1 {
                element.fill(0);
            }
        }
        assert_eq!(answer["sha256"], json!(format!("{:x}", Sha256::digest(&all))), "{answer}");
    }
}

#[test]
fn a_saved_plan_is_run() {
    let folder = Folder::new();
    let (source, target, plan) =
        (folder.at("source.zarr"), folder.at("target.zarr"), folder.at("plan.json"));
    write(&source, |_| false);
    let chunks = ["--chunks", "20,60,50", "--codec", "none", "--out", &plan];
    let told = rechunk(&[&["plan", &source, &target][..], &chunks].concat()).ok().stdout;
    assert!(told.contains("chunks up to 31 × 40 × 20") && told.contains("60 × up to"), "{told}");
    rechunk(&["run", &plan, "--no-fsync", "-q"]).ok();
    let expected = folder.at("expected");
    RawArray::v3(&SHAPE, &TARGETS[1]).write(&expected);
    assert_same_chunks(&target, &expected, "run");
}

#[test]
fn info_shows_the_grid() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    write(&source, |ordinal| ordinal == 7);
    let info = rechunk(&["info", &source, "--json"]).ok().json();
    assert_eq!(info["chunk_shape"], json!([31, 40, 20]));
    assert_eq!(info["smallest_chunk_shape"], json!([28, 11, 20]));
    assert_eq!(info["chunks"], 5 * 4 * 3);
    assert_eq!((&info["stored_chunks"], &info["foreign"]["count"]), (&json!(59), &json!(0)));
    // All chunks, what is beyond the end included, but the missing one: 31 × 11 × 20.
    let decoded = (151 * 85 * 60 - 31 * 11 * 20) * 4;
    let stored = info["stored_bytes"].as_f64().unwrap();
    let ratio = info["compression_ratio"].as_f64().unwrap();
    assert!((ratio - f64::from(decoded) / stored).abs() < 1e-9, "{ratio}");
    let text = rechunk(&["info", &source]).ok().stdout;
    assert!(text.contains("the smallest 28 × 11 × 20 (a rectilinear grid)"), "{text}");
}

#[test]
fn it_is_compared_with_regular_arrays() {
    let folder = Folder::new();
    let (source, other) = (folder.at("source.zarr"), folder.at("other.zarr"));
    write(&source, |_| false);
    RawArray::v3(&SHAPE, &TARGETS[2]).write(&other);
    rechunk(&["verify", &source, &other]).ok();
    rechunk(&["verify", &other, &source]).ok();
    let damaged = Path::new(&other).join("c/2/1/1");
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[17] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    for pair in [[&source, &other], [&other, &source]] {
        let told = rechunk(&["verify", pair[0], pair[1], "--json"]).ends_with(6).json();
        assert_eq!(told["first_difference"], json!([62, 17, 24]), "{told}");
    }
    let refused = rechunk(&["verify", &source, &source]).ends_with(3);
    assert!(
        refused.stderr.contains("chunks of both arrays differ in length"),
        "{}",
        refused.stderr
    );
}

#[test]
fn it_is_not_written() {
    let folder = Folder::new();
    let (source, target) = (folder.at("source.zarr"), folder.at("target.zarr"));
    write(&source, |_| false);
    for arguments in [&[][..], &["--chunks", "keep"], &["--chunks", "x=10"]] {
        let done = rechunk(&[&["copy", &source, &target][..], arguments].concat()).ends_with(2);
        for part in ["dimension `time`", "28 to 31 elements", "read, not written", "--chunks"] {
            assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
        }
    }
    assert!(!Path::new(&target).exists());
}

#[test]
fn a_chunk_of_another_size_is_damaged() {
    let folder = Folder::new();
    let (source, target) = (folder.at("source.zarr"), folder.at("target.zarr"));
    write(&source, |_| false);
    // Chunk 0 of 31 days in place of chunk 1, which has 28.
    let root = Path::new(&source);
    std::fs::copy(root.join("c/0/0/0"), root.join("c/1/0/0")).unwrap();
    let done = rechunk(&["copy", &source, &target, "--chunks", "10,10,10"]).ends_with(3);
    assert!(done.stderr.contains("c/1/0/0"), "{}", done.stderr);
}
