use serde_json::{Value, json};

use super::*;
use crate::documents::tests::reread;
use crate::{BloscName, CodecSpec, Shuffle, parse_codec_choice, parse_v2, parse_v3};

fn v2(edits: &Value) -> ArrayMetadata {
    let mut document = json!({
        "zarr_format": 2, "shape": [10, 20, 30], "chunks": [5, 5, 5], "dtype": ">f4",
        "compressor": null, "fill_value": 1.5, "order": "F", "filters": null,
        "dimension_separator": "/",
    });
    document.as_object_mut().unwrap().extend(edits.as_object().unwrap().clone());
    let zattrs = br#"{"_ARRAY_DIMENSIONS": ["t", "y", "x"], "units": "K"}"#;
    parse_v2(document.to_string().as_bytes(), Some(zattrs)).unwrap()
}

fn v3(order: &[usize], codecs: &[Value], edits: &Value) -> ArrayMetadata {
    let mut all = vec![
        json!({"name": "transpose", "configuration": {"order": order}}),
        json!({"name": "bytes", "configuration": {"endian": "little"}}),
    ];
    all.extend_from_slice(codecs);
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [10, 20, 30], "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 5, 5]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": all,
    });
    document.as_object_mut().unwrap().extend(edits.as_object().unwrap().clone());
    parse_v3(document.to_string().as_bytes()).unwrap()
}

fn target(source: &ArrayMetadata, version: ZarrVersion) -> (ArrayMetadata, Vec<String>) {
    let options =
        TargetOptions { version, chunk_shape: vec![2, 20, 30], shard_shape: None, codec: None };
    let (target, warnings) = target_metadata(source, &options).unwrap();
    assert_eq!(reread(&target), target, "what is written is what was meant");
    assert_eq!(target.spec.chunk_shape, [2, 20, 30]);
    (target, warnings)
}

#[test]
fn v2_to_v3_keeps_everything_that_has_a_name() {
    let blosc = json!({"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": -1, "blocksize": 0});
    let source = v2(&json!({"compressor": blosc}));
    let (target, warnings) = target(&source, ZarrVersion::V3);
    assert_eq!(warnings, [""; 0]);
    assert_eq!(target.order, source.order);
    assert_eq!(target.spec.dimension_names, source.spec.dimension_names);
    assert_eq!(target.spec.fill_value, source.spec.fill_value);
    assert_eq!(target.attributes, source.attributes);
    assert_eq!(target.key_encoding.chunk_key(&[1, 0, 0]), "c/1/0/0");
    assert_eq!(
        target.codecs,
        [CodecSpec::Blosc {
            cname: BloscName::Zstd,
            clevel: 1,
            shuffle: Shuffle::Byte,
            typesize: 4,
            blocksize: 0,
        }]
    );
}

#[test]
fn v2_to_v3_says_what_it_changes() {
    let source = v2(&json!({"compressor": {"id": "zlib", "level": -1}, "fill_value": null}));
    let (target, warnings) = target(&source, ZarrVersion::V3);
    assert_eq!(target.codecs, [CodecSpec::Gzip { level: 6 }]);
    assert_eq!(target.fill_value_text(), "NaN");
    assert_eq!(warnings.len(), 2);
    assert!(warnings[0].contains("no zlib") && warnings[1].contains("null becomes NaN"));
}

#[test]
fn v2_to_v2_is_a_copy_but_for_the_chunks() {
    let blosc = json!({"id": "blosc", "cname": "lz4", "clevel": 0, "shuffle": -1, "blocksize": 9});
    let source = v2(&json!({"compressor": blosc, "fill_value": null}));
    let (mut target, warnings) = target(&source, ZarrVersion::V2);
    assert_eq!(warnings, [""; 0]);
    target.spec.chunk_shape = vec![5, 5, 5];
    assert_eq!(target, source);
}

