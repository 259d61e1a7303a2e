use serde_json::json;

use super::*;
use crate::json::write_pretty;
use crate::metadata::{KeyEncoding, KeyStyle};
use crate::{TargetOptions, metadata_of_stored, parse_v2, parse_v3, target_metadata};

fn v2(dtype: &str, fill_value: &Value, attributes: &Value) -> ArrayMetadata {
    let document = json!({
        "zarr_format": 2, "shape": [10], "chunks": [5], "dtype": dtype, "compressor": null,
        "fill_value": fill_value, "order": "C", "filters": null,
    });
    parse_v2(&write_pretty(&document), Some(&write_pretty(attributes))).unwrap()
}

fn v3(data_type: &str, fill_value: &Value, attributes: &Value) -> ArrayMetadata {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [10], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "dimension_names": ["x"], "attributes": attributes,
    });
    parse_v3(&write_pretty(&document)).unwrap()
}

/// The other version of an array: its `_FillValue`, and what is said of it.
fn converted(source: &ArrayMetadata) -> (Option<Value>, Option<String>) {
    let version = match source.version {
        ZarrVersion::V2 => ZarrVersion::V3,
        ZarrVersion::V3 => ZarrVersion::V2,
    };
    let options = TargetOptions { version, chunk_shape: vec![5], shard_shape: None, codec: None };
    let (mut target, _) = target_metadata(source, &options).unwrap();
    let said = carry_missing_value(source, &mut target);
    (target.attributes.get(FILL_VALUE).cloned(), said)
}

fn base64(float: f64) -> Value {
    Value::from(BASE64_STANDARD.encode(float.to_le_bytes()))
}

fn x() -> Value {
    json!({"_ARRAY_DIMENSIONS": ["x"]})
}

#[test]
fn the_fill_value_of_v2_becomes_the_attribute_of_v3() {
    let of = |dtype: &str, fill: Value| converted(&v2(dtype, &fill, &x()));
    assert_eq!(of("<f8", json!(-999.0)), (Some(base64(-999.0)), None));
    assert_eq!(of(">f4", json!(1e20)), (Some(base64(f64::from(1e20_f32))), None));
    assert_eq!(of("<f8", json!("NaN")), (Some(json!("AAAAAAAA+H8=")), None));
    assert_eq!(of("<i2", json!(-32768)), (Some(json!(-32768)), None));
    assert_eq!(of("|b1", json!(false)), (Some(json!(false)), None));
    assert_eq!(of("<f8", Value::Null), (None, None));
    let complex = json!([base64(1.5), base64(-2.0)]);
    assert_eq!(of("<c8", json!([1.5, -2.0])), (Some(complex), None));
    assert_eq!(of("<c16", Value::Null), (None, None));
}

#[test]
fn an_attribute_is_spelt_as_the_version_has_it() {
    let named = json!({"_ARRAY_DIMENSIONS": ["x"], "_FillValue": -1.5});
    assert_eq!(converted(&v2("<f8", &Value::Null, &named)).0, Some(base64(-1.5)));
    assert_eq!(converted(&v2("<f8", &json!(7.0), &named)).0, Some(base64(7.0)), "as xarray reads");
    let odd = json!({"_ARRAY_DIMENSIONS": ["x"], "_FillValue": "none"});
    assert_eq!(converted(&v2("<f8", &Value::Null, &odd)).0, Some(json!("none")), "nobody's");
    let nobody = json!({"_FillValue": -1.5});
    assert_eq!(converted(&v2("<f8", &json!(7.0), &nobody)).0, Some(json!(-1.5)), "no names");
}

#[test]
fn there_and_back_is_the_same() {
    for fill in [json!(1e20), json!("NaN"), json!(0.0)] {
        let source = v2("<f4", &fill, &x());
        let options = |version| TargetOptions {
            version,
            chunk_shape: vec![5],
            shard_shape: None,
            codec: None,
        };
        let (mut there, _) = target_metadata(&source, &options(ZarrVersion::V3)).unwrap();
        assert_eq!(carry_missing_value(&source, &mut there), None);
        let (mut back, _) = target_metadata(&there, &options(ZarrVersion::V2)).unwrap();
        assert_eq!(carry_missing_value(&there, &mut back), None);
        assert_eq!((back.attributes, back.spec), (source.attributes, source.spec));
    }
}

