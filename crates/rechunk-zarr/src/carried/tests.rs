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
fn filters_are_kept_where_the_fill_value_comes_back() {
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
        // Values that would not come back are moved as they are stored.
        ("float32", json!(0.1), json!([scale(json!(0.1), json!(3))]), &both[..1], ""),
        ("float32", json!(0), json!([scale(json!(0), json!(100)), cast("int32")]), &both, ""),
        ("float16", json!(0), json!([scale(json!(0), json!(1)), cast("uint16")]), &both, ""),
        ("float32", json!(-3), json!([cast("int4")]), &both[1..], ""),
        ("float32", json!(2.5), json!([cast("bfloat16")]), &both[1..], ""),
        // Null is not said to be any of them.
        ("float32", json!(null), json!([scale(json!(0), json!(1))]), &[], "null"),
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
        if fill.is_null() {
            continue;
        }
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

fn parse(data_type: &str, fill: &Value, codecs: &Value) -> ArrayMetadata {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [8, 8], "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs,
    });
    parse_v3(document.to_string().as_bytes()).unwrap()
}

#[test]
fn an_array_of_what_is_stored_has_neither_filters_nor_their_types() {
    let scale = json!({"name": "scale_offset", "configuration": {"offset": 10, "scale": 100}});
    let cast = |name: &str| json!({"name": "cast_value", "configuration": {"data_type": name}});
    let turn = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let bytes = |endian: &str| json!({"name": "bytes", "configuration": {"endian": endian}});
    let shards = |codecs: Value| {
        json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": [2, 2], "codecs": codecs, "index_codecs": [bytes("little")]}})
    };
    let (little, big) = (bytes("little"), bytes("big"));
    let short = [0x58, 0x02];
    // (16 - 10) * 100 is 600.
    for (codecs, stored, fill) in [
        (json!([scale, cast("int16"), little]), "int16", &short[..]),
        (json!([scale, cast("int16"), big]), "int16", &short),
        (json!([turn, scale, turn, cast("int16"), little]), "int16", &short),
        (
            json!([{"name": "reshape", "configuration": {"shape": [16]}}, scale, cast("int16"), little]),
            "int16",
            &short,
        ),
        (json!([shards(json!([scale, cast("int16"), big]))]), "int16", &short),
        (json!([scale, shards(json!([cast("int16"), little]))]), "int16", &short),
        (json!([turn, shards(json!([scale, cast("int16"), big]))]), "int16", &short),
        (json!([scale, cast("int16"), turn, shards(json!([turn, little]))]), "int16", &short),
        (json!([shards(json!([shards(json!([scale, cast("int16"), little]))]))]), "int16", &short),
        (json!([scale, little]), "float32", &[0, 0, 0x16, 0x44]),
        (json!([scale, cast("bfloat16"), little]), "bfloat16", &[0x16, 0x44]),
        (json!([cast("uint8"), {"name": "bytes"}]), "uint8", &[16]),
        (json!([cast("float64"), big]), "float64", &[0, 0, 0, 0, 0, 0, 0x30, 0x40]),
    ] {
        let array = parse("float32", &json!(16), &codecs);
        let found = array.as_stored().unwrap();
        assert_eq!(found.spec.data_type.name(), stored, "{codecs}");
        assert_eq!(array.stored_type(), Some(found.spec.data_type));
        assert_eq!(found.spec.fill_value.as_ref().unwrap().bytes, fill, "{codecs}");
        assert!(found.number_filters().is_empty(), "{codecs}");
        assert_eq!(found.as_stored(), None);
        assert_eq!(
            (&found.order.axes, found.sharding.is_some()),
            (&array.order.axes, array.sharding.is_some())
        );
        // A chunk is encoded as the filters would leave it.
        let [whole, stored] =
            [&array, &found].map(|array| crate::ZarrLayout::new(array.clone()).unwrap());
        let chunk = rechunk_format::Layout::spec(&whole).chunk_shape.iter().product::<u64>();
        let item = |array: &ArrayMetadata| {
            let fill = array.spec.fill_value.as_ref().unwrap();
            fill.stored(array.spec.data_type, array.order.endian)
                .repeat(usize::try_from(chunk).unwrap())
        };
        let (mut one, mut other) = (Vec::new(), Vec::new());
        rechunk_format::Layout::encode(&whole, &[0, 0], &item(&array), &mut one).unwrap();
        rechunk_format::Layout::encode(&stored, &[0, 0], &item(&found), &mut other).unwrap();
        assert_eq!(one, other, "{codecs}");
    }
    // Nothing to be carried, or a fill value that is not given back.
    for (fill, codecs) in [
        (json!(16), json!([little])),
        (json!(16.5), json!([cast("int16"), little])),
        (json!(null), json!([cast("int16"), little])),
    ] {
        assert_eq!(parse("float32", &fill, &codecs).as_stored(), None, "{codecs}");
    }
    let other = json!({"name": "scale_offset", "configuration": {"offset": 10, "scale": 10}});
    let filters = |codecs: Value| parse("float32", &json!(16), &codecs).number_filters();
    let one = filters(json!([scale, cast("int16"), little]));
    assert_eq!(one, filters(json!([turn, scale, shards(json!([cast("int16"), big]))])));
    for unlike in [
        json!([other, cast("int16"), little]),
        json!([scale, cast("int32"), little]),
        json!([cast("int16"), scale, little]),
        json!([scale, little]),
        json!([scale, {"name": "cast_value", "configuration": {"data_type": "int16", "out_of_range": "clamp"}}, little]),
    ] {
        assert_ne!(one, filters(unlike.clone()), "{unlike}");
    }
}
