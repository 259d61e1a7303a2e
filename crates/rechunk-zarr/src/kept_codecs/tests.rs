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
    assert_eq!(kept(&source, V3), (vec!["delta", "shuffle", "zstd"], 3));
}

/// Every reader of v3 has what stands in their place, and --codec keep keeps them.
#[test]
fn compressors_without_a_name_in_v3_become_the_nearest() {
    for (compressor, nearest) in [
        (json!({"id": "zlib", "level": 4}), "gzip(level 4)"),
        (json!({"id": "bz2", "level": 1}), "zstd(level 9)"),
        (json!({"id": "lzma", "preset": 2}), "zstd(level 9)"),
        (json!({"id": "lzma", "format": 2}), "zstd(level 9)"),
        (json!({"id": "lz4", "acceleration": 1}), "blosc(lz4, level 5, noshuffle)"),
    ] {
        let source = source("<f4", &json!(0), &json!(null), &compressor);
        let target = |codec: Option<&str>| {
            let codec = codec.map(|text| crate::parse_codec_choice(text).unwrap());
            let options =
                TargetOptions { version: V3, chunk_shape: vec![7], shard_shape: None, codec };
            let (target, warnings) = target_metadata(&source, &options).unwrap();
            assert_eq!(reread(&target), target, "what is written is what was meant");
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            (target.codecs[0].to_string(), warnings[0].clone())
        };
        let (codec, said) = target(None);
        assert_eq!(codec, nearest, "{compressor}");
        assert!(said.contains(nearest) && said.contains("--codec keep"), "{said}");
        let (codec, said) = target(Some("keep"));
        assert_eq!(codec, source.codecs[0].to_string());
        assert!(said.contains("numcodecs."), "{said}");
    }
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
fn wider_integers_hold_what_is_there() {
    let as_type = |from: &str, to: &str| {
        let filter = json!([{"id": "astype", "encode_dtype": to, "decode_dtype": from}]);
        source(from, &json!(7), &filter, &json!(null))
    };
    for (from, to) in [("<u2", "<u4"), ("<i2", "<i8"), ("<u2", "<i4"), ("<i4", "<f8")] {
        assert_eq!(kept(&as_type(from, to), V2), (vec!["astype"], 0), "{from} {to}");
    }
    for (from, to) in [("<i4", "<f4"), ("<i2", "<u4"), ("<f4", "<f8"), ("<i8", "<f8")] {
        assert_eq!(kept(&as_type(from, to), V2), (vec![], 1), "{from} {to}");
    }
}

/// zarr-python has lost the byte order by then.
#[test]
fn what_widens_bytes_is_left_out_of_v3() {
    for filter in [
        json!({"id": "delta", "dtype": "|i1", "astype": "<i2"}),
        json!({"id": "astype", "decode_dtype": "|i1", "encode_dtype": "<i4"}),
    ] {
        let id = filter["id"].as_str().unwrap().to_owned();
        let shuffle = json!({"id": "shuffle", "elementsize": 2});
        let source = source("|i1", &json!(0), &json!([filter, shuffle]), &json!(null));
        assert_eq!(kept(&source, V2), (vec![&id[..], "shuffle"], 0));
        assert_eq!(kept(&source, V3), (vec![], 2));
    }
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

/// The codecs of a target, and its warnings.
#[cfg(feature = "zfp")]
fn target(source: &ArrayMetadata, version: ZarrVersion) -> (String, Vec<String>) {
    let options = TargetOptions { version, chunk_shape: vec![7], shard_shape: None, codec: None };
    let (target, warnings) = target_metadata(source, &options).unwrap();
    assert_eq!(reread(&target), target, "what is written is what was meant");
    let names: Vec<String> = target.codecs.iter().map(ToString::to_string).collect();
    (names.join(" + "), warnings)
}

#[cfg(feature = "zfp")]
#[test]
fn zfp_does_not_round_twice() {
    let zfpy = json!({"id": "zfpy", "mode": 4, "tolerance": 0.01, "rate": -1, "precision": -1});
    let lossy = source("<f4", &json!(0), &Value::Null, &zfpy);
    assert_eq!(lossy.codecs[0].to_string(), "zfpy(accuracy 0.01)");
    let (codecs, warnings) = target(&lossy, V2);
    assert_eq!(codecs, "zfpy(reversible)");
    assert_eq!(
        warnings,
        ["zfpy(accuracy 0.01) has rounded what the source holds: it is written as \
          zfpy(reversible), so that nothing is rounded again"]
    );
    let (codecs, warnings) = target(&lossy, V3);
    assert_eq!((codecs.as_str(), warnings.len()), ("zfpy(reversible)", 2));
    let exact = source("<f4", &json!(0), &Value::Null, &json!({"id": "zfpy"}));
    assert_eq!(target(&exact, V2), ("zfpy(reversible)".to_owned(), vec![]));
}

#[cfg(feature = "zfp")]
#[test]
fn zfp_of_v3_in_v2() {
    let of = |data_type: &str, fill: Value| {
        let document = json!({
            "zarr_format": 3, "node_type": "array", "shape": [40], "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}},
            "chunk_key_encoding": "default", "fill_value": fill, "codecs": [
                {"name": "zarrs.zfp", "configuration": {"mode": "fixed_rate", "rate": 9.5}}],
        });
        crate::parse_v3(document.to_string().as_bytes()).unwrap()
    };
    assert_eq!(target(&of("int32", json!(0)), V3).0, "zfp(reversible)");
    assert_eq!(target(&of("int32", json!(0)), V2).0, "zfpy(reversible)");
    let (codecs, warnings) = target(&of("int16", json!(0)), V2);
    assert_eq!(codecs, "");
    assert!(warnings[1].contains("no zfp of int16"), "{warnings:?}");
    // Numbers of 2^31 and more it cannot hold.
    assert_eq!(target(&of("uint32", json!(0x7fff_ffff)), V3).0, "zfp(reversible)");
    let (codecs, warnings) = target(&of("uint32", json!(0x8000_0000_u32)), V3);
    assert_eq!(codecs, "");
    assert!(warnings[0].contains("cannot hold the fill value"), "{warnings:?}");
}

#[cfg(feature = "zfp")]
#[test]
fn what_filters_leave_is_what_zfp_is_given() {
    // The filter is left out, since it could not give back what it is given.
    let filter = json!([{"id": "fixedscaleoffset", "dtype": "<f8", "astype": "<i4", "offset": 0,
        "scale": 1000}]);
    let source = source("<f8", &json!(0), &filter, &json!({"id": "zfpy"}));
    assert_eq!(source.codecs[1].input().unwrap().numpy(), "<i4");
    let options =
        TargetOptions { version: V2, chunk_shape: vec![7], shard_shape: None, codec: None };
    let (target, _) = target_metadata(&source, &options).unwrap();
    assert_eq!(target.codecs[0].input().unwrap().numpy(), "<f8");
    assert_eq!(reread(&target), target, "what is written is what was meant");
}
