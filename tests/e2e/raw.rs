//! Files of raw elements, split, merged and cut again in runs of bytes, as many as were planned.
//! NumPy's files are as NumPy reads and writes them; NIfTI is kept byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arrays::{RawArray, write_json};
use crate::harness::{BINARY, Done, Folder, fixture, ostia, rechunk, tree};
use crate::n5::decoded_sha256;
use crate::oracle::{available, numpy};
use crate::report::{number, text};

/// A `.npy` file of `shape` with two-byte elements that all differ from their neighbours.
fn numbers(path: &str, shape: &[u64]) {
    let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
    let list: Vec<String> = shape.iter().map(u64::to_string).collect();
    let list = list.join(", "); // as NumPy writes it, for two axes and more
    let mut header =
        format!("{{'descr': '<u2', 'fortran_order': False, 'shape': ({list}), }}").into_bytes();
    header.resize((header.len() + 11).next_multiple_of(64) - 11, b' ');
    header.push(b'\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header);
    let hash = |n: usize| (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    bytes.extend((0..count).flat_map(|n| u16::try_from(hash(n)).unwrap().to_le_bytes()));
    std::fs::write(path, bytes).unwrap();
}

/// The traffic is what was predicted, in files opened, runs, seeks and bytes, each byte once.
fn assert_as_planned(report: &Value, array_bytes: u64) {
    assert_eq!(text(report, "plan.kind"), "keep");
    for (role, bytes) in [("source", "read_bytes"), ("target", "written_bytes")] {
        for field in ["opens", "runs", "seeks", "get_requests", "put_requests", bytes] {
            let (estimate, traffic) = (
                number(report, &format!("estimate.{role}.{field}")),
                number(report, &format!("traffic.{role}.{field}")),
            );
            assert_eq!(estimate, traffic, "{role}.{field}");
        }
        assert_eq!(number(report, &format!("traffic.{role}.{bytes}")), array_bytes);
    }
}

fn copy(arguments: &[&str]) -> Value {
    // Other tests write to the same disk.
    rechunk(&[&["copy", "--json", "--no-fsync"], arguments].concat()).ok().json()
}

/// The least memory that a copy works in, as its refusal names it.
fn least_memory(arguments: &[&str]) -> u64 {
    let refused = rechunk(&[&["copy", "--max-mem", "1KiB"], arguments].concat()).ends_with(5);
    let after = refused.stderr.split("--max-mem ").nth(1).unwrap();
    after.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

/// Configurations 0 to 6 of "A heuristic to repartition large multi-dimensional arrays with reduced
/// disk seeking", scaled down 25 times on each axis.
const CONFIGURATIONS: [(&str, &str); 7] = [
    ("35,35,35", "35,70,35"),
    ("35,35,35", "28,35,28"),
    ("14,14,14", "20,20,20"),
    ("14,14,14", "10,10,10"),
    ("7,7,7", "10,10,10"),
    ("14,35,14", "20,35,20"),
    ("14,35,14", "14,20,14"),
];

#[test]
fn published_configurations_take_the_runs_that_were_planned() {
    let folder = Folder::new();
    let (whole, bytes) = (folder.at("whole.npy"), 140 * 140 * 140 * 2);
    numbers(&whole, &[140, 140, 140]);
    for (number, (source, target)) in CONFIGURATIONS.into_iter().enumerate() {
        let at = |name: &str| folder.at(&format!("{number}-{name}"));
        let (split, again, merged) = (at("split"), at("resplit"), at("merged.npy"));
        let raw = ["--format", "raw", "--chunks"];
        let memory = ["--max-mem", "3MiB"];
        let report = copy(&[&[&whole[..], &split], &raw[..], &[source], &memory[..]].concat());
        assert_as_planned(&report, bytes);
        let report = copy(&[&[&split[..], &again], &raw[..], &[target], &memory[..]].concat());
        assert_as_planned(&report, bytes);
        let report = copy(&[&[&again[..], &merged], &memory[..]].concat());
        assert_as_planned(&report, bytes);
        let same = std::fs::read(&whole).unwrap() == std::fs::read(&merged).unwrap();
        assert!(same, "configuration {number}");
    }
}

/// Calls of a system trace on files whose name ends so.
fn calls(trace: &str, name: &str, ending: &str) -> usize {
    let is_call = |line: &&str| line.contains(&format!("{name}(")) && line.contains(ending);
    trace.lines().filter(is_call).count()
}

#[test]
fn the_system_sees_the_runs_that_are_reported() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("SKIPPED: there is no strace, the runs of bytes are not counted by the system");
        return;
    }
    let folder = Folder::new();
    let (whole, blocks, log) = (folder.at("whole.npy"), folder.at("blocks"), folder.at("log"));
    numbers(&whole, &[60, 50, 40]);
    let options = ["--format", "raw", "--chunks", "13,17,40", "--max-mem", "3MiB", "--json"];
    let calls_of = "trace=openat,pread64,pwrite64,preadv,pwritev,read,write";
    let output = Command::new("strace")
        .args(["-f", "-y", "-e", calls_of, "-o", &log, BINARY, "copy", &whole, &blocks])
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let trace = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    assert_eq!(
        calls(&trace, "pwrite64", ".bin.part>") as u64,
        number(&report, "traffic.target.runs"),
        "{trace}"
    );
    // In this plan each file is opened once to be written.
    let names = trace.lines().filter_map(|line| line.split_once(".bin.part\""));
    let opened: BTreeSet<&str> = names.filter_map(|(line, _)| line.rsplit('/').next()).collect();
    assert_eq!(opened.len() as u64, number(&report, "traffic.target.opens"), "{opened:?}");
    // Runs that lie near each other may be read by one call, and a long one by several.
    let reads = calls(&trace, "pread64", "whole.npy>") + calls(&trace, "preadv", "whole.npy>");
    assert!(reads > 0, "{trace}");
}

#[test]
fn memory_goes_down_to_a_row() {
    let folder = Folder::new();
    let (whole, blocks, merged) = (folder.at("whole.npy"), folder.at("blocks"), folder.at("m.npy"));
    numbers(&whole, &[30, 400, 700]);
    let split = [&whole[..], &blocks, "--format", "raw", "--chunks", "11,90,33"];
    let least = least_memory(&split);
    assert!(least < 3 << 20, "{least}");
    // Of which a row takes 1400 bytes.
    let least = (least + 4096).to_string();
    copy(&[&split[..], &["--max-mem", &least]].concat());
    let report = copy(&[&blocks, &merged, "--max-mem", &least]);
    assert_as_planned(&report, 30 * 400 * 700 * 2);
    assert!(std::fs::read(&whole).unwrap() == std::fs::read(&merged).unwrap());
}

#[test]
fn files_of_numpy_are_read_and_written() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let made = numpy(&["make", &folder.at("")], b"");
    let made = made.as_array().unwrap();
    assert!(made.len() > 100, "{}", made.len());
    let mut written = Vec::new();
    for array in made {
        let (path, digest) = (array["path"].as_str().unwrap(), array["sha256"].as_str().unwrap());
        if !path.contains("-0.npy") {
            assert_eq!(decoded_sha256(path), digest, "{path}");
        }
        let (zarr, back) = (format!("{path}.zarr"), path.replace(".npy", "-back.npy"));
        rechunk(&["copy", path, &zarr, "--chunks", "auto", "--chunk-bytes", "40", "-q"]).ok();
        rechunk(&["copy", &zarr, &back, "-q"]).ok();
        written.push((back, array));
    }
    let paths: Vec<&String> = written.iter().map(|(path, _)| path).collect();
    let read = numpy(&["read"], &serde_json::to_vec(&paths).unwrap());
    for ((path, array), read) in written.iter().zip(read.as_array().unwrap()) {
        assert_eq!(read["sha256"], array["sha256"], "{path}");
        assert_eq!(read["fortran"], false);
    }
}

