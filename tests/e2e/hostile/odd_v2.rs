//! Group 3, Zarr v2 that is odd and legal: copied, with the right elements.

use serde_json::{Map, Value, json};

use super::build::{
    blosc_stored, changed, coded, coded_array, elements, gzip, rewritten, small, with_compressor,
    zlib, zstd,
};
use super::outcome::to_c_order;
use super::{Case, Elements, Outcome, Scene, play_all};
use crate::arrays::RawArray;

type Change = fn(&mut Value);

fn map(document: &mut Value) -> &mut Map<String, Value> {
    document.as_object_mut().unwrap()
}

/// Spellings of the usual array's metadata that do not change its elements.
#[rustfmt::skip]
const SPELLINGS: [(&str, Change); 18] = [
    ("fill_value null", |d| d["fill_value"] = Value::Null),
    ("fill_value NaN as text", |d| d["fill_value"] = json!("NaN")),
    ("fill_value -Infinity as text", |d| d["fill_value"] = json!("-Infinity")),
    ("fill_value -0.0", |d| d["fill_value"] = json!(-0.0)),
    ("fill_value of an integer of 30 digits", |d| d["fill_value"] = serde_json::from_str("1e30").unwrap()),
    ("no separator", |d| drop(map(d).shift_remove("dimension_separator"))),
    ("separator null", |d| d["dimension_separator"] = Value::Null),
    ("no filters", |d| drop(map(d).shift_remove("filters"))),
    ("filters empty", |d| d["filters"] = json!([])),
    ("no compressor", |d| drop(map(d).shift_remove("compressor"))),
    ("keys that are not known", |d| { d["zzz"] = json!({"must_understand": true}); d["codecs"] = json!([1]); d["node_type"] = json!("group"); }),
    ("a key with a newline and an escape", |d| d["a\n\u{1b}[31m"] = json!("b\u{9b}31m")),
    ("a key of 1 MB", |d| { map(d).insert("k".repeat(1 << 20), json!(1)); }),
    ("an empty key", |d| d[""] = json!(1)),
    ("a value 60 levels deep", |d| d["deep"] = (0..60).fold(json!(1), |inner, _| json!([inner]))),
    ("integers beyond 64 bits", |d| d["big"] = serde_json::from_str("[18446744073709551615]").unwrap()),
    ("dimension names in the wrong document", |d| d["dimension_names"] = json!(["a"])),
    ("shape as integers of 64 bits", |d| d["shape"] = json!([8_u64, 8_u64])),
];

/// Tokens as Python writes them, in place of a value that does not matter.
const TOKENS: [(&str, &str); 7] = [
    ("NaN", "NaN"),
    ("Infinity", "-Infinity"),
    ("1e500", "1e500"),
    ("-1E+999", "-1E+999"),
    ("an integer of 400 digits", "1"),
    ("a float of many digits", "0.1000000000000000055511151231257827021181583404541015625"),
    ("1e-500", "1e-500"),
];

