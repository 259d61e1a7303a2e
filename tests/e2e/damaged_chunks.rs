//! Chunks that are damaged: the copy stops, names array, chunk and reason, keeps what is done, and
//! nothing at the target looks finished. A damaged chunk is never a missing one.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::arrays::RawArray;
use crate::bad_input::refused_with;
use crate::harness::{Folder, looks_finished, rechunk};
use crate::report::number;

/// An array of 4 × 4 chunks of 16 × 16 float32 in a codec, and the path of its chunk (1, 2).
fn source(folder: &Folder, codec: &str) -> (String, PathBuf) {
    let (raw, coded) = (folder.at("raw.zarr"), folder.at("source.zarr"));
    RawArray::v2(&[64, 64], &[16, 16]).write(&raw);
    rechunk(&["copy", &raw, &coded, "--codec", codec, "--format", "zarr2"]).ok();
    let chunk = Path::new(&coded).join("1.2");
    (coded, chunk)
}

/// Damages the chunk and expects the copy to stop, whatever the plan.
#[track_caller]
fn stops(codec: &str, damage: impl Fn(&mut Vec<u8>), words: &[&str]) {
    let folder = Folder::new();
    let (source, chunk) = source(&folder, codec);
    let mut bytes = std::fs::read(&chunk).unwrap();
    damage(&mut bytes);
    std::fs::write(&chunk, bytes).unwrap();
    let words = [&["source.zarr", "1.2"], words].concat();
    for strategy in ["keep", "pull", "push-pull"] {
        let options = ["--chunks", "64,8", "--strategy", strategy];
        refused_with(&source, &folder.at(strategy), &options, 3, &words);
    }
}

const CHECKED_ZSTD: &str = r#"{"id": "zstd", "level": 3, "checksum": true}"#;

