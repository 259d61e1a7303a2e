use serde_json::{Value, json};

use super::*;
use crate::documents::tests::reread;
use crate::{TargetOptions, ZarrLayout, parse_v2, target_metadata};

fn source(dtype: &str, fill: &Value, filters: &Value, compressor: &Value) -> ArrayMetadata {
    let document = json!({
        "zarr_format": 2, "shape": [40], "chunks": [10], "dtype": dtype, "order": "C",
        "compressor": compressor, "filters": filters, "fill_value": fill,
    });
    parse_v2(document.to_string().as_bytes(), None).unwrap()
}

/// Names of what is kept, and how many warnings.
fn kept(source: &ArrayMetadata, version: ZarrVersion) -> (Vec<&'static str>, usize) {
    let options = TargetOptions { version, chunk_shape: vec![7], shard_shape: None, codec: None };
    let (target, warnings) = target_metadata(source, &options).unwrap();
    assert_eq!(reread(&target), target, "what is written is what was meant");
    assert!(ZarrLayout::new(target.clone()).is_ok());
    (target.codecs.iter().map(CodecSpec::name).collect(), warnings.len())
}

const V2: ZarrVersion = ZarrVersion::V2;
const V3: ZarrVersion = ZarrVersion::V3;

#[test]
fn lossless_filters_are_kept() {
    let filters = json!([
        {"id": "delta", "dtype": "<i2", "astype": "<i4"}, {"id": "shuffle", "elementsize": 4},
    ]);
    let source = source("<i2", &json!(0), &filters, &json!({"id": "bz2", "level": 1}));
    assert_eq!(kept(&source, V2), (vec!["delta", "shuffle", "bz2"], 0));
    assert_eq!(kept(&source, V3), (vec!["delta", "shuffle", "bz2"], 3));
}

#[test]
fn rounding_is_not_done_twice() {
    for filter in [
        json!({"id": "bitround", "keepbits": 3}),
        json!({"id": "quantize", "digits": 2, "dtype": "<f4"}),
        json!({"id": "delta", "dtype": "<f4"}),
    ] {
        let source = source("<f4", &json!(0), &json!([filter]), &json!({"id": "zlib"}));
        assert_eq!(kept(&source, V2), (vec!["zlib"], 1), "{filter}");
        assert_eq!(kept(&source, V3), (vec!["gzip"], 2), "{filter}");
    }
}

#[test]
fn conversions_are_kept_where_nothing_is_lost() {
    let scaled = |astype: &str, scale: f64| json!({"id": "fixedscaleoffset", "dtype": "<f4", "astype": astype, "offset": 1000, "scale": scale});
    let as_type = |to: &str| json!({"id": "astype", "encode_dtype": to, "decode_dtype": "<f4"});
    for (filter, fill, is_kept) in [
        (scaled("<i2", 10.0), json!(1000.5), true),
        // The fill value is not among what can be stored.
        (scaled("<i2", 10.0), json!(0.25), false),
        (scaled("<i2", 10.0), json!("NaN"), false),
        (scaled("<i2", 10.0), Value::Null, true),
        // So fine that the type has no room for what is nearest.
        (scaled("<i2", 1e9), Value::Null, false),
        (scaled("<i4", 10.0), Value::Null, false),
        (as_type("<i2"), json!(7), true),
        (as_type("<i2"), json!(7.5), false),
        (as_type("<f2"), json!("NaN"), true),
        (as_type("<i4"), json!(7), false),
        (as_type("<f8"), json!(7), false),
    ] {
        let source = source("<f4", &fill, &json!([filter]), &json!({"id": "zlib"}));
        let names = kept(&source, V2).0;
        assert_eq!(names.len() == 2, is_kept, "{filter} {fill}: {names:?}");
    }
    let both = json!([scaled("<i4", 10.0), {"id": "delta", "dtype": "<i4"}, {"id": "shuffle"}]);
    let source = source("<f4", &Value::Null, &both, &json!({"id": "zlib"}));
    assert_eq!(kept(&source, V2), (vec!["zlib"], 3), "what followed goes with it");
}

#[test]
fn differences_must_fit_at_every_cut() {
    let filter = json!([{"id": "delta", "dtype": "<i2", "astype": "|i1"}]);
    let source = source("<i2", &json!(0), &filter, &json!(null));
    assert_eq!(kept(&source, V2), (vec![], 1));
}

#[test]
fn v3_has_one_order() {
    let mixed = json!([{"id": "delta", "dtype": ">i2", "astype": "<i4"}]);
    let array = source(">i2", &json!(0), &mixed, &json!({"id": "zstd", "level": 1}));
    assert_eq!(kept(&array, V2).0, ["delta", "zstd"]);
    // In the order that every reader takes there.
    assert_eq!(kept(&array, V3).0, ["delta", "zstd"]);
    let late = json!([{"id": "shuffle", "elementsize": 2}, {"id": "delta", "dtype": ">i2"}]);
    let array = source(">i2", &json!(0), &late, &json!(null));
    assert_eq!(kept(&array, V3).0, ["shuffle"]);
}

#[test]
fn blosc_sees_what_filters_leave() {
    let filters = json!([{"id": "delta", "dtype": "<i2", "astype": "<i4"}]);
    let array = source("<i2", &json!(0), &filters, &json!({"id": "blosc"}));
    let typesize = |metadata: &ArrayMetadata| match metadata.codecs.last() {
        Some(CodecSpec::Blosc { typesize, .. }) => *typesize,
        other => panic!("{other:?}"),
    };
    assert_eq!(typesize(&array), 4);
    let shuffled = json!([{"id": "shuffle", "elementsize": 2}]);
    assert_eq!(typesize(&source("<i2", &json!(0), &shuffled, &json!({"id": "blosc"}))), 1);
}
