//! `scale_offset` and `cast_value` are carried through a copy: what is stored is moved bit by bit,
//! and planned as what it is.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{Folder, fixture, rechunk};

const NAMES: [&str; 2] = ["scale_offset", "cast_value"];

/// Arrays that zarr-python wrote, and the type and the fill value that they store.
const ARRAYS: [(&str, &str); 10] = [
    ("reflectance.zarr", "uint16"),
    ("reflectance_shards.zarr", "uint16"),
    ("reflectance_raw.zarr", "uint16"),
    ("filters_before_shards.zarr", "uint16"),
    ("integers.zarr", "uint8"),
    ("turned.zarr", "int16"),
    ("clamped.zarr", "int8"),
    ("wrapped.zarr", "uint8"),
    ("wide.zarr", "int32"),
    ("scaled_floats.zarr", "float32"),
];

fn metadata(array: &str) -> Value {
    let document = std::fs::read(Path::new(array).join("zarr.json")).unwrap();
    serde_json::from_slice(&document).unwrap()
}

fn without_filters(codecs: &Value) -> Value {
    let keep = |codec: &&Value| !NAMES.contains(&codec["name"].as_str().unwrap_or_default());
    let flat = |codec: &Value| {
        let mut codec = codec.clone();
        if codec["name"] == "sharding_indexed" {
            codec["configuration"]["codecs"] = without_filters(&codec["configuration"]["codecs"]);
        }
        codec
    };
    codecs.as_array().unwrap().iter().filter(keep).map(flat).collect()
}

fn has_filters(array: &str) -> bool {
    let document = metadata(array);
    document["codecs"] != without_filters(&document["codecs"])
}

/// The array `from` at `to` as one of the numbers that it stores, whose fill value is 0: chunks as
/// they are.
fn bare(from: &str, to: &str, stored_type: &str) {
    let done = std::process::Command::new("cp").args(["-r", from, to]).status().unwrap();
    assert!(done.success());
    let mut document = metadata(to);
    document["data_type"] = json!(stored_type);
    document["fill_value"] = json!(0);
    document["codecs"] = without_filters(&document["codecs"]);
    write_json(&Path::new(to).join("zarr.json"), &document);
}

/// All elements of an array of two axes, little-endian, in C order.
fn elements(array: &str) -> Vec<u8> {
    let folder = Folder::new();
    let target = folder.at("plain.zarr");
    let codec = r#"[{"name": "transpose", "configuration": {"order": [0, 1]}}, {"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let plain =
        ["--chunks", "-1,-1", "--codec", codec, "--shards", "none", "--write-empty", "always"];
    rechunk(&[&["copy", array, &target, "--format", "zarr3"], &plain[..]].concat()).ok();
    std::fs::read(Path::new(&target).join("c/0/0")).unwrap()
}

/// The numbers that an array stores.
fn stored(array: &str, stored_type: &str) -> Vec<u8> {
    let folder = Folder::new();
    let twin = folder.at("bare.zarr");
    bare(array, &twin, stored_type);
    elements(&twin)
}

/// Makes an array of two axes with one chunk of these bytes, little-endian, and a missing one
/// beside it.
fn handmade(
    at: &str,
    (data_type, fill): (&str, &Value),
    codecs: &Value,
    bytes: &[u8],
    item: usize,
) {
    let columns = bytes.len() / item / 2;
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [2, 2 * columns], "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, columns]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs,
    });
    write_json(&Path::new(at).join("zarr.json"), &document);
    std::fs::create_dir_all(Path::new(at).join("c/0")).unwrap();
    std::fs::write(Path::new(at).join("c/0/0"), bytes).unwrap();
}

