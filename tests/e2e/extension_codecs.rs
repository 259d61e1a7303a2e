//! Codecs of Zarr v3 that are registered extensions: `scale_offset`, `cast_value`, `packbits` of
//! numbers, `reshape`.
//!
//! The arrays in `fixtures/extensions` were written by zarr-python; their elements are those it
//! reads.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{Folder, fixture, rechunk};

/// Arrays with filters of numbers, and the names of those that a copy in other chunks keeps.
const ARRAYS: [(&str, &[&str]); 10] = [
    ("reflectance.zarr", &["scale_offset", "cast_value"]),
    ("reflectance_shards.zarr", &["scale_offset", "cast_value"]),
    ("reflectance_raw.zarr", &["scale_offset", "cast_value"]),
    ("filters_before_shards.zarr", &["scale_offset", "cast_value"]),
    ("integers.zarr", &["scale_offset", "cast_value"]),
    ("turned.zarr", &["scale_offset", "cast_value"]),
    ("clamped.zarr", &["cast_value"]),
    ("wrapped.zarr", &["cast_value"]),
    ("wide.zarr", &["scale_offset", "cast_value"]),
    ("scaled_floats.zarr", &["scale_offset"]),
];

fn metadata(array: &str) -> Value {
    let document = std::fs::read(Path::new(array).join("zarr.json")).unwrap();
    serde_json::from_slice(&document).unwrap()
}

/// Names of the codecs of the chunks of an array, also where they are in shards.
fn codecs(array: &str) -> Vec<String> {
    let document = metadata(array);
    let mut list = document["codecs"].as_array().unwrap().clone();
    if let Some(shard) = list.iter().find(|codec| codec["name"] == "sharding_indexed") {
        list = shard["configuration"]["codecs"].as_array().unwrap().clone();
    }
    list.iter().map(|codec| codec["name"].as_str().unwrap().to_owned()).collect()
}

/// All elements of an array of two axes, which are written without codecs in one chunk.
fn elements(array: &str) -> Vec<u8> {
    let folder = Folder::new();
    let target = folder.at("plain.zarr");
    let codec = r#"[{"name": "transpose", "configuration": {"order": [0, 1]}}, {"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let plain = ["--chunks", "-1,-1", "--codec", codec, "--shards", "none", "--format", "zarr3"];
    rechunk(&[&["copy", array, &target], &plain[..]].concat()).ok();
    // A chunk of nothing but the fill value may not be there.
    std::fs::read(Path::new(&target).join("c/0/0")).unwrap()
}

#[test]
fn what_zarr_python_writes_is_read_and_kept() {
    for (name, kept) in ARRAYS {
        let source = fixture(&format!("extensions/{name}"));
        let expected = std::fs::read(format!("{source}.elements")).unwrap();
        assert_eq!(elements(&source), expected, "{name}");
        let folder = Folder::new();
        for (to, chunks, shards) in
            [("a", "9,3", "none"), ("b", "2,11", "none"), ("c", "3,4", "9,12")]
        {
            let target = folder.at(to);
            let arguments =
                ["copy", &source, &target, "--chunks", chunks, "--shards", shards, "--verify"];
            let done = rechunk(&arguments).ok();
            let found = codecs(&target);
            let filters: Vec<&str> = kept.to_vec();
            for filter in ["scale_offset", "cast_value"] {
                let is_kept = found.iter().any(|codec| codec == filter);
                assert_eq!(
                    is_kept,
                    filters.contains(&filter),
                    "{name}: {found:?}\n{}",
                    done.stderr
                );
            }
            assert_eq!(elements(&target), expected, "{name} {chunks}");
        }
        // Zarr v2 has none of them.
        let target = folder.at("v2");
        let codec = r#"{"id": "zlib", "level": 1}"#;
        rechunk(&[
            "copy", &source, &target, "--format", "zarr2", "--codec", codec, "--shards", "none",
        ])
        .ok();
        assert_eq!(elements(&target), expected, "{name} in v2");
    }
}

