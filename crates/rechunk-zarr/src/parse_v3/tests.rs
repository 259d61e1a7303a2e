use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::codec_spec::Shuffle;

fn document() -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": [10, 20, 30], "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3, 7, 40]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": -1,
        "codecs": [
            {"name": "transpose", "configuration": {"order": [2, 0, 1]}},
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "bitshuffle",
                "typesize": 2, "blocksize": 0}},
            {"name": "crc32c"},
        ],
        "attributes": {"units": "K"}, "dimension_names": ["t", null, "x"],
        "storage_transformers": [],
    })
}

fn with(name: &str, value: Value) -> Result<ArrayMetadata, FormatError> {
    let mut document = document();
    document[name] = value;
    parse_v3(document.to_string().as_bytes())
}

#[test]
fn an_ordinary_array() {
    let metadata = parse_v3(document().to_string().as_bytes()).unwrap();
    assert_eq!(metadata.order, ElementOrder { axes: vec![2, 0, 1], endian: Endian::Big });
    assert_eq!(metadata.spec.chunk_shape, [3, 7, 40]);
    assert_eq!(metadata.spec.fill_value.unwrap().bytes, [0xff, 0xff]);
    assert_eq!(metadata.codecs.len(), 2);
    assert_eq!(metadata.codecs[1], CodecSpec::CRC32C);
    assert_eq!(metadata.key_encoding.chunk_key(&[0, 1, 2]), "c.0.1.2");
    let names = metadata.spec.dimension_names.unwrap();
    assert_eq!(names, [Some("t".to_owned()), None, Some("x".to_owned())]);
}

#[test]
fn transposes_compose() {
    let codecs = json!([
        {"name": "transpose", "configuration": {"order": [2, 0, 1]}},
        {"name": "transpose", "configuration": {"order": [1, 0, 2]}},
        {"name": "bytes", "configuration": {"endian": "little"}},
    ]);
    // After the first the axes are z, x, y; the second swaps the outer two.
    assert_eq!(with("codecs", codecs).unwrap().order.axes, [0, 2, 1]);
}

#[test]
fn shards_behind_filters_are_refused() {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let shards = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [3, 7, 10], "codecs": [bytes], "index_codecs": [bytes]
    }});
    let transpose = json!({"name": "transpose", "configuration": {"order": [0, 1, 2]}});
    with("codecs", json!([transpose, shards])).unwrap();
    let wider = json!({"encode_dtype": "<i4", "decode_dtype": "<i2"});
    let scaled = json!({"offset": 1, "scale": 2, "dtype": "<i2"});
    for (name, settings) in [("astype", wider), ("fixedscaleoffset", scaled)] {
        let filter = json!({"name": format!("numcodecs.{name}"), "configuration": settings});
        with("codecs", json!([filter, bytes])).unwrap();
        let error = with("codecs", json!([filter, shards])).unwrap_err();
        assert!(error.to_string().contains("behind a filter"), "{error}");
    }
}

/// zarr-python goes by the name of a filter's type, where others go by the codec "bytes".
#[test]
fn filters_and_bytes_agree_on_the_order() {
    let read = |dtype: &str, endian: &str| {
        let filter = json!({"name": "numcodecs.delta", "configuration": {"dtype": dtype}});
        let bytes = json!({"name": "bytes", "configuration": {"endian": endian}});
        with("codecs", json!([filter, bytes]))
    };
    for (dtype, endian) in [("<i2", "little"), (">i2", "big"), ("int16", "big"), ("i2", "little")] {
        let metadata = read(dtype, endian).unwrap();
        let order = if endian == "big" { Endian::Big } else { Endian::Little };
        assert_eq!(metadata.order.endian, order);
        let CodecSpec::Delta(types) = metadata.codecs[0] else { panic!("{metadata:?}") };
        assert_eq!((types.decoded.endian, types.encoded.endian), (order, order));
    }
    for (dtype, endian) in [("<i2", "big"), (">i2", "little")] {
        let error = read(dtype, endian).unwrap_err().to_string();
        assert!(error.contains("another byte order in the codec \"bytes\""), "{error}");
    }
}