#[test]
fn stored_numbers_are_moved_bit_by_bit() {
    for (name, stored_type) in ARRAYS {
        let source = fixture(&format!("extensions/{name}"));
        let expected = stored(&source, stored_type);
        let folder = Folder::new();
        for (number, options) in [
            &["--chunks", "9,3", "--shards", "none"][..],
            &["--chunks", "2,11", "--shards", "none", "--codec", "keep"],
            &["--chunks", "3,4", "--shards", "9,12"],
            &["--chunks", "keep", "--shards", "none", "--write-empty", "always"],
            &[
                "--chunks",
                "keep",
                "--shards",
                "none",
                "--max-mem",
                "64MiB",
                "--strategy",
                "push-pull",
            ],
        ]
        .into_iter()
        .enumerate()
        {
            let target = folder.at(&number.to_string());
            let done = rechunk(&[&["copy", &source, &target, "--verify"], options].concat()).ok();
            assert!(!done.stderr.contains("left out"), "{}", done.stderr);
            assert!(has_filters(&target), "{name}");
            assert_eq!(stored(&target, stored_type), expected, "{name} {options:?}");
            rechunk(&["verify", &source, &target]).ok();
        }
        let part = folder.at("part");
        rechunk(&[
            "copy", &source, &part, "--select", "1:7,3:8", "--chunks", "2,2", "--shards", "none",
            "--verify",
        ])
        .ok();
        let whole = stored(&source, stored_type);
        let columns = usize::try_from(metadata(&source)["shape"][1].as_u64().unwrap()).unwrap();
        let item = stored(&part, stored_type).len() / 30;
        let rows = (1..7)
            .flat_map(|row| whole[(row * columns + 3) * item..(row * columns + 8) * item].to_vec());
        assert_eq!(stored(&part, stored_type), rows.collect::<Vec<u8>>(), "{name}");
    }
}

#[test]
fn plans_are_those_of_what_is_stored() {
    // Shards behind filters are read as a whole.
    for (name, stored_type) in
        ARRAYS.into_iter().filter(|(name, _)| !name.contains("before_shards"))
    {
        let folder = Folder::new();
        let source = fixture(&format!("extensions/{name}"));
        let twin = folder.at("twin.zarr");
        bare(&source, &twin, stored_type);
        for options in [
            &["--chunks", "9,3"][..],
            &["--chunks", "keep"],
            &["--chunks", "3,4", "--shards", "9,12"],
        ] {
            let report = |source: &str, target: &str| {
                let target = folder.at(target);
                rechunk(&[&["copy", source, &target, "--overwrite", "--json"], options].concat())
                    .ok()
                    .json()
            };
            let (ours, theirs) = (report(&source, "a"), report(&twin, "b"));
            for part in ["plan", "estimate", "memory", "traffic"] {
                let mut pair = [&ours[part], &theirs[part]].map(Clone::clone);
                pair.iter_mut().for_each(without_seconds);
                assert!(!pair[0].is_null(), "{ours}");
                assert_eq!(pair[0], pair[1], "{name} {options:?} {part}");
            }
        }
    }
}

/// Leaves out what is another each time.
fn without_seconds(value: &mut Value) {
    if let Some(map) = value.as_object_mut() {
        map.retain(|name, _| {
            !name.contains("seconds") && name != "peak_rss_bytes" && name != "budget_bytes"
        });
        map.values_mut().for_each(without_seconds);
    }
}