#[test]
fn stored_numbers_are_those_that_zarr_python_has_stored() {
    let source = fixture("extensions/reflectance_raw.zarr");
    let folder = Folder::new();
    let (plain, written) = (folder.at("plain.zarr"), folder.at("written.zarr"));
    let bytes = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    rechunk(&["copy", &source, &plain, "--codec", bytes]).ok();
    assert!(!codecs(&plain).contains(&"cast_value".to_owned()));
    let asked = json!([
        {"name": "scale_offset", "configuration": {"offset": -0.1, "scale": 10000}},
        {"name": "cast_value", "configuration": {
            "data_type": "uint16", "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}}},
        {"name": "bytes", "configuration": {"endian": "little"}},
    ]);
    rechunk(&["copy", &plain, &written, "--codec", &asked.to_string()]).ok();
    for chunk in ["c/0/0", "c/0/2", "c/1/1", "c/2/0", "c/2/2"] {
        let [ours, theirs] =
            [&written, &source].map(|array| std::fs::read(Path::new(array).join(chunk)).unwrap());
        assert_eq!(ours, theirs, "{chunk}");
    }
    let configuration = |array: &str| metadata(array)["codecs"][1]["configuration"].clone();
    assert_eq!(configuration(&written)["data_type"], "uint16");
    assert_eq!(configuration(&written)["scalar_map"], configuration(&source)["scalar_map"]);
}

#[test]
fn info_names_the_filters_and_what_is_stored() {
    for (name, words) in [
        ("reflectance_shards.zarr", "float32, stored as uint16"),
        ("turned.zarr", "float64, F order, stored as int16"),
        (
            "reflectance_shards.zarr",
            "scale_offset(offset -0.1, scale 10000.0) + cast_value(float32 as uint16, 1 value mapped)",
        ),
        ("integers.zarr", "scale_offset(offset 1000, scale 1) + cast_value(uint16 as uint8)"),
        ("clamped.zarr", "cast_value(float16 as int8, towards-negative, clamp)"),
        ("wrapped.zarr", "cast_value(int32 as uint8, wrap)"),
    ] {
        let done = rechunk(&["info", &fixture(&format!("extensions/{name}"))]).ok();
        assert!(done.stdout.contains(words), "{words} in {}", done.stdout);
    }
    let source = fixture("extensions/scaled_floats.zarr");
    let found = rechunk(&["info", &source, "--json"]).ok().json();
    assert_eq!(
        (&found["data_type"], &found["stored_type"]),
        (&json!("float32"), &json!("float32"))
    );
    let cast = rechunk(&["info", &source]).ok();
    assert!(!cast.stdout.contains("stored as"), "{}", cast.stdout);
}

#[test]
fn numbers_without_a_place_are_an_error_that_says_which() {
    let source = fixture("extensions/reflectance_raw.zarr");
    let folder = Folder::new();
    let cast = |configuration: Value| {
        json!([{"name": "cast_value", "configuration": configuration}, {"name": "bytes"}])
            .to_string()
    };
    for (number, (codec, words)) in [
        (cast(json!({"data_type": "uint8"})), "fill value"),
        (
            json!([{"name": "scale_offset", "configuration": {"scale": 10000}},
                   {"name": "cast_value", "configuration": {
                       "data_type": "uint8", "scalar_map": {"encode": [["NaN", 0]]}}},
                   {"name": "bytes"}])
            .to_string(),
            "beyond the range of uint8",
        ),
        (cast(json!({"data_type": "uint8", "out_of_range": "clamp"})), "scalar_map"),
        (cast(json!({"data_type": "float8_e5m2"})), "float8_e5m2"),
        (cast(json!({"data_type": "uint8", "casting": "unsafe"})), "casting"),
        (r#"[{"name": "imagecodecs_lzw"}]"#.to_owned(), "read only"),
    ]
    .into_iter()
    .enumerate()
    {
        let target = folder.at(&format!("{number}.zarr"));
        rechunk(&["copy", &source, &target, "--codec", &codec]).fails().says(&[words]);
        assert!(!Path::new(&target).join("zarr.json").exists(), "{codec}");
    }
}

/// An array of 8-bit numbers of two axes in one chunk, as `stored`.
fn handmade(at: &str, data_type: &str, shape: [u64; 2], codecs: &Value, stored: &[u8]) {
    let fill = if data_type == "bool" { json!(false) } else { json!(0) };
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs,
    });
    write_json(&Path::new(at).join("zarr.json"), &document);
    std::fs::create_dir_all(Path::new(at).join("c/0")).unwrap();
    std::fs::write(Path::new(at).join("c/0/0"), stored).unwrap();
}

#[test]
fn packed_numbers_are_read_and_kept() {
    let folder = Folder::new();
    for (data_type, configuration, stored, expected) in [
        ("int2", json!({}), &[0b1110_0100, 0b0100][..], [0, 1, 0xfe, 0xff, 0, 1]),
        (
            "uint2",
            json!({"padding_encoding": "first_byte"}),
            &[4, 0b1110_0100, 0b0100],
            [0, 1, 2, 3, 0, 1],
        ),
        (
            "int4",
            json!({"padding_encoding": "last_byte"}),
            &[0x21, 0xf8, 0x07, 0],
            [1, 2, 0xf8, 0xff, 7, 0],
        ),
        ("uint4", json!({"padding_encoding": "none"}), &[0x21, 0xf8, 0x07], [1, 2, 8, 15, 7, 0]),
        ("uint8", json!({"last_bit": 3}), &[0x21, 0xf8, 0x07], [1, 2, 8, 15, 7, 0]),
        (
            "int8",
            json!({"first_bit": 4, "last_bit": 7}),
            &[0x21, 0xf8, 0x07],
            [0x10, 0x20, 0x80, 0xf0, 0x70, 0],
        ),
        ("bool", json!({"first_bit": 0, "last_bit": 0}), &[0b0010_1101], [1, 0, 1, 1, 0, 1]),
    ] {
        let (source, target) =
            (folder.at(&format!("{data_type}.zarr")), folder.at(&format!("{data_type}_copy")));
        let packed = json!([{"name": "packbits", "configuration": configuration}]);
        handmade(&source, data_type, [2, 3], &packed, stored);
        assert_eq!(elements(&source), expected, "{data_type}");
        rechunk(&["copy", &source, &target, "--chunks", "1,2", "--verify"]).ok();
        assert_eq!(codecs(&target), ["packbits"]);
        assert_eq!(elements(&target), expected, "{data_type}");
        rechunk(&["info", &source]).ok();
    }
}

#[test]
fn reshape_moves_no_element() {
    let folder = Folder::new();
    let expected: Vec<u8> = (0..12).collect();
    for (number, (before, shape)) in [
        (json!([]), json!([[0, 1]])),
        (json!([]), json!([12])),
        (json!([]), json!([[0], 2, -1])),
        (json!([]), json!([1, [0], [1]])),
        (json!([{"name": "transpose", "configuration": {"order": [0, 1]}}]), json!([-1])),
    ]
    .into_iter()
    .enumerate()
    {
        let (source, target) =
            (folder.at(&format!("{number}.zarr")), folder.at(&format!("{number}_copy")));
        let mut list = before.as_array().unwrap().clone();
        list.push(json!({"name": "reshape", "configuration": {"shape": shape}}));
        list.push(json!("bytes"));
        handmade(&source, "uint8", [3, 4], &json!(list), &expected);
        assert_eq!(elements(&source), expected, "{shape}");
        let done = rechunk(&["copy", &source, &target, "--chunks", "2,2"]).ok();
        done.says(&["reshape is left out: it moves no element"]);
        assert_eq!(codecs(&target), ["bytes"]);
        assert_eq!(elements(&target), expected);
        let info = rechunk(&["info", &source]).ok();
        assert!(info.stdout.contains("reshape"), "{}", info.stdout);
    }
    for (shape, words) in [
        (json!([5, -1]), "not as many elements"),
        (json!([[1, 0]]), "rising order"),
        (json!([[2]]), "no axis 2"),
        (json!([-1, -1]), "more than once"),
        (json!([[0, 1], 0]), "shape"),
    ] {
        let source = folder.at("wrong.zarr");
        let list = json!([{"name": "reshape", "configuration": {"shape": shape}}, "bytes"]);
        handmade(&source, "uint8", [3, 4], &list, &expected);
        rechunk(&["info", &source]).ends_with(3).says(&[words]);
    }
    let source = folder.at("turned.zarr");
    let list = json!([
        {"name": "reshape", "configuration": {"shape": [2, 6]}},
        {"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes"]);
    handmade(&source, "uint8", [3, 4], &list, &expected);
    rechunk(&["info", &source]).ends_with(3).says(&["transpose", "after reshape"]);
}