#[test]
fn automatic_shuffle_of_numcodecs_is_that_of_bytes() {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let blosc =
        json!({"name": "numcodecs.blosc", "configuration": {"cname": "zstd", "shuffle": -1}});
    let metadata = with("codecs", json!([bytes, blosc])).unwrap();
    let CodecSpec::Blosc { shuffle, typesize, .. } = metadata.codecs[0] else { panic!() };
    assert_eq!((shuffle, typesize), (Shuffle::Bit, 1));
    assert_eq!(crate::documents::tests::reread(&metadata), metadata);
}

#[test]
fn bare_tokens_are_no_names() {
    for name in ["NaN", "1e999", "-Infinity", "18446744073709551616"] {
        for field in ["dimension_names", "data_type", "node_type", "chunk_key_encoding"] {
            let mut document = document();
            let names = json!(["a", "@", "b"]);
            document[field] = if field == "dimension_names" { names } else { json!("@") };
            let text = document.to_string().replace("\"@\"", name);
            let error = parse_v3(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(field) && error.contains(name), "{error}");
            assert!(!error.contains("token"), "{error}");
        }
    }
}

#[test]
fn short_spellings() {
    let metadata = with("chunk_key_encoding", json!({"name": "v2"})).unwrap();
    assert_eq!(metadata.key_encoding.chunk_key(&[0, 1, 2]), "0.1.2");
    assert_eq!(with("chunk_key_encoding", json!("default")).unwrap().key_encoding.separator, '/');
    assert_eq!(with("dimension_names", Value::Null).unwrap().spec.dimension_names, None);
    let mut document = document();
    document["data_type"] = json!("uint8");
    document["fill_value"] = json!(0);
    document["codecs"] = json!(["bytes"]);
    assert_eq!(parse_v3(document.to_string().as_bytes()).unwrap().order.endian, Endian::Little);
}