#[test]
fn a_fill_value_that_is_not_missing_is_none_in_v2() {
    let in_v2 = |source: &ArrayMetadata| {
        let options = TargetOptions {
            version: ZarrVersion::V2,
            chunk_shape: vec![5],
            shard_shape: None,
            codec: None,
        };
        let (mut target, _) = target_metadata(source, &options).unwrap();
        let said = carry_missing_value(source, &mut target);
        assert_eq!(target.attributes.get(FILL_VALUE), None);
        (target.fill_value_text(), said)
    };
    let (fill, said) = in_v2(&v3("float64", &json!(0.5), &json!({})));
    assert_eq!(fill, "null");
    assert!(said.unwrap().contains("it becomes null, not 0.5, and all chunks are written"));
    assert_eq!(in_v2(&v3("float64", &json!("NaN"), &json!({}))), ("NaN".to_owned(), None));
    let attributes = json!({"_FillValue": base64(-999.0)});
    let (fill, said) = in_v2(&v3("float64", &json!(0.0), &attributes));
    assert_eq!(fill, "-999.0");
    assert!(said.unwrap().contains("it becomes -999.0, not 0.0"));
    let (fill, said) = in_v2(&v3("int16", &json!(7), &json!({"_FillValue": 7})));
    assert_eq!((&*fill, said), ("7", None));
}

#[test]
fn a_fill_value_stays_over_the_chunks_that_are_there() {
    let in_v2 = |source: &ArrayMetadata| {
        let (mut target, _) = metadata_of_stored(source, ZarrVersion::V2).unwrap();
        let said = keep_missing_value(source, &mut target);
        said.map(|said| {
            (target.fill_value_text(), target.attributes.get(FILL_VALUE).cloned(), said)
        })
    };
    let keys_of_v2 = |source: ArrayMetadata| ArrayMetadata {
        key_encoding: KeyEncoding { style: KeyStyle::V2, separator: '.' },
        ..source
    };
    let source = |data_type: &str, fill: &Value, attributes: &Value| {
        keys_of_v2(v3(data_type, fill, attributes))
    };
    let (fill, _, said) = in_v2(&source("float64", &json!(7.5), &json!({}))).unwrap();
    assert_eq!(fill, "7.5");
    assert!(said.unwrap().contains("elements that are 7.5 are missing then"));
    let marked = json!({"_FillValue": base64(7.5)});
    let told = in_v2(&source("float64", &json!(7.5), &marked)).unwrap();
    assert_eq!(told, ("7.5".to_owned(), None, None), "v2 says it by the fill value");
    let told = in_v2(&source("float64", &json!("NaN"), &json!({}))).unwrap();
    assert_eq!(told, ("NaN".to_owned(), None, None));
    let other = json!({"_FillValue": base64(-999.0)});
    let error = in_v2(&source("float64", &json!(0.0), &other)).unwrap_err().to_string();
    assert!(error.contains("-999.0 is missing, beside the fill value 0.0"), "{error}");
    let other = in_v2(&source("int16", &json!(0), &json!({"_FillValue": 7}))).unwrap_err();
    assert!(other.to_string().contains("a copy writes all chunks"), "{other}");
}

#[test]
fn text_and_times_are_never_missing_in_v3() {
    let marked = |fill: &str| json!({"_ARRAY_DIMENSIONS": ["x"], "_FillValue": fill});
    for (dtype, fill, attributes, says) in [
        ("<U3", json!(""), x(), Some("elements that are \"\" for missing")),
        ("|S3", json!("YQ=="), x(), Some("elements that are \"YQAA\" for missing")),
        ("<U3", Value::Null, marked("none"), Some("elements that are \"none\" for missing")),
        ("<M8[s]", json!(0), x(), Some("elements that are 0 for missing")),
        ("<M8[s]", json!("NaT"), x(), None),
        ("<m8[ns]", json!("NaT"), marked("NaT"), Some("elements that are \"NaT\"")),
        ("<U3", Value::Null, x(), None),
    ] {
        let (attribute, said) = converted(&v2(dtype, &fill, &attributes));
        assert_eq!(attribute, None, "{dtype}: xarray would not open it");
        assert_eq!(said.is_some(), says.is_some(), "{dtype} {fill}: {said:?}");
        let said = said.unwrap_or_default();
        assert!(said.contains(says.unwrap_or_default()), "{dtype} {fill}: {said}");
    }
}

/// Metadata of a v3 array of any type, in v2 as xarray sees it there: its fill value, what is said.
fn in_v2(data_type: &Value, fill_value: &Value, shape: &[u64]) -> (ArrayMetadata, Option<String>) {
    let codecs = match data_type.as_str() {
        Some("string") => json!([{"name": "vlen-utf8"}]),
        Some("bytes") => json!([{"name": "vlen-bytes"}]),
        _ => json!([{"name": "bytes", "configuration": {"endian": "little"}}]),
    };
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value, "codecs": codecs,
    });
    if !shape.is_empty() {
        document["dimension_names"] = json!(["x"]);
    }
    let source = parse_v3(&write_pretty(&document)).unwrap();
    let options = TargetOptions {
        version: ZarrVersion::V2,
        chunk_shape: shape.to_vec(),
        shard_shape: None,
        codec: None,
    };
    let (mut target, _) = target_metadata(&source, &options).unwrap();
    let said = carry_missing_value(&source, &mut target);
    (target, said)
}

