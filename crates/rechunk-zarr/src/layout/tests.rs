use serde_json::json;

use super::*;
use crate::{parse_v2, parse_v3};

fn v2(compressor: &serde_json::Value, order: &str, separator: &str) -> ZarrLayout {
    let document = json!({
        "zarr_format": 2, "shape": [10, 20], "chunks": [3, 7], "dtype": "<i2",
        "compressor": compressor, "fill_value": 0, "order": order, "filters": null,
        "dimension_separator": separator,
    });
    ZarrLayout::new(parse_v2(document.to_string().as_bytes(), None).unwrap()).unwrap()
}

fn v3(shape: &[u64], codecs: &serde_json::Value) -> ZarrLayout {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": "default", "fill_value": 0, "codecs": codecs,
    });
    ZarrLayout::new(parse_v3(document.to_string().as_bytes()).unwrap()).unwrap()
}

fn bytes() -> serde_json::Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

#[test]
fn chunk_keys() {
    let none = json!(null);
    assert_eq!(v2(&none, "C", ".").chunk_key(&[1, 12]), "1.12");
    assert_eq!(v2(&none, "C", "/").chunk_key(&[1, 12]), "1/12");
    assert_eq!(v3(&[4, 4], &json!([bytes()])).chunk_key(&[0, 0]), "c/0/0");
    assert_eq!(v3(&[], &json!([bytes()])).chunk_key(&[]), "c");
    let scalar = crate::KeyEncoding { style: crate::KeyStyle::V2, separator: '.' };
    assert_eq!(scalar.chunk_key(&[]), "0");
}

#[test]
fn interchangeable_chunks_have_equal_identities() {
    let auto = json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0});
    let named = json!({"name": "blosc", "configuration":
        {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0}});
    let (a, b) = (v2(&auto, "C", "."), v3(&[4, 4], &json!([bytes(), named])));
    assert_eq!(a.encoding_identity(), b.encoding_identity());
    assert_ne!(a.encoding_identity(), v2(&auto, "F", ".").encoding_identity());
    let zstd = json!({"id": "zstd", "level": 5});
    assert_ne!(a.encoding_identity(), v2(&zstd, "C", ".").encoding_identity());
    let level_3 = v2(&json!({"id": "zstd", "level": 3}), "C", ".");
    let default = v2(&json!({"id": "zstd", "level": 0}), "C", ".");
    assert_eq!(level_3.encoding_identity(), default.encoding_identity());
}

#[test]
fn what_people_see() {
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    let layout = v3(&[4, 4], &json!([bytes(), gzip, {"name": "crc32c"}]));
    assert_eq!(layout.codec_summary(), "gzip(level 1) + crc32c");
    assert_eq!(layout.format_name(), "zarr3");
    assert_eq!(v2(&json!(null), "C", ".").codec_summary(), "none");
    assert_eq!(v2(&json!(null), "C", ".").format_name(), "zarr2");
}