#[test]
fn unknown_fields_must_say_that_they_may_be_ignored() {
    assert!(with("extra", json!({"must_understand": false, "a": 1})).is_ok());
    let error = with("extra", json!({"a": 1})).unwrap_err().to_string();
    assert!(error.starts_with(r#"zarr.json: "extra": this field is not supported; "#), "{error}");
}

#[test]
fn errors_name_document_and_field() {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let transpose = |order: Value| json!([{"name": "transpose", "configuration": {"order": order}}, bytes.clone()]);
    let blosc = |configuration: Value| json!([bytes.clone(), {"name": "blosc", "configuration": configuration}]);
    for (name, value, message) in [
        ("node_type", json!("group"), "this is a group, not an array"),
        ("node_type", json!("file"), r#"zarr.json: "node_type": expected "array" or "group""#),
        ("data_type", json!("complex7"), r#""data_type": data type "complex7" is not supported"#),
        ("data_type", json!("r12"), r#"data type "r12" is not supported"#),
        ("data_type", json!({"name": "struct"}), r#""data_type.configuration.fields": is missing"#),
        ("chunk_grid", json!({"name": "rectangular"}), r#"chunk grid "rectangular" is not"#),
        ("chunk_key_encoding", json!({"name": "x"}), r#"chunk key encoding "x" is not supported"#),
        ("codecs", json!([]), r#"zarr.json: "codecs": there is no codec "bytes""#),
        ("codecs", json!(["bytes"]), r#""codecs[0].configuration.endian": is missing"#),
        ("codecs", json!([{"name": "gzip"}]), r#"codec "gzip" without "bytes" before it"#),
        (
            "codecs",
            json!([{"name": "sharding_indexed", "configuration": {}}]),
            r#"zarr.json: "codecs.configuration.chunk_shape": is missing"#,
        ),
        (
            "codecs",
            json!([bytes.clone(), {"name": "numcodecs.zfpy", "configuration": {"level": 1}}]),
            // After `bytes` there are no numbers.
            if rechunk_codec::zfp::IS_BUILT_IN {
                r#"zarr.json: "codecs[1]": codec "zfpy" on |u1 is not supported"#
            } else {
                r#"zarr.json: "codecs[1]": codec "zfpy" is not supported; this program was built"#
            },
        ),
        (
            "codecs",
            json!([bytes.clone(), {"name": "numcodecs.shuffle", "configuration": {"elementsize": 11}}]),
            "on what is not a whole number of its elements",
        ),
        ("codecs", json!([bytes.clone(), bytes.clone()]), "must come before it is bytes"),
        ("codecs", transpose(json!([0, 1])), "[0,1] does not order 3 axes"),
        ("codecs", transpose(json!([0, 1, 1])), "does not order 3 axes"),
        ("codecs", transpose(json!([0, 1, 3])), "does not order 3 axes"),
        ("codecs", blosc(json!({"cname": "lz4", "clevel": 1})), "shuffle\": is missing"),
        (
            "codecs",
            blosc(json!({"cname": "lz4", "clevel": 1, "shuffle": "shuffle"})),
            r#""codecs[1].typesize": is missing"#,
        ),
        ("dimension_names", json!(["a"]), "1 names for 3 axes"),
        ("storage_transformers", json!([{"name": "x"}]), r#"storage transformer "x" is not"#),
        ("attributes", json!([]), r#"zarr.json: "attributes": expected an object, found []"#),
    ] {
        let error = with(name, value).unwrap_err().to_string();
        assert!(error.contains(message), "{error}\nshould contain\n{message}");
    }
}

#[test]
fn a_fill_value_may_be_null_but_not_left_out() {
    assert_eq!(with("fill_value", Value::Null).unwrap().spec.fill_value, None);
    let mut document = document();
    document.as_object_mut().unwrap().remove("fill_value");
    let error = parse_v3(document.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains(r#"zarr.json: "fill_value": is missing"#), "{error}");
}

/// As the table of v2 (`parse_v2/tests.rs`).
#[test]
fn what_writers_write() {
    let writers = [
        (
            "zarr-python 3",
            r#"{"shape": [10, 20], "data_type": "float64", "chunk_grid": {"name": "regular",
                "configuration": {"chunk_shape": [5, 4]}}, "chunk_key_encoding": {"name": "default",
                "configuration": {"separator": "/"}}, "fill_value": "NaN", "codecs": [{"name":
                "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration":
                {"level": 0, "checksum": false}}], "attributes": {"a": NaN}, "zarr_format": 3,
                "node_type": "array", "storage_transformers": []}"#,
            "float64 NaN c/1/2 1 codecs [a]",
        ),
        (
            "zarr-python 3.0: null for what is not there",
            r#"{"shape": [10, 20], "data_type": "uint8", "chunk_grid": {"name": "regular",
                "configuration": {"chunk_shape": [5, 4]}}, "chunk_key_encoding": {"name": "v2",
                "configuration": {"separator": "."}}, "fill_value": 0, "codecs": [{"name": "bytes"}],
                "attributes": {}, "dimension_names": null, "zarr_format": 3, "node_type": "array",
                "storage_transformers": []}"#,
            "uint8 0 1.2 0 codecs []",
        ),
        (
            "xarray through zarr-python 3",
            r#"{"shape": [10, 20], "data_type": "int16", "chunk_grid": {"name": "regular",
                "configuration": {"chunk_shape": [5, 4]}}, "chunk_key_encoding": {"name": "default",
                "configuration": {"separator": "/"}}, "fill_value": 0, "codecs": [{"name": "bytes",
                "configuration": {"endian": "little"}}], "attributes": {"units": "K",
                "_FillValue": -32767, "coordinates": "lat lon"}, "dimension_names": ["y", "x"],
                "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#,
            "int16 0 c/1/2 0 codecs [units _FillValue coordinates]",
        ),
        (
            "zarrita, with the codec name of a draft",
            r#"{"zarr_format": 3, "node_type": "array", "shape": [10, 20], "data_type": "uint16",
                "chunk_grid": {"configuration": {"chunk_shape": [5, 4]}, "name": "regular"},
                "chunk_key_encoding": {"configuration": {"separator": "."}, "name": "default"},
                "fill_value": 0, "codecs": [{"configuration": {"endian": "little"}, "name":
                "endian"}, {"configuration": {"typesize": 2, "cname": "zstd", "clevel": 5,
                "shuffle": "noshuffle", "blocksize": 0}, "name": "blosc"}], "attributes": {},
                "dimension_names": null}"#,
            "uint16 0 c.1.2 1 codecs []",
        ),
        (
            "zarrs: its attribute, names alone",
            r#"{"zarr_format": 3, "node_type": "array", "shape": [10, 20], "data_type": "float32",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 4]}},
                "chunk_key_encoding": "default", "fill_value": "Infinity", "codecs": [{"name":
                "bytes", "configuration": {"endian": "big"}}, "crc32c"], "attributes": {"_zarrs":
                {"description": "This array was created with zarrs", "version": "0.23.14"}}}"#,
            "float32 Infinity c/1/2 1 codecs [_zarrs]",
        ),
        (
            "tensorstore: no checksum named",
            r#"{"chunk_grid": {"configuration": {"chunk_shape": [5, 4]}, "name": "regular"},
                "chunk_key_encoding": {"name": "default"}, "codecs": [{"configuration": {"endian":
                "little"}, "name": "bytes"}, {"configuration": {"level": 1}, "name": "zstd"}],
                "data_type": "bool", "fill_value": false, "node_type": "array", "shape": [10, 20],
                "zarr_format": 3}"#,
            "bool false c/1/2 1 codecs []",
        ),
        (
            "GDAL",
            r#"{"zarr_format": 3, "node_type": "array", "shape": [10, 20], "data_type": "float32",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 4]}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                "fill_value": "NaN", "codecs": [{"name": "transpose", "configuration": {"order":
                [1, 0]}}, {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip",
                "configuration": {"level": 6}}], "dimension_names": ["Y", "X"], "attributes":
                {"_CRS": {"wkt": "PROJCRS[]"}}}"#,
            "float32 NaN c/1/2 1 codecs [_CRS]",
        ),
        (
            "zarr-java and n5-zarr",
            r#"{"zarr_format": 3, "node_type": "array", "shape": [10, 20], "data_type": "int64",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 4]}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian":
                "little"}}, {"name": "gzip", "configuration": {"level": 5}}, {"name": "crc32c",
                "configuration": {}}], "attributes": {}, "storage_transformers": [],
                "dimension_names": ["t", null]}"#,
            "int64 0 c/1/2 2 codecs []",
        ),
    ];
    for (writer, document, expected) in writers {
        let metadata =
            parse_v3(document.as_bytes()).unwrap_or_else(|error| panic!("{writer}: {error}"));
        let found = crate::parse_v2::tests::words(&metadata, &[1, 2]);
        assert_eq!(found, expected, "{writer}");
        assert_eq!(crate::documents::tests::reread(&metadata), metadata, "{writer}");
    }
}

