//! Metadata that is wrong, absurd, or asks for what this version does not do. It ends with exit 3,
//! the key and the field named, and no number of it is believed before it is checked.

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::bad_input::refused;
use crate::harness::Folder;

/// A copy of an array whose metadata was changed is refused, naming the document and `words`.
#[track_caller]
fn changed(version: u8, change: impl Fn(&mut Value), words: &[&str]) {
    let folder = Folder::new();
    let source = folder.at("bad.zarr");
    let array = RawArray { version, ..RawArray::v2(&[8, 8], &[4, 4]) };
    array.write(&source);
    let (key, mut document) = array.metadata();
    change(&mut document);
    write_json(&folder.path().join("bad.zarr").join(key), &document);
    refused(&source, &folder.at("t.zarr"), 3, &[&["bad.zarr", key], words].concat());
}

#[track_caller]
fn written(key: &str, text: &[u8], words: &[&str]) {
    let folder = Folder::new();
    let source = folder.at("bad.zarr");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(format!("{source}/{key}"), text).unwrap();
    refused(&source, &folder.at("t.zarr"), 3, &[&["bad.zarr", key], words].concat());
}

#[test]
fn a_codec_that_is_not_known_is_named() {
    changed(2, |document| document["compressor"] = json!({"id": "lzma9000"}), &["lzma9000"]);
    changed(
        2,
        |document| document["filters"] = json!([{"id": "categorize", "dtype": "<f4"}]),
        &["categorize"],
    );
    let unknown =
        json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "lzma9000"}]);
    changed(3, |document| document["codecs"] = unknown.clone(), &["lzma9000"]);
    let sharding = json!([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2]}}]);
    changed(3, |document| document["codecs"] = sharding.clone(), &["codecs.configuration.codecs"]);
    changed(3, |document| document["codecs"] = json!([]), &["codecs"]);
    changed(
        3,
        |document| document["codecs"][0] = json!({"name": "bytes", "configuration": {}}),
        &["endian"],
    );
}

#[test]
fn a_data_type_that_is_not_known_is_named() {
    for name in ["<c4", "<M8[eon]", "|S", "<f3", "<f16", "|V0", "=f4", "|S9999999", ""] {
        changed(2, |document| document["dtype"] = json!(name), &["dtype"]);
    }
    changed(2, |document| document["dtype"] = json!("<c32"), &["c32"]);
    changed(2, |document| document["dtype"] = json!("|O"), &["filters", "|O"]);
    for fields in [
        json!([]),
        json!([["a"]]),
        json!([["a", "<f16"]]),
        json!([["a", "|O"]]),
        json!([["a", "<f4", [0]]]),
        json!([["a", "<f8", [1_u64 << 40, 1_u64 << 40]]]),
    ] {
        changed(2, |document| document["dtype"] = fields.clone(), &["dtype"]);
    }
    changed(3, |document| document["data_type"] = json!("complex512"), &["complex512"]);
    changed(3, |document| document["data_type"] = json!("r7"), &["r7"]);
    changed(3, |document| document["data_type"] = json!({"name": "struct"}), &["data_type"]);
    let odd = json!({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "string"}]}});
    changed(3, |document| document["data_type"] = odd.clone(), &["data_type", "string"]);
    let eon =
        json!({"name": "numpy.datetime64", "configuration": {"unit": "eon", "scale_factor": 1}});
    changed(3, |document| document["data_type"] = eon.clone(), &["data_type", "eon"]);
}

#[test]
fn documents_that_are_not_json_are_named() {
    for key in ["zarr.json", ".zarray"] {
        for text in
            [&b""[..], b"{", b"[]", b"null", b"not json", b"\xff\xfe{}", b"{\"zarr_format\": 9}"]
        {
            written(key, text, &[]);
        }
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        written(key, &deep, &[]);
    }
}

#[test]
fn a_key_that_stands_twice_is_named() {
    let (_, document) = RawArray::v2(&[8, 8], &[4, 4]).metadata();
    let text = document.to_string().replacen("\"shape\"", "\"shape\":[4,4],\"shape\"", 1);
    written(".zarray", text.as_bytes(), &["shape"]);
    let (_, document) = RawArray::v3(&[8, 8], &[4, 4]).metadata();
    let text = document.to_string().replacen("\"codecs\"", "\"codecs\":[],\"codecs\"", 1);
    written("zarr.json", text.as_bytes(), &["codecs"]);
}

