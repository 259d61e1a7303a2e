use rechunk_codec::{BloscName, Shuffle};
use rechunk_grid::{ArraySpec, DataType, FillValue};
use serde_json::json;

use super::*;
use crate::{AxisOrder, N5Layout, N5Target};

fn dataset(text: &str) -> N5Metadata {
    parse_dataset(text.as_bytes()).unwrap().unwrap()
}

fn refuse(text: &str) -> String {
    match parse_dataset(text.as_bytes()) {
        Err(error) => error.to_string(),
        Ok(found) => panic!("{text}: {found:?}"),
    }
}

/// A document of two dimensions with this in place of its `compression`.
fn with(compression: &str) -> String {
    format!(r#"{{"dimensions": [9, 5], "blockSize": [4, 5], "dataType": "int16", {compression}}}"#)
}

#[test]
fn compressions_as_writers_spell_them() {
    let blosc = |cname, clevel, shuffle, typesize| Compression::Blosc {
        cname,
        clevel,
        shuffle,
        blocksize: 0,
        typesize,
    };
    for (text, expected) in [
        (r#"{"type": "raw"}"#, Compression::Raw),
        // Java, z5py.
        (
            r#"{"type": "gzip", "useZlib": false, "level": -1}"#,
            Compression::Gzip { level: -1, use_zlib: false },
        ),
        (r#"{"type": "gzip", "level": 5}"#, Compression::Gzip { level: 5, use_zlib: false }),
        (r#"{"type": "gzip", "useZlib": true}"#, Compression::Gzip { level: -1, use_zlib: true }),
        (r#"{"type": "bzip2", "blockSize": 1}"#, Compression::Bzip2 { block_size: 1 }),
        (r#"{"type": "bzip2"}"#, Compression::Bzip2 { block_size: 9 }),
        (r#"{"type": "xz", "preset": 4}"#, Compression::Xz { preset: 4 }),
        // zarr-python.
        (
            r#"{"type": "xz", "format": 1, "check": -1, "preset": null, "filters": null}"#,
            Compression::Xz { preset: 6 },
        ),
        (r#"{"type": "lzma", "format": 1, "preset": 2147483649}"#, Compression::Xz { preset: 1 }),
        // z5, whose block size is a level.
        (r#"{"type": "lz4", "blockSize": 6}"#, Compression::Lz4 { block_bytes: 1 << 16 }),
        (r#"{"type": "lz4", "blockSize": 1024}"#, Compression::Lz4 { block_bytes: 1024 }),
        (
            r#"{"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}"#,
            blosc(BloscName::Lz4, 5, Shuffle::Byte, None),
        ),
        (
            r#"{"type": "blosc", "cname": "zstd", "clevel": 9, "shuffle": 2, "typesize": 2,
                "nthreads": 1}"#,
            blosc(BloscName::Zstd, 9, Shuffle::Bit, Some(2)),
        ),
        (r#"{"type": "zstd", "level": 100}"#, Compression::Zstd { level: 22 }),
    ] {
        let metadata = dataset(&with(&format!("\"compression\": {text}")));
        assert_eq!(metadata.compression, expected, "{text}");
        let again = parse_dataset(&metadata.document()).unwrap().unwrap();
        assert_eq!(again, metadata, "{text}");
    }
}

#[test]
fn version_1_names_its_compression_only() {
    let old = |name| dataset(&with(&format!("\"compressionType\": {name:?}"))).compression;
    assert_eq!(old("gzip"), Compression::Gzip { level: -1, use_zlib: false });
    assert_eq!(old("raw"), Compression::Raw);
    let both = r#""compressionType": "gzip", "compression": {"type": "gzip", "level": 1}"#;
    assert_eq!(dataset(&with(both)).compression, Compression::Gzip { level: 1, use_zlib: false });
    let error = refuse(&with(r#""compressionType": "gzip", "compression": {"type": "raw"}"#));
    assert!(error.contains(r#"says "gzip", but "compression" says "raw""#), "{error}");
    assert!(refuse(&with(r#""compressionType": "lz5""#)).contains("lz5"));
}

#[test]
fn a_document_as_java_takes_it() {
    let metadata = dataset(
        "{ // written by hand\n 'dimensions': [9, 5]; blockSize = [4, 5],\n dataType: int16,
          /* none */ compression: {type: raw}, 'offset': [NaN, -Infinity, 'x'],
          resolution: {unit: nm}, # the end\n}"
            .replace("nm}, #", "nm} #")
            .as_str(),
    );
    assert_eq!(metadata.dimensions, [9, 5]);
    assert_eq!(metadata.attributes.keys().collect::<Vec<_>>(), ["offset", "resolution"]);
    let document = String::from_utf8(metadata.document()).unwrap();
    assert!(document.contains("\"offset\": [NaN, -Infinity, \"x\"]"), "{document}");
    assert_eq!(metadata.plain_attributes()["offset"][0], json!("NaN"));
}

#[test]
fn groups_and_versions() {
    assert_eq!(parse_dataset(b"{}").unwrap(), None);
    assert_eq!(parse_dataset(br#"{"n5": "4.0.0"}"#).unwrap(), None);
    let group = parse_group(br#"{"n5": "2.5.1", "a": NaN}"#).unwrap();
    assert_eq!(group.version.map(|version| version.to_string()).as_deref(), Some("2.5.1"));
    assert_eq!(group.plain_attributes(), json!({"a": "NaN"}));
    let written = group_document(&group.attributes, Some(N5Version::DEFAULT));
    assert_eq!(parse_group(&written).unwrap(), group);
    assert_eq!(parse_group(br#"{"n5": "?"}"#).unwrap().version, Some(N5Version::default()));
    assert!(parse_group(br#"{"n5": "5.0.0"}"#).unwrap_err().to_string().contains("5.0.0"));
    assert!(refuse(r#"{"n5": "6", "dimensions": [1]}"#).contains("N5 version 6.0.0"));
    let root = dataset(&with(r#""compression": {"type": "raw"}, "n5": "3.1.2""#));
    assert!(root.version.is_some() && root.attributes.is_empty());
    assert_eq!(parse_dataset(&root.document()).unwrap().unwrap(), root);
}

/// `BigDataViewer`, and others, have such attributes at groups.
#[test]
fn only_dimensions_with_a_data_type_make_a_dataset() {
    for attributes in [
        json!({"dataType": "uint8", "downsamplingFactors": [[1, 1, 1], [2, 2, 2]]}),
        json!({"dimensions": [3, 4, 5]}),
        json!({"dimensions": null, "dataType": "uint8"}),
        json!({"blockSize": [1, 2], "compression": {"type": "raw"}, "dimensions": [1, 2]}),
        json!({"compression": "none of the data", "blockSize": "small", "dataType": 5}),
        json!({"compressionType": "gzip"}),
    ] {
        let document = attributes.to_string();
        assert_eq!(parse_dataset(document.as_bytes()).unwrap(), None, "{attributes}");
        let group = parse_group(document.as_bytes()).unwrap();
        assert!(reserved_names(&group.attributes).is_empty());
        let written = group_document(&group.attributes, None);
        assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), attributes);
    }
    let both = json!({"dimensions": "x y", "dataType": "images", "n5": "of 5", "a": 1});
    let both = both.as_object().unwrap();
    assert_eq!(reserved_names(both), ["n5", "dimensions", "dataType"]);
    let written: Value = serde_json::from_slice(&group_document(both, None)).unwrap();
    assert_eq!(written, json!({"a": 1}));
}

#[test]
fn what_is_refused() {
    let of = |dimensions: &str, block: &str, data_type: &str| {
        refuse(&format!(
            r#"{{"dimensions": {dimensions}, "blockSize": {block}, "dataType": "{data_type}",
                "compression": {{"type": "raw"}}}}"#
        ))
    };
    for (error, reason) in [
        (of("[-1]", "[1]", "int8"), "\"dimensions\""),
        (of("[1.5]", "[1]", "int8"), "non-negative integers"),
        (of("[]", "[]", "int8"), "without dimensions"),
        (of("[9223372036854775808]", "[1]", "int8"), "is not from 0"),
        (of("[1, 2]", "[1]", "int8"), "\"blockSize\""),
        (of("[1]", "[0]", "int8"), "0 is not from 1"),
        (of("[1]", "[2147483648]", "int8"), "is not from 1"),
        (of("[9, 9]", "[65536, 65536]", "int8"), "a block of 4294967296 bytes"),
        (of("[9]", "[268435456]", "float64"), "less than 2 GiB"),
        (of("[4294967296, 4294967296]", "[1, 1]", "int8"), "\"dimensions\""),
        (of(&format!("{:?}", [1; 40]), &format!("{:?}", [1; 40]), "int8"), "attributes.json"),
        (of("[1]", "[1]", "float16"), "data type \"float16\" is not supported"),
        (refuse(&with(r#""compression": {"type": "snappy"}"#)), "\"snappy\" is not supported"),
        (refuse(&with(r#""compression": {}"#)), "\"compression.type\": is missing"),
        (refuse(&with(r#""compression": "gzip""#)), "expected an object"),
        (refuse(&with(r#""a": 1"#)), "\"compression\": is missing"),
        (refuse(&with(r#""compression": {"type": "gzip", "level": 10}"#)), "from -1 to 9"),
        (refuse(&with(r#""compression": {"type": "gzip", "useZlib": 1}"#)), "true or false"),
        (refuse(&with(r#""compression": {"type": "xz", "preset": 10}"#)), "10 is not from 0 to 9"),
        (refuse(&with(r#""compression": {"type": "xz", "format": 3}"#)), "3 of LZMA"),
        (refuse(&with(r#""compression": {"type": "xz", "filters": [{}]}"#)), "filters"),
        (refuse(&with(r#""compression": {"type": "lz4", "blockSize": -1}"#)), "from 0 to"),
        (refuse(&with(r#""compression": {"type": "blosc"}"#)), "cname"),
        (refuse(&with(r#""compression": {"type": "raw"}, "shardSize": [8, 5]"#)), "shard"),
        (refuse(r#"{"dimensions": [1], "dimensions": [2]}"#), "appears twice"),
        (refuse(r#"{"dimensions": [1]"#), "not valid JSON"),
        (refuse("[1]"), "expected a JSON object"),
    ] {
        assert!(error.starts_with("attributes.json") && error.contains(reason), "{error}");
    }
}

#[test]
fn elements_of_variable_length_are_known_by_their_metadata() {
    for (text, name) in [
        (r#""dataType": "string""#, "string"),
        (r#""dataType": "object""#, "object"),
        (r#""dataType": "uint8", "isLabelMultiset": true"#, "label multiset"),
    ] {
        let metadata = dataset(&format!(
            r#"{{"dimensions": [9], "blockSize": [4], "compression": {{"type": "gzip"}}, {text}}}"#
        ));
        assert_eq!(metadata.spec(AxisOrder::Reversed).data_type, DataType::Variable);
        assert_eq!(metadata.data_type_name(), name);
        assert_eq!(parse_dataset(&metadata.document()).unwrap().unwrap(), metadata);
    }
}

#[test]
fn names_of_axes() {
    let names = |attribute: &str, order| {
        let text = with(&format!(r#""compression": {{"type": "raw"}}, {attribute}"#));
        dataset(&text).spec(order).dimension_names
    };
    let named = |names: [&str; 2]| Some(names.map(|name| Some(name.to_owned())).to_vec());
    let axes = r#""axes": ["x", "y"], "_ARRAY_DIMENSIONS": ["b", "a"]"#;
    assert_eq!(names(axes, AxisOrder::Reversed), named(["y", "x"]));
    assert_eq!(names(axes, AxisOrder::Kept), named(["x", "y"]));
    let xarray = r#""axes": ["x", "y", "z"], "_ARRAY_DIMENSIONS": ["b", "a"]"#;
    assert_eq!(names(xarray, AxisOrder::Reversed), named(["b", "a"]));
    assert_eq!(names(xarray, AxisOrder::Kept), named(["a", "b"]));
    assert_eq!(names(r#""axes": [1, 2]"#, AxisOrder::Kept), None);
    let half = Some(vec![None, Some("x".to_owned())]);
    assert_eq!(names(r#""axes": ["x", ""]"#, AxisOrder::Reversed), half);
}

fn spec(data_type: DataType) -> ArraySpec {
    ArraySpec {
        shape: vec![5, 9],
        data_type,
        chunk_shape: vec![5, 4],
        edges: None,
        fill_value: Some(FillValue::zero(data_type.item_bytes())),
        dimension_names: Some(vec![Some("y".to_owned()), Some("x".to_owned())]),
    }
}

#[test]
fn targets() {
    let mut spec_of = spec(DataType::Int16);
    spec_of.fill_value = Some(FillValue { bytes: vec![1, 0] });
    let attributes = json!({"units": "m", "dataType": "mine", "n5": "1"});
    for axis_order in [AxisOrder::Reversed, AxisOrder::Kept] {
        let target = N5Target { compression: Compression::Raw, axis_order, version: None };
        let (metadata, warnings) =
            N5Metadata::new_target(&spec_of, attributes.as_object().unwrap(), &target).unwrap();
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        let again = parse_dataset(&metadata.document()).unwrap().unwrap();
        assert_eq!(again, metadata);
        let layout = N5Layout::new(again, axis_order).unwrap();
        assert_eq!(*layout.metadata(), metadata);
        assert_eq!(metadata.spec(axis_order), spec(DataType::Int16));
        assert_eq!(Value::Object(metadata.user_attributes()), json!({"units": "m"}));
        let expected = if axis_order == AxisOrder::Kept { ["y", "x"] } else { ["x", "y"] };
        assert_eq!(metadata.attributes["axes"], json!(expected));
    }
}

#[test]
fn what_n5_does_not_have() {
    let target = N5Target {
        compression: Compression::Raw,
        axis_order: AxisOrder::Reversed,
        version: Some(N5Version::DEFAULT),
    };
    let refuse = |spec: &ArraySpec| {
        N5Metadata::new_target(spec, &Map::new(), &target).unwrap_err().to_string()
    };
    for data_type in [DataType::Bool, DataType::Float16, DataType::Complex64, DataType::Variable] {
        let error = refuse(&spec(data_type));
        assert!(error.contains(&data_type.name()) && error.contains("--format zarr3"), "{error}");
    }
    let scalar = ArraySpec {
        shape: vec![],
        chunk_shape: vec![],
        edges: None,
        dimension_names: None,
        ..spec(DataType::Int8)
    };
    assert!(refuse(&scalar).contains("without dimensions"));
    let large = ArraySpec { chunk_shape: vec![1 << 16, 1 << 16], ..spec(DataType::Int8) };
    assert!(refuse(&large).contains("less than 2 GiB"));
}