#[test]
fn nothing_of_v3_becomes_missing_in_v2() {
    let sized =
        |name: &str, bytes: u64| json!({"name": name, "configuration": {"length_bytes": bytes}});
    let time =
        |name: &str| json!({"name": name, "configuration": {"unit": "s", "scale_factor": 1}});
    for (data_type, fill) in [
        (sized("fixed_length_utf32", 12), json!("")),
        (sized("null_terminated_bytes", 3), json!("")),
        (json!("string"), json!("")),
        (json!("bytes"), json!("")),
        (time("numpy.datetime64"), json!("NaT")),
        (time("numpy.timedelta64"), json!(0)),
        (json!("complex64"), json!([0.0, 0.0])),
        (json!("bool"), json!(false)),
        (json!("uint8"), json!(0)),
        (json!("float32"), json!(0.0)),
    ] {
        for shape in [&[4][..], &[]] {
            let (target, _) = in_v2(&data_type, &fill, shape);
            assert_eq!(target.fill_value_text(), "null", "{data_type} {shape:?}");
            let names = target.spec.dimension_names.as_ref().map(Vec::len);
            assert_eq!(names, Some(shape.len()), "{data_type}: xarray opens it");
        }
    }
    let (_, said) = in_v2(&sized("fixed_length_utf32", 12), &json!(""), &[4]);
    assert!(said.unwrap().contains("it becomes null, not \"\", and all chunks are written"));
}

/// `source` as elements of another type, of which a value is that of the number it is.
fn recast(source: &ArrayMetadata, to: DataType) -> (ArrayMetadata, Option<String>) {
    let from = source.spec.data_type;
    let (mut cast, _) = source.with_elements(to, rechunk_grid::Endian::Little, None);
    let said = recast_missing_value(source, &mut cast, |value| {
        let number: Value = write_fill_value(value, from);
        let number = number.as_f64().filter(|n| to.is_ieee_float() || n.fract() == 0.0);
        plain(&serde_json::from_str(&number?.to_string()).ok()?, to)
    });
    (cast, said)
}

#[test]
fn a_cast_array_says_it_as_its_type_does() {
    let of = |source: &ArrayMetadata, to: DataType| {
        let (cast, said) = recast(source, to);
        (cast.attributes.get(FILL_VALUE).cloned(), said.is_some())
    };
    let with = |said: Value| json!({"_FillValue": said});
    let float = |said: Value| v3("float64", &json!(0.0), &with(said));
    let integer = |said: Value| v3("int16", &json!(0), &with(said));
    let none = (None, true);
    assert_eq!(of(&integer(json!(-1)), DataType::Float32), (Some(base64(-1.0)), false));
    assert_eq!(of(&integer(json!(-1)), DataType::Uint8), none);
    assert_eq!(of(&integer(json!(-1)), DataType::Int64), (Some(json!(-1)), false));
    assert_eq!(of(&float(base64(9.0)), DataType::Int16), (Some(json!(9)), false));
    assert_eq!(of(&float(base64(9.0)), DataType::Float32), (Some(base64(9.0)), false));
    assert_eq!(of(&float(base64(9.5)), DataType::Int16), none);
    assert_eq!(of(&float(json!(9.5)), DataType::Float32), (Some(base64(9.5)), false), "meant");
    assert_eq!(of(&float(json!([])), DataType::Float32), none);
    let of_v2 = |dtype: &str, said: Value, to| of(&v2(dtype, &Value::Null, &with(said)), to);
    assert_eq!(of_v2("<i2", json!(-1), DataType::Float32), (Some(json!(-1.0)), false));
    assert_eq!(of_v2("<f4", json!(9.0), DataType::Int16), (Some(json!(9)), false));
    assert_eq!(of(&v3("int16", &json!(0), &json!({})), DataType::Float32), (None, false));
    let nan = of_bare_token("NaN");
    let in_v2 = v2("<f4", &Value::Null, &with(nan.clone().unwrap()));
    let mut cast = in_v2.clone();
    cast.spec.data_type = DataType::Float64;
    recast_missing_value(&in_v2, &mut cast, |_| decoded(&base64(f64::NAN), DataType::Float64));
    assert_eq!(cast.attributes.get(FILL_VALUE).cloned(), nan, "not a text");
}

#[test]
fn the_attribute_is_respelt_where_nothing_else_carries_it() {
    let source = v3("float64", &json!(0.0), &json!({"_FillValue": base64(-9.0)}));
    let mut target = ArrayMetadata { version: ZarrVersion::V2, ..source.clone() };
    respell_missing_value(&source, &mut target);
    assert_eq!(target.attributes.get(FILL_VALUE), Some(&json!(-9.0)));
    let back = target.clone();
    target.version = ZarrVersion::V3;
    respell_missing_value(&back, &mut target);
    assert_eq!(target.attributes, source.attributes);
}
