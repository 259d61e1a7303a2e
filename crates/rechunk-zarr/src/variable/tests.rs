use super::*;
use crate::documents::tests::reread;
use crate::{TargetOptions, parse_codec_choice, parse_v2, parse_v3, target_metadata};

fn v2(filters: &Value, compressor: &Value, fill_value: &Value) -> ArrayMetadata {
    let document = json!({
        "zarr_format": 2, "shape": [5, 3], "chunks": [2, 8], "dtype": "|O", "compressor": compressor,
        "fill_value": fill_value, "order": "C", "filters": filters,
    });
    parse_v2(document.to_string().as_bytes(), None).unwrap()
}

fn v3(data_type: &str, codecs: &Value, fill_value: &Value) -> ArrayMetadata {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [5, 3], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 8]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value, "codecs": codecs,
    });
    parse_v3(document.to_string().as_bytes()).unwrap()
}

fn options(version: ZarrVersion) -> TargetOptions {
    TargetOptions { version, chunk_shape: vec![2, 3], shard_shape: None, codec: None }
}

fn to(source: &ArrayMetadata, version: ZarrVersion) -> Result<ArrayMetadata, String> {
    let (target, _) = target_metadata(source, &options(version)).map_err(|e| e.to_string())?;
    assert_eq!(reread(&target), target);
    assert_eq!(target.spec.chunk_shape, [2, 8], "the chunk that is stored, not the clipped one");
    Ok(target)
}

#[test]
fn the_same_version_is_carried_as_it_stands() {
    let json2 = json!([{"id": "json2", "allow_nan": true, "separators": [",", ":"]}]);
    let source = v2(&json2, &json!({"id": "lzma9000", "x": 1}), &json!(0));
    assert_eq!(to(&source, ZarrVersion::V2).unwrap(), source);
    assert_eq!(source.data_type_name(), "|O (json2)");
    assert_eq!(summary(&source), "json2 + lzma9000");
    let codecs = json!([{"name": "vlen-utf8"}, {"name": "lzma9000", "configuration": {"x": 1}}]);
    let source = v3("string", &codecs, &json!("no"));
    assert_eq!(to(&source, ZarrVersion::V3).unwrap(), source);
    assert_eq!(source.data_type_name(), "string");
    assert_eq!(source.fill_value_text(), "no");
}

#[test]
fn strings_change_version_where_their_bytes_do_not() {
    let zstd = json!({"id": "zstd", "level": 1});
    for (filter, data_type) in [("vlen-utf8", "string"), ("vlen-bytes", "bytes")] {
        let source = v2(&json!([{"id": filter}]), &zstd, &json!("eA=="));
        let target = to(&source, ZarrVersion::V3).unwrap();
        assert_eq!(target.verbatim.data_type, Some(json!(data_type)));
        assert_eq!(target.verbatim.fill_value, Some(json!("eA==")));
        assert_eq!(identity(&source), identity(&target));
        let back = to(&target, ZarrVersion::V2).unwrap();
        assert_eq!(identity(&back), identity(&source));
        assert_eq!(back.verbatim.data_type, source.verbatim.data_type);
    }
    let blosc = json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0});
    let source = v2(&json!([{"id": "vlen-utf8"}]), &blosc, &json!(null));
    let target = to(&source, ZarrVersion::V3).unwrap();
    assert_eq!(identity(&source), identity(&target));
    assert_eq!(target.verbatim.fill_value, Some(json!("")));
    // What zarr-python 2 says of everything.
    for (filter, fill) in [("vlen-utf8", "0"), ("vlen-bytes", "")] {
        let source = v2(&json!([{"id": filter}]), &Value::Null, &json!(0));
        let (target, warnings) = target_metadata(&source, &options(ZarrVersion::V3)).unwrap();
        assert_eq!(target.verbatim.fill_value, Some(json!(fill)));
        assert!(warnings[0].contains("the fill value 0 becomes"), "{warnings:?}");
    }
}

