//! Sources of which chunks are missing: they are counted, told, or refused; and chunks that are
//! removed while they are copied are no gap.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, Run, looks_finished, on_two_threads, rechunk};
use crate::report::number;

/// 24 rows, a chunk each.
pub(crate) fn rows(version: u8) -> RawArray {
    let (shape, chunks) = ([24, 10], [1, 10]);
    if version == 2 { RawArray::v2(&shape, &chunks) } else { RawArray::v3(&shape, &chunks) }
}

pub(crate) fn written(folder: &Folder, name: &str, array: &RawArray) -> String {
    let place = folder.at(name);
    array.write(&place);
    place
}

/// Removes the first chunk of these rows of chunks.
pub(crate) fn lose(place: &str, array: &RawArray, rows: &[u64]) {
    for &row in rows {
        let mut index = vec![0; array.shape.len()];
        index[0] = row;
        fs::remove_file(Path::new(place).join(array.key(&index))).unwrap();
    }
}

#[test]
fn the_report_says_how_many_chunks_are_missing() {
    /// The rows that are lost, `--chunks`, and what is said.
    const CASES: [(&[u64], &str, Option<&str>); 6] = [
        (&[], "24,1", None),
        (&[3], "24,1", Some("1 of 24 source chunks is missing")),
        (&[3, 7, 8], "24,1", Some("3 of 24 source chunks are missing")),
        (&[3, 7, 8], "24,10", Some("3 of 24 source chunks are missing")),
        (&[0, 23], "keep", Some("2 of 24 source chunks are missing")),
        (&[5], "5,3", Some("1 of 24 source chunks is missing")),
    ];
    let folder = Folder::new();
    for version in [2, 3] {
        let array = rows(version);
        for (lost, chunks, sentence) in CASES {
            let source = written(&folder, "s.zarr", &array);
            lose(&source, &array, lost);
            let target = folder.at("t.zarr");
            let copy = ["copy", &source, &target, "--chunks", chunks, "--verify"];
            let done = rechunk(&copy).ok();
            match sentence {
                Some(sentence) => {
                    let first = array.key(&[lost[0], 0]);
                    done.says(&[sentence, &first, "verified: the target was read back"]);
                }
                None => assert!(!done.stderr.contains("missing"), "{}", done.stderr),
            }
            let again = ["copy", &source, &target, "--chunks", chunks, "--overwrite", "--json"];
            let report = rechunk(&again).ok().json();
            let missing = &report["missing"];
            assert_eq!(missing["chunks"], lost.len(), "{missing}");
            assert_eq!(missing["of"], 24);
            assert!(missing.get("is_least").is_none() && missing.get("is_all").is_none());
            rechunk(&["verify", &source, &target]).ok();
            fs::remove_dir_all(&source).unwrap();
            fs::remove_dir_all(&target).unwrap();
        }
    }
}

/// A chunk is counted once, however many tasks ask for it, and by chunks where it lies in a shard.
#[test]
fn each_missing_chunk_counts_once_in_every_plan_and_in_shards() {
    let folder = Folder::new();
    let raw = RawArray::v3(&[24, 32, 48], &[4, 32, 48]);
    let source = written(&folder, "s.zarr", &raw);
    lose(&source, &raw, &[1, 4]);
    let sharded = folder.at("sharded.zarr");
    let shards = ["--chunks", "4,16,16", "--shards", "8,32,48"];
    rechunk(&[&["copy", &source, &sharded], &shards[..]].concat()).ok();
    // Of the chunks that were missing nothing is stored: one half of two shards each.
    for (from, of, lost) in [(&source, 6, 2), (&sharded, 36, 12)] {
        for options in [
            "--chunks 24,8,8",
            "--chunks 3,16,16",
            "--chunks 24,8,16 --strategy push-pull",
            "--chunks 24,32,48 --strategy direct",
            "--chunks 4,16,16 --shards 24,32,48",
        ] {
            let target = folder.at("t.zarr");
            let words: Vec<&str> = options.split(' ').collect();
            let copy = ["copy", from, &target, "--json", "--max-mem", "4MiB"];
            let copy = [&copy[..], &words].concat();
            let report = rechunk(&copy).ok().json();
            let said = (number(&report, "missing.chunks"), number(&report, "missing.of"));
            assert_eq!(said, (lost, of), "{from} {options}");
            fs::remove_dir_all(&target).unwrap();
        }
    }
}