#[test]
fn numbers_that_do_not_come_back_are_carried_all_the_same() {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let cast = |name: &str, more: Value| {
        let mut configuration = json!({"data_type": name});
        configuration.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"name": "cast_value", "configuration": configuration})
    };
    let scale = json!({"name": "scale_offset", "configuration": {"offset": 1, "scale": 3}});
    let all: Vec<u8> = (0..=255).collect();
    let small: Vec<u8> = [0xf8, 0xff, 0, 7, 1, 0xfe].repeat(2);
    let packed = json!({"name": "packbits", "configuration": {}});
    let fold =
        json!({"scalar_map": {"decode": (1..200).map(|n| json!([n, 0])).collect::<Value>()}});
    for (data_type, fill, stored_type, item, codecs, numbers) in [
        // Most numbers stand for one.
        ("float32", json!(0), "uint8", 1, json!([cast("uint8", fold), bytes]), &all),
        // No multiple of the scale: nobody can decode it.
        ("int16", json!(1), "int16", 2, json!([scale, bytes]), &all),
        (
            "float16",
            json!(0),
            "uint16",
            2,
            json!([cast("uint16", json!({"out_of_range": "clamp"})), bytes]),
            &all,
        ),
        (
            "float16",
            json!(0),
            "uint32",
            4,
            json!([cast("uint32", json!({"out_of_range": "clamp"})), bytes]),
            &all,
        ),
        ("uint8", json!(0), "int64", 8, json!([cast("int64", json!({})), bytes]), &all),
        ("float64", json!(1), "float64", 8, json!([scale, bytes]), &all),
        ("float64", json!(0), "float32", 4, json!([cast("float32", json!({})), bytes]), &all),
        ("float32", json!(0), "bfloat16", 2, json!([cast("bfloat16", json!({})), bytes]), &all),
        ("float32", json!(0), "int4", 1, json!([cast("int4", json!({})), bytes]), &small),
        (
            "float32",
            json!(0),
            "int4",
            1,
            json!([cast("int4", json!({})), packed]),
            &vec![0x18, 0xf7, 0x0e],
        ),
    ] {
        let folder = Folder::new();
        let (source, target) = (folder.at("source"), folder.at("target"));
        let is_packed = numbers.len() == 3;
        handmade(&source, (data_type, &fill), &codecs, numbers, if is_packed { 1 } else { item });
        if is_packed {
            let mut document = metadata(&source);
            document["shape"] = json!([2, 6]);
            document["chunk_grid"]["configuration"]["chunk_shape"] = json!([2, 3]);
            write_json(&Path::new(&source).join("zarr.json"), &document);
        }
        let expected = stored(&source, stored_type);
        for (number, options) in [
            &["--chunks", "1,5"][..],
            &["--chunks", "2,4", "--shards", "2,8"],
            &["--chunks", "2,1", "--codec", "keep"],
        ]
        .into_iter()
        .enumerate()
        {
            let target = format!("{target}{number}");
            rechunk(&[&["copy", &source, &target, "--verify"], options].concat()).ok();
            rechunk(&["verify", &source, &target]).ok();
            assert!(has_filters(&target), "{codecs}");
            assert_eq!(stored(&target, stored_type), expected, "{codecs}");
        }
    }
}

#[test]
fn fill_values_that_do_not_come_back_keep_numbers_from_being_carried() {
    let folder = Folder::new();
    let (source, target) = (folder.at("source"), folder.at("target"));
    let cast = json!({"name": "cast_value", "configuration": {"data_type": "uint8"}});
    let codecs = json!([cast, {"name": "bytes"}]);
    handmade(&source, ("float32", &json!(7.25)), &codecs, &[1, 2, 3, 4, 5, 6], 1);
    let done = rechunk(&["copy", &source, &target, "--chunks", "2,4", "--verify"]).ok();
    done.says(&["cast_value(float32 as uint8) is left out: it cannot hold the fill value"]);
    assert!(!has_filters(&target));
    let floats = [1.0_f32, 2.0, 3.0, 7.25, 7.25, 7.25, 4.0, 5.0, 6.0, 7.25, 7.25, 7.25];
    let expected: Vec<u8> = floats.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(elements(&target), expected);
    assert_eq!(elements(&source), expected);
}