#[test]
fn records_and_raw_bits_keep_their_spelling() {
    let endian = json!([{"name": "bytes", "configuration": {"endian": "big"}}]);
    let record = json!({"name": "struct", "configuration": {"fields": [
        {"name": "a", "data_type": "int16"},
        {"name": "p", "data_type": {"name": "struct", "configuration": {"fields": [
            {"name": "t", "data_type": {"name": "numpy.datetime64",
                "configuration": {"unit": "s", "scale_factor": 1}}}]}}},
    ]}});
    let mut document = document();
    document["data_type"] = record.clone();
    document["codecs"] = endian.clone();
    document["fill_value"] = json!({"a": 1, "p": {"t": "NaT"}});
    let metadata = parse_v3(document.to_string().as_bytes()).unwrap();
    assert_eq!(metadata.spec.data_type, DataType::Structured { bytes: 10 });
    // As it is stored: every field big-endian.
    let fill_value = metadata.spec.fill_value.clone().unwrap();
    assert_eq!(fill_value.bytes, [0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0]);
    let text = String::from_utf8(metadata.documents().remove(0).1).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    for name in ["data_type", "fill_value", "codecs"] {
        assert_eq!(written[name], document[name]);
    }
    assert_eq!(crate::documents::tests::reread(&metadata), metadata);

    for (data_type, fill_value) in [
        (json!("r24"), json!([1, 2, 3])),
        (json!({"name": "raw_bytes", "configuration": {"length_bytes": 3}}), json!("AQID")),
    ] {
        document["data_type"] = data_type.clone();
        document["fill_value"] = fill_value.clone();
        let metadata = parse_v3(document.to_string().as_bytes()).unwrap();
        assert_eq!(metadata.spec.fill_value.as_ref().unwrap().bytes, [1, 2, 3]);
        let written = metadata.documents().remove(0).1;
        let written: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!((&written["data_type"], &written["fill_value"]), (&data_type, &fill_value));
    }
}

