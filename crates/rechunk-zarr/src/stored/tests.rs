use serde_json::{Value, json};

use super::*;
use crate::documents::tests::reread;
use crate::{parse_v2, parse_v3};

fn v2(edits: &Value) -> ArrayMetadata {
    let mut document = json!({
        "zarr_format": 2, "shape": [40], "chunks": [10], "dtype": "<i2", "order": "C",
        "compressor": null, "filters": null, "fill_value": 0,
    });
    document.as_object_mut().unwrap().extend(edits.as_object().unwrap().clone());
    parse_v2(document.to_string().as_bytes(), None).unwrap()
}

fn v3(edits: &Value) -> ArrayMetadata {
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [40], "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}},
        "chunk_key_encoding": {"name": "v2"}, "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    document.as_object_mut().unwrap().extend(edits.as_object().unwrap().clone());
    parse_v3(document.to_string().as_bytes()).unwrap()
}

fn to_v3(source: &ArrayMetadata) -> ArrayMetadata {
    let (target, _) = metadata_of_stored(source, ZarrVersion::V3).unwrap();
    assert_eq!(reread(&target), target, "what is written is what was meant");
    target
}

fn refused(source: &ArrayMetadata, version: ZarrVersion, what: &str) {
    let error = metadata_of_stored(source, version).unwrap_err().to_string();
    assert!(error.contains(what), "{error}");
}

#[test]
fn chunks_keep_their_keys_and_their_codecs() {
    let filters = json!([{"id": "delta", "dtype": "<i2", "astype": "<i4"}]);
    let source = v2(&json!({"filters": filters, "compressor": {"id": "zlib", "level": 3}}));
    let target = to_v3(&source);
    assert_eq!(target.key_encoding.chunk_key(&[3]), "3");
    assert_eq!(target.codec_names(), ["numcodecs.delta", "numcodecs.zlib"]);
    let nested = to_v3(&v2(&json!({"shape": [4, 4], "chunks": [2, 2], "order": "F",
        "dimension_separator": "/", "dtype": ">i2"})));
    assert_eq!(nested.key_encoding.chunk_key(&[1, 0]), "1/0");
    assert_eq!(nested.order.axes, [1, 0]);
    assert_eq!(nested.order.endian, Endian::Big);
}

/// A copy would leave them out, for they round what they are given again.
#[test]
fn filters_that_round_stay() {
    for filter in [
        json!({"id": "fixedscaleoffset", "scale": 10, "offset": 1, "dtype": "<f4", "astype": "<i2"}),
        json!({"id": "quantize", "digits": 3, "dtype": "<f4", "astype": "<f4"}),
        json!({"id": "bitround", "keepbits": 4}),
    ] {
        let source = v2(&json!({"dtype": "<f4", "filters": [filter]}));
        let target = to_v3(&source);
        assert_eq!(target.codecs, source.codecs);
    }
}

#[test]
fn what_v3_has_no_words_for_is_refused() {
    let delta = json!([{"id": "delta", "dtype": ">i2"}]);
    refused(&v2(&json!({"dtype": ">i2", "filters": delta})), ZarrVersion::V3, "big-endian");
    let narrows = json!([{"id": "quantize", "digits": 3, "dtype": "<f8", "astype": "<f4"}]);
    refused(&v2(&json!({"dtype": "<f8", "filters": narrows})), ZarrVersion::V3, "quantize");
    let widens = json!([{"id": "delta", "dtype": "|i1", "astype": "<i4"}]);
    refused(&v2(&json!({"dtype": "|i1", "filters": widens})), ZarrVersion::V3, "delta");
}

#[test]
fn what_v2_has_no_words_for_is_refused() {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let default_keys = json!({"chunk_key_encoding": {"name": "default"}});
    refused(&v3(&default_keys), ZarrVersion::V2, "keys of Zarr v3");
    let crc = json!({"codecs": [little, {"name": "crc32c"}]});
    refused(&v3(&crc), ZarrVersion::V2, "crc32c");
    // Only what is in the way is named.
    let lz4 = json!({"name": "numcodecs.lz4", "configuration": {"acceleration": 1}});
    let both = json!({"codecs": [little, lz4, {"name": "crc32c"}]});
    refused(&v3(&both), ZarrVersion::V2, "codecs crc32c in zarr2");
    let shards = json!({"codecs": [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [5], "codecs": [little], "index_codecs": [little, {"name": "crc32c"}],
    }}]});
    refused(&v3(&shards), ZarrVersion::V2, "shards");
    let transposed = v3(&json!({
        "shape": [4, 4, 4],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2, 2]}},
        "codecs": [{"name": "transpose", "configuration": {"order": [1, 0, 2]}}, little],
    }));
    refused(&transposed, ZarrVersion::V2, "axis order");
}

#[test]
fn the_way_back_says_the_same() {
    let compressor =
        json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0});
    let source = v2(&json!({"compressor": compressor, "dimension_separator": "/"}));
    let (back, _) = metadata_of_stored(&to_v3(&source), ZarrVersion::V2).unwrap();
    assert_eq!(reread(&back), reread(&source));
}

#[test]
fn blocks_of_n5_are_read_as_they_are_written() {
    let plain = v3(&json!({
        "shape": [7, 5],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3, 2]}},
        "codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "gzip", "configuration": {"level": 5}},
        ],
    }));
    let target = to_v3(&plain.in_n5_blocks());
    assert_eq!(target.key_encoding.chunk_key(&[2, 1]), "2/1");
    let document = String::from_utf8(target.documents()[0].1.clone()).unwrap();
    assert!(document.contains("n5_default"), "{document}");
}
