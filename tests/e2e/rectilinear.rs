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
pub(crate) const SHAPE: [u64; 3] = [151, 60, 50];
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
pub(crate) fn write(directory: &str, skip: impl Fn(usize) -> bool) {
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
    // Both sides may differ in length, each in its own way.
    rechunk(&["verify", &source, &source]).ok();
    let again = folder.at("again.zarr");
    let chunks = "time=50+1+100,y=7x8+4,x=30+20";
    rechunk(&["copy", &other, &again, "--chunks", "31,17,20", "--no-fsync", "-q"]).ok();
    let lengths = folder.at("lengths.zarr");
    rechunk(&["copy", &source, &lengths, "--chunks", chunks, "--no-fsync", "-q"]).ok();
    rechunk(&["verify", &source, &lengths]).ok();
    rechunk(&["verify", &again, &lengths, "--json"]).ends_with(6);
}

/// Lengths in other formats than Zarr v3 are refused before anything is written.
#[test]
fn other_formats_have_one_length() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    write(&source, |_| false);
    for (format, arguments) in [
        ("zarr2", &[][..]),
        ("n5", &["--chunks", "keep"]),
        ("zarr2", &["--chunks", "x=10"]),
        ("n5", &["--chunks", "time=100+51,y=60,x=50"]),
        ("precomputed", &["--chunks", "time=100+51,y=60,x=50"]),
    ] {
        let target = folder.at(&format!("target.{format}"));
        let copy = [&["copy", &source, &target, "--format", format][..], arguments].concat();
        let done = rechunk(&copy).ends_with(2);
        for part in ["dimension `time`", "as Zarr v3 only", "--chunks"] {
            assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
        }
        assert!(!Path::new(&target).exists());
    }
}

/// Lengths of chunks as people write them: those of the source, its own ones, and some that end
/// nowhere near.
const LENGTHS: [&str; 3] =
    ["time=keep,y=keep,x=keep", "time=31+28+31+30+31,y=20,x=25", "time=100+1+50,y=7x8+4,x=30+20"];

#[test]
fn every_plan_writes_chunks_of_different_lengths() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    write(&source, |_| false);
    let regular = folder.at("regular.zarr");
    RawArray::v3(&SHAPE, &[10, 20, 50]).write(&regular);
    let mut targets = Vec::new();
    for (from, chunks) in LENGTHS
        .iter()
        .map(|chunks| (&source, *chunks))
        .chain([(&regular, "31+28+31x2+30,60,50"), (&regular, "70+81,13x4+8,17+33")])
    {
        let expected = folder.at(&format!("expected-{}", targets.len()));
        let options = ["--chunks", chunks, "--codec", "none", "--no-fsync", "--json"];
        rechunk(&[&["copy", from, &expected][..], &options].concat()).ok();
        rechunk(&["verify", from, &expected]).ok();
        targets.push(expected.clone());
        for strategy in ["keep", "pull", "push-pull", "memory"] {
            for (budget, is_small) in [("3MiB", true), ("64MiB", false)] {
                let target = folder.at(&format!("{}-{strategy}-{budget}", targets.len()));
                let what = format!("{chunks} {strategy} {budget}");
                let more = ["--max-mem", budget, "--strategy", strategy, "--threads", "2"];
                let done = rechunk(&[&["copy", from, &target][..], &options, &more].concat());
                if is_small && done.code == 5 {
                    continue; // it says what it needs
                }
                let report = done.ok().json();
                assert_same_chunks(&target, &expected, &what);
                for (role, count) in [
                    ("source", "get_requests"),
                    ("source", "decoded_read_bytes"),
                    ("intermediate", "written_bytes"),
                    ("target", "put_requests"),
                    ("target", "decoded_written_bytes"),
                ] {
                    let (planned, counted) =
                        (&report["estimate"][role][count], &report["traffic"][role][count]);
                    assert_eq!(planned, counted, "{what}: {role} {count}");
                }
            }
        }
    }
    // What is written is read by others, where they know such grids.
    if available() && World::New.is_installed() {
        let jobs: Vec<Value> = targets.iter().map(|target| job(target, 3, "zarr")).collect();
        let sha256 = format!("{:x}", Sha256::digest(elements()));
        for (target, answer) in targets.iter().zip(read(World::New, &jobs)) {
            assert_eq!(answer["sha256"], json!(sha256), "{target}: {answer}");
        }
    }
}

