use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{BloscName, Shuffle};

fn document() -> Value {
    json!({
        "zarr_format": 2, "shape": [10, 20], "chunks": [3, 7], "dtype": ">f4",
        "compressor": {"id": "zstd", "level": 3, "checksum": false}, "fill_value": "NaN",
        "order": "F", "filters": null, "dimension_separator": "/", "unknown": 1,
    })
}

fn with(name: &str, value: Value) -> Result<ArrayMetadata, FormatError> {
    let mut document = document();
    document[name] = value;
    parse_v2(document.to_string().as_bytes(), None)
}

fn refuse(name: &str, value: Value) -> String {
    with(name, value).unwrap_err().to_string()
}

#[test]
fn an_ordinary_array() {
    let zattrs = br#"{"b": NaN, "_ARRAY_DIMENSIONS": ["y", "x"], "a": 1}"#;
    let metadata = parse_v2(document().to_string().as_bytes(), Some(zattrs)).unwrap();
    assert_eq!(metadata.spec.shape, [10, 20]);
    assert_eq!(metadata.spec.chunk_shape, [3, 7]);
    assert_eq!(metadata.order, ElementOrder { axes: vec![1, 0], endian: Endian::Big });
    assert_eq!(metadata.codecs, [CodecSpec::Zstd { level: 3, checksum: false }]);
    assert_eq!(metadata.key_encoding.chunk_key(&[1, 2]), "1/2");
    let names = metadata.spec.dimension_names.unwrap();
    assert_eq!(names, [Some("y".to_owned()), Some("x".to_owned())]);
    assert_eq!(metadata.attributes.keys().collect::<Vec<_>>(), ["b", "a"]);
}

#[test]
fn defaults_and_absent_things() {
    let mut document = document();
    let map = document.as_object_mut().unwrap();
    map.remove("dimension_separator");
    map.remove("filters");
    map["compressor"] = Value::Null;
    map["fill_value"] = Value::Null;
    let metadata = parse_v2(document.to_string().as_bytes(), None).unwrap();
    assert_eq!(metadata.key_encoding.separator, '.');
    assert!(metadata.codecs.is_empty() && metadata.spec.fill_value.is_none());
}

#[test]
fn compressors() {
    let blosc = json!({"id": "blosc", "cname": "lz4hc", "clevel": 0, "shuffle": -1});
    assert_eq!(
        with("compressor", blosc).unwrap().codecs,
        [CodecSpec::Blosc {
            cname: BloscName::Lz4hc,
            clevel: 0,
            shuffle: Shuffle::Auto,
            typesize: 4,
            blocksize: 0,
        }]
    );
    let zlib = with("compressor", json!({"id": "zlib", "level": -1})).unwrap();
    assert_eq!(zlib.codecs, [CodecSpec::Zlib { level: -1 }]);
    let high = with("compressor", json!({"id": "zstd", "level": 99})).unwrap();
    assert_eq!(high.codecs, [CodecSpec::Zstd { level: 22, checksum: false }]);
}

#[test]
fn dimension_names_that_do_not_fit_stay_attributes() {
    for names in [r#"["y"]"#, r#"["y", null]"#, r#""yx""#] {
        let zattrs = format!("{{\"_ARRAY_DIMENSIONS\": {names}}}");
        let metadata =
            parse_v2(document().to_string().as_bytes(), Some(zattrs.as_bytes())).unwrap();
        assert_eq!(metadata.spec.dimension_names, None);
        assert!(metadata.attributes.contains_key(V2_DIMENSIONS));
    }
}

#[test]
fn errors_name_document_and_field() {
    for (name, value, message) in [
        ("zarr_format", json!(3), r#".zarray: "zarr_format": expected an integer from 2 to 2"#),
        (
            "shape",
            json!([10, -20]),
            r#".zarray: "shape": expected a list of non-negative integers"#,
        ),
        ("chunks", json!([3.5, 7]), r#".zarray: "chunks": expected a list of non-negative"#),
        ("chunks", json!([3]), r#".zarray: "chunks": the array has 2 axes but the chunk shape"#),
        ("chunks", json!([0, 7]), r#".zarray: "chunks": the chunk extent of axis 0 is 0"#),
        ("shape", json!([1_u64 << 40, 1_u64 << 40]), r#".zarray: "chunks": the element count"#),
        ("chunks", json!([1 << 20, 1 << 20]), "a chunk of 4398046511104 bytes is not supported"),
        ("dtype", json!("<f16"), r#".zarray: "dtype": data type "<f16" is not supported"#),
        ("dtype", json!("|f4"), "does not say its byte order"),
        ("dtype", json!([["a", "<f16"]]), r#".zarray: "dtype.a": data type "<f16" is not"#),
        ("dtype", json!("|O"), "no filter says how elements"),
        ("order", json!("K"), r#".zarray: "order": expected "C" or "F", found "K""#),
        ("filters", json!([{"id": "delta"}]), r#".zarray: "filters": filter "delta" is not"#),
        ("compressor", json!({"id": "lzma"}), r#".zarray: "compressor": codec "lzma" is not"#),
        ("compressor", json!({"level": 1}), r#".zarray: "compressor.id": is missing"#),
        ("compressor", json!("zstd"), r#".zarray: "compressor": expected an object"#),
        (
            "compressor",
            json!({"id": "blosc", "cname": "lz5"}),
            r#".zarray: "compressor.cname": blosc compressor "lz5" is not supported"#,
        ),
        ("compressor", json!({"id": "gzip", "level": 10}), "expected an integer from -1 to 9"),
        ("dimension_separator", json!(":"), r#"expected "." or "/", found ":""#),
        ("fill_value", json!("x"), r#".zarray: "fill_value": "x" is not a float32"#),
    ] {
        let error = refuse(name, value);
        assert!(error.contains(message), "{error}\nshould contain\n{message}");
    }
}

#[test]
fn blosc_chunks_have_a_limit_of_their_own() {
    let mut document = document();
    document["chunks"] = json!([1, 536_870_908]);
    document["compressor"] = json!({"id": "blosc"});
    let error = parse_v2(document.to_string().as_bytes(), None).unwrap_err().to_string();
    assert!(error.contains("2147483632 bytes with codec \"blosc\" is not supported"), "{error}");
    document["chunks"] = json!([1, 536_870_907]);
    assert!(parse_v2(document.to_string().as_bytes(), None).is_ok());
}

proptest! {
    /// No document makes the parser panic, and what it accepts can be written and read again.
    #[test]
    fn mutated_documents(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = document().to_string().into_bytes();
        for (position, byte) in edits {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        if let Ok(metadata) = parse_v2(&bytes, Some(&bytes)) {
            prop_assert_eq!(crate::documents::tests::reread(&metadata), metadata);
        }
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(parse_v2(&bytes, None).is_err());
    }
}
