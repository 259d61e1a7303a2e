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

/// Outcomes of single bits that were flipped in an encoded chunk.
#[derive(Debug, Default)]
struct Flips {
    noticed: u32,
    harmless: u32,
    silent: u32,
}

/// Flips [`FLIPS`] bits of a chunk, one at a time.
fn flip_bits(layout: &ZarrLayout, elements: &[u8]) -> Flips {
    const FLIPS: u32 = 1000;
    let mut encoded = Vec::new();
    layout.encode(&[0, 0], elements, &mut encoded).unwrap();
    let mut flips = Flips::default();
    let mut state = 1_u64;
    for _ in 0..FLIPS {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = usize::try_from(state >> 33).unwrap() % (8 * encoded.len());
        encoded[bit / 8] ^= 1 << (bit % 8);
        match layout.decode(&[0, 0], &encoded, &mut Vec::new()) {
            Err(_) => flips.noticed += 1,
            Ok(decoded) if decoded == elements => flips.harmless += 1,
            Ok(_) => flips.silent += 1,
        }
        encoded[bit / 8] ^= 1 << (bit % 8);
    }
    flips
}

/// A thousand bits in each codec: none is missed where there is said to be a checksum, and some are
/// elsewhere.
#[test]
fn a_flipped_bit_is_noticed_where_there_is_said_to_be_a_checksum() {
    // Numbers that compress, but not to nothing.
    let elements: Vec<u8> = (0..2048_u32)
        .flat_map(|n| u16::try_from(n / 3 * 7 % 4093 + (n * n / 8) % 5).unwrap().to_le_bytes())
        .collect();
    let v2 = |compressor: serde_json::Value, filters: serde_json::Value| {
        let document = json!({
            "zarr_format": 2, "shape": [32, 64], "chunks": [32, 64], "dtype": "<i2",
            "compressor": compressor, "fill_value": 0, "order": "C", "filters": filters,
        });
        ZarrLayout::new(parse_v2(document.to_string().as_bytes(), None).unwrap()).unwrap()
    };
    let compressor = |compressor: serde_json::Value| v2(compressor, json!(null));
    let filter = |id: &str| v2(json!({"id": "zstd", "level": 1}), json!([{"id": id}]));
    let crc32c = |more: &[serde_json::Value]| {
        v3(&[32, 64], &json!([&[bytes()], more, &[json!({"name": "crc32c"})]].concat()))
    };
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
    let checked = [
        compressor(json!({"id": "zstd", "level": 1, "checksum": true})),
        compressor(json!({"id": "gzip", "level": 1})),
        compressor(json!({"id": "zlib", "level": 1})),
        compressor(json!({"id": "bz2", "level": 1})),
        compressor(json!({"id": "lzma"})),
        compressor(json!({"id": "lzma", "check": 10})),
        filter("crc32"),
        filter("crc32c"),
        filter("adler32"),
        filter("fletcher32"),
        crc32c(&[]),
        crc32c(&[zstd]),
    ];
    let blosc = |cname: &str| json!({"id": "blosc", "cname": cname, "clevel": 5, "shuffle": 1, "blocksize": 0});
    let unchecked = [
        compressor(json!(null)),
        compressor(json!({"id": "zstd", "level": 1})),
        compressor(blosc("lz4")),
        compressor(blosc("zstd")),
        compressor(json!({"id": "lz4", "acceleration": 1})),
    ];
    for layout in checked {
        let flips = flip_bits(&layout, &elements);
        println!("{}: {flips:?}", layout.codec_summary());
        assert!(layout.has_checksum(), "{}", layout.codec_summary());
        assert_eq!(flips.silent, 0, "{}: {flips:?}", layout.codec_summary());
        assert!(flips.noticed > 800, "{}: {flips:?}", layout.codec_summary());
    }
    for layout in unchecked {
        let flips = flip_bits(&layout, &elements);
        println!("{}: {flips:?}", layout.codec_summary());
        assert!(!layout.has_checksum(), "{}", layout.codec_summary());
        assert!(flips.silent > 0, "{}: {flips:?}", layout.codec_summary());
    }
    assert_eq!(flip_bits(&compressor(json!(null)), &elements).silent, 1000);
    // LZMA breaks off at nearly every flip, but by chance.
    for unsure in [json!({"id": "lzma", "check": 0}), json!({"id": "lzma", "format": 2})] {
        assert!(!compressor(unsure).has_checksum());
    }
}
