use rechunk_format::Layout;
use serde_json::{Value, json};

use crate::{ArrayMetadata, ZarrLayout, parse_v3};

fn document() -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": [10, 20], "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8, 12]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [4, 3],
            "codecs": [{"name": "bytes", "configuration": {"endian": "big"}},
                       {"name": "zstd", "configuration": {"level": 3, "checksum": false}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                             {"name": "crc32c"}],
            "index_location": "start",
        }}],
    })
}

fn parse(document: &Value) -> Result<ArrayMetadata, String> {
    parse_v3(document.to_string().as_bytes()).map_err(|error| error.to_string())
}

/// The document with a setting of the codec changed, or taken away where `value` is null.
fn with(name: &str, value: Value) -> Result<ArrayMetadata, String> {
    let mut document = document();
    let configuration = document["codecs"][0]["configuration"].as_object_mut().unwrap();
    if value.is_null() {
        configuration.remove(name);
    } else {
        configuration.insert(name.to_owned(), value);
    }
    parse(&document)
}

#[test]
fn chunks_are_those_inside() {
    let metadata = parse(&document()).unwrap();
    assert_eq!(metadata.spec.chunk_shape, [4, 3]);
    assert_eq!(metadata.object_shape(), [8, 12]);
    let layout = ZarrLayout::new(metadata).unwrap();
    let shards = layout.shards().unwrap();
    assert_eq!((shards.chunk_count(), shards.index_bytes()), (8, 132));
    // Chunk [2, 4] is the first of shard [1, 1].
    assert_eq!((layout.chunk_key(&[2, 4]), shards.slot(&[2, 4])), ("c/1/1".to_owned(), 0));
    assert_eq!(layout.object_key(&[1, 1]), "c/1/1");
}

#[test]
fn what_is_read_is_written() {
    for location in ["start", "end"] {
        for endian in ["little", "big"] {
            let metadata = with("index_location", json!(location)).unwrap();
            let (_, written) = metadata.documents().pop().unwrap();
            assert_eq!(parse_v3(&written).unwrap(), metadata);
            let index_codecs = json!([{"name": "bytes", "configuration": {"endian": endian}}]);
            let metadata = with("index_codecs", index_codecs).unwrap();
            let (_, written) = metadata.documents().pop().unwrap();
            assert_eq!(parse_v3(&written).unwrap(), metadata);
        }
    }
    assert_eq!(
        with("index_location", Value::Null).unwrap(),
        with("index_location", json!("end")).unwrap()
    );
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("chunk_shape", json!([3, 3]), "do not divide shards of [8, 12] evenly"),
        ("chunk_shape", json!([4]), "a shard of 2 axes cannot hold chunks of 1"),
        ("chunk_shape", json!([0, 3]), "do not divide"),
        ("chunk_shape", Value::Null, "is missing"),
        ("codecs", Value::Null, "is missing"),
        ("codecs", json!([]), "there is no codec \"bytes\""),
        ("index_codecs", Value::Null, "is missing"),
        ("index_codecs", json!([]), "there is no codec \"bytes\""),
        ("index_codecs", json!(["bytes", "gzip"]), "codec \"gzip\" for an index is not supported"),
        ("index_codecs", json!(["bytes", "crc32c", "crc32c"]), "at most one \"crc32c\""),
        ("index_codecs", json!(["crc32c", "bytes"]), "codec \"crc32c\" for an index"),
        ("index_location", json!("middle"), "expected \"start\" or \"end\", found \"middle\""),
    ];
    for (name, value, expected) in cases {
        let error = with(name, value.clone()).unwrap_err();
        assert!(error.contains(expected), "{name} = {value}: {error}");
        assert!(error.starts_with("zarr.json: \"codecs"), "{error}");
    }
}

#[test]
fn a_shard_of_too_many_chunks_is_refused() {
    let mut document = document();
    document["chunk_grid"]["configuration"]["chunk_shape"] = json!([1 << 22, 12]);
    document["codecs"][0]["configuration"]["chunk_shape"] = json!([1, 1]);
    let error = parse(&document).unwrap_err();
    assert!(error.contains("a shard has more than 4194304 chunks"), "{error}");
}