#[test]
fn of_nothing_it_is_not_said_that_it_was_verified() {
    let folder = Folder::new();
    let array = rows(3);
    let source = written(&folder, "s.zarr", &array);
    fs::remove_dir_all(Path::new(&source).join("c")).unwrap();
    for options in ["24,1", "keep", "5,3"] {
        let target = folder.at("t.zarr");
        let copy = ["copy", &source, &target, "--chunks", options, "--verify"];
        let done = rechunk(&copy).ok();
        let done = done.says(&["warning", "no chunk of the source was found", "24 of 24"]);
        assert!(!done.stderr.contains("verified"), "{}", done.stderr);
        let report = rechunk(&[&copy[..], &["--overwrite", "--json"]].concat()).ok().json();
        assert_eq!(report["missing"]["is_all"], true);
        assert!(report.get("verified").is_none(), "{report}");
        fs::remove_dir_all(&target).unwrap();
    }
    // What has no chunks misses none.
    let empty = RawArray::v3(&[0, 10], &[1, 10]);
    let source = written(&folder, "empty.zarr", &empty);
    let done = rechunk(&["copy", &source, &folder.at("e.zarr"), "--verify"]).ok();
    assert!(!done.stderr.contains("missing"), "{}", done.stderr);
}

#[test]
fn a_group_says_it_of_each_array() {
    let folder = Folder::new();
    let group = folder.at("g.zarr");
    write_json(
        &Path::new(&group).join("zarr.json"),
        &json!({"zarr_format": 3, "node_type": "group", "attributes": {}}),
    );
    let array = rows(3);
    for name in ["a", "b", "deep/c"] {
        array.write(&format!("{group}/{name}"));
    }
    lose(&format!("{group}/a"), &array, &[1, 2]);
    lose(&format!("{group}/deep/c"), &array, &[9]);
    let copy = ["copy", &group, &folder.at("t.zarr"), "--chunks", "24,1"];
    let done = rechunk(&copy).ok();
    let done =
        done.says(&["a: 2 of 24 source chunks are missing", "deep/c: 1 of 24 source chunks is"]);
    assert_eq!(done.stderr.matches("source chunk").count(), 2, "{}", done.stderr);
    let refused = ["copy", &group, &folder.at("u.zarr"), "--chunks", "24,1", "--max-missing", "1"];
    rechunk(&refused).ends_with(3).says(&["the array a", "2 of 24", "c/1/0"]);
    assert!(!looks_finished(&folder.at("u.zarr")));
}

