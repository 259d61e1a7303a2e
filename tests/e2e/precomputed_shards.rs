//! Shards of precomputed volumes: those of tensorstore are read, and ours by it and cloud-volume.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{Folder, on_two_threads, rechunk};
use crate::oracle::{World, available, python};
use crate::report::number;

/// A Zarr array of uint16 in chunks of these shapes; the elements count up.
fn zarr(at: &Path, shape: [u64; 3]) {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "uint16", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {},
    });
    fs::create_dir_all(at.join("c/0/0")).unwrap();
    let elements = (0..shape.iter().product::<u64>())
        .flat_map(|n| [n.to_le_bytes()[0], n.to_le_bytes()[1] + 1]);
    fs::write(at.join("c/0/0/0"), elements.collect::<Vec<u8>>()).unwrap();
    write_json(&at.join("zarr.json"), &document);
}

fn read_json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn report(args: &[&str]) -> Value {
    let done = rechunk(&[args, &["--json"]].concat()).ok();
    serde_json::from_str(&done.stdout).unwrap()
}

/// Requests are those of the plan.
fn assert_as_planned(report: &Value) {
    for name in ["source.get_requests", "target.put_requests", "target.get_requests"] {
        let (planned, counted) = (format!("estimate.{name}"), format!("traffic.{name}"));
        assert_eq!(number(report, &counted), number(report, &planned), "{name}");
    }
}

/// Names of files below a directory.
fn files(at: impl AsRef<Path>) -> Vec<String> {
    let entries = fs::read_dir(at).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// Every type, encoding, kind of shards and bounding box of tensorstore is read. Copies are Zarr, a
/// volume with the shards of the source, and one with other chunks and shards.
#[test]
fn shards_of_tensorstore_survive() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    fs::create_dir(folder.path().join("made")).unwrap();
    let script = "tests/oracle/precomputed.py";
    let made = python(World::Z3, script, &["shards", &folder.at("made")], b"");
    let made: Vec<Value> = serde_json::from_slice(&made).unwrap();
    assert_eq!(made.len(), 13 * 4);
    let copies = on_two_threads(&made, |volume| {
        let source = volume["path"].as_str().unwrap();
        let name = source.rsplit('/').next().unwrap();
        let at = |kind: &str| folder.at(&format!("{kind}-{name}"));
        let (zarr, kept, recut) = (at("zarr"), at("kept"), at("recut"));
        assert_as_planned(&report(&["copy", source, &zarr]));
        rechunk(&["verify", source, &zarr, "--quiet"]).ok();
        let base = ["--format", "precomputed", "--quiet"];
        rechunk(&[&["copy", source, &kept][..], &base].concat()).ok();
        rechunk(&["verify", source, &kept, "--quiet"]).ok();
        let (chunks, shards) = match volume["shape"].as_array().unwrap().len() {
            4 => ("3,3,4,4", "3,6,8,8"),
            _ => ("3,4,4", "6,8,8"),
        };
        let cut = ["--chunks", chunks, "--shards", shards];
        rechunk(&[&["copy", source, &recut][..], &base, &cut].concat()).ok();
        [kept, recut]
    });
    let pairs = made.iter().zip(&copies);
    let paths: Vec<(&String, &Value)> = pairs
        .flat_map(|(volume, copies)| copies.iter().map(|path| (path, &volume["path"])))
        .collect();
    let input = serde_json::to_vec(&paths).unwrap();
    let found = python(World::Z3, script, &["read"], &input);
    let found: Vec<Value> = serde_json::from_slice(&found).unwrap();
    assert_eq!(found.len(), 2 * made.len());
    for (number, ((path, _), found)) in paths.iter().zip(&found).enumerate() {
        let volume = &made[number / 2];
        let most = if volume["encoding"] == "jpeg" { 4.0 } else { 0.0 };
        let difference = found["difference"].as_f64().unwrap_or(f64::NAN);
        assert!(difference <= most, "{path} of {volume}: {found}");
        for key in ["shape", "offset"] {
            assert_eq!(found[key], volume[key], "{path} of {volume}: {found}");
        }
    }
}

