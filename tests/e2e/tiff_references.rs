//! References to TIFF files, as tifffile writes them, and references with entries that cannot be
//! read.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{Folder, fixture, rechunk};

/// Documents in `fixtures/extensions`, and what is said of their codecs.
const DOCUMENTS: [(&str, &str, &[&str]); 13] = [
    ("lzw", "imagecodecs_lzw", &["imagecodecs_lzw is a codec of TIFF files", "zstd(level 3)"]),
    (
        "lzw_delta",
        "imagecodecs_delta + imagecodecs_lzw",
        &["imagecodecs_delta and imagecodecs_lzw"],
    ),
    ("lzw_delta_rgb", "imagecodecs_delta + imagecodecs_lzw", &["are codecs of TIFF files"]),
    ("zstd", "zstd(level 3)", &[]),
    ("zstd_delta_big", "imagecodecs_delta + zstd(level 3)", &["written without it"]),
    ("strips_delta", "imagecodecs_delta + zstd(level 3)", &["written without it"]),
    ("deflate_delta", "imagecodecs_delta + zlib(level 1)", &["written without it"]),
    ("packbits", "imagecodecs_packbits", &["imagecodecs_packbits is a codec"]),
    ("lzma_float", "imagecodecs_floatpred + lzma(", &["written without it"]),
    (
        "lzw_float_big",
        "imagecodecs_floatpred + imagecodecs_lzw",
        &["imagecodecs_floatpred and imagecodecs_lzw"],
    ),
    ("lzw_delta_v3", "imagecodecs_delta + imagecodecs_lzw", &["zstd(level 3)"]),
    ("zlib_float_v3", "imagecodecs_floatpred + zlib(level 6)", &["written without it"]),
    ("packbits_big_v3", "imagecodecs_packbits", &["zstd(level 3)"]),
];

/// All elements of an array, little-endian, C order.
fn elements(array: &str) -> Vec<u8> {
    let folder = Folder::new();
    let target = folder.at("plain.zarr");
    let codec = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    rechunk(&["copy", array, &target, "--chunks", "-1", "--codec", codec, "--format", "zarr3"])
        .ok();
    let mut chunk = Path::new(&target).join("c");
    while chunk.is_dir() {
        chunk.push("0");
    }
    std::fs::read(chunk).unwrap()
}

#[test]
fn chunks_of_tiff_files_are_read_and_written_for_every_reader() {
    for (name, codecs, words) in DOCUMENTS {
        let source = fixture(&format!("extensions/{name}.json"));
        let expected = std::fs::read(format!("{source}.elements")).unwrap();
        assert_eq!(elements(&source), expected, "{name}");
        let info = rechunk(&["info", &source]).ok();
        assert!(info.stdout.contains(codecs), "{codecs} in {}", info.stdout);
        for format in ["zarr2", "zarr3"] {
            let folder = Folder::new();
            let target = folder.at("copy.zarr");
            let done = rechunk(&["copy", &source, &target, "--format", format, "--verify"]).ok();
            let done = done.says(words);
            let said = done.stderr.matches("TIFF").count();
            assert_eq!(said, usize::from(!words.is_empty()), "once: {}", done.stderr);
            let document = if format == "zarr2" { ".zarray" } else { "zarr.json" };
            let metadata = std::fs::read_to_string(Path::new(&target).join(document)).unwrap();
            assert!(!metadata.contains("imagecodecs"), "{metadata}");
            assert_eq!(elements(&target), expected, "{name} as {format}");
        }
    }
}

fn v2(shape: &[u64], data_type: &str) -> Value {
    let document = json!({
        "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": data_type, "fill_value": 0,
        "order": "C", "filters": null, "compressor": null,
    });
    json!(document.to_string())
}

#[test]
fn one_odd_entry_is_no_reason_to_refuse_the_others() {
    for (number, (entries, words)) in [
        (json!({"notes//0": "x"}), "\"notes//0\""),
        (json!({"../up": ["data", 0, 4]}), "\"../up\""),
        (json!({"w/1": null, "w/2": []}), "2 entries"),
        (json!({"w/1": 5, "": "x", "w/": "y", "/": [1]}), "4 entries"),
        (json!({"w/1": ["data", -1, 4]}), "\"w/1\""),
        (json!({"w/1": "base64:?"}), "base64"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = Folder::new();
        std::fs::write(folder.at("data"), [1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let mut refs = json!({
            ".zgroup": "{\"zarr_format\": 2}", "a/.zarray": v2(&[4], "|u1"), "a/0": ["data", 0, 4],
            "crs/.zarray": v2(&[], "<i4"), "crs/": ["data", 4, 4],
        });
        for (key, value) in entries.as_object().unwrap() {
            refs[key] = value.clone();
        }
        let source = folder.at("refs.json");
        write_json(Path::new(&source), &json!({"version": 1, "refs": refs}));
        let target = folder.at("copy.zarr");
        let done = rechunk(&["copy", &source, &target]).ok().says(&[words]);
        assert_eq!(done.stderr.matches("of the references cannot be read").count(), 1, "{number}");
        let info = rechunk(&["info", &source]).ok();
        assert!(info.stdout.contains(words), "{}", info.stdout);
        let expected = [("a", vec![1, 2, 3, 4]), ("crs", vec![5, 6, 7, 8])];
        for (array, bytes) in expected {
            assert_eq!(elements(&format!("{target}/{array}")), bytes, "{array}");
        }
    }
}

#[test]
fn an_entry_that_cannot_be_read_is_no_missing_chunk() {
    for (entry, words) in [
        (json!({"a/0": null}), "\"a/0\""),
        (json!({"a/0": []}), "[FILE, OFFSET, LENGTH]"),
        (json!({"a//0": ["data", 0, 4]}), "\"a//0\""),
        (json!({"a/0": ["data", 0]}), "[FILE, OFFSET, LENGTH]"),
        (json!({"a/0": "base64:*"}), "base64"),
    ] {
        let folder = Folder::new();
        std::fs::write(folder.at("data"), [1, 2, 3, 4]).unwrap();
        let mut refs = json!({".zgroup": "{\"zarr_format\": 2}", "a/.zarray": v2(&[4], "|u1")});
        for (key, value) in entry.as_object().unwrap() {
            refs[key] = value.clone();
        }
        let (source, target) = (folder.at("refs.json"), folder.at("copy.zarr"));
        write_json(Path::new(&source), &json!({"version": 1, "refs": refs}));
        let array = format!("{source}/a");
        for (source, target) in [(&source, target), (&array, folder.at("array.zarr"))] {
            rechunk(&["copy", source, &target]).ends_with(3).says(&["a/0", words]);
        }
    }
}

#[test]
fn a_scalar_of_zarr_v3_is_found_too() {
    let folder = Folder::new();
    std::fs::write(folder.at("data"), [1, 2, 3, 4]).unwrap();
    let array = json!({
        "zarr_format": 3, "node_type": "array", "shape": [], "data_type": "int32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    let group = json!({"zarr_format": 3, "node_type": "group"});
    let refs = json!({
        "zarr.json": group.to_string(), "crs/zarr.json": array.to_string(), "crs/": ["data", 0, 4],
    });
    let (source, target) = (folder.at("refs.json"), folder.at("copy.zarr"));
    write_json(Path::new(&source), &json!({"version": 1, "refs": refs}));
    rechunk(&["copy", &source, &target]).ok();
    let chunk = std::fs::read(Path::new(&target).join("crs/c")).unwrap();
    assert_eq!(chunk, [1, 2, 3, 4]);
}
