use proptest::prelude::*;
use rechunk_format::Layout;
use serde_json::{Value, json};

use crate::{
    ArrayMetadata, CodecSpec, TargetOptions, ZarrLayout, ZarrVersion, parse_v3, target_metadata,
};

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

/// Shards with chunks of 2 × 3 in them, behind `before` and before `after`.
fn sharded(shape: &[u64], chunk_shapes: &Value, before: &[Value], after: &[Value]) -> Value {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    let shards = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2, 3], "codecs": [bytes, gzip], "index_codecs": [bytes, "crc32c"]}});
    let mut document = document(shape, chunk_shapes);
    document["codecs"] = json!([before, &[shards][..], after].concat());
    document
}

#[test]
fn shards_of_different_shapes_have_indexes_of_different_sizes() {
    let transpose = [json!({"name": "transpose", "configuration": {"order": [1, 0]}})];
    let checksum = [json!("crc32c")];
    let cases = [
        sharded(&[12, 7], &json!([[4, 2, 6], 9]), &[], &[]),
        sharded(&[12, 7], &json!([[[2, 2], 8], [3, 6]]), &[], &[]),
        sharded(&[12, 7], &json!([[4, 8, 2, 2], [[3, 3]]]), &[], &checksum),
        sharded(&[11, 7], &json!([[2, 10], [6, 3, [3, 4]]]), &[], &[]),
        // The axes of the chunks inside are those behind the transposition.
        sharded(&[7, 12], &json!([[3, 6], [4, 2, 6]]), &transpose, &[]),
    ];
    for document in cases {
        let metadata = parse(&document).unwrap_or_else(|error| panic!("{document}: {error}"));
        assert!(metadata.sharding.is_none() && metadata.spec.edges.is_some());
        assert_eq!(crate::documents::tests::reread(&metadata), metadata);
        let grid = metadata.spec.grid().unwrap();
        let layout = ZarrLayout::new(metadata.clone()).unwrap();
        let (mut encoded, mut scratch, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for index in grid.indices().positions() {
            let elements = grid.chunk(&index).elements();
            let chunk: Vec<u8> = (0..elements * 2).map(|byte| (byte % 251) as u8).collect();
            layout.encode(&index, &chunk, &mut encoded).unwrap();
            let most = layout.codec_cost().encoded_bytes_max;
            assert!(encoded.len() as u64 <= most, "{} of {most}", encoded.len());
            assert_eq!(layout.decode(&index, &encoded, &mut scratch).unwrap(), chunk);
            layout.check_stored(&index, &encoded).unwrap();
            if metadata.codecs.len() == 1 {
                // One entry for each chunk of 2 × 3, also of those beyond the array; the first
                // chunk is at 0.
                let index_bytes = usize::try_from(elements / 6 * 16 + 4).unwrap();
                assert_eq!(encoded[encoded.len() - index_bytes..][..8], [0; 8], "{index:?}");
            }
            sizes.push((elements, encoded.clone()));
        }
        let (elements, first) = &sizes[0];
        for (index, (others, _)) in grid.indices().positions().zip(&sizes) {
            let read = layout.decode(&index, first, &mut scratch);
            assert_eq!(read.is_ok(), elements == others, "{index:?}");
        }
    }
}

#[test]
fn shards_are_divided_evenly_by_the_chunks_inside() {
    for (shapes, length, inner, axis) in [
        (json!([[4, 3, 5], 9]), 3, 2, 0),
        (json!([[[2, 2], 7, 1], 9]), 7, 2, 0),
        (json!([[4, 8], [3, 4]]), 4, 3, 1),
        (json!([12, [3, 5]]), 5, 3, 1),
        // Beyond the end of the axis too.
        (json!([12, [3, 3, 2]]), 2, 3, 1),
    ] {
        let error = parse(&sharded(&[12, 7], &shapes, &[], &[])).unwrap_err();
        let told =
            format!("axis {axis}: a shard of {length} elements cannot hold chunks of {inner}");
        assert!(error.contains(&told) || error.contains("do not divide shards"), "{error}");
    }
    // Chunks that are wholly beyond the end are no part of the grid.
    parse(&sharded(&[12, 6], &json!([[4, 8], [3, 3, 2]]), &[], &[])).unwrap();
}

#[test]
fn elements_of_shards_of_different_shapes_are_written_anew() {
    let source = parse(&sharded(&[12, 7], &json!([[4, 2, 6], [3, 6]]), &[], &[])).unwrap();
    for (chunk_shape, shard_shape) in [([6, 6], None), ([5, 7], None), ([2, 3], Some(vec![4, 6]))] {
        let (version, chunk_shape) = (ZarrVersion::V3, chunk_shape.to_vec());
        let options = TargetOptions { version, chunk_shape, shard_shape, codec: None };
        let (target, warnings) = target_metadata(&source, &options).unwrap();
        assert_eq!(target.codecs, [CodecSpec::Gzip { level: 1 }]);
        assert!(warnings[0].contains("shards of different shapes are not kept"), "{warnings:?}");
    }
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