#[test]
fn v3_to_v2() {
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": true}});
    let names = json!({"dimension_names": ["t", "y", "x"]});
    let source = v3(&[2, 1, 0], &[zstd, json!({"name": "crc32c"})], &names);
    let (target, warnings) = target(&source, ZarrVersion::V2);
    assert_eq!(target.codecs, [CodecSpec::Zstd { level: 1, checksum: true }]);
    assert_eq!(target.order.axes, [2, 1, 0]);
    assert_eq!(target.key_encoding.chunk_key(&[1, 0, 0]), "1.0.0");
    assert_eq!(target.spec.dimension_names, source.spec.dimension_names);
    assert_eq!(warnings, ["Zarr v2 has no crc32c: chunks are written without it"]);
}

#[test]
fn v3_to_v2_says_what_it_cannot_hold() {
    let edits = json!({"fill_value": "0x7fc00001", "dimension_names": ["t", null, "x"]});
    let source = v3(&[1, 0, 2], &[], &edits);
    let (target, warnings) = target(&source, ZarrVersion::V2);
    assert_eq!(target.order.axes, [0, 1, 2]);
    assert_eq!(target.spec.fill_value.unwrap().bytes, 0x7fc0_0000_u32.to_le_bytes());
    assert_eq!(target.spec.dimension_names, None);
    assert_eq!(warnings.len(), 3);
}