#[test]
fn records_have_the_same_fields_in_a_file_of_numpy() {
    let folder = Folder::new();
    let (source, target) = (folder.at("records.zarr"), folder.at("records.npy"));
    std::fs::create_dir(&source).unwrap();
    let document = r#"{"zarr_format": 2, "shape": [6], "chunks": [4], "order": "C",
        "dtype": [["a", "<i4"], ["b", "<f8"]], "compressor": null, "filters": null,
        "fill_value": null}"#;
    std::fs::write(Path::new(&source).join(".zarray"), document).unwrap();
    for chunk in 0..2_u8 {
        let bytes: Vec<u8> = (0..48).map(|at| at + 50 * chunk).collect();
        std::fs::write(Path::new(&source).join(chunk.to_string()), bytes).unwrap();
    }
    let report = copy(&[&source, &target]);
    for part in ["estimate", "traffic"] {
        assert_eq!(number(&report, &format!("{part}.target.objects")), 1, "one file: {part}");
    }
    rechunk(&["verify", &source, &target]).ok();
    let other = document.replace("<i4", "<u4");
    std::fs::write(Path::new(&source).join(".zarray"), other).unwrap();
    let differ = rechunk(&["verify", &source, &target]).ends_with(6);
    assert!(differ.stderr.contains("{a: uint32, b: float64} and {a: int32, b: float64}"));
}

