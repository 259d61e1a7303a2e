use proptest::prelude::*;
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

/// The document with shards inside the chunks: `[8, 12]` in `[4, 3]` in `[2, 1]`, transposed.
fn nested(location: &str, endian: &str) -> Value {
    let mut document = document();
    document["fill_value"] = json!(258);
    document["codecs"][0]["configuration"]["codecs"] = json!([
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "sharding_indexed", "configuration": {
            "chunk_shape": [1, 2],
            "codecs": [{"name": "bytes", "configuration": {"endian": endian}},
                       {"name": "gzip", "configuration": {"level": 1}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
            "index_location": location,
        }},
        {"name": "crc32c"},
    ]);
    document
}

#[test]
fn shards_inside_chunks_are_read_and_written() {
    for endian in ["little", "big"] {
        let metadata = parse(&nested("start", endian)).unwrap();
        assert_eq!((metadata.spec.chunk_shape.as_slice(), metadata.codecs.len()), (&[4, 3][..], 2));
        assert_eq!(metadata.order.axes, [1, 0]);
        let (_, written) = metadata.documents().pop().unwrap();
        assert_eq!(parse_v3(&written).unwrap(), metadata);
    }
    let mut wrong = nested("end", "little");
    wrong["codecs"][0]["configuration"]["codecs"][1]["configuration"]["chunk_shape"] =
        json!([2, 2]);
    // In the order of the transposed axes a chunk is 3 × 4.
    let error = parse(&wrong).unwrap_err();
    assert!(error.contains("chunks of [2, 2] do not divide shards of [3, 4] evenly"), "{error}");
}

#[test]
fn shards_inside_shards_have_an_end() {
    let mut codecs = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    for _ in 0..7 {
        codecs = json!([{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [4, 3], "codecs": codecs, "index_codecs": ["bytes"],
        }}]);
    }
    let error = with("codecs", codecs).unwrap_err();
    assert!(error.contains("so many times inside itself"), "{error}");
}

proptest! {
    #[test]
    fn shards_inside_chunks_round_trip(
        elements in prop::collection::vec(prop_oneof![Just(258_i16), any::<i16>()], 12),
        at_start: bool, big: bool, cut in any::<prop::sample::Index>(), flip in any::<u8>(),
    ) {
        let location = if at_start { "start" } else { "end" };
        let document = nested(location, if big { "big" } else { "little" });
        let layout = ZarrLayout::new(parse(&document).unwrap()).unwrap();
        let bytes: Vec<u8> = elements
            .iter()
            .flat_map(|element| if big { element.to_be_bytes() } else { element.to_le_bytes() })
            .collect();
        let (mut encoded, mut scratch) = (Vec::new(), Vec::new());
        layout.encode(&[0, 0], &bytes, &mut encoded).unwrap();
        prop_assert!(encoded.len() as u64 <= layout.codec_cost().encoded_bytes_max);
        prop_assert_eq!(layout.decode(&[0, 0], &encoded, &mut scratch).unwrap(), &bytes[..]);
        let at = cut.index(encoded.len());
        prop_assert!(layout.decode(&[0, 0], &encoded[..at], &mut scratch).is_err());
        encoded[at] ^= flip.max(1);
        prop_assert!(layout.decode(&[0, 0], &encoded, &mut scratch).is_err());
    }
}