#[test]
fn v3_to_v3_keeps_key_encoding_and_chain() {
    let codecs =
        [json!({"name": "gzip", "configuration": {"level": 1}}), json!({"name": "crc32c"})];
    let edits = json!({"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}});
    let source = v3(&[1, 0, 2], &codecs, &edits);
    let (target, warnings) = target(&source, ZarrVersion::V3);
    assert_eq!(warnings, [""; 0]);
    assert_eq!(target.codecs, source.codecs);
    assert_eq!(target.order, source.order);
    assert_eq!(target.key_encoding.chunk_key(&[1, 0, 0]), "1/0/0");
}

#[test]
fn a_choice_is_bound_to_type_and_version() {
    let choose = |source: &ArrayMetadata, version, text: &str| {
        let codec = Some(parse_codec_choice(text).unwrap());
        let options =
            TargetOptions { version, chunk_shape: vec![5, 5, 5], shard_shape: None, codec };
        target_metadata(source, &options).map(|(target, _)| target.codecs)
    };
    let source = v2(&json!({}));
    let blosc = |shuffle| {
        let cname = BloscName::Lz4;
        vec![CodecSpec::Blosc { cname, clevel: 5, shuffle, typesize: 4, blocksize: 0 }]
    };
    let v3 = ZarrVersion::V3;
    assert_eq!(choose(&source, v3, "blosc:lz4:5:auto").unwrap(), blosc(Shuffle::Byte));
    assert_eq!(choose(&source, ZarrVersion::V2, "blosc:lz4:5:auto").unwrap(), blosc(Shuffle::Auto));
    let chain = r#"["crc32c", {"name": "gzip", "configuration": {"level": 1}}]"#;
    for version in [ZarrVersion::V2, v3] {
        assert_eq!(choose(&source, version, "zlib:5").unwrap(), [CodecSpec::Zlib { level: 5 }]);
        assert_eq!(choose(&source, version, "crc32c").unwrap(), [CodecSpec::CRC32C]);
        assert_eq!(choose(&source, version, chain).unwrap().len(), 2);
    }
    let late = r#"[{"id": "zlib"}, {"id": "delta", "dtype": ">f4"}]"#;
    let error = choose(&source, v3, late).unwrap_err().to_string();
    assert!(error.contains("codec \"delta\" must come before it is bytes"), "{error}");
    // Filters in v3 are given little-endian elements, whatever the source has.
    for dtype in ["<f4", ">f4"] {
        let delta = format!(r#"{{"id": "delta", "dtype": "{dtype}"}}"#);
        let element = ElementType::new(DataType::Float32, Endian::Little);
        let types = crate::TypePair { decoded: element, encoded: element };
        assert_eq!(choose(&source, v3, &delta).unwrap(), [CodecSpec::Delta(types)]);
    }
}

#[test]
fn the_order_of_axes_is_that_of_the_choice() {
    let text = r#"[{"name": "transpose", "configuration": {"order": [1, 2, 0]}}, "crc32c"]"#;
    let of = |version| {
        let codec = Some(parse_codec_choice(text).unwrap());
        let options =
            TargetOptions { version, chunk_shape: vec![5, 5, 5], shard_shape: None, codec };
        target_metadata(&v2(&json!({})), &options).unwrap()
    };
    let (target, _) = of(ZarrVersion::V3);
    assert_eq!(target.order.axes, [1, 2, 0]);
    assert_eq!(reread(&target), target);
    let (target, warnings) = of(ZarrVersion::V2);
    assert_eq!(target.order.axes, [0, 1, 2]);
    assert!(warnings[0].contains("only C and F order"), "{warnings:?}");
}

/// numcodecs has no answer for the rest.
#[test]
fn a_shuffle_that_does_not_divide_the_chunk_is_left_out() {
    let source = v2(&json!({
        "shape": [10], "chunks": [6], "dtype": "|u1", "order": "C", "fill_value": 0,
        "filters": [{"id": "shuffle", "elementsize": 3}], "compressor": {"id": "zlib", "level": 1},
    }));
    for (chunk, kept, said) in [(9, 2, 0), (4, 1, 1)] {
        let version = ZarrVersion::V2;
        let options =
            TargetOptions { version, chunk_shape: vec![chunk], shard_shape: None, codec: None };
        let (target, warnings) = target_metadata(&source, &options).unwrap();
        assert_eq!((target.codecs.len(), warnings.len()), (kept, said), "{warnings:?}");
    }
    // What is left out needs no name in v3.
    let version = ZarrVersion::V3;
    let options = TargetOptions { version, chunk_shape: vec![4], shard_shape: None, codec: None };
    let (_, warnings) = target_metadata(&source, &options).unwrap();
    assert!(!warnings.iter().any(|said| said.contains("numcodecs.shuffle")), "{warnings:?}");
}

#[test]
fn impossible_chunks_are_refused() {
    let source = v2(&json!({}));
    for chunk_shape in [vec![5, 5], vec![0, 5, 5], vec![1 << 20, 1 << 20, 1]] {
        let options =
            TargetOptions { version: ZarrVersion::V3, chunk_shape, shard_shape: None, codec: None };
        let error = target_metadata(&source, &options).unwrap_err().to_string();
        assert!(error.starts_with(r#"zarr.json: "chunk_grid"#), "{error}");
    }
}

fn type_of(target: &ArrayMetadata) -> Value {
    let document = target.documents().pop().unwrap().1;
    let document: Value = serde_json::from_slice(&document).unwrap();
    document.get("dtype").or(document.get("data_type")).unwrap().clone()
}

#[test]
fn types_in_both_versions() {
    let sized =
        |name: &str, bytes: u64| json!({"name": name, "configuration": {"length_bytes": bytes}});
    let time = |name: &str, unit: &str, scale: u64| json!({"name": name, "configuration": {"unit": unit, "scale_factor": scale}});
    let structured = json!({"name": "structured", "configuration": {"fields":
        [["a", "int32"], ["b", sized("null_terminated_bytes", 3)]]}});
    for (dtype, data_type, fill_value) in [
        (json!(">c8"), json!("complex64"), json!(["NaN", -1.5])),
        (json!(">M8[10us]"), time("numpy.datetime64", "us", 10), json!(i64::MIN)),
        (json!("<m8"), time("numpy.timedelta64", "generic", 1), json!(7)),
        (json!("|S5"), sized("null_terminated_bytes", 5), json!("YWIAAAA=")),
        (json!(">U5"), sized("fixed_length_utf32", 20), json!("aé")),
        (json!("|V3"), sized("raw_bytes", 3), json!("AQID")),
        (json!([["a", "<i4"], ["b", "|S3"]]), structured, json!("AQAAAGFiAA==")),
        (json!("int4"), json!("int4"), json!(-8)),
    ] {
        let source = v2(&json!({"dtype": dtype, "fill_value": fill_value}));
        let (there, _) = target(&source, ZarrVersion::V3);
        assert_eq!(type_of(&there), data_type);
        assert_eq!(there.spec.fill_value, source.spec.fill_value);
        assert_eq!(there.order, source.order, "byte order and axes are kept");
        let (back, _) = target(&there, ZarrVersion::V2);
        assert_eq!(type_of(&back), dtype);
        assert_eq!(back.spec.fill_value, source.spec.fill_value);
        assert_eq!(back.data_type_name(), source.data_type_name());
    }
}

#[test]
fn types_that_only_one_version_has() {
    let options = |version| TargetOptions {
        version,
        chunk_shape: vec![5, 5, 5],
        shard_shape: None,
        codec: None,
    };
    let source = v3(&[0, 1, 2], &[], &json!({"data_type": "uint4"}));
    let error = target_metadata(&source, &options(ZarrVersion::V2)).unwrap_err().to_string();
    assert!(error.contains(r#"data type "uint4" in Zarr v2 is not supported"#), "{error}");
    for dtype in [json!([["a", ">i4"]]), json!([["a", "<i4", [2]]])] {
        let source = v2(&json!({"dtype": dtype, "fill_value": null}));
        let error = target_metadata(&source, &options(ZarrVersion::V3)).unwrap_err().to_string();
        assert!(error.contains(r#""a""#) && error.contains("keep the format"), "{error}");
        let (kept, _) = target(&source, ZarrVersion::V2);
        assert_eq!(type_of(&kept), dtype);
    }
    let source = v3(&[0, 1, 2], &[], &json!({"data_type": "bfloat16"}));
    let (named, warnings) = target(&source, ZarrVersion::V2);
    assert_eq!(type_of(&named), json!("bfloat16"));
    assert!(warnings[0].contains("as tensorstore does"), "{warnings:?}");
}

#[test]
fn what_need_not_be_understood_goes_where_there_is_a_place() {
    let source = v3(&[0, 1, 2], &[], &json!({"x": {"must_understand": false, "a": 1}}));
    let (kept, warnings) = target(&source, ZarrVersion::V3);
    assert_eq!((kept.verbatim.fields.len(), warnings.len()), (1, 0));
    let (dropped, warnings) = target(&source, ZarrVersion::V2);
    assert_eq!(dropped.verbatim.fields.len(), 0);
    assert_eq!(warnings, [r#"Zarr v2 has no place for "x": dropped"#]);
}

/// Writers that came from v2 leave the names among the attributes too.
#[test]
fn names_among_the_attributes_of_v3_are_the_names_in_v2() {
    let of = |names: Value, attribute: Value| {
        let edits = json!({"attributes": {"_ARRAY_DIMENSIONS": attribute, "units": "K"},
            "dimension_names": names});
        let (target, warnings) = target(&v3(&[0, 1, 2], &[], &edits), ZarrVersion::V2);
        let names = target.spec.dimension_names.clone();
        let names: Option<String> =
            names.map(|names| names.into_iter().flatten().collect::<Vec<_>>().join(","));
        (names, target.attributes.len(), warnings.join("; "))
    };
    let (t, u) = (json!(["t", "y", "x"]), json!(["u", "y", "x"]));
    assert_eq!(of(t.clone(), t.clone()), (Some("t,y,x".to_owned()), 1, String::new()));
    assert_eq!(of(Value::Null, t.clone()), (Some("t,y,x".to_owned()), 1, String::new()));
    for other in [u, json!(7)] {
        let (names, attributes, warnings) = of(t.clone(), other);
        assert_eq!((names.as_deref(), attributes), (Some("t,y,x"), 1));
        assert!(warnings.contains("otherwise than `dimension_names`"), "{warnings}");
    }
    assert_eq!(of(Value::Null, json!(7)).1, 2);
}