#[test]
fn a_truncated_chunk_stops_the_copy() {
    for codec in
        ["none", "zstd:3", "gzip:5", "blosc:lz4:5:shuffle", r#"{"id": "zlib", "level": 1}"#]
    {
        stops(codec, |bytes| bytes.truncate(bytes.len() / 2), &[]);
        stops(codec, |bytes| bytes.truncate(1), &[]);
        stops(codec, Vec::clear, &[]);
    }
}

/// Each chunk is an image of 2 MiB, and each task takes a part of each: less is read than all of
/// them each time. Damage is found all the same.
#[test]
fn chunks_of_which_parts_are_read_are_no_less_checked() {
    let folder = Folder::new();
    let (raw, source) = (folder.at("raw.zarr"), folder.at("source.zarr"));
    RawArray::v2(&[12, 512, 1024], &[1, 512, 1024]).write(&raw);
    let codec = "blosc:lz4:5:shuffle";
    rechunk(&["copy", &raw, &source, "--codec", codec, "--format", "zarr2"]).ok();
    let options = ["--chunks", "12,32,1024", "--codec", "none", "--strategy", "pull"];
    let options = [&options[..], &["--max-mem", "20MiB", "--threads", "1"]].concat();
    let target = folder.at("target.zarr");
    let copy = [&["copy", &source, &target, "--json"], &options[..]].concat();
    let report = rechunk(&copy).ok().json();
    let (read, gets) =
        (number(&report, "traffic.source.read_bytes"), assert_gets_as_planned(&report));
    assert!(gets >= 24, "{gets}");
    let length = |image: u64| {
        let chunk = Path::new(&source).join(format!("{image}.0.0"));
        std::fs::metadata(chunk).unwrap().len()
    };
    let stored: u64 = (0..12).map(length).sum();
    assert!(read < stored / 4 * 5, "{read} of {stored} bytes, in {gets} reads of 12 chunks");
    let expected = number(&report, "estimate.source.read_bytes");
    assert!(read.abs_diff(expected) < read / 10, "{read} bytes, where {expected} are expected");
    rechunk(&["verify", &raw, &target]).ok();

    // What was not compressed has no blocks: all of it is read each time, and expected to be.
    let (stored, target) = (folder.at("stored.zarr"), folder.at("of-stored.zarr"));
    let codec = "blosc:lz4:0:shuffle";
    rechunk(&["copy", &raw, &stored, "--codec", codec, "--format", "zarr2"]).ok();
    let copy = [&["copy", &stored, &target, "--json"], &options[..]].concat();
    let report = rechunk(&copy).ok().json();
    let (read, expected) = ("traffic.source.read_bytes", "estimate.source.read_bytes");
    assert!(number(&report, read).abs_diff(number(&report, expected)) < 1 << 20);
    rechunk(&["verify", &raw, &target]).ok();

    // Of a region too, which begins and ends inside chunks on one axis, and at their ends on
    // others.
    let (of_raw, of_source) = (folder.at("of-raw.zarr"), folder.at("of-source.zarr"));
    let select = ["--select", "2:11,0:512,100:1000"];
    rechunk(&[&["copy", &raw, &of_raw, "--chunks", "9,32,900"], &select[..]].concat()).ok();
    let copy = [&["copy", &source, &of_source, "--json"], &options[..], &select].concat();
    assert_gets_as_planned(&rechunk(&copy).ok().json());
    rechunk(&["verify", &of_raw, &of_source]).ok();
    let (of_raw, of_source) = (folder.at("images-of-raw.zarr"), folder.at("images.zarr"));
    let select = ["--select", "2:11,0:512,0:1000"];
    rechunk(&[&["copy", &raw, &of_raw, "--chunks", "9,32,1000"], &select[..]].concat()).ok();
    let copy = [&["copy", &source, &of_source, "--json"], &options[..], &select].concat();
    let report = rechunk(&copy).ok().json();
    let (read, gets) =
        (number(&report, "traffic.source.read_bytes"), assert_gets_as_planned(&report));
    let stored: u64 = (2..11).map(length).sum();
    assert!(gets >= 18 && read < stored / 2 * 3, "{read} of {stored} bytes, in {gets} reads of 9");
    rechunk(&["verify", &of_raw, &of_source]).ok();

    let chunk = Path::new(&source).join("5.0.0");
    let whole = std::fs::read(&chunk).unwrap();
    let fourth_place = 16 + 4 * 3;
    let first_stream =
        usize::try_from(u32::from_le_bytes(*whole[16..].first_chunk().unwrap())).unwrap();
    for name in ["cut", "place", "stream", "header"] {
        let mut bytes = whole.clone();
        match name {
            "cut" => bytes.truncate(bytes.len() - 1),
            "place" => bytes[fourth_place + 3] = 0x7f,
            "stream" => bytes[first_stream + 3] = 0x7f,
            _ => bytes[4] ^= 1,
        }
        std::fs::write(&chunk, bytes).unwrap();
        let target = folder.at(name);
        let copy = [&["copy", &source, &target], &options[..]].concat();
        rechunk(&copy).ends_with(3).says(&["source.zarr", "5.0.0"]);
        assert!(!looks_finished(&target), "{name}");
    }
}

/// No part was refused and its chunk read again. How many reads there were.
#[track_caller]
fn assert_gets_as_planned(report: &Value) -> u64 {
    let gets = number(report, "traffic.source.get_requests");
    assert_eq!(gets, number(report, "estimate.source.get_requests"));
    gets
}

#[test]
fn a_flipped_bit_is_found_where_the_codec_can() {
    const ZLIB: &str = r#"{"id": "zlib", "level": 1}"#;
    for codec in [CHECKED_ZSTD, "gzip:5", ZLIB, r#"{"id": "bz2", "level": 1}"#] {
        for part in [2, 3, 5] {
            let flip = |bytes: &mut Vec<u8>| {
                let at = bytes.len() / part;
                bytes[at] ^= 0x10;
            };
            stops(codec, flip, &[]);
        }
    }
}

/// Of chunks with crc32c, in shards and by themselves: the chunk is named.
#[test]
fn a_flipped_bit_is_found_by_crc32c() {
    let folder = Folder::new();
    let raw = folder.at("raw.zarr");
    RawArray::v3(&[64, 64], &[16, 16]).write(&raw);
    let codec = r#"[{"name": "crc32c"}]"#;
    for (shards, key) in [("none", "c/1/2"), ("32,64", "c/1/0")] {
        let source = folder.at(&format!("{shards}.zarr"));
        rechunk(&[
            "copy", &raw, &source, "--codec", codec, "--chunks", "16,16", "--shards", shards,
        ])
        .ok();
        let path = Path::new(&source).join(key);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[100] ^= 0x10;
        std::fs::write(path, bytes).unwrap();
        for strategy in ["keep", "pull"] {
            let options = ["--chunks", "64,8", "--shards", "none", "--strategy", strategy];
            let target = folder.at(&format!("{shards}-{strategy}"));
            refused_with(&source, &target, &options, 3, &[key, "checksum"]);
        }
    }
}

/// Where nothing could notice it, `info` says so.
#[test]
fn chunks_without_a_checksum_are_said_to_be_so() {
    for (codec, has_checksums) in [
        ("none", false),
        ("zstd:3", false),
        ("blosc:lz4:5:shuffle", false),
        (CHECKED_ZSTD, true),
        ("gzip:5", true),
    ] {
        let folder = Folder::new();
        let (source, _) = source(&folder, codec);
        let info = rechunk(&["info", &source, "--json"]).ok().json();
        assert_eq!(info["checksums"], has_checksums, "{codec}");
        let said = rechunk(&["info", &source]).ok().stdout;
        let word = if has_checksums { "of every chunk" } else { "may go unnoticed" };
        assert!(said.contains(word), "{codec}: {said}");
    }
}

#[test]
fn a_blosc_header_is_not_believed() {
    // Version, then the sizes of the decoded chunk, of a block, and of the stored chunk.
    for (at, value) in [(0, 0x77), (7, 0x7f), (4, 0x01), (11, 0x7f), (15, 0x7f), (12, 0x05)] {
        stops("blosc:lz4:5:shuffle", |bytes| bytes[at] = value, &[]);
    }
}

#[test]
fn a_chunk_that_decodes_to_too_much_is_not_decoded() {
    let folder = Folder::new();
    // Sixteen MiB of zeros in a few kilobytes.
    let (zeros, bomb) = (folder.at("zeros.zarr"), folder.at("bomb.zarr"));
    let flat = RawArray::v2(&[2048, 2048], &[2048, 2048]);
    flat.write(&zeros);
    std::fs::write(format!("{zeros}/0.0"), vec![0; 2048 * 2048 * 4]).unwrap();
    for codec in ["zstd:3", "gzip:5", "blosc:lz4:5:shuffle"] {
        let _ = std::fs::remove_dir_all(&bomb);
        rechunk(&[
            "copy",
            &zeros,
            &bomb,
            "--codec",
            codec,
            "--format",
            "zarr2",
            "--write-empty",
            "always",
        ])
        .ok();
        let bytes = std::fs::read(format!("{bomb}/0.0")).unwrap();
        assert!(bytes.len() < 1 << 20, "{codec} does not make a bomb");
        stops(codec, |chunk| chunk.clone_from(&bytes), &[]);
    }
    stops("none", |bytes| bytes.extend([0; 4]), &[]);
}

#[test]
fn a_chunk_that_is_a_directory_is_not_a_missing_chunk() {
    let folder = Folder::new();
    let (source, chunk) = source(&folder, "none");
    std::fs::remove_file(&chunk).unwrap();
    std::fs::create_dir(&chunk).unwrap();
    let target = folder.at("t.zarr");
    rechunk(&["copy", &source, &target, "--chunks", "64,8"]).ends_with(3).says(&["1.2"]);
    assert!(!looks_finished(&target));
}

#[test]
fn a_repaired_source_lets_the_copy_go_on() {
    let folder = Folder::new();
    let (source, chunk) = source(&folder, "gzip:5");
    let good = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &good[..20]).unwrap();
    let target = folder.at("t.zarr");
    let copy = ["copy", &source, &target, "--chunks", "64,8"];
    rechunk(&copy).ends_with(3).says(&["1.2"]);
    rechunk(&copy).ends_with(4).says(&["--resume"]);
    std::fs::write(&chunk, &good).unwrap();
    rechunk(&[&copy[..], &["--resume"]].concat()).ok();
    rechunk(&["verify", &source, &target]).ok();
    assert!(!Path::new(&format!("{target}.rechunk")).exists());
}