/// Files that cloud-volume compressed, with gzip or brotli; and it reads shards that we write.
#[test]
fn volumes_of_cloud_volume_are_read_and_ours_by_it() {
    if !available() || !World::CloudVolume.is_installed() {
        println!("SKIPPED: tests/oracle/setup.sh cloudvolume installs cloud-volume");
        return;
    }
    let folder = Folder::new();
    fs::create_dir(folder.path().join("made")).unwrap();
    let script = "tests/oracle/cloud_volume.py";
    let made = python(World::CloudVolume, script, &["make", &folder.at("made")], b"");
    let made: Vec<Value> = serde_json::from_slice(&made).unwrap();
    assert_eq!(made.len(), 6);
    let mut paths = Vec::new();
    for volume in &made {
        let source = volume["path"].as_str().unwrap();
        let zarr = format!("{source}.zarr");
        rechunk(&["copy", source, &zarr, "--quiet"]).ok();
        for (kind, more) in [("plain", &[][..]), ("shards", &["--shards", "8,16,16"])] {
            let ours = format!("{source}-{kind}");
            let cut = ["--format", "precomputed", "--chunks", "4,8,8", "--quiet"];
            rechunk(&[&["copy", &zarr, &ours][..], &cut, more].concat()).ok();
            rechunk(&["verify", source, &ours, "--quiet"]).ok();
            paths.push((ours, volume));
        }
    }
    let names: Vec<&String> = paths.iter().map(|(path, _)| path).collect();
    let input = serde_json::to_vec(&names).unwrap();
    let found = python(World::CloudVolume, script, &["read"], &input);
    let found: Vec<Value> = serde_json::from_slice(&found).unwrap();
    assert_eq!(found.len(), paths.len());
    for ((path, volume), found) in paths.iter().zip(&found) {
        assert_eq!(found["sha256"], volume["sha256"], "{path}: {found}");
        assert_eq!(found["offset"], json!([-3, 7, 0]), "{path}");
    }
}

/// Which chunks are stored is not counted where a hash puts them into any shard, also on a disk.
#[test]
fn why_chunks_in_scattered_shards_are_not_counted() {
    let folder = Folder::new();
    zarr(&folder.path().join("a.zarr"), [8, 16, 16]);
    let target = folder.at("v");
    let cut = ["--chunks", "4,8,8", "--shards", "4,16,16", "-q"];
    let copy = ["copy", &folder.at("a.zarr"), &target, "--format", "precomputed"];
    rechunk(&[&copy[..], &cut].concat()).ok();
    let path = folder.path().join("v/info");
    let mut info = read_json(&path);
    info["scales"][0]["sharding"]["hash"] = json!("murmurhash3_x86_128");
    write_json(&path, &info);
    let told = rechunk(&["info", &target]).ok().stdout;
    assert!(told.contains("not counted: its shards hold chunks from anywhere"), "{told}");
}

