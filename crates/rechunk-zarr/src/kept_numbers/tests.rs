use serde_json::{Value, json};

use super::*;
use crate::{TargetOptions, ZarrVersion, parse_v3, target_metadata};

fn source(data_type: &str, fill: &Value, codecs: &Value) -> ArrayMetadata {
    let mut list = codecs.as_array().unwrap().clone();
    list.push(json!({"name": "bytes", "configuration": {"endian": "little"}}));
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [8], "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": list,
    });
    parse_v3(document.to_string().as_bytes()).unwrap()
}

fn kept(source: &ArrayMetadata, version: ZarrVersion) -> (Vec<&'static str>, Vec<String>) {
    let options = TargetOptions { version, chunk_shape: vec![8], shard_shape: None, codec: None };
    let (target, warnings) = target_metadata(source, &options).unwrap();
    (target.codecs.iter().map(CodecSpec::name).collect(), warnings)
}

#[test]
fn filters_are_kept_where_every_stored_value_and_the_fill_value_come_back() {
    let scale = |offset: Value, scale: Value| json!({"name": "scale_offset", "configuration": {"offset": offset, "scale": scale}});
    let cast = |name: &str| json!({"name": "cast_value", "configuration": {"data_type": name}});
    let nan = json!({"name": "cast_value", "configuration": {
        "data_type": "uint16", "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}}});
    let both = ["scale_offset", "cast_value"];
    for (data_type, fill, codecs, names, words) in [
        // Reflectances of Sentinel-2.
        ("float32", json!("NaN"), json!([scale(json!(-0.1), json!(10000)), nan]), &both[..], ""),
        ("float32", json!(0), json!([scale(json!(0), json!(100)), cast("int16")]), &both, ""),
        ("float64", json!(0), json!([scale(json!(0), json!(100)), cast("int8")]), &both, ""),
        ("uint16", json!(1000), json!([scale(json!(1000), json!(1)), cast("uint8")]), &both, ""),
        ("int64", json!(5), json!([scale(json!(5), json!(2))]), &both[..1], ""),
        ("int64", json!(5), json!([cast("int32")]), &both[1..], ""),
        ("float32", json!(0), json!(["scale_offset"]), &both[..1], ""),
        // Sums of floats of 32 bits need not come back.
        ("float32", json!(0), json!([scale(json!(0.1), json!(3))]), &[], "could change"),
        (
            "float32",
            json!(0),
            json!([scale(json!(0), json!(100)), cast("int32")]),
            &[],
            "could change",
        ),
        // Steps that are too small for the digits of the type.
        (
            "float16",
            json!(0),
            json!([scale(json!(0), json!(1)), cast("uint16")]),
            &[],
            "could change",
        ),
        // A fill value between two steps.
        (
            "float32",
            json!(0.005),
            json!([scale(json!(0), json!(100)), cast("int16")]),
            &[],
            "fill value",
        ),
    ] {
        let source = source(data_type, &fill, &codecs);
        let (found, warnings) = kept(&source, ZarrVersion::V3);
        assert_eq!(found, names, "{codecs}: {warnings:?}");
        assert_eq!(warnings.is_empty(), words.is_empty(), "{codecs}: {warnings:?}");
        assert!(warnings.iter().all(|warning| warning.contains(words)), "{warnings:?}");
        let (found, warnings) = kept(&source, ZarrVersion::V2);
        assert!(
            found.is_empty() && warnings[0].contains("Zarr v2 has no such codec"),
            "{warnings:?}"
        );
    }
}

#[test]
fn a_fill_value_that_cannot_be_encoded_is_refused() {
    let cast = json!({"name": "cast_value", "configuration": {"data_type": "uint8"}});
    for (fill, words) in [
        (json!("NaN"), "scalar_map does not say"),
        (json!(300.5), "beyond the range of uint8"),
        (json!(-1), "beyond the range of uint8"),
        (json!("Infinity"), "scalar_map"),
        (json!(1e300), "beyond the range"),
    ] {
        let document = json!({
            "zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "float64", "fill_value": fill,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
            "chunk_key_encoding": {"name": "default"}, "codecs": [cast, {"name": "bytes"}],
        });
        let error = parse_v3(document.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains("fill_value") && error.contains(words), "{fill}: {error}");
    }
}

#[test]
fn shards_that_zarr_python_does_not_open_are_warned_of() {
    let codecs = json!([{"name": "scale_offset", "configuration": {"offset": 1000}}]);
    for (data_type, shards, is_warned) in [
        ("uint16", Some(vec![8]), true),
        ("uint16", None, false),
        ("int16", Some(vec![8]), false),
        ("int64", Some(vec![8]), false),
        ("uint64", Some(vec![8]), true),
    ] {
        let source = source(data_type, &json!(1000), &codecs);
        let (version, chunk_shape) = (ZarrVersion::V3, vec![4]);
        let options = TargetOptions { version, chunk_shape, shard_shape: shards, codec: None };
        let (target, warnings) = target_metadata(&source, &options).unwrap();
        assert_eq!(target.codecs.len(), 1);
        let found = warnings.iter().any(|warning| warning.contains("does not open these shards"));
        assert_eq!(found, is_warned, "{data_type}: {warnings:?}");
    }
}