#[test]
fn codecs_and_types_that_are_asked_for_decode() {
    let source = fixture("extensions/reflectance.zarr");
    let expected = std::fs::read(format!("{source}.elements")).unwrap();
    let folder = Folder::new();
    let (kept, dropped, other, cast) =
        (folder.at("kept"), folder.at("dropped"), folder.at("other"), folder.at("cast"));
    let asked = |scale: u32| {
        json!([
            {"name": "scale_offset", "configuration": {"offset": -0.1, "scale": scale}},
            {"name": "cast_value", "configuration": {
                "data_type": "uint16", "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}}},
            {"name": "bytes", "configuration": {"endian": "big"}}, {"name": "zstd", "configuration": {"level": 5}}])
        .to_string()
    };
    rechunk(&["copy", &source, &kept, "--chunks", "9,3", "--codec", &asked(10_000), "--verify"])
        .ok();
    assert_eq!(stored(&kept, "uint16"), stored(&source, "uint16"));
    rechunk(&["copy", &source, &dropped, "--chunks", "9,3", "--codec", "zstd", "--verify"]).ok();
    assert!(!has_filters(&dropped));
    assert_eq!(elements(&dropped), expected);
    // In steps ten times as large values are others, which is what was asked for.
    rechunk(&["copy", &source, &other, "--chunks", "9,3", "--codec", &asked(1000)]).ok();
    rechunk(&["verify", &source, &other]).ends_with(6);
    rechunk(&["copy", &source, &cast, "--chunks", "9,3", "--cast", "float64", "--verify"]).ok();
    assert!(!has_filters(&cast));
    let wide: Vec<u8> = expected
        .chunks(4)
        .flat_map(|float| f64::from(f32::from_le_bytes(float.try_into().unwrap())).to_le_bytes())
        .collect();
    let is_nan = |double: &[u8]| f64::from_le_bytes(double.try_into().unwrap()).is_nan();
    for (found, wanted) in elements(&cast).chunks(8).zip(wide.chunks(8)) {
        assert!(found == wanted || (is_nan(found) && is_nan(wanted)));
    }
    for (format, name) in [("n5", "t.n5"), ("npy", "t.npy"), ("raw", "t.raws")] {
        let target = folder.at(name);
        rechunk(&["copy", &source, &target, "--format", format, "--verify"]).ok();
        assert_eq!(elements(&target), expected, "{format}");
    }
}

#[test]
fn arrays_grow_by_what_is_stored() {
    let source = fixture("extensions/reflectance.zarr");
    let folder = Folder::new();
    let numbers = stored(&source, "uint16");
    let halves = |rows: std::ops::Range<usize>| numbers[rows.start * 22..rows.end * 22].to_vec();
    for (number, options) in
        [&["--chunks", "2,11", "--shards", "none"][..], &["--chunks", "2,4", "--shards", "4,12"]]
            .into_iter()
            .enumerate()
    {
        let target = folder.at(&number.to_string());
        rechunk(&[&["copy", &source, &target, "--select", "0:3,:"], options].concat()).ok();
        // Behind an edge that lies within a chunk.
        rechunk(&["copy", &source, &target, "--select", "3:9,:", "--append", "y", "--verify"]).ok();
        assert_eq!(stored(&target, "uint16"), numbers);
        rechunk(&["copy", &source, &target, "--select", "0:3,:", "--region", "y=5:8", "--verify"])
            .ok();
        let expected = [halves(0..5), halves(0..3), halves(8..9)].concat();
        assert_eq!(stored(&target, "uint16"), expected);
    }
    // Into other filters, or none, elements go as they are read.
    let plain = folder.at("plain");
    rechunk(&["copy", &source, &plain, "--select", "0:3,:", "--codec", "zstd"]).ok();
    rechunk(&["copy", &source, &plain, "--select", "3:9,:", "--append", "y", "--verify"]).ok();
    assert_eq!(elements(&plain), std::fs::read(format!("{source}.elements")).unwrap());
    let encoded = folder.at("encoded");
    rechunk(&["copy", &source, &encoded, "--select", "0:3,:"]).ok();
    rechunk(&["copy", &plain, &encoded, "--select", "3:9,:", "--append", "y", "--verify"]).ok();
    assert_eq!(stored(&encoded, "uint16"), numbers);
}

#[test]
fn a_copy_that_is_complete_is_known_by_what_is_stored() {
    let folder = Folder::new();
    for (name, _) in ARRAYS {
        let (source, target) = (fixture(&format!("extensions/{name}")), folder.at(name));
        for select in [&[][..], &["--select", "1:8,2:9"]] {
            let arguments =
                [&["copy", &source, &target, "--chunks", "3,4", "--shards", "none"], select]
                    .concat();
            rechunk(&arguments).ok();
            let again = rechunk(&[&arguments[..], &["--resume"]].concat()).ok();
            again.says(&["complete"]);
            std::fs::remove_dir_all(&target).unwrap();
        }
    }
    let (source, target) = (fixture("extensions/reflectance.zarr"), folder.at("other"));
    let arguments = ["copy", &source, &target, "--chunks", "9,3"];
    rechunk(&arguments).ok();
    let chunk = Path::new(&target).join("c/0/0");
    std::fs::copy(Path::new(&target).join("c/0/1"), chunk).unwrap();
    rechunk(&[&arguments[..], &["--resume"]].concat()).fails().says(&["holds other elements"]);
}

#[test]
fn a_plan_says_what_is_carried() {
    let source = fixture("extensions/reflectance_shards.zarr");
    let done = rechunk(&["plan", &source, "--chunks", "9,3", "--shards", "none"]).ok();
    for words in
        ["float32 as uint16", "cast_value(float32 as uint16, 1 value mapped) (carried) + zstd"]
    {
        assert!(done.stdout.contains(words), "{words} in {}", done.stdout);
    }
}
