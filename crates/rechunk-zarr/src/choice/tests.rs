use super::*;

fn chosen(text: &str) -> Vec<CodecSpec> {
    parse_codec_choice(text).unwrap().codecs
}

fn blosc(cname: BloscName, clevel: u8, shuffle: Shuffle) -> Vec<CodecSpec> {
    vec![CodecSpec::Blosc { cname, clevel, shuffle, typesize: 0, blocksize: 0 }]
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
    assert_eq!(chosen(&list)[1], CodecSpec::Crc32c);
    assert_eq!(chosen("null"), []);
    assert_eq!(chosen("[]"), []);
}

#[test]
fn what_is_refused() {
    for (text, message) in [
        ("lzma", r#"codec "lzma" is not supported; there are zstd"#),
        ("zstd:23", r#""23" is not a level from -131072 to 22"#),
        ("gzip:x", r#""x" is not a level from 0 to 9"#),
        ("zstd:1:2", "zstd does not take so many parts"),
        ("none:1", "none does not take so many parts"),
        ("blosc:lz5", r#"blosc compressor "lz5" is not supported"#),
        ("blosc:lz4:5:mix", r#""mix" is not a shuffle"#),
        (r#"{"name": "bytes"}"#, "name only what compresses"),
        (r#"{"name": "zlib"}"#, "use gzip"),
        (r#"{"id": "zstd", "id": "gzip"}"#, "appears twice"),
        ("{", "not valid JSON"),
        ("", "--codec: \"\": codec \"\" is not supported"),
    ] {
        let error = parse_codec_choice(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}\nshould contain\n{message}");
    }
}
