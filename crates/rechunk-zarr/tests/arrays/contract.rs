//! Zarr v2 and v3, held to the contract of a format.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rechunk_conformance::formats::check_format;
use rechunk_format::numpy;
use rechunk_grid::{ArraySpec, DataType, Endian};
use rechunk_zarr::{ZarrLayout, parse_v2, parse_v3};
use serde_json::{Value, json};

/// Arrays that each format has at least: every shape in two types, and many types in one.
const LAYOUTS_MIN: usize = 30;

fn v2(spec: &ArraySpec, endian: Endian, order: &str, compressor: &Value) -> Option<ZarrLayout> {
    let document = json!({
        "zarr_format": 2, "shape": spec.shape, "chunks": spec.chunk_shape,
        "dtype": numpy::write(spec.data_type, endian)?, "compressor": compressor,
        "fill_value": null, "order": order, "filters": null, "dimension_separator": "/",
    });
    Some(ZarrLayout::new(parse_v2(document.to_string().as_bytes(), None).unwrap()).unwrap())
}

fn v3(spec: &ArraySpec, chunk_shape: &[u64], codecs: &Value) -> Option<ZarrLayout> {
    let fill = match spec.data_type {
        DataType::Bool => json!(false),
        DataType::Complex64 | DataType::Complex128 => json!([0, 0]),
        DataType::SmallFloat(_) => json!("0x00"),
        _ => json!(0),
    };
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": spec.shape,
        "data_type": spec.data_type.name(), "chunk_key_encoding": "default", "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk_shape}},
        "codecs": codecs,
    });
    let metadata = parse_v3(document.to_string().as_bytes()).ok()?;
    ZarrLayout::new(metadata).ok()
}

fn bytes(endian: &str) -> Value {
    json!({"name": "bytes", "configuration": {"endian": endian}})
}

#[test]
fn arrays_of_v2() {
    for compressor in [
        json!(null),
        json!({"id": "zlib", "level": 1}),
        json!({"id": "gzip", "level": 1}),
        json!({"id": "bz2", "level": 1}),
        json!({"id": "zstd", "level": 1, "checksum": true}),
        json!({"id": "lz4", "acceleration": 1}),
        json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
        json!({"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 2, "blocksize": 64}),
    ] {
        for (endian, order) in [(Endian::Little, "C"), (Endian::Big, "F")] {
            let checked = check_format(|spec| v2(spec, endian, order, &compressor)).unwrap();
            assert!(checked.layouts >= LAYOUTS_MIN, "{compressor}: {checked:?}");
        }
    }
}

#[test]
fn arrays_of_v3() {
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
    let crc32c = json!({"name": "crc32c"});
    for codecs in [
        json!([bytes("little")]),
        json!([bytes("big")]),
        json!([bytes("little"), gzip]),
        json!([bytes("big"), zstd]),
        json!([bytes("little"), crc32c]),
        json!([bytes("little"), zstd, crc32c]),
    ] {
        let checked = check_format(|spec| v3(spec, &spec.chunk_shape, &codecs)).unwrap();
        assert!(checked.layouts >= LAYOUTS_MIN, "{codecs}: {checked:?}");
    }
}

#[test]
fn arrays_of_v3_in_shards() {
    for location in ["start", "end"] {
        let sharded = |spec: &ArraySpec| {
            let shard: Vec<u64> = spec.chunk_shape.iter().map(|edge| 2 * edge).collect();
            let codecs = json!([{"name": "sharding_indexed", "configuration": {
                "chunk_shape": spec.chunk_shape,
                "codecs": [bytes("little"), {"name": "crc32c"}],
                "index_codecs": [bytes("little"), {"name": "crc32c"}],
                "index_location": location,
            }}]);
            v3(spec, &shard, &codecs).filter(|_| !spec.shape.is_empty())
        };
        let checked = check_format(sharded).unwrap();
        assert!(checked.layouts >= LAYOUTS_MIN, "{location}: {checked:?}");
    }
}