/// Attributes that say nothing about the elements.
#[rustfmt::skip]
const ATTRIBUTES: [(&str, &str); 11] = [
    ("_FillValue NaN", r#"{"_FillValue": NaN}"#),
    ("_FillValue as text", r#"{"_FillValue": "AAAAAAAA+H8="}"#),
    ("1e500", r#"{"valid_max": 1e500, "valid_min": -1e500}"#),
    ("empty", "{}"),
    ("dimension names too many", r#"{"_ARRAY_DIMENSIONS": ["a", "b", "c"]}"#),
    ("dimension names twice", r#"{"_ARRAY_DIMENSIONS": ["x", "x"]}"#),
    ("dimension names of numbers", r#"{"_ARRAY_DIMENSIONS": [1, 2]}"#),
    ("dimension names an object", r#"{"_ARRAY_DIMENSIONS": {"x": 1}}"#),
    ("dimension names with an escape", r#"{"_ARRAY_DIMENSIONS": ["\u001b[31m", "\u0000\u202e"]}"#),
    ("text that looks like our own mark", r#"{"a": "\u0000token:NaN", "b": "\u0000token:x"}"#),
    ("with half an emoji escaped whole", r#"{"a": "\ud83d\ude00"}"#),
];

fn usual(name: String, build: impl Fn(&Scene) + 'static) -> Case {
    let array = small(2);
    Case::new(name, build, Outcome::Copied(Elements::new(&array.shape, elements(&array))))
}

fn spelled() -> impl Iterator<Item = Case> {
    let spelling = |&(name, change): &(&str, Change)| {
        usual(format!("odd v2: {name}"), move |scene| changed(scene, 2, change))
    };
    let token = |&(name, token): &(&'static str, &'static str)| {
        let token = if name.contains("400") { token.repeat(400) } else { token.to_owned() };
        usual(format!("odd v2: a field that is {name}"), move |scene| {
            let field = format!("{{\"other\": [{token}, {{\"a\": {token}}}],");
            rewritten(scene, 2, |text| text.replacen('{', &field, 1).into_bytes());
        })
    };
    let attributes = |&(name, text): &(&str, &'static str)| {
        usual(format!("odd v2: attributes {name}"), move |scene| {
            small(2).write(&scene.source());
            scene.write(".zattrs", text);
        })
    };
    let spellings = SPELLINGS.iter().map(spelling).chain(TOKENS.iter().map(token));
    spellings.chain(ATTRIBUTES.iter().map(attributes))
}

/// A compressor, and the chunk (0, 1) as it may have made it from the usual one.
fn chunk_as(
    name: &str,
    compressor: Value,
    encode: impl Fn(&[u8]) -> Vec<u8> + Copy + 'static,
) -> Case {
    usual(format!("odd v2: {name}"), move |scene| {
        with_compressor(scene, &compressor);
        for index in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            scene.write(&small(2).key(&index), encode(&small(2).chunk(&index)));
        }
    })
}

/// A chunk that an encoder made in two pieces.
fn halves(bytes: &[u8], encode: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    [encode(first), encode(second)].concat()
}

fn skippable(bytes: &[u8]) -> Vec<u8> {
    [&b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"[..], &zstd(bytes)].concat()
}

fn gzip_named(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let builder = flate2::GzBuilder::new().filename("chunk").comment("hello").extra([1, 2, 3]);
    let mut encoder = builder.write(Vec::new(), flate2::Compression::new(0));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn chunks_as() -> Vec<Case> {
    let (zstd_id, gzip_id) = (json!({"id": "zstd", "level": 1}), json!({"id": "gzip", "level": 1}));
    vec![
        chunk_as(
            "zstd with \"checksum\": false",
            json!({"id": "zstd", "level": 0, "checksum": false}),
            zstd,
        ),
        chunk_as("zstd of a level beyond any", json!({"id": "zstd", "level": 4000}), zstd),
        chunk_as("zstd in two frames", zstd_id.clone(), |b| halves(b, zstd)),
        chunk_as("zstd behind a skippable frame", zstd_id, skippable),
        chunk_as("gzip in two members", gzip_id.clone(), |b| halves(b, gzip)),
        chunk_as("gzip with an empty member at its end", gzip_id.clone(), |b| {
            [gzip(b), gzip(b"")].concat()
        }),
        chunk_as("gzip with a name and a comment", gzip_id, gzip_named),
        chunk_as("zlib without a level", json!({"id": "zlib"}), zlib),
        chunk_as("blosc that stored the bytes", json!({"id": "blosc"}), |b| blosc_stored(b, 4)),
        chunk_as("blosc of another typesize", json!({"id": "blosc", "cname": "zstd"}), |b| {
            blosc_stored(b, 1)
        }),
    ]
}

/// Blosc's automatic shuffle, and whatever it says of its own that the metadata does not.
fn blosc_says() -> impl Iterator<Item = Case> {
    let array = coded_array();
    let whole = Elements::new(&array.shape, elements(&array));
    let settings = [
        json!({"id": "blosc", "shuffle": -1}),
        json!({"id": "blosc", "cname": "snappy", "clevel": 9, "shuffle": 2, "blocksize": 1024}),
        json!({"id": "blosc", "cname": "zlib", "clevel": 0, "shuffle": 0, "typesize": 8}),
        json!({"id": "blosc", "blocksize": 2_147_483_647}),
    ];
    settings.into_iter().map(move |compressor| {
        let name = format!("odd v2: blosc chunks under {compressor}");
        let build = move |scene: &Scene| {
            for (key, bytes) in coded("blosc:lz4:5:shuffle", 2) {
                scene.write(&key, bytes);
            }
            let (key, mut document) = coded_array().metadata();
            document["compressor"] = compressor.clone();
            scene.write(key, document.to_string());
        };
        Case::new(name, build, Outcome::Copied(whole.clone()))
    })
}

/// An array of bytes given as (key, bytes), with metadata changed.
fn layout(
    name: &str,
    shape: &'static [u64],
    chunks: &'static [u64],
    change: Change,
    files: Vec<(&'static str, Vec<u8>)>,
    wanted: Vec<u8>,
) -> Case {
    let build = move |scene: &Scene| {
        let (key, mut document) = RawArray::v2(shape, chunks).metadata();
        document["dtype"] = json!("|u1");
        change(&mut document);
        scene.write(key, document.to_string());
        for (key, bytes) in &files {
            scene.write(key, bytes);
        }
    };
    Case::new(format!("odd v2: {name}"), build, Outcome::Copied(Elements::new(shape, wanted)))
}

fn layouts() -> Vec<Case> {
    let same: Change = |_| {};
    vec![
        layout("a scalar", &[], &[], same, vec![("0", vec![7])], vec![7]),
        layout(
            "a scalar that is missing",
            &[],
            &[],
            |d| d["fill_value"] = json!(9),
            vec![],
            vec![9],
        ),
        layout("an axis of no elements", &[0, 4], &[2, 2], same, vec![], vec![]),
        layout(
            "nothing but axes of no elements",
            &[0, 0],
            &[1, 1],
            same,
            vec![("0.0", vec![1])],
            vec![],
        ),
        layout(
            "chunks larger than the array",
            &[2],
            &[100],
            same,
            vec![("0", (0..100).collect())],
            vec![0, 1],
        ),
        layout(
            "all chunks missing",
            &[3],
            &[2],
            |d| d["fill_value"] = json!(5),
            vec![],
            vec![5; 3],
        ),
        layout(
            "a chunk missing, fill_value null",
            &[3],
            &[2],
            |d| d["fill_value"] = Value::Null,
            vec![("1", vec![8, 9])],
            vec![0, 0, 8],
        ),
    ]
}

fn more_layouts() -> Vec<Case> {
    let same: Change = |_| {};
    let count = || (0..6).collect::<Vec<u8>>();
    let twice = |half: &[u8]| [gzip(half), gzip(half)].concat();
    vec![
        layout(
            "order F",
            &[2, 3],
            &[2, 3],
            |d| d["order"] = json!("F"),
            vec![("0.0", count())],
            to_c_order(&count(), &[2, 3], 1),
        ),
        layout(
            "separator /",
            &[2, 3],
            &[2, 3],
            |d| d["dimension_separator"] = json!("/"),
            vec![("0/0", count())],
            count(),
        ),
        layout(
            "both ways to separate",
            &[2, 3],
            &[2, 3],
            same,
            vec![("0.0", count()), ("0/0", vec![9; 6])],
            count(),
        ),
        layout(
            "files that are not chunks",
            &[2],
            &[1],
            same,
            vec![
                ("0", vec![1]),
                ("1", vec![2]),
                ("2", vec![3]),
                ("00", vec![4]),
                ("+1", vec![5]),
                ("-1", vec![6]),
                ("0#1", vec![7]),
                (".zarray.bak", vec![8]),
                (".ZARRAY", vec![b'x']),
            ],
            vec![1, 2],
        ),
        layout(
            "of big-endian elements",
            &[2],
            &[2],
            |d| d["dtype"] = json!(">u2"),
            vec![("0", vec![1, 2, 3, 4])],
            vec![2, 1, 4, 3],
        ),
        layout(
            "of booleans that are neither 0 nor 1",
            &[3],
            &[3],
            |d| d["dtype"] = json!("|b1"),
            vec![("0", vec![0, 1, 255])],
            vec![0, 1, 255],
        ),
        layout(
            "of rank 32",
            &[1; 32],
            &[1; 32],
            same,
            vec![("0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0", vec![3])],
            vec![3],
        ),
        layout(
            "gzip of two members that are alike",
            &[8],
            &[8],
            |d| d["compressor"] = json!({"id": "gzip"}),
            vec![("0", twice(&[1, 2, 3, 4]))],
            vec![1, 2, 3, 4, 1, 2, 3, 4],
        ),
        layout(
            "integers with a fill_value of a whole float",
            &[3],
            &[2],
            |d| d["fill_value"] = json!(5.0),
            vec![],
            vec![5; 3],
        ),
        layout(
            "zattrs and zarr.json's neighbours",
            &[2],
            &[2],
            same,
            vec![
                ("0", vec![1, 2]),
                (".zgroup", b"rubbish".to_vec()),
                (".zmetadata", b"rubbish".to_vec()),
                ("attributes.json", b"rubbish".to_vec()),
            ],
            vec![1, 2],
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    spelled()
        .chain(chunks_as())
        .chain(blosc_says())
        .chain(layouts())
        .chain(more_layouts())
        .collect()
}

#[test]
fn odd_v2_arrays_are_copied() {
    play_all("odd Zarr v2", &cases());
}
