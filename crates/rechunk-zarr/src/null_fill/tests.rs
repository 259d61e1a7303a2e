use serde_json::json;

use super::*;
use crate::json::write_pretty;
use crate::{TargetOptions, parse_v2, parse_v3, target_metadata};

fn v2(dtype: &str, shape: &[u64]) -> ArrayMetadata {
    let document = json!({
        "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "compressor": null,
        "fill_value": null, "order": "C", "filters": null,
    });
    parse_v2(&write_pretty(&document), None).unwrap()
}

fn v3(data_type: &str, fill_value: &Value) -> ArrayMetadata {
    let codecs = match data_type {
        "string" => json!([{"name": "vlen-utf8"}]),
        _ => json!([{"name": "bytes", "configuration": {"endian": "little"}}]),
    };
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value, "codecs": codecs,
    });
    parse_v3(&write_pretty(&document)).unwrap()
}

fn converted(source: &ArrayMetadata, version: ZarrVersion) -> (ArrayMetadata, Vec<String>) {
    let chunk_shape = source.spec.chunk_shape.clone();
    let options = TargetOptions { version, chunk_shape, shard_shape: None, codec: None };
    target_metadata(source, &options).unwrap()
}

#[test]
fn null_of_v2_becomes_what_says_least() {
    for (dtype, shape, fill, says) in [
        ("<f2", &[4, 6][..], "NaN", "null becomes NaN"),
        (">f4", &[4, 6], "NaN", "null becomes NaN"),
        ("<f8", &[4], "NaN", "null becomes NaN"),
        ("<c8", &[4, 6], r#"["NaN","NaN"]"#, "null becomes NaN"),
        ("<i2", &[4, 6], "0", "zero, which GDAL takes for nodata"),
        ("|u1", &[3, 4, 6], "0", "zero, which GDAL takes for nodata"),
        ("|b1", &[4, 6], "false", "zero, which GDAL takes for nodata"),
        ("<i8", &[4], "0", "null becomes zero"),
        ("<M8[s]", &[4], "-9223372036854775808", "null becomes NaT"),
        ("<m8[ns]", &[4], "-9223372036854775808", "null becomes NaT"),
        ("<U4", &[4, 6], r#""""#, "null becomes an empty text"),
    ] {
        let (target, warnings) = converted(&v2(dtype, shape), ZarrVersion::V3);
        assert_eq!(target.fill_value_text(), fill, "{dtype}");
        assert!(warnings.iter().any(|text| text.ends_with(says)), "{dtype}: {warnings:?}");
    }
}

#[test]
fn null_comes_back_where_it_is_noted() {
    for dtype in ["<f4", "<i2", "|u1", "<c16", "<M8[s]", "|S3"] {
        let source = v2(dtype, &[4, 6]);
        let (mut there, _) = converted(&source, ZarrVersion::V3);
        note_null_fill(&source, &mut there);
        // Through another copy in v3, too.
        let (there, _) = converted(&there, ZarrVersion::V3);
        let (back, _) = converted(&there, ZarrVersion::V2);
        assert_eq!((back.spec, back.attributes), (source.spec, source.attributes), "{dtype}");
    }
    let zero = v3("int16", &json!(0));
    let (mut same, _) = converted(&zero, ZarrVersion::V3);
    note_null_fill(&zero, &mut same);
    assert!(same.attributes.is_empty(), "it was never null");
}

#[test]
fn null_of_v3_is_read_and_said() {
    let source = v3("int16", &Value::Null);
    assert_eq!((source.spec.fill_value.as_ref(), &*source.fill_value_text()), (None, "null"));
    let (target, warnings) = converted(&source, ZarrVersion::V3);
    assert_eq!(target.fill_value_text(), "0");
    assert!(warnings[0].contains("null") && warnings[0].contains("zero"), "{warnings:?}");
    let (target, warnings) = converted(&source, ZarrVersion::V2);
    assert_eq!(target.fill_value_text(), "null");
    assert!(warnings[0].contains("null"), "{warnings:?}");
    let (target, warnings) = converted(&v3("string", &Value::Null), ZarrVersion::V3);
    assert_eq!(target.fill_value_text(), r#""""#);
    assert!(warnings[0].contains("null"), "{warnings:?}");
}

#[test]
fn a_fill_value_that_is_not_there_is_no_null() {
    let text = String::from_utf8(v3("int16", &json!(0)).documents()[0].1.clone()).unwrap();
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("fill_value")).collect();
    let error = parse_v3(without.join("\n").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("fill_value") && error.contains("is missing"), "{error}");
}
