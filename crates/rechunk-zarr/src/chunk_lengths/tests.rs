use proptest::prelude::*;
use rechunk_format::Layout;
use serde_json::{Value, json};

use crate::{ArrayMetadata, TargetOptions, ZarrLayout, ZarrVersion, parse_v3, target_metadata};

fn document(shape: &[u64], chunk_shapes: &Value) -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "int16",
        "chunk_grid": {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes},
        },
        "chunk_key_encoding": {"name": "default"}, "fill_value": -1, "attributes": {},
        "codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "gzip", "configuration": {"level": 1}},
        ],
    })
}

fn parse(document: &Value) -> Result<ArrayMetadata, String> {
    parse_v3(document.to_string().as_bytes()).map_err(|error| error.to_string())
}

fn ends(metadata: &ArrayMetadata, axis: usize) -> Option<Vec<u64>> {
    metadata.spec.edges.as_ref()?.axis(axis).map(|edges| edges.ends().to_vec())
}

/// The example of the specification.
#[test]
fn five_ways_to_say_it() {
    let shapes = json!([4, [1, 2, 3], [[4, 2]], [[1, 3], 3], [4, 4, 4]]);
    let metadata = parse(&document(&[6; 5], &shapes)).unwrap();
    assert_eq!(metadata.spec.chunk_shape, [4, 3, 4, 3, 4]);
    assert_eq!(ends(&metadata, 1).unwrap(), [1, 3, 6]);
    assert_eq!(ends(&metadata, 3).unwrap(), [1, 2, 3, 6]);
    for regular in [0, 2, 4] {
        assert_eq!(ends(&metadata, regular), None);
    }
    let grid = metadata.spec.grid().unwrap();
    assert_eq!(grid.indices().shape, [2, 3, 2, 4, 2]);
}

#[test]
fn a_grid_of_equal_lengths_is_a_regular_one() {
    let metadata = parse(&document(&[9, 5], &json!([[[3, 3]], 2]))).unwrap();
    assert_eq!((metadata.spec.chunk_shape.as_slice(), &metadata.spec.edges), (&[3, 2][..], &None));
}

#[test]
fn what_is_wrong_is_said() {
    let million: Vec<Value> = (0..1_100_000).map(|i| json!(1 + i % 2)).collect();
    for (shapes, reason) in [
        (json!([[1, 2]]), "1 entries for 2 axes"),
        (json!([2, 2, 2]), "3 entries for 2 axes"),
        (json!([[1, 2, 2], 2]), "lengths of axis 0 add up to 5, but the axis has 6 elements"),
        (json!([[1, 0, 5], 2]), "axis 0 have a 0 among them"),
        (json!([[[1, 0], 6], 2]), "axis 0 have a 0 among them"),
        (json!([[1, 5], 0]), "the chunk extent of axis 1 is 0"),
        (json!([[1, -5], 6]), "axis 0: expected a length or [length, count], found -5"),
        (json!([[1, 5.0], 6]), "expected a length or [length, count], found 5.0"),
        (json!([[1, [5]], 6]), "expected a length or [length, count], found [5]"),
        (json!([[1, [5, 1, 1]], 6]), "expected a length or [length, count], found [5,1,1]"),
        (json!([[1, [5, "1"]], 6]), "expected a length or [length, count]"),
        (json!(["1", 6]), "axis 0: expected a length or a list of them, found \"1\""),
        (json!([-1, 6]), "axis 0: expected a length or a list of them, found -1"),
        (json!([[1, 9_223_372_036_854_775_808_u64], 6]), "63 bits"),
        (json!([[1, u64::MAX], 6]), "63 bits"),
        (json!([[1, 9_223_372_036_854_775_000_u64], 6]), "does not fit 63 bits"),
        (json!([[1, 5], 9_223_372_036_854_775_808_u64]), "does not fit 63 bits"),
        (json!(6), "expected a list, found 6"),
    ] {
        let error = parse(&document(&[6, 6], &shapes)).unwrap_err();
        assert!(error.contains(reason), "{shapes}: {error}");
        assert!(error.starts_with("zarr.json: \"chunk_grid.configuration"), "{error}");
    }
    for (shapes, reason) in [
        (json!([million]), "more than the 131072 values allowed"),
        (json!([[[1, 1_100_000], 2, [1, 9_000_000]]]), "more than the 1048576 that are supported"),
    ] {
        let error = parse(&document(&[1_600_000], &shapes)).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    let mut other = document(&[6, 6], &json!([2, 2]));
    other["chunk_grid"]["configuration"]["kind"] = json!("by reference");
    assert!(parse(&other).unwrap_err().contains("the kind \"by reference\" is not supported"));
    other["chunk_grid"]["configuration"] = json!({"kind": "inline"});
    assert!(parse(&other).unwrap_err().contains("chunk_shapes\": is missing"));
    other["chunk_grid"]["configuration"] = json!({"chunk_shapes": [2, 2]});
    assert!(parse(&other).unwrap_err().contains("kind\": is missing"));
}

#[test]
fn shards_of_different_shapes_are_refused() {
    let mut sharded = document(&[6], &json!([[2, 4]]));
    let shards = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2], "codecs": ["bytes"], "index_codecs": ["bytes"]}});
    for codecs in [json!([shards]), json!([shards, "crc32c"])] {
        sharded["codecs"] = codecs;
        let error = parse(&sharded).unwrap_err();
        assert!(error.contains("of different shapes is not supported"), "{error}");
    }
    sharded["chunk_grid"]["configuration"]["chunk_shapes"] = json!([[4, 4]]);
    sharded["codecs"][0]["configuration"]["codecs"] =
        json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    sharded["codecs"][0]["configuration"]["index_codecs"] =
        json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    assert!(parse(&sharded).is_ok());
}