#[test]
fn what_need_not_be_understood_is_carried() {
    let mut document = document();
    let note = json!({"must_understand": false, "by": [1, {"a": null}]});
    document["x-note"] = note.clone();
    document["dimension_names"] = Value::Null;
    document["attributes"] = json!({"_FillValue": "\0token:NaN", "nested": {"e": []}});
    let text = document.to_string().replace(r#""\u0000token:NaN""#, "NaN");
    let metadata = parse_v3(text.as_bytes()).unwrap();
    assert_eq!(metadata.spec.dimension_names, None);
    let written = String::from_utf8(metadata.documents().remove(0).1).unwrap();
    assert!(written.contains(r#""_FillValue": NaN"#), "{written}");
    let read: Value = serde_json::from_str(&written.replace("NaN", "0")).unwrap();
    assert_eq!(read["x-note"], note);
    assert_eq!(crate::documents::tests::reread(&metadata), metadata);
    for value in [json!({"must_understand": true}), json!({}), json!(1)] {
        document["x-note"] = value;
        let error = parse_v3(document.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains("x-note"), "{error}");
    }
}

#[test]
fn groups_are_told_apart() {
    let group = br#"{"zarr_format": 3, "node_type": "group", "consolidated_metadata": null}"#;
    assert_eq!(node_kind(group).unwrap(), NodeKind::Group);
    assert_eq!(node_kind(document().to_string().as_bytes()).unwrap(), NodeKind::Array);
    assert!(node_kind(b"{}").is_err());
}

/// A value to put in the place of another.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([u64::MAX, u64::MAX, u64::MAX])),
        Just(json!([1, 2, 3])),
        Just(json!([0, 0, 0])),
        Just(json!("int8")),
        Just(json!("NaN")),
        Just(json!([{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 1}}])),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
    ]
}

proptest! {
    #[test]
    fn mutated_documents(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = document().to_string().into_bytes();
        for (position, byte) in edits {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        if let Ok(metadata) = parse_v3(&bytes) {
            prop_assert_eq!(crate::documents::tests::reread(&metadata), metadata);
        }
        let _ = node_kind(&bytes);
    }

    #[test]
    fn replaced_fields(edits in prop::collection::vec((any::<prop::sample::Index>(), any_value()), 1..3)) {
        let mut document = document();
        let names: Vec<String> = document.as_object().unwrap().keys().cloned().collect();
        for (position, value) in edits {
            document[&names[position.index(names.len())]] = value;
        }
        if let Ok(metadata) = parse_v3(document.to_string().as_bytes()) {
            prop_assert_eq!(crate::documents::tests::reread(&metadata), metadata.clone());
            prop_assert!(crate::ZarrLayout::new(metadata).is_ok());
        }
    }
}