/// Eight chunks in two shards: one PUT each, and what is read of them is what the plan said.
#[test]
fn shards_are_boxes_that_are_written_once() {
    let folder = Folder::new();
    zarr(&folder.path().join("a.zarr"), [8, 16, 16]);
    let (source, target, back) = (folder.at("a.zarr"), folder.at("v"), folder.at("b.zarr"));
    let cut = ["--chunks", "4,8,8", "--shards", "4,16,16"];
    let done = report(&[&["copy", &source, &target, "--format", "precomputed"][..], &cut].concat());
    assert_eq!(number(&done, "traffic.target.put_requests"), 2);
    assert_as_planned(&done);
    let scale = &read_json(folder.path().join("v/info"))["scales"][0];
    assert_eq!(
        scale["sharding"],
        json!({
            "@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 2,
            "minishard_bits": 0, "shard_bits": 1, "minishard_index_encoding": "raw",
            "data_encoding": "raw"
        })
    );
    assert_eq!(files(folder.path().join("v/1_1_1")), ["0.shard", "1.shard"]);
    rechunk(&["verify", &source, &target]).ok();
    // All of it, in pieces, and a part that begins inside of a shard.
    let done = report(&["copy", &target, &back, "--chunks", "8,16,4"]);
    assert_as_planned(&done);
    rechunk(&["verify", &target, &back]).ok();
    for (number, select) in ["4:8,0:16,8:16", "0:8,0:16,8:13", "4:8,8:16,0:9"].iter().enumerate() {
        let (part, own) =
            (folder.at(&format!("part-{number}")), folder.at(&format!("own-{number}")));
        assert_as_planned(&report(&[
            "copy", &target, &part, "--select", select, "--format", "zarr3",
        ]));
        rechunk(&["copy", &source, &own, "--select", select, "--format", "zarr3", "--quiet"]).ok();
        rechunk(&["verify", &part, &own]).ok();
    }
    rechunk(&["copy", &target, &folder.at("cut"), "--select", "0:8,0:16,3:9", "--format", "zarr3"])
        .fails()
        .says(&["begin at multiples of the chunks"]);
}

#[test]
fn shards_that_cannot_be_are_refused_with_the_nearest() {
    let folder = Folder::new();
    zarr(&folder.path().join("a.zarr"), [8, 16, 64]);
    let (source, target) = (folder.at("a.zarr"), folder.at("v"));
    let copy = |shards: &str| {
        let cut = ["--chunks", "4,4,4", "--shards", shards, "--format", "precomputed"];
        rechunk(&[&["copy", &source, &target][..], &cut].concat())
    };
    copy("8,16,12").ends_with(2).says(&["[8, 16, 12]", "[8, 16, 16]"]);
    copy("4,16,64").ends_with(2).says(&["the nearest"]);
    copy("8,9,8").ends_with(2).says(&["whole chunks"]);
    assert!(!Path::new(&target).exists());
    copy("auto").ok();
    rechunk(&["verify", &source, &target]).ok();
}

/// A shard that says nonsense ends in an error that names it, and nothing is written.
#[test]
fn damaged_shards_are_named() {
    let folder = Folder::new();
    zarr(&folder.path().join("a.zarr"), [8, 8, 8]);
    let (source, target) = (folder.at("a.zarr"), folder.at("v"));
    let cut = ["--format", "precomputed", "--chunks", "4,4,4", "--shards", "8,8,8"];
    rechunk(&[&["copy", &source, &target][..], &cut].concat()).ok();
    let shard = folder.path().join("v/1_1_1/0.shard");
    let whole = fs::read(&shard).unwrap();
    let table = usize::try_from(u64::from_le_bytes(whole[..8].try_into().unwrap())).unwrap() + 16;
    let change = |at: usize, to: [u8; 8]| {
        let mut changed = whole.clone();
        changed[at..at + 8].copy_from_slice(&to);
        changed
    };
    let cases = [
        (whole[..20].to_vec(), "0.shard"),
        (change(0, u64::MAX.to_le_bytes()), "0.shard"),
        (change(8, (1_u64 << 40).to_le_bytes()), "0.shard"),
        // The number of a chunk, its place, its length.
        (change(table, 9_u64.to_le_bytes()), "does not belong there"),
        (change(table + 8 * 8, (1_u64 << 50).to_le_bytes()), "0.shard"),
        (change(table + 16 * 8, (1_u64 << 60).to_le_bytes()), "0.shard"),
    ];
    for (number, (bytes, said)) in cases.into_iter().enumerate() {
        fs::write(&shard, bytes).unwrap();
        for whole in ["64MiB", "1GiB"] {
            let out = folder.at(&format!("out-{number}-{whole}"));
            rechunk(&["copy", &target, &out, "--format", "zarr3", "--max-mem", whole])
                .fails()
                .says(&[said]);
            assert!(!Path::new(&out).join("zarr.json").exists());
        }
    }
}
