//! Against tensorstore, zarr-python 2 and z5py: what they write is read here, and what is written
//! here they read.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rechunk_format::Layout;
use rechunk_grid::{ArraySpec, DataType, FillValue, Region};
use rechunk_n5::{
    AxisOrder, N5Layout, N5Metadata, N5Target, N5Version, group_document, parse_compression,
    parse_dataset,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Environments of `tests/oracle/setup.sh`.
const WORLDS: [&str; 2] = [".venv-oracle-z2", ".venv-oracle-z3"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn available() -> bool {
    let is_skipped = std::env::var("RECHUNK_SKIP_ORACLES").is_ok_and(|value| value == "1");
    if is_skipped {
        println!("SKIPPED: RECHUNK_SKIP_ORACLES=1");
    }
    !is_skipped
}

fn python(world: &str, arguments: &[&str], input: &Value) -> Vec<Value> {
    let mut child = Command::new(root().join(world).join("bin/python"))
        .args(["-W", "ignore"])
        .arg(root().join("tests/oracle/n5.py"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            unreachable!(
                "{world}: {error}: run tests/oracle/setup.sh, or set RECHUNK_SKIP_ORACLES=1"
            )
        });
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{world} {arguments:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

fn digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// Calls `each` with the place of every element of chunk `index` in the chunk and in the array,
/// bytes.
fn places(layout: &N5Layout, index: &[u64], mut each: impl FnMut(usize, usize)) {
    let spec = layout.spec();
    let region = spec.grid().unwrap().region(index);
    let of = |shape: &[u64], position: &[u64]| {
        size(Region::whole(shape).ordinal(position) * spec.item_bytes())
    };
    for position in region.positions() {
        let inside: Vec<u64> = position.iter().zip(&region.start).map(|(p, s)| p - s).collect();
        each(of(&spec.chunk_shape, &inside), of(&spec.shape, &position));
    }
}

/// All elements of a dataset in C order, little-endian.
fn read(folder: &Path) -> Vec<u8> {
    let document = std::fs::read(folder.join("attributes.json")).unwrap();
    let metadata = parse_dataset(&document).unwrap().unwrap();
    let layout = N5Layout::new(metadata, AxisOrder::Reversed).unwrap();
    let spec = layout.spec();
    let item = size(spec.item_bytes());
    let mut all = vec![0; size(spec.shape.iter().product()) * item];
    for index in spec.grid().unwrap().indices().positions() {
        let Ok(stored) = std::fs::read(folder.join(layout.object_key(&index))) else { continue };
        let mut scratch = Vec::new();
        let decoded = layout.decode(&index, &stored, &mut scratch);
        let decoded = decoded.unwrap_or_else(|error| unreachable!("{}: {error}", folder.display()));
        places(&layout, &index, |from, to| {
            all[to..to + item].copy_from_slice(&decoded[from..from + item]);
            all[to..to + item].reverse();
        });
    }
    all
}

/// Writes a dataset; its elements in C order, little-endian.
fn write(folder: &Path, data_type: DataType, codec: &str) -> Vec<u8> {
    let spec = ArraySpec {
        shape: vec![5, 7, 6],
        data_type,
        chunk_shape: vec![2, 3, 6],
        fill_value: Some(FillValue::zero(data_type.item_bytes())),
        dimension_names: Some(["z", "y", "x"].map(|name| Some(name.to_owned())).to_vec()),
        edges: None,
    };
    let compression = parse_compression(codec).unwrap();
    let target = N5Target { compression, axis_order: AxisOrder::Reversed, version: None };
    let (metadata, _) = N5Metadata::new_target(&spec, &Map::new(), &target).unwrap();
    let layout = N5Layout::new(metadata.clone(), AxisOrder::Reversed).unwrap();
    let item = size(spec.item_bytes());
    // Small numbers in every byte: no float is special.
    let all: Vec<u8> =
        (0..210 * item).map(|i| u8::try_from(i * 31 % 97 / (1 + i % 2)).unwrap()).collect();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("attributes.json"), metadata.document()).unwrap();
    for index in spec.grid().unwrap().indices().positions() {
        let mut chunk = vec![0; 36 * item];
        places(&layout, &index, |to, from| {
            chunk[to..to + item].copy_from_slice(&all[from..from + item]);
            chunk[to..to + item].reverse();
        });
        let mut encoded = Vec::new();
        layout.encode(&index, &chunk, &mut encoded).unwrap();
        let path = folder.join(layout.object_key(&index));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, encoded).unwrap();
    }
    all
}

#[test]
fn what_others_write_is_read() {
    if !available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for world in WORLDS {
        let directory = folder.path().join(world).display().to_string();
        let made = python(world, &["make", &directory], &Value::Null);
        assert!(made.len() >= 80, "{world} has made {} arrays", made.len());
        for array in made {
            let path = array["path"].as_str().unwrap();
            assert_eq!(digest(&read(Path::new(path))), array["sha256"], "{path}");
        }
    }
}

#[test]
fn what_is_written_others_read() {
    if !available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let container = folder.path().join("ours.n5");
    std::fs::create_dir(&container).unwrap();
    let document = group_document(&Map::new(), Some(N5Version::DEFAULT));
    std::fs::write(container.join("attributes.json"), document).unwrap();
    let types = [
        DataType::Int8,
        DataType::Uint16,
        DataType::Int32,
        DataType::Uint64,
        DataType::Float32,
        DataType::Float64,
    ];
    // Of lz4, what others than Java mean is something else.
    let codecs =
        ["none", "gzip:5", "zlib:5", "bz2", "xz:1", "zstd:3", "blosc:lz4:5", "blosc:zstd:1:bit"];
    let mut written = Vec::new();
    for codec in codecs {
        for data_type in types {
            let path = container.join(format!("a{}", written.len()));
            let sha256 = digest(&write(&path, data_type, codec));
            written.push((path.display().to_string(), sha256, codec));
        }
    }
    let paths: Value = written.iter().map(|(path, _, _)| path.as_str()).collect();
    for world in WORLDS {
        for (answers, (path, sha256, codec)) in
            python(world, &["read"], &paths).iter().zip(&written)
        {
            for (reader, answer) in answers.as_object().unwrap() {
                assert_eq!(answer["sha256"], *sha256, "{reader} reads {codec}: {path}: {answer}");
            }
        }
    }
}
