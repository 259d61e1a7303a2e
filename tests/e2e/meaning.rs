//! Meaning of a data set to xarray is the same in both versions of Zarr. Types, scalars, text,
//! names, groups in groups are kept; and a fill value that is null says nothing.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk};
use crate::oracle::{World, answer, ask, available};

/// Reads a JSON document.
fn document(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Writes `array` with other members in its document: null removes nothing, it is a value.
fn write_with(array: &RawArray, place: &str, members: &Value) {
    array.write(place);
    let (name, mut document) = array.metadata();
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    write_json(&Path::new(place).join(name), &document);
}

#[test]
fn data_sets_of_many_types_are_identical_in_every_pair_of_versions() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let sources = folder.at("sources");
    std::fs::create_dir_all(&sources).unwrap();
    let made = ask(World::Z3, "tests/oracle/datasets.py", &[&sources]);
    let mut jobs = Vec::new();
    for (number, source) in made.as_array().unwrap().iter().enumerate() {
        let path = source["path"].as_str().unwrap();
        for format in ["zarr2", "zarr3"] {
            let copy = folder.at(&format!("{number}-{format}.zarr"));
            let options = ["--format", format, "--chunks", "auto", "--verify"];
            rechunk(&[&["copy", path, &copy][..], &options].concat()).ok();
            let back = folder.at(&format!("{number}-{format}-back.zarr"));
            let format = format!("zarr{}", source["format"]);
            rechunk(&["copy", &copy, &back, "--format", &format]).ok();
            for copy in [copy, back] {
                jobs.push(json!({"a": path, "b": copy, "tree": source["tree"]}));
            }
        }
    }
    assert_eq!(jobs.len(), 24);
    let differences = answer(World::Z3, "tests/oracle/same_dataset.py", &jobs);
    for (job, difference) in jobs.iter().zip(&differences) {
        assert!(difference.is_null(), "{job}: {}", difference.as_str().unwrap_or_default());
    }
}

#[test]
fn one_scalar_of_v3_can_be_put_into_a_data_set_of_v2() {
    let folder = Folder::new();
    for (number, (data_type, fill, bytes)) in [
        ("int32", json!(0), &[0_u8; 4][..]),
        ("float64", json!(0.0), &[0; 8]),
        ("bool", json!(false), &[0]),
        ("uint8", json!(7), &[7]),
        ("int64", json!(-1), &[255; 8]),
    ]
    .into_iter()
    .enumerate()
    {
        let (source, target) =
            (folder.at(&format!("{number}.zarr")), folder.at(&format!("data.zarr/{number}")));
        let array = json!({
            "zarr_format": 3, "node_type": "array", "shape": [], "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": fill, "attributes": {"a": 1},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        });
        write_json(&Path::new(&source).join("zarr.json"), &array);
        std::fs::write(Path::new(&source).join("c"), bytes).unwrap();
        rechunk(&["copy", &source, &target, "--format", "zarr2"]).ok();
        let attributes = document(&format!("{target}/.zattrs"));
        assert_eq!(attributes, json!({"a": 1, "_ARRAY_DIMENSIONS": []}), "{data_type}");
        assert_eq!(document(&format!("{target}/.zarray"))["fill_value"], Value::Null);
        assert!(Path::new(&target).join("0").exists(), "{data_type}: it is no missing element");
        let back = folder.at(&format!("back-{number}.zarr"));
        rechunk(&["copy", &target, &back, "--format", "zarr3"]).ok();
        let back = document(&format!("{back}/zarr.json"));
        assert_eq!(back["attributes"], json!({"a": 1}), "{data_type}");
    }
}

#[test]
fn null_of_v2_goes_to_v3_and_comes_back() {
    let folder = Folder::new();
    let named = json!({"_ARRAY_DIMENSIONS": ["y", "x"]});
    let plain = RawArray::v2(&[8, 6], &[4, 6]);
    let uint16 = plain.clone().of_uint16();
    for (number, (array, attributes, fill, says)) in [
        (&plain, json!({}), json!("NaN"), "null becomes NaN"),
        (&plain, named.clone(), json!("NaN"), "null becomes NaN"),
        (&uint16, json!({}), json!(0), "which GDAL takes for nodata"),
        (&uint16, named.clone(), json!(0), "which GDAL takes for nodata"),
        (&uint16, json!({"a": [1]}), json!(0), "null becomes zero"),
    ]
    .into_iter()
    .enumerate()
    {
        let [source, there, back] =
            ["source", "there", "back"].map(|name| folder.at(&format!("{number}-{name}.zarr")));
        write_with(array, &source, &json!({"fill_value": null}));
        write_json(&Path::new(&source).join(".zattrs"), &attributes);
        // A chunk that is missing reads as zero, and does not become another value.
        std::fs::remove_file(Path::new(&source).join("1.0")).unwrap();
        rechunk(&["copy", &source, &there, "--format", "zarr3", "--verify"]).ok().says(&[says]);
        let v3 = document(&format!("{there}/zarr.json"));
        assert_eq!(v3["fill_value"], fill, "{number}");
        assert!(v3["attributes"].get("_FillValue").is_none(), "{number}: {v3}");
        rechunk(&["verify", &source, &there]).ok();
        rechunk(&["copy", &there, &back, "--format", "zarr2", "--verify"]).ok();
        let v2 = document(&format!("{back}/.zarray"));
        assert_eq!(v2["fill_value"], Value::Null, "{number}");
        let zattrs = std::fs::read(Path::new(&back).join(".zattrs")).ok();
        let zattrs = zattrs.map_or(json!({}), |bytes| serde_json::from_slice(&bytes).unwrap());
        assert_eq!(zattrs, attributes, "{number}");
        rechunk(&["verify", &source, &back]).ok();
    }
}

#[test]
fn null_of_v3_is_read_as_zero_with_a_warning() {
    let folder = Folder::new();
    let shards = json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [4, 3], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }}]);
    let float = RawArray::v3(&[8, 6], &[4, 6]);
    for (number, (array, members, gap)) in [
        (float.clone(), json!({}), false),
        (float.clone(), json!({}), true),
        (float.clone().of_uint16(), json!({}), false),
        (float.clone().of_uint16(), json!({"dimension_names": ["Y", "X"]}), true),
        (float, json!({"codecs": shards}), true),
    ]
    .into_iter()
    .enumerate()
    {
        let (source, zero) =
            (folder.at(&format!("{number}.zarr")), folder.at(&format!("{number}-0")));
        let has_shards = members.get("codecs").is_some();
        for (place, fill) in [(&source, Value::Null), (&zero, json!(0))] {
            let mut members = members.clone();
            members["fill_value"] = fill;
            write_with(&array, place, &members);
            if gap {
                std::fs::remove_file(Path::new(place).join("c/0/0")).unwrap();
            }
            if has_shards {
                std::fs::remove_dir_all(Path::new(place).join("c")).unwrap();
            }
        }
        for format in ["zarr3", "zarr2"] {
            let target = folder.at(&format!("{number}-{format}.zarr"));
            let copied =
                rechunk(&["copy", &source, &target, "--format", format, "--chunks", "2,3"]);
            copied.ok().says(&["the fill value is null", "read as zero"]);
            rechunk(&["verify", &zero, &target]).ok();
        }
        let done = rechunk(&["info", &source, "--json"]).ok().json();
        assert_eq!(done["fill_value"], "null", "{done}");
    }
}
