//! N5: what others wrote is read, what is written here comes back, and what is absent stays absent.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Folder, fixture, ostia, rechunk, tree};

/// SHA-256 of all elements of an array in C order, little-endian, as the program decodes them.
pub(crate) fn decoded_sha256(array: &str) -> String {
    decoded_sha256_with(array, &[])
}

/// [`decoded_sha256`] with more options.
pub(crate) fn decoded_sha256_with(array: &str, options: &[&str]) -> String {
    let folder = Folder::new();
    let target = folder.at("whole");
    let whole =
        ["--chunks", "-1", "--codec", "none", "--format", "zarr2", "--write-empty", "always"];
    rechunk(&[&["copy", array, &target, "-q"], &whole[..], options].concat()).ok();
    let metadata = std::fs::read(Path::new(&target).join(".zarray")).unwrap();
    let metadata: Value = serde_json::from_slice(&metadata).unwrap();
    assert_eq!(metadata["order"], "C");
    let dtype = metadata["dtype"].as_str().unwrap();
    assert!(dtype.starts_with(['<', '|']), "{dtype}");
    let rank = metadata["shape"].as_array().unwrap().len();
    let chunk = std::fs::read(Path::new(&target).join(vec!["0"; rank.max(1)].join("."))).unwrap();
    format!("{:x}", Sha256::digest(chunk))
}

fn info(array: &str) -> Value {
    rechunk(&["info", array, "--json"]).ok().json()
}

fn document(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn datasets_of_other_implementations_decode_to_their_digest() {
    let digests = document(&fixture("n5/SHA256.json"));
    let digests = digests.as_object().unwrap();
    assert!(digests.len() >= 8, "{digests:?}");
    for (path, digest) in digests {
        let digest = digest.as_str().or(digest["sha256"].as_str()).unwrap();
        assert_eq!(decoded_sha256(&fixture(&format!("n5/{path}"))), digest, "{path}");
    }
}

#[test]
fn an_array_survives_the_way_to_n5_and_back() {
    let (source, folder) = (ostia(), Folder::new());
    let (n5, back) = (folder.at("a.n5/group/sst"), folder.at("back.zarr"));
    for codec in
        ["gzip:5", "zlib:1", "zstd:3", "bz2:9", "xz:1", "lz4", "blosc:lz4:5:shuffle", "none"]
    {
        let chunks = ["--chunks", "20,10,100", "--codec", codec, "--overwrite", "-q"];
        rechunk(&[&["copy", &source, &n5, "--verify"], &chunks[..]].concat()).ok();
        rechunk(&[
            "copy",
            &n5,
            &back,
            "--chunks",
            "7,18,100",
            "--overwrite",
            "--format",
            "zarr2",
            "-q",
        ])
        .ok();
        rechunk(&["verify", &source, &back]).ok();
    }
    let (before, after) = (info(&source), info(&back));
    for field in ["shape", "data_type", "chunk_shape", "dimension_names", "attributes"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    let written = document(&format!("{n5}/attributes.json"));
    assert_eq!(written["dimensions"], json!([432, 18, 54]));
    assert_eq!(written["blockSize"], json!([100, 10, 20]));
    assert_eq!(written["dataType"], "float32");
    assert_eq!(written.get("n5"), None);
    assert_eq!(document(&folder.at("a.n5/attributes.json")), json!({"n5": "2.5.1"}));
}

#[test]
fn axes_are_reversed_or_kept_and_find_back() {
    let folder = Folder::new();
    let source = fixture("n5/java/data-2.5.1.n5/raw");
    for (axes, shape) in [("reverse", json!([5, 7])), ("keep", json!([7, 5]))] {
        let at = |name: &str| folder.at(&format!("{axes}-{name}"));
        let (zarr, raw, n5) = (at("a.zarr"), at("b.zarr"), at("c.n5"));
        rechunk(&["copy", &source, &zarr, "--axes", axes, "-q"]).ok();
        assert_eq!(info(&zarr)["shape"], shape);
        assert_eq!(info(&zarr)["attributes"]["rechunk_axes"], axes);
        rechunk(&["verify", &source, &zarr]).ok();
        rechunk(&["verify", &zarr, &source]).ok();
        rechunk(&["copy", &zarr, &raw, "--chunks", "2,3", "--format", "zarr2", "-q"]).ok();
        rechunk(&["copy", &raw, &n5, "--chunks", "4,3", "-q"]).ok();
        let (before, after) = (
            document(&format!("{source}/attributes.json")),
            document(&format!("{n5}/attributes.json")),
        );
        assert_eq!(before["dimensions"], after["dimensions"], "{axes}");
        assert_eq!(after.get("rechunk_axes"), None);
        rechunk(&["verify", &source, &n5]).ok();
        assert_eq!(decoded_sha256(&source), decoded_sha256(&n5));
    }
}

/// The blocks an N5 dataset has, by key.
fn blocks(dataset: &str) -> BTreeSet<String> {
    let files = tree(Path::new(dataset)).into_iter().filter(|(_, digest)| !digest.is_empty());
    files.map(|(key, _)| key).filter(|key| key != "attributes.json").collect()
}

#[test]
fn absent_blocks_stay_absent_and_zeros_stay_written() {
    let folder = Folder::new();
    let (zeros, source) = (folder.at("zeros.zarr"), folder.at("source.n5"));
    let document = json!({
        "zarr_format": 2, "shape": [40, 30], "chunks": [10, 10], "dtype": "<i2", "order": "C",
        "compressor": null, "filters": null, "fill_value": 0,
    });
    std::fs::create_dir(&zeros).unwrap();
    std::fs::write(folder.path().join("zeros.zarr/.zarray"), document.to_string()).unwrap();
    rechunk(&["copy", &zeros, &source, "--write-empty", "always", "-q"]).ok();
    assert_eq!(blocks(&source).len(), 12);
    // N5 counts the fastest axis first: column, row.
    for absent in ["0/0", "1/0", "0/1", "2/3"] {
        std::fs::remove_file(Path::new(&source).join(absent)).unwrap();
    }
    let copy = |target: &str, options: &[&str]| {
        let target = folder.at(target);
        rechunk(&[&["copy", &source, &target, "-q"], options].concat()).ok();
        blocks(&target)
    };
    assert_eq!(copy("same.n5", &[]), blocks(&source));
    assert_eq!(copy("zstd.n5", &["--codec", "zstd:1"]), blocks(&source));
    assert_eq!(copy("never.n5", &["--write-empty", "never"]), BTreeSet::new());
    assert_eq!(copy("always.n5", &["--write-empty", "always"]).len(), 12);
    // Blocks of 5 rows × 20 columns: one is written if it meets one that was.
    let expected: BTreeSet<String> = (0..8)
        .flat_map(|row| (0..2).map(move |column| (row, column)))
        .filter(|(row, column)| {
            let columns = if *column == 0 { 0..2 } else { 2..3 };
            let is_there = |c: i32| ![(0, 0), (0, 1), (1, 0), (3, 2)].contains(&(row / 2, c));
            columns.into_iter().any(is_there)
        })
        .map(|(row, column)| format!("{column}/{row}"))
        .collect();
    for strategy in ["auto", "direct", "keep", "pull", "push-pull", "multistage", "memory"] {
        let chunks = ["--chunks", "5,20", "--strategy", strategy, "--write-empty", "auto"];
        assert_eq!(copy(&format!("{strategy}.n5"), &chunks), expected, "{strategy}");
    }
}