#[test]
fn absurd_shapes_are_refused() {
    let huge = 1_u64 << 63;
    for shape in [
        json!([huge, huge]),
        json!([-1, 8]),
        json!([8.5, 8]),
        json!(["8", 8]),
        json!([8]),
        json!([8, 8, 8]),
        json!(null),
        json!([1e300, 1]),
    ] {
        changed(2, |document| document["shape"] = shape.clone(), &["shape"]);
        changed(3, |document| document["shape"] = shape.clone(), &["shape"]);
    }
    for chunks in
        [json!([0, 4]), json!([4, 0]), json!([-4, 4]), json!([4]), json!([4, 4, 4]), json!("4,4")]
    {
        changed(2, |document| document["chunks"] = chunks.clone(), &["chunk"]);
        changed(
            3,
            |document| document["chunk_grid"]["configuration"]["chunk_shape"] = chunks.clone(),
            &["chunk"],
        );
    }
    for version in [2, 3] {
        let many = json!(vec![2; 40]);
        let change = |document: &mut Value| {
            document["shape"] = many.clone();
            if version == 2 {
                document["chunks"] = many.clone();
            } else {
                document["chunk_grid"]["configuration"]["chunk_shape"] = many.clone();
            }
        };
        changed(version, change, &["40"]);
    }
}

#[test]
fn a_chunk_larger_than_any_memory_does_not_fit() {
    let folder = Folder::new();
    for (name, shape, chunks) in [
        ("wide.zarr", [1 << 20, 1 << 20], [1 << 20, 1 << 20]),
        ("long.zarr", [1 << 62, 1], [1 << 40, 1]),
        ("product.zarr", [1 << 40, 1 << 40], [1 << 40, 1 << 40]),
    ] {
        let source = folder.at(name);
        let array = RawArray::v3(&shape, &chunks);
        let (key, document) = array.metadata();
        write_json(&folder.path().join(name).join(key), &document);
        let copy = ["copy", &source, &folder.at("t.zarr"), "--max-mem", "64MiB", "--chunks", "1,1"];
        let (done, peak_bytes) = crate::harness::Run::rechunk(&copy).go_measured();
        let done = done.fails().says(&[]);
        assert!([3, 5].contains(&done.code), "{name}: {done:?}");
        assert!(peak_bytes < 200 << 20, "{name}: {peak_bytes}");
    }
}

#[test]
fn keys_do_not_lead_out_of_the_array() {
    changed(
        2,
        |document| document["dimension_separator"] = json!("/../"),
        &["dimension_separator"],
    );
    for separator in ["..", "/../", "\\", "", "\u{0}"] {
        changed(
            3,
            |document| {
                document["chunk_key_encoding"]["configuration"]["separator"] = json!(separator);
            },
            &["separator"],
        );
    }
    changed(
        3,
        |document| document["chunk_key_encoding"]["name"] = json!("../secret"),
        &["chunk_key_encoding"],
    );
}

#[test]
fn fill_values_that_do_not_fit_the_type_are_refused() {
    changed(2, |document| document["fill_value"] = json!("lots"), &["fill_value"]);
    changed(3, |document| document["fill_value"] = json!([1, 2]), &["fill_value"]);
    changed(
        3,
        |document| {
            document["data_type"] = json!("uint8");
            document["fill_value"] = json!(256);
        },
        &["fill_value"],
    );
}

#[test]
fn what_a_later_version_adds_is_refused_not_ignored() {
    changed(3, |document| document["must_know"] = json!({"a": 1}), &["must_know"]);
    changed(
        3,
        |document| document["storage_transformers"] = json!([{"name": "x"}]),
        &["storage_transformers"],
    );
    changed(3, |document| document["chunk_grid"]["name"] = json!("hexagonal"), &["hexagonal"]);
    changed(3, |document| document["zarr_format"] = json!(4), &["zarr_format"]);
    changed(2, |document| document["zarr_format"] = json!(3), &["zarr_format"]);
}