#[test]
fn more_missing_than_is_allowed_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    for version in [2, 3] {
        let array = rows(version);
        let source = written(&folder, "s.zarr", &array);
        lose(&source, &array, &[3, 7, 8]);
        for (most, is_refused) in [
            ("0", true),
            ("0%", true),
            ("2", true),
            ("12%", true),
            ("12.5%", false),
            ("3", false),
            ("100%", false),
            ("24", false),
        ] {
            let target = folder.at("t.zarr");
            let copy = ["copy", &source, &target, "--chunks", "24,1", "--max-missing", most];
            let done = rechunk(&copy);
            if is_refused {
                done.ends_with(3).says(&["3 of 24 source chunks are missing", &array.key(&[3, 0])]);
                assert!(!Path::new(&target).exists(), "{most}");
                assert!(!Path::new(&format!("{target}.rechunk")).exists(), "{most}");
                let dry = [&copy[..], &["--dry-run"]].concat();
                rechunk(&dry).ok().says(&["is refused", "3 of 24"]);
                let plan = ["plan", &source, &target, "--chunks", "24,1", "--max-missing", most];
                rechunk(&plan).ok().says(&["is refused", "3 of 24"]);
            } else {
                done.ok().says(&["3 of 24"]);
                fs::remove_dir_all(&target).unwrap();
            }
        }
        fs::remove_dir_all(&source).unwrap();
    }
    let source = written(&folder, "s.zarr", &rows(3));
    for wrong in ["", "-1", "101%", "x", "5 percent", "NaN%"] {
        let option = format!("--max-missing={wrong}");
        rechunk(&["copy", &source, &folder.at("t.zarr"), &option]).ends_with(2);
    }
    let copy = ["copy", &source, &folder.at("t.zarr"), "--max-missing", "0", "--verify"];
    rechunk(&copy).ok().says(&["verified"]);
}

/// Chunks inside of shards are found missing when their index is read: then nothing is published.
#[test]
fn missing_chunks_in_shards_are_refused_before_the_target_is_known() {
    let folder = Folder::new();
    let raw = RawArray::v3(&[24, 32, 48], &[4, 32, 48]);
    let plain = written(&folder, "p.zarr", &raw);
    lose(&plain, &raw, &[1]);
    let source = folder.at("s.zarr");
    let shards = ["--chunks", "4,16,16", "--shards", "24,32,48"];
    rechunk(&[&["copy", &plain, &source], &shards[..]].concat()).ok();
    let target = folder.at("t.zarr");
    let copy = ["copy", &source, &target, "--chunks", "24,8,8", "--max-missing"];
    rechunk(&[&copy[..], &["0"]].concat()).ends_with(3).says(&["6 of 36 source chunks"]);
    assert!(!looks_finished(&target));
    rechunk(&[&copy[..], &["6", "--overwrite"]].concat()).ok();
    assert!(looks_finished(&target));
}

/// The copy is slowed down, so that a chunk is removed that it has not read yet.
#[test]
fn a_chunk_that_is_removed_meanwhile_is_no_gap() {
    let cases = [
        (3, "--chunks 64,8"),
        (2, "--chunks 64,8"),
        (3, "--chunks keep"),
        (2, "--chunks 64,8 --strategy push-pull"),
        (3, "--chunks 16,16 --codec zstd:1"),
        (3, "--chunks 64,8 --verify"),
    ];
    on_two_threads(&cases, |&(version, options)| copy_what_is_removed(version, options));
}

fn copy_what_is_removed(version: u8, options: &str) {
    let folder = Folder::new();
    let (shape, chunks) = ([64, 4096], [1, 4096]);
    let array =
        if version == 2 { RawArray::v2(&shape, &chunks) } else { RawArray::v3(&shape, &chunks) };
    let source = written(&folder, "s.zarr", &array);
    // What was missing before is a gap all the same.
    lose(&source, &array, &[5]);
    let target = folder.at("t.zarr");
    let words: Vec<&str> = options.split(' ').collect();
    let slow = ["--bwlimit", "1MB", "--threads", "1", "--concurrency", "1"];
    let copy = [&["copy", &source, &target][..], &words, &slow].concat();
    let mut running = Run::rechunk(&copy).start();
    let work = format!("{target}.rechunk");
    while !Path::new(&work).exists() {
        assert!(running.try_wait().unwrap().is_none(), "{options}: it ended too early");
        sleep(Duration::from_millis(2));
    }
    sleep(Duration::from_millis(100));
    fs::remove_file(Path::new(&source).join(array.key(&[63, 0]))).unwrap();
    let done = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(matches!(done.status.code(), Some(1 | 3)), "{options}: {said}");
    assert!(said.contains("removed") && !looks_finished(&target), "{options}: {said}");
}