#[test]
fn strings_are_cut_with_any_bytes_codecs() {
    let utf8 = json!([{"id": "vlen-utf8"}]);
    let source = v2(&utf8, &json!({"id": "zlib", "level": 1}), &json!("é"));
    let mut wish = options(ZarrVersion::V3);
    (wish.chunk_shape, wish.shard_shape) = (vec![1, 2], Some(vec![5, 4]));
    wish.codec = Some(parse_codec_choice("zstd:1").unwrap());
    let (target, _) = target_metadata(&source, &wish).unwrap();
    assert_eq!(reread(&target), target);
    assert_eq!(target.spec.chunk_shape, [1, 2]);
    assert_eq!(target.object_shape(), [5, 4]);
    let layout = crate::ZarrLayout::new(target.clone()).unwrap();
    let variable = rechunk_format::Layout::variable(&layout).unwrap();
    assert_eq!(variable.fill(), Some("é".as_bytes()));
    let stream = b"\x02\0\0\0\x01\0\0\0a\0\0\0\0".to_vec();
    let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    variable.encode(&stream, &mut encoded).unwrap();
    assert!(variable.decode(&encoded, stream.len(), &mut decoded).unwrap());
    assert_eq!(decoded, stream);
    assert!(!variable.decode(&encoded, stream.len() - 1, &mut decoded).unwrap());
    // Chunks that are taken out of their shards stay what they are.
    let mut wish = options(ZarrVersion::V2);
    wish.chunk_shape = vec![1, 2];
    let (back, _) = target_metadata(&target, &wish).unwrap();
    assert_eq!(identity(&back), identity(&target));
    assert_eq!((back.sharding.clone(), reread(&back)), (None, back));
}

#[test]
fn codecs_of_both_versions_are_kept() {
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    let two = v3("string", &json!(["vlen-utf8", gzip, "crc32c"]), &json!(""));
    assert_eq!(summary(&two), "vlen-utf8 + gzip + crc32c");
    let (target, _) = target_metadata(&two, &options(ZarrVersion::V2)).unwrap();
    assert_eq!(reread(&target), target);
    let blosc = json!({"name": "blosc", "configuration": {
        "cname": "zstd", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}});
    let source = v3("bytes", &json!(["vlen-bytes", blosc]), &json!([97, 98]));
    let (target, _) = target_metadata(&source, &options(ZarrVersion::V2)).unwrap();
    assert_eq!(target.verbatim.fill_value, Some(json!("YWI=")));
    let array = v2(&json!([{"id": "vlen-array", "dtype": "<i4"}]), &Value::Null, &json!(0));
    let mut wish = options(ZarrVersion::V2);
    wish.chunk_shape = vec![5, 3];
    assert!(target_metadata(&array, &wish).is_ok());
}

#[test]
fn everything_else_is_refused_with_a_reason() {
    let json2 = v2(&json!([{"id": "json2"}]), &Value::Null, &json!(0));
    let refused = |source: &ArrayMetadata, options: &TargetOptions, part: &str| {
        let message = target_metadata(source, options).unwrap_err().to_string();
        assert!(message.contains(part) && message.contains("--chunks keep"), "{message}");
    };
    let mut other = options(ZarrVersion::V2);
    other.chunk_shape = vec![1, 3];
    refused(&json2, &other, "re-cutting elements of variable length (|O (json2))");
    let mut other = options(ZarrVersion::V2);
    other.codec = Some(parse_codec_choice("zstd").unwrap());
    refused(&json2, &other, "another codec");
    refused(&json2, &options(ZarrVersion::V3), "another version of Zarr");
    let array = v2(&json!([{"id": "vlen-array", "dtype": "<i4"}]), &Value::Null, &json!(0));
    refused(&array, &options(ZarrVersion::V3), "lists of numbers in Zarr v3");
    // A filter of numbers has nothing to do with text.
    let mut delta = options(ZarrVersion::V2);
    delta.codec = Some(parse_codec_choice(r#"[{"id": "delta", "dtype": "<i4"}]"#).unwrap());
    let utf8 = v2(&json!([{"id": "vlen-utf8"}]), &Value::Null, &json!(""));
    let message = target_metadata(&utf8, &delta).unwrap_err().to_string();
    assert!(message.contains("on elements of variable length"), "{message}");
    let layout = crate::ZarrLayout::new(utf8).unwrap();
    let mut scratch = Vec::new();
    let decoded = rechunk_format::Layout::decode(&layout, &[0], &[0; 4], &mut scratch);
    assert!(decoded.unwrap_err().to_string().contains("decoding elements of variable length"));
}

#[test]
fn codecs_have_to_be_there() {
    let document = json!({
        "zarr_format": 2, "shape": [5], "chunks": [2], "dtype": "|O", "compressor": null,
        "fill_value": 0, "order": "C", "filters": [],
    });
    let error = parse_v2(document.to_string().as_bytes(), None).unwrap_err().to_string();
    assert!(error.contains("no filter says how elements"), "{error}");
}
