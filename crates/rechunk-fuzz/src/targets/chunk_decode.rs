//! Stored chunks of every codec and filter.

use std::sync::OnceLock;

use rechunk_format::Layout;
use rechunk_zarr::{ZarrLayout, parse_v3};

use super::round_trip;

/// Data type, codecs in Zarr v3's spelling, and whether stored elements come back as they are.
/// `BYTES` stands for the codec that orders the bytes; the first byte of the input chooses.
const CASES: [(&str, &str, Keeps); 58] = [
    ("float32", "BYTES", Keeps::All),
    (
        "float32",
        r#"BYTES, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "zstd", "configuration": {"level": 1, "checksum": true}}"#,
        Keeps::All,
    ),
    ("float32", r#"BYTES, {"name": "gzip", "configuration": {"level": 1}}"#, Keeps::All),
    ("float32", r#"BYTES, "crc32c""#, Keeps::All),
    (
        "float32",
        r#"BYTES, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}, "crc32c""#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, "crc32c", {"name": "gzip", "configuration": {"level": 1}}, "crc32c""#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 512}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "blosc", "configuration": {"cname": "blosclz", "clevel": 9, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "blosc", "configuration": {"cname": "snappy", "clevel": 5, "shuffle": "shuffle", "typesize": 8, "blocksize": 0}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "gzip", "configuration": {"level": 1}}, {"name": "blosc", "configuration": {"cname": "zlib", "clevel": 1, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0}}"#,
        Keeps::All,
    ),
    ("float32", r#"BYTES, "numcodecs.lz4""#, Keeps::All),
    ("float32", r#"BYTES, {"name": "numcodecs.bz2", "configuration": {"level": 1}}"#, Keeps::All),
    ("float32", r#"BYTES, {"name": "numcodecs.zlib", "configuration": {"level": 1}}"#, Keeps::All),
    (
        "float32",
        r#"BYTES, {"name": "numcodecs.lzma", "configuration": {"format": 1, "preset": 0}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "numcodecs.lzma", "configuration": {"format": 2, "preset": 0}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "numcodecs.lzma", "configuration": {"format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 0}]}}"#,
        Keeps::All,
    ),
    ("float32", r#""numcodecs.pcodec""#, Keeps::All),
    (
        "int16",
        r#"{"name": "numcodecs.pcodec", "configuration": {"level": 1, "delta_spec": "try_consecutive", "delta_encoding_order": 2, "equal_pages_up_to": 100}}"#,
        Keeps::All,
    ),
    (
        "uint64",
        r#"{"name": "numcodecs.pcodec", "configuration": {"level": 1}}, "crc32c""#,
        Keeps::All,
    ),
    ("float32", r#"BYTES, "numcodecs.crc32", "numcodecs.adler32""#, Keeps::All),
    ("float32", r#"BYTES, "numcodecs.fletcher32""#, Keeps::All),
    (
        "float32",
        r#"BYTES, "numcodecs.fletcher32", "numcodecs.lz4", {"name": "numcodecs.crc32c", "configuration": {"location": "start"}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}, {"name": "numcodecs.zlib", "configuration": {"level": 1}}"#,
        Keeps::All,
    ),
    (
        "int32",
        r#"{"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}, BYTES, "numcodecs.lz4""#,
        Keeps::All,
    ),
    (
        "int32",
        r#"{"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "|i1"}}, BYTES"#,
        Keeps::Size,
    ),
    (
        "float64",
        r#"{"name": "numcodecs.delta", "configuration": {"dtype": "<f8"}}, BYTES"#,
        Keeps::Size,
    ),
    (
        "float64",
        r#"{"name": "numcodecs.fixedscaleoffset", "configuration": {"offset": 1000, "scale": 10, "dtype": "<f8", "astype": "<u2"}}, BYTES"#,
        Keeps::Size,
    ),
    (
        "float32",
        r#"{"name": "numcodecs.quantize", "configuration": {"digits": 2, "dtype": "<f4"}}, BYTES"#,
        Keeps::Size,
    ),
    (
        "float64",
        r#"{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f2", "decode_dtype": "<f8"}}, BYTES"#,
        Keeps::Size,
    ),
    (
        "int64",
        r#"{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f4", "decode_dtype": "<i8"}}, BYTES"#,
        Keeps::Size,
    ),
    (
        "float32",
        r#"{"name": "numcodecs.bitround", "configuration": {"keepbits": 5}}, BYTES, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#,
        Keeps::Size,
    ),
    ("bool", r#""numcodecs.packbits", BYTES"#, Keeps::All),
    (
        "bool",
        r#"{"name": "packbits", "configuration": {"padding_encoding": "first_byte"}}, "crc32c""#,
        Keeps::All,
    ),
    (
        "bool",
        r#"{"name": "packbits", "configuration": {"padding_encoding": "last_byte"}}, "numcodecs.lz4""#,
        Keeps::All,
    ),
    (
        "int16",
        r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [256], "codecs": [BYTES], "index_codecs": [BYTES], "index_location": "start"}}, "crc32c""#,
        Keeps::All,
    ),
    (
        "int16",
        r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [64], "codecs": [BYTES, "numcodecs.lz4"], "index_codecs": [BYTES, "crc32c"], "index_location": "end"}}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#,
        Keeps::All,
    ),
    // Without a checksum that chance would have to meet.
    (
        "int16",
        r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [64], "codecs": [BYTES, "numcodecs.lz4"], "index_codecs": [BYTES], "index_location": "end"}}"#,
        Keeps::All,
    ),
    (
        "int16",
        r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [512], "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [128], "codecs": [BYTES], "index_codecs": [BYTES], "index_location": "start"}}], "index_codecs": [BYTES], "index_location": "end"}}"#,
        Keeps::All,
    ),
    ("bool", r#"{"name": "packbits", "configuration": {"padding_encoding": "none"}}"#, Keeps::All),
    (
        "bool",
        r#"{"name": "packbits", "configuration": {"padding_encoding": "first_byte"}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "blosc", "configuration": {"cname": "lz4hc", "clevel": 3, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 1024}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"BYTES, {"name": "numcodecs.lzma", "configuration": {"format": 1, "check": 0, "preset": 0}}"#,
        Keeps::All,
    ),
    ("uint64", r#"{"name": "numcodecs.pcodec", "configuration": {"level": 1}}"#, Keeps::All),
    ("float64", r#"{"name": "numcodecs.pcodec", "configuration": {"level": 8}}"#, Keeps::All),
    (
        "int32",
        r#"{"name": "numcodecs.pcodec", "configuration": {"level": 1, "delta_spec": "try_lookback"}}"#,
        Keeps::All,
    ),
    // Eight blocks, of which some can be read.
    (
        "float32",
        r#"BYTES, {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 3, "shuffle": "shuffle", "typesize": 4, "blocksize": 512}}"#,
        Keeps::All,
    ),
    (
        "float32",
        r#"{"name": "scale_offset", "configuration": {"offset": -0.1, "scale": 10000}}, {"name": "cast_value", "configuration": {"data_type": "uint16", "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}}}, BYTES"#,
        Keeps::Size,
    ),
    (
        "int32",
        r#"{"name": "scale_offset", "configuration": {"offset": 7, "scale": 3}}, BYTES"#,
        Keeps::All,
    ),
    (
        "float64",
        r#"{"name": "cast_value", "configuration": {"data_type": "float16", "rounding": "towards-zero", "out_of_range": "clamp"}}, BYTES"#,
        Keeps::Size,
    ),
    (
        "int16",
        r#"{"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "wrap"}}, {"name": "sharding_indexed", "configuration": {"chunk_shape": [256], "codecs": ["bytes"], "index_codecs": [BYTES], "index_location": "start"}}"#,
        Keeps::Size,
    ),
    ("uint4", r#""packbits""#, Keeps::All),
    (
        "int16",
        r#"{"name": "packbits", "configuration": {"first_bit": 3, "last_bit": 12, "padding_encoding": "last_byte"}}"#,
        Keeps::Size,
    ),
    (
        "float32",
        r#"{"name": "reshape", "configuration": {"shape": [32, -1]}}, BYTES, "numcodecs.lz4""#,
        Keeps::All,
    ),
    (
        "uint16",
        r#"{"name": "imagecodecs_delta", "configuration": {"axis": -1, "dist": 1}}, BYTES, "imagecodecs_lzw""#,
        Keeps::Unwritten,
    ),
    (
        "float32",
        r#"{"name": "imagecodecs_floatpred", "configuration": {"axis": -1}}, "imagecodecs_lzw""#,
        Keeps::Unwritten,
    ),
    ("uint16", r#"BYTES, "imagecodecs_packbits""#, Keeps::Unwritten),
];

/// Cases of zfp, whose C library checks nothing, for chunks of one to four axes:
/// `fixtures/fuzz/zfp_decode`.
#[cfg(feature = "zfp")]
const ZFP_CASES: [(&str, &[u64], &str, Keeps); 16] = [
    ("float32", &[1024], r#""numcodecs.zfpy""#, Keeps::All),
    (
        "float64",
        &[1024],
        r#"{"name": "numcodecs.zfpy", "configuration": {"mode": 4, "tolerance": 0.01}}"#,
        Keeps::Size,
    ),
    (
        "int32",
        &[1024],
        r#"{"name": "numcodecs.zfpy", "configuration": {"mode": 2, "rate": 9}}"#,
        Keeps::Size,
    ),
    (
        "int64",
        &[1024],
        r#"{"name": "numcodecs.zfpy", "configuration": {"mode": 3, "precision": 12}}"#,
        Keeps::Size,
    ),
    ("float32", &[1024], r#"{"name": "zfp", "configuration": {"mode": "reversible"}}"#, Keeps::All),
    (
        "float64",
        &[1024],
        r#"{"name": "zfp", "configuration": {"mode": "fixed_accuracy", "tolerance": 1}}"#,
        Keeps::Size,
    ),
    (
        "int16",
        &[1024],
        r#"{"name": "zfp", "configuration": {"mode": "fixed_rate", "rate": 5.5}}"#,
        Keeps::Size,
    ),
    ("int64", &[1024], r#"{"name": "zfp", "configuration": {"mode": "reversible"}}"#, Keeps::All),
    ("float32", &[32, 32], r#""numcodecs.zfpy""#, Keeps::All),
    (
        "float64",
        &[8, 8, 16],
        r#"{"name": "numcodecs.zfpy", "configuration": {"mode": 4, "tolerance": 0.01}}"#,
        Keeps::Size,
    ),
    ("int32", &[4, 8, 4, 8], r#""numcodecs.zfpy""#, Keeps::All),
    (
        "int64",
        &[5, 7, 3],
        r#"{"name": "numcodecs.zfpy", "configuration": {"mode": 2, "rate": 9}}"#,
        Keeps::Size,
    ),
    (
        "float64",
        &[31, 33],
        r#"{"name": "zfp", "configuration": {"mode": "reversible"}}"#,
        Keeps::All,
    ),
    (
        "int16",
        &[8, 8, 16],
        r#"{"name": "zfp", "configuration": {"mode": "fixed_rate", "rate": 5.5}}"#,
        Keeps::Size,
    ),
    (
        "float32",
        &[5, 3, 2, 7],
        r#"{"name": "zfp", "configuration": {"mode": "fixed_precision", "precision": 14}}"#,
        Keeps::Size,
    ),
    (
        "float32",
        &[1024],
        r#"{"name": "zfp", "configuration": {"mode": "expert", "minbits": 9, "maxbits": 77, "maxprec": 20, "minexp": -9}}"#,
        Keeps::Size,
    ),
];

/// Part of the elements that survives the codecs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// Every bit.
    All,
    /// A whole chunk.
    Size,
    /// Nothing: the codecs are only read.
    Unwritten,
}

fn layouts() -> &'static [ZarrLayout] {
    static LAYOUTS: OnceLock<Vec<ZarrLayout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| {
        // A number of elements that is no multiple of 8 leaves bits over.
        let extent = |data_type: &str| if data_type == "bool" { 1021 } else { 1024 };
        let of = |(data_type, codecs, keeps): &(&str, &str, Keeps)| {
            let layout = layout(data_type, &[extent(data_type)], codecs);
            if *keeps != Keeps::Unwritten {
                use_once(&layout);
            }
            layout
        };
        CASES.iter().map(of).collect()
    })
}

#[expect(clippy::panic, reason = "a target fails by panicking")]
fn layout(data_type: &str, chunk_shape: &[u64], codecs: &str) -> ZarrLayout {
    let bytes = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
    let fill = if data_type == "bool" { "false" } else { "0" };
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {chunk_shape:?},
        "data_type": "{data_type}",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunk_shape:?}}}}},
        "chunk_key_encoding": "default", "fill_value": {fill}, "codecs": [{}]}}"#,
        codecs.replace("BYTES", bytes)
    );
    parse_v3(document.as_bytes())
        .and_then(ZarrLayout::new)
        .unwrap_or_else(|error| panic!("{codecs}: {error}"))
}

/// A chunk through the codecs, so that what they make at first use counts for no input.
fn use_once(layout: &ZarrLayout) {
    let spec = layout.spec();
    let bytes = spec.chunk_shape.iter().product::<u64>() * spec.item_bytes();
    let elements = vec![0; usize::try_from(bytes).unwrap_or(0)];
    let (mut encoded, mut scratch) = (Vec::new(), Vec::new());
    let index = vec![0; spec.shape.len()];
    assert!(layout.encode(&index, &elements, &mut encoded).is_ok());
    assert!(layout.decode(&index, &encoded, &mut scratch).is_ok());
}

/// Of the first byte: the CRC32C that the chunk ends with is to be made right.
const REPAIRED: u8 = 0x80;

/// A byte that names the codecs, then a chunk.
pub(crate) fn target(data: &[u8]) -> bool {
    let Some((&choice, chunk)) = data.split_first() else { return false };
    let position = usize::from(choice & !REPAIRED) % CASES.len();
    let (_, codecs, keeps) = CASES[position];
    let mut chunk = chunk.to_vec();
    if choice & REPAIRED != 0
        && codecs.ends_with(r#""crc32c""#)
        && let Some((content, checksum)) = chunk.split_last_chunk_mut::<4>()
    {
        *checksum = crc32c::crc32c(content).to_le_bytes();
    }
    let layout = &layouts()[position];
    match keeps {
        Keeps::Unwritten => layout.decode(&[0], &chunk, &mut Vec::new()).is_ok(),
        _ => round_trip(layout, &chunk, keeps == Keeps::All),
    }
}

#[cfg(feature = "zfp")]
fn zfp_layouts() -> &'static [ZarrLayout] {
    static LAYOUTS: OnceLock<Vec<ZarrLayout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| {
        let of = |&(data_type, chunk_shape, codecs, _): &(&str, &[u64], &str, Keeps)| {
            let layout = layout(data_type, chunk_shape, codecs);
            use_once(&layout);
            layout
        };
        ZFP_CASES.iter().map(of).collect()
    })
}

/// A byte that names the mode, then a chunk of zfp.
#[cfg(feature = "zfp")]
pub(crate) fn zfp(data: &[u8]) -> bool {
    let Some((&choice, chunk)) = data.split_first() else { return false };
    let position = usize::from(choice) % ZFP_CASES.len();
    round_trip(&zfp_layouts()[position], chunk, ZFP_CASES[position].3 == Keeps::All)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::round_trip::parts_are_those_of_the_whole;

    /// Parts of chunks are decoded at all, so that the checks of parts check some.
    #[test]
    fn parts_of_a_chunk_are_decoded() {
        let seed = include_bytes!("../../../../fixtures/fuzz/chunk_decode/47-coded");
        assert_eq!(parts_are_those_of_the_whole(&layouts()[47], &[0], &seed[1..]), 2);
    }
}