/// It is written in several runs of bytes.
#[test]
fn a_file_that_is_written_in_parts_is_one_object() {
    let folder = Folder::new();
    let (whole, zarr, back) = (folder.at("a.npy"), folder.at("a.zarr"), folder.at("b.npy"));
    numbers(&whole, &[200, 200, 200]);
    rechunk(&["copy", &whole, &zarr, "--chunks", "10,100,200", "--codec", "zstd:1", "-q"]).ok();
    let report = copy(&[&zarr, &back, "--max-mem", "16MiB", "--threads", "1"]);
    assert!(number(&report, "traffic.target.put_requests") > 1, "{report}");
    for part in ["estimate", "traffic"] {
        assert_eq!(number(&report, &format!("{part}.target.objects")), 1, "{part}");
    }
}

#[test]
fn raw_arrays_become_others_and_come_back() {
    let (source, folder) = (ostia(), Folder::new());
    let expected = decoded_sha256(&source);
    for (number, target) in ["a.npy", "b", "c.nii", "d.nii.gz", "e.n5"].into_iter().enumerate() {
        let (there, back) = (folder.at(target), folder.at(&format!("{number}.zarr")));
        let format: &[&str] = if target == "b" { &["--format", "raw"] } else { &[] };
        let chunks: &[&str] = if target == "b" { &["--chunks", "10,7,100"] } else { &[] };
        let copied =
            rechunk(&[&["copy", &source, &there, "-q", "--verify"], format, chunks].concat()).ok();
        // The user's attributes are told of where they are lost, the note of our own is not.
        assert!(!copied.stderr.contains("rechunk_axes"), "{}", copied.stderr);
        rechunk(&["verify", &source, &there]).ok();
        assert_eq!(decoded_sha256(&there), expected, "{target}");
        rechunk(&["copy", &there, &back, "--chunks", "9,9,99", "--codec", "zstd:1", "-q"]).ok();
        rechunk(&["verify", &back, &source]).ok();
    }
    assert!(!tree(folder.path()).keys().any(|name| name.contains(".part")));
}

#[test]
fn nifti_comes_back_byte_for_byte() {
    for name in
        ["le-i2.nii", "be-f4.nii", "second.nii", "second-be.nii", "extension.nii", "four.nii"]
    {
        let source = fixture(&format!("raw/{name}"));
        let folder = Folder::new();
        for axes in ["reverse", "keep"] {
            let at = |name: &str| folder.at(&format!("{axes}-{name}"));
            let (zarr, back, packed) = (at("a.zarr"), at("back.nii"), at("back.nii.gz"));
            rechunk(&["copy", &source, &zarr, "--axes", axes, "-q"]).ok();
            rechunk(&["copy", &zarr, &back, "-q"]).ok();
            rechunk(&["copy", &zarr, &packed, "-q"]).ok();
            let (before, after) = (std::fs::read(&source).unwrap(), std::fs::read(&back).unwrap());
            assert!(before.starts_with(&after), "{name} {axes}");
            let mut unpacked = Vec::new();
            let file = std::fs::File::open(&packed).unwrap();
            std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut unpacked)
                .unwrap();
            assert_eq!(unpacked, after);
        }
    }
}

