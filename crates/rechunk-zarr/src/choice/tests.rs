use rechunk_grid::DataType;

use super::*;

/// Codecs that are chosen for big-endian floats in v3.
fn chosen(text: &str) -> Vec<CodecSpec> {
    parse_codec_choice(text).unwrap().bound_to(FLOATS, ZarrVersion::V3).unwrap()
}

const FLOATS: ElementType = ElementType { data_type: DataType::Float32, endian: Endian::Big };

fn blosc(cname: BloscName, clevel: u8, shuffle: Shuffle) -> Vec<CodecSpec> {
    vec![CodecSpec::Blosc { cname, clevel, shuffle, typesize: 4, blocksize: 0 }]
}

#[test]
fn short_forms() {
    assert_eq!(chosen("none"), []);
    assert_eq!(chosen("zstd"), [CodecSpec::Zstd { level: 3, checksum: false }]);
    assert_eq!(chosen(" zstd:-7 "), [CodecSpec::Zstd { level: -7, checksum: false }]);
    assert_eq!(chosen("gzip:5"), [CodecSpec::Gzip { level: 5 }]);
    assert_eq!(chosen("zlib:9"), [CodecSpec::Zlib { level: 9 }]);
    assert_eq!(chosen("blosc"), blosc(BloscName::Lz4, 5, Shuffle::Byte));
    assert_eq!(chosen("blosc:zstd"), blosc(BloscName::Zstd, 5, Shuffle::Byte));
    assert_eq!(chosen("blosc:zstd:1:bitshuffle"), blosc(BloscName::Zstd, 1, Shuffle::Bit));
    assert_eq!(chosen("blosc:snappy:9:none"), blosc(BloscName::Snappy, 9, Shuffle::None));
}