/// Shards of months, each with a chunk for every day.
#[test]
fn shards_differ_in_length_and_chunks_do_not() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    write(&source, |_| false);
    let target = folder.at("target.zarr");
    let shards = ["--shards", "time=31+28+31+30+31,y=60,x=50", "--chunks", "time=1,y=20,x=25"];
    rechunk(&[&["copy", &source, &target, "--no-fsync", "-q", "--verify"][..], &shards].concat())
        .ok();
    let info = rechunk(&["info", &target, "--json"]).ok().json();
    assert_eq!((&info["chunks"], &info["missing_chunks"]), (&json!(5), &json!(0)), "{info}");
    let kept = folder.at("kept.zarr");
    rechunk(&["copy", &target, &kept, "--no-fsync", "-q"]).ok();
    assert_same_chunks(&target, &kept, "shards that are kept");
    let refused = ["--shards", "time=31+28+31+30+31", "--chunks", "time=5,y=20,x=25"];
    rechunk(&[&["copy", &source, &folder.at("no.zarr")][..], &refused].concat())
        .ends_with(2)
        .says(&["a shard of 31 does not hold whole chunks of 5"]);
    if available() && World::New.is_installed() {
        let answer = read(World::New, &[job(&target, 3, "zarr")]).remove(0);
        assert_eq!(
            answer["sha256"],
            json!(format!("{:x}", Sha256::digest(elements()))),
            "{answer}"
        );
    }
}

/// Months and years of a real calendar, from the coordinate.
#[test]
fn months_of_the_calendar_become_chunks() {
    let folder = Folder::new();
    for (calendar, units, days, wanted) in [
        (
            "standard",
            "days since 2020-01-01",
            366_u64,
            json!([31, 29, 31, 30, 31, 30, [31, 2], 30, 31, 30, 31]),
        ),
        (
            "noleap",
            "days since 2020-01-01",
            365,
            json!([31, 28, 31, 30, 31, 30, [31, 2], 30, 31, 30, 31]),
        ),
        ("proleptic_gregorian", "days since 2019-12-15 12:00", 60, json!([17, 31, 12])),
    ] {
        let group = folder.at(&format!("{calendar}.zarr"));
        let place = Path::new(&group);
        write_json(
            &place.join("zarr.json"),
            &json!({"zarr_format": 3, "node_type": "group", "attributes": {}}),
        );
        let array = |name: &str, chunk: u64, data_type: &str, attributes: Value| {
            let document = json!({
                "zarr_format": 3, "node_type": "array", "shape": [days], "data_type": data_type,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk]}},
                "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "attributes": attributes, "dimension_names": ["time"],
            });
            std::fs::create_dir_all(place.join(name).join("c")).unwrap();
            write_json(&place.join(name).join("zarr.json"), &document);
        };
        array("time", days, "int32", json!({"units": units, "calendar": calendar}));
        array("v", 7, "int16", json!({}));
        let days32 = i32::try_from(days).unwrap();
        let bytes: Vec<u8> = (0..days32).flat_map(i32::to_le_bytes).collect();
        std::fs::write(place.join("time/c/0"), bytes).unwrap();
        for chunk in 0..days.div_ceil(7) {
            let bytes: Vec<u8> = (0..7)
                .flat_map(|at| i16::try_from(chunk * 7 + at + 1).unwrap().to_le_bytes())
                .collect();
            std::fs::write(place.join(format!("v/c/{chunk}")), bytes).unwrap();
        }
        let (source, target) =
            (format!("{group}/v"), folder.at(&format!("{calendar}-months.zarr")));
        let told = rechunk(&["plan", &source, &target, "--chunks", "time=1M"]).ok().stdout;
        assert!(told.contains("time=1M ("), "{told}");
        rechunk(&["copy", &source, &target, "--chunks", "time=1M", "--verify", "-q"]).ok();
        let document: Value =
            serde_json::from_slice(&std::fs::read(Path::new(&target).join("zarr.json")).unwrap())
                .unwrap();
        let grid = &document["chunk_grid"];
        assert_eq!(grid["name"], "rectilinear", "{calendar}: {grid}");
        assert_eq!(grid["configuration"]["chunk_shapes"], json!([wanted]), "{calendar}");
        rechunk(&["verify", &source, &target]).ok();
        let v2 = folder.at(&format!("{calendar}-v2.zarr"));
        rechunk(&["copy", &source, &v2, "--chunks", "time=1M", "--format", "zarr2"]).ends_with(2);
    }
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