/// The place of a region is that of its first voxel, and a cast keeps what elements mean.
#[test]
fn nifti_keeps_its_place_when_it_is_cut_or_cast() {
    let folder = Folder::new();
    // 2 × 3 × 4 voxels of 2, 3 and 4 mm at (-10.5, 7, 0.1).
    let source = fixture("raw/be-f4.nii");
    let header = |path: &str| -> Value {
        rechunk(&["info", path, "--json"]).ok().json()["attributes"]["nifti"].take()
    };
    let before = header(&source);
    for axes in ["reverse", "keep"] {
        let at = |name: &str| folder.at(&format!("{axes}-{name}"));
        // From file to file, by Zarr, and out of Zarr.
        let region = if axes == "keep" { "1:2,0:3,2:4" } else { "2:4,0:3,1:2" };
        let how = ["--select", region, "--cast", "float64", "-q"];
        let (at_once, by_zarr, zarr) = (at("a.nii"), at("b.nii"), at("a.zarr"));
        let (whole, out_of_zarr) = (at("whole.zarr"), at("c.nii"));
        rechunk(&[&["copy", &source, &at_once, "--axes", axes][..], &how].concat()).ok();
        rechunk(&[&["copy", &source, &zarr, "--axes", axes][..], &how].concat()).ok();
        rechunk(&["copy", &zarr, &by_zarr, "-q"]).ok();
        rechunk(&["copy", &source, &whole, "--axes", axes, "-q"]).ok();
        rechunk(&[&["copy", &whole, &out_of_zarr][..], &how].concat()).ok();
        let bytes = std::fs::read(&at_once).unwrap();
        assert!(bytes == std::fs::read(&by_zarr).unwrap(), "{axes}");
        assert!(bytes == std::fs::read(&out_of_zarr).unwrap(), "{axes}");
        let after = header(&at_once);
        assert_eq!(
            (&after["dim"], &after["datatype"]),
            (&json!([3, 1, 3, 2, 1, 1, 1, 1]), &json!(64))
        );
        let place =
            |header: &Value| ["srow_x", "srow_y", "srow_z"].map(|row| header[row][3].clone());
        let (x, y, z) = (-10.5 + 2.0, 7.0, f64::from(0.1_f32 + 2.0 * 4.0));
        assert_eq!(place(&after), [x, y, z].map(Value::from), "{axes}");
        for name in ["pixdim", "xyzt_units", "scl_slope", "descrip"] {
            assert_eq!(after[name], before[name], "{name}");
        }
    }
    // A header of another array is not written, and said.
    let (zarr, other) = (folder.at("other.zarr"), folder.at("other.nii"));
    rechunk(&["copy", &source, &zarr, "-q"]).ok();
    let path = Path::new(&zarr).join("zarr.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    document["shape"][0] = json!(5);
    write_json(&path, &document);
    rechunk(&["copy", &zarr, &other]).ok().says(&["\"nifti\"", "not of an array of this shape"]);
    // What is compressed as a whole has no regions.
    let packed = folder.at("packed.nii.gz");
    rechunk(&["copy", &source, &packed, "-q"]).ok();
    let part = rechunk(&["copy", &packed, &folder.at("part.nii"), "--select", "0:1,0:1,0:1"]);
    part.ends_with(2).says(&["only be copied as a whole", "leave --select out"]);
}

#[test]
fn a_file_without_a_header_is_what_somebody_says() {
    let folder = Folder::new();
    let (npy, raw) = (folder.at("a.npy"), folder.at("a.raw"));
    numbers(&npy, &[6, 5, 4]);
    rechunk(&["copy", &npy, &raw, "--format", "raw"])
        .ok()
        .says(&["--raw-shape 6,5,4 --raw-dtype uint16"]);
    let bytes = std::fs::read(&npy).unwrap();
    assert_eq!(std::fs::read(&raw).unwrap(), bytes[bytes.len() - 240..]);
    let said = ["--raw-shape", "6,5,4", "--raw-dtype", "uint16"];
    let info = |more: &[&str]| -> Value {
        rechunk(&[&["info", &raw, "--json"], &said[..], more].concat()).ok().json()
    };
    assert_eq!(info(&[])["decoded_bytes"], 240);
    assert_eq!(info(&["--raw-order", "F"])["axes"], serde_json::json!([2, 1, 0]));
    let back = folder.at("back.npy");
    rechunk(&[&["copy", &raw, &back, "-q"], &said[..]].concat()).ok();
    assert!(std::fs::read(&back).unwrap() == bytes);
    // What is said is of the file that has no header.
    for (a, b) in [(&raw, &npy), (&npy, &raw)] {
        rechunk(&[&["verify", a, b][..], &said].concat()).ok();
    }
    let blocks = folder.at("blocks.zarr");
    rechunk(&["copy", &npy, &blocks, "-q"]).ok();
    rechunk(&[&["verify", &raw, &blocks][..], &said].concat()).ok();
    rechunk(&[&["verify", &blocks, &blocks][..], &said].concat()).ends_with(2);
    rechunk(&["copy", &raw, &folder.at("b.npy")]).ends_with(3).says(&["--raw-shape"]);
    rechunk(&["copy", &raw, &folder.at("b.npy"), "--raw-shape", "6,5", "--raw-dtype", "uint16"])
        .ends_with(3)
        .says(&["240 bytes", "need 60"]);
}

#[test]
fn blocks_that_are_not_there_stop_the_copy() {
    let folder = Folder::new();
    let (npy, blocks, target) = (folder.at("a.npy"), folder.at("blocks"), folder.at("b.npy"));
    numbers(&npy, &[6, 5, 4]);
    let split = ["copy", &npy, &blocks, "--format", "raw", "--chunks", "4,3,4", "-q"];
    rechunk(&split).ok();
    let refused = |says: &[&str]| -> Done {
        let done = rechunk(&["copy", &blocks, &target]).ends_with(3).says(says);
        assert!(!Path::new(&target).exists() && !Path::new(&format!("{target}.part")).exists());
        done
    };
    let block = Path::new(&blocks).join("1_0_0.bin");
    let bytes = std::fs::read(&block).unwrap();
    std::fs::write(&block, &bytes[1..]).unwrap();
    refused(&["1_0_0.bin", "47 bytes", "need 48"]);
    std::fs::write(&block, [&bytes[..], &[0]].concat()).unwrap();
    refused(&["1_0_0.bin", "49 bytes"]);
    std::fs::remove_file(&block).unwrap();
    refused(&["1_0_0.bin is missing", "3 of 4"]);
    rechunk(&split).ends_with(4);
}

#[test]
fn an_existing_file_is_replaced_only_when_told() {
    let folder = Folder::new();
    let (one, two, target) = (folder.at("1.npy"), folder.at("2.npy"), folder.at("t.npy"));
    numbers(&one, &[8, 9]);
    numbers(&two, &[9, 8]);
    rechunk(&["copy", &one, &target, "-q"]).ok();
    rechunk(&["copy", &two, &target]).ends_with(4).says(&["exists", "--overwrite"]);
    rechunk(&["copy", &two, &target, "--overwrite", "-q"]).ok();
    assert_eq!(std::fs::read(&two).unwrap(), std::fs::read(&target).unwrap());
    rechunk(&["copy", &two, &folder.at("x.npy"), "--chunks", "2,2"]).ends_with(2);
    rechunk(&["copy", &two, "memory://x/y.npy"]).ends_with(2);
    rechunk(&["copy", &two, &folder.at("x.npy"), "--codec", "zstd"]).ends_with(2);
    let left: BTreeMap<String, String> = tree(folder.path());
    assert_eq!(left.len(), 3, "{left:?}");
    let digest = format!("{:x}", Sha256::digest(std::fs::read(&two).unwrap()));
    assert_eq!(left["t.npy"], digest);
}

/// The source is not to blame: Zarr takes it.
#[test]
fn text_is_refused_by_formats_of_numbers() {
    let folder = Folder::new();
    let source = crate::strings::source(&folder);
    for (name, format, says) in [
        ("t.npy", "npy", "elements of one size: use Zarr"),
        ("t.nii", "nii", "NIfTI has no such type"),
        ("t.raw", "raw", "in files of raw elements"),
        ("t", "raw", "in files of raw elements"),
        ("t.n5", "n5", "use --format zarr3"),
        ("t.pre", "precomputed", "volumes have unsigned integers"),
    ] {
        let target = folder.at(name);
        let done = rechunk(&["copy", &source, &target, "--format", format]).ends_with(2);
        done.says(&["the target cannot be written as asked", "variable", says]);
        assert!(!Path::new(&target).exists(), "{name}");
    }
}

/// All arrays of a group that the target has no place for are named at once.
#[test]
fn arrays_that_a_target_has_no_place_for_are_named() {
    let folder = Folder::new();
    let group = folder.at("group.zarr");
    write_json(
        &Path::new(&group).join("zarr.json"),
        &json!({"zarr_format": 3, "node_type": "group"}),
    );
    RawArray::v3(&[4, 4], &[2, 2]).write(&format!("{group}/numbers"));
    let copy = |more: &[&str]| rechunk(&[&["copy", &group, &folder.at("t.n5")][..], more].concat());
    let (_, mut document) = RawArray::v3(&[4, 4], &[2, 2]).metadata();
    document["data_type"] = json!("float16");
    write_json(&Path::new(&group).join("b/zarr.json"), &document);
    let one = copy(&[]).ends_with(2);
    one.says(&["the target has no place for b (", "\"float16\"", "leave it out: --exclude 'b'"]);
    std::fs::rename(crate::strings::source(&folder), format!("{group}/a")).unwrap();
    let both = copy(&[]).ends_with(2);
    both.says(&["no place for a (", ", b (", "leave them out: --exclude 'a'"]);
    copy(&["--exclude", "a", "--exclude", "b"]).ok();
}