#[test]
fn json_forms() {
    assert_eq!(chosen(r#"{"id": "zstd", "level": 3}"#), chosen("zstd:3"));
    let v3 = r#"{"name": "zstd", "configuration": {"level": 3, "checksum": true}}"#;
    assert_eq!(chosen(v3), [CodecSpec::Zstd { level: 3, checksum: true }]);
    let list = format!(r#"[{v3}, "crc32c"]"#);
    assert_eq!(chosen(&list)[1], CodecSpec::CRC32C);
    assert_eq!(chosen("null"), []);
    let zarray = r#"{"filters": [{"id": "shuffle"}], "compressor": {"id": "bz2", "level": 3}}"#;
    let shuffle = CodecSpec::Shuffle { element_bytes: 4 };
    assert_eq!(chosen(zarray), [shuffle, CodecSpec::Bz2 { level: 3 }]);
    assert_eq!(chosen(r#"{"filters": null, "compressor": null}"#), []);
    let bytes = r#"[{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]"#;
    assert_eq!(chosen(bytes), [CodecSpec::CRC32C]);
    assert_eq!(parse_codec_choice(bytes).unwrap().endian(), Some(Endian::Little));
    assert_eq!(parse_codec_choice("pcodec").unwrap().endian(), Some(Endian::Little));
    assert_eq!(chosen("[]"), []);
}

/// Why zfpy is refused for big-endian elements, in a build with zfp and in one without.
const NO_ZFPY: &str = if rechunk_codec::zfp::IS_BUILT_IN {
    r#"codec "zfpy" on >f4 is not supported; it has little-endian int32"#
} else {
    r#"codec "zfpy" is not supported; this program was built without zfp; `cargo build --release -p rechunk-cli --features zfp` makes one"#
};

#[test]
fn what_is_refused() {
    for (text, message) in [
        ("lzo", r#"codec "lzo" is not supported; there are zstd"#),
        ("lzma:10", r#""10" is not a level from 0 to 9"#),
        ("bz2:0", r#""0" is not a level from 1 to 9"#),
        ("lz4:1", "lz4 does not take so many parts"),
        (r#"{"id": "zfpy"}"#, NO_ZFPY),
        (r#"{"id": "packbits"}"#, r#"codec "packbits" on float32"#),
        (r#"{"id": "delta"}"#, r#""codec.dtype": is missing"#),
        (r#"{"id": "delta", "dtype": "<U7"}"#, r#"data type "<U7" is not supported"#),
        (r#"{"id": "lzma", "format": 3}"#, r#""codec.filters": is missing"#),
        (r#"{"id": "pcodec"}"#, r#"codec "pcodec" on >f4"#),
        ("zstd:23", r#""23" is not a level from -131072 to 22"#),
        ("gzip:x", r#""x" is not a level from 0 to 9"#),
        ("zstd:1:2", "zstd does not take so many parts"),
        ("none:1", "none does not take so many parts"),
        ("blosc:lz5", r#"blosc compressor "lz5" is not supported"#),
        ("blosc:lz4:5:mix", r#""mix" is not a shuffle"#),
        (
            r#"["crc32c", {"name": "transpose", "configuration": {"order": [1, 0]}}]"#,
            "before all others",
        ),
        (
            r#"["bytes", {"name": "transpose", "configuration": {"order": [1, 0]}}]"#,
            "before all others",
        ),
        (r#"{"filters": {"id": "delta"}, "compressor": null}"#, "expected a list"),
        (r#"{"name": "lzo"}"#, r#"codec "lzo" is not supported"#),
        (r#"{"name": "numcodecs.zfpy"}"#, NO_ZFPY),
        (r#"{"name": "bytes", "configuration": {"endian": "middle"}}"#, r#"expected "little""#),
        (r#"{"id": "zstd", "id": "gzip"}"#, "appears twice"),
        ("{", "not valid JSON"),
        ("", "--codec: \"\": codec \"\" is not supported"),
    ] {
        let choice = parse_codec_choice(text);
        let bound = choice.and_then(|choice| choice.bound_to(FLOATS, ZarrVersion::V2));
        let error = bound.unwrap_err().to_string();
        assert!(error.contains(message), "{error}\nshould contain\n{message}");
    }
}

#[test]
fn filters_of_lzma_are_its_own() {
    let own =
        r#"{"id": "lzma", "format": 3, "check": -1, "preset": null, "filters": [{"id": 33}]}"#;
    assert!(matches!(chosen(own)[..], [CodecSpec::Lzma(_)]), "{:?}", chosen(own));
}

#[test]
fn an_order_of_axes_can_be_chosen() {
    let axes = |text: &str, rank| parse_codec_choice(text).unwrap().axes(rank);
    let text = r#"[{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, "crc32c"]"#;
    assert_eq!(axes(text, 3).unwrap(), Some(vec![2, 0, 1]));
    assert_eq!(axes("zstd", 3).unwrap(), None);
    for (rank, order) in [(2, "[2, 0, 1]"), (3, "[0, 0, 1]"), (3, r#""F""#), (3, "[0, 1]")] {
        let text = format!(r#"{{"name": "transpose", "configuration": {{"order": {order}}}}}"#);
        let error = axes(&text, rank).unwrap_err().to_string();
        assert!(error.contains("transpose.configuration.order"), "{error}");
    }
}

#[test]
fn pcodec_is_for_numbers_that_it_has() {
    let choice = parse_codec_choice("pcodec").unwrap();
    let bound = |data_type| {
        let element = ElementType::new(data_type, Endian::Little);
        choice.bound_to(element, ZarrVersion::V3).map_err(|error| error.to_string())
    };
    bound(DataType::Float16).unwrap();
    for data_type in [
        DataType::Uint8,
        DataType::Bfloat16,
        DataType::Complex64,
        DataType::FixedBytes { bytes: 4 },
    ] {
        let error = bound(data_type).unwrap_err();
        assert!(error.contains("codec \"pcodec\" on"), "{error}");
    }
}