#[test]
fn a_chunk_has_its_own_size() {
    let metadata = parse(&document(&[6, 5], &json!([[1, 2, 4], 3]))).unwrap();
    let layout = ZarrLayout::new(metadata).unwrap();
    let (mut encoded, mut scratch) = (Vec::new(), Vec::new());
    for (index, elements) in [([0, 0], 3), ([1, 1], 6), ([2, 1], 12)] {
        let chunk: Vec<u8> = (0..elements * 2).collect();
        layout.encode(&index, &chunk, &mut encoded).unwrap();
        assert!(encoded.len() as u64 <= layout.codec_cost().encoded_bytes_max);
        assert_eq!(layout.decode(&index, &encoded, &mut scratch).unwrap(), chunk);
        let other = [(index[0] + 1) % 3, index[1]];
        assert!(layout.decode(&other, &encoded, &mut scratch).is_err(), "{index:?}");
        assert!(layout.encode(&other, &chunk, &mut encoded).is_err());
    }
}

#[test]
fn a_target_has_chunks_of_one_shape() {
    let source = parse(&document(&[6, 5], &json!([[1, 2, 4], 3]))).unwrap();
    let chunk_shape = vec![2, 5];
    for version in [ZarrVersion::V2, ZarrVersion::V3] {
        let chunk_shape = chunk_shape.clone();
        let options = TargetOptions { version, chunk_shape, shard_shape: None, codec: None };
        let (target, _) = target_metadata(&source, &options).unwrap();
        assert_eq!((target.spec.chunk_shape, target.spec.edges), (vec![2, 5], None));
    }
}

proptest! {
    #[test]
    fn a_grid_reads_back(
        axes in prop::collection::vec((1_u64..30, prop::collection::vec((1_u64..9, 1_u64..4), 1..6)), 0..4),
    ) {
        let all = |runs: &[(u64, u64)]| runs.iter().map(|(length, count)| length * count).sum();
        let shape: Vec<u64> = axes.iter().map(|(extent, runs)| *extent.min(&all(runs))).collect();
        let shapes: Vec<Value> = axes
            .iter()
            .map(|(_, runs)| runs.iter().map(|&(length, count)| json!([length, count])).collect())
            .collect();
        let metadata = parse(&document(&shape, &json!(shapes))).unwrap();
        for (key, bytes) in metadata.documents() {
            prop_assert_eq!(key, "zarr.json");
            prop_assert_eq!(&parse_v3(&bytes).unwrap(), &metadata);
        }
    }
}
