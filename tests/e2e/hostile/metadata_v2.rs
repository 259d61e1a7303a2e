//! Group 2, Zarr v2 metadata that is wrong: refused before anything is written, naming document and
//! field, and without believing a number in it.

use serde_json::{Value, json};

use super::build::{changed, rewritten, small};
use super::{Case, Outcome, Scene, play_all};

type Change = fn(&mut Value);
type Rewrite = fn(String) -> Vec<u8>;

/// Changes in a document that is fine otherwise, and words of the message.
#[rustfmt::skip]
const FIELDS: [(&str, Change, &[&str]); 49] = [
    ("no zarr_format", |d| drop(d.as_object_mut().unwrap().shift_remove("zarr_format")), &["zarr_format", "missing"]),
    ("zarr_format 1", |d| d["zarr_format"] = json!(1), &["zarr_format"]),
    ("zarr_format \"two\"", |d| d["zarr_format"] = json!("two"), &["zarr_format"]),
    ("no shape", |d| drop(d.as_object_mut().unwrap().shift_remove("shape")), &["shape", "missing"]),
    ("no chunks", |d| drop(d.as_object_mut().unwrap().shift_remove("chunks")), &["chunks", "missing"]),
    ("no dtype", |d| drop(d.as_object_mut().unwrap().shift_remove("dtype")), &["dtype", "missing"]),
    ("no order", |d| drop(d.as_object_mut().unwrap().shift_remove("order")), &["order", "missing"]),
    ("no fill_value", |d| drop(d.as_object_mut().unwrap().shift_remove("fill_value")), &["fill_value", "missing"]),
    ("shape of a negative", |d| d["shape"] = json!([-8, 8]), &["shape", "-8"]),
    ("shape of a float", |d| d["shape"] = json!([8.5, 8]), &["shape", "8.5"]),
    ("shape of text", |d| d["shape"] = json!("8,8"), &["shape", "8,8"]),
    ("shape of lists", |d| d["shape"] = json!([[8], [8]]), &["shape"]),
    ("shape of booleans", |d| d["shape"] = json!([true, true]), &["shape"]),
    ("shape of an object", |d| d["shape"] = json!({"0": 8, "1": 8}), &["shape"]),
    ("shape beyond 64 bits", |d| d["shape"] = json!([1e300, 8]), &["shape"]),
    ("more elements than can be counted", |d| d["shape"] = json!([u64::MAX, u64::MAX]), &["chunks"]),
    ("chunks of zero", |d| d["chunks"] = json!([0, 4]), &["chunks"]),
    ("chunks of a negative", |d| d["chunks"] = json!([-4, 4]), &["chunks", "-4"]),
    ("chunks that are true", |d| d["chunks"] = json!(true), &["chunks", "true"]),
    ("chunks of another rank", |d| d["chunks"] = json!([4, 4, 4]), &["chunks"]),
    ("chunks of no rank", |d| d["chunks"] = json!([]), &["chunks"]),
    ("rank 40", |d| { d["shape"] = json!(vec![2; 40]); d["chunks"] = json!(vec![2; 40]); }, &["40", "32"]),
    ("rank 30000", |d| { d["shape"] = json!(vec![1; 30_000]); d["chunks"] = json!(vec![1; 30_000]); }, &["30000"]),
    ("chunks of 2^80 bytes", |d| d["chunks"] = json!([1_u64 << 40, 1_u64 << 40]), &["chunks", "63 bits"]),
    ("dtype empty", |d| d["dtype"] = json!(""), &["dtype"]),
    ("dtype of rubbish", |d| d["dtype"] = json!("<\u{1b}[31mf4"), &["dtype"]),
    ("dtype without byte order", |d| d["dtype"] = json!("f4"), &["dtype"]),
    ("dtype of no byte order for two bytes", |d| d["dtype"] = json!("|u2"), &["dtype", "byte order"]),
    ("dtype of 100000 characters", |d| d["dtype"] = json!("<".repeat(100_000)), &["dtype"]),
    ("dtype of fields without a type", |d| d["dtype"] = json!([["a"]]), &["dtype"]),
    ("dtype a number", |d| d["dtype"] = json!(4), &["dtype", "4"]),
    ("dtype of an unknown time", |d| d["dtype"] = json!("<M8[eon]"), &["dtype", "M8"]),
    ("compressor not known", |d| d["compressor"] = json!({"id": "lzma9000"}), &["compressor", "lzma9000"]),
    ("compressor with a name of 1 MB", |d| d["compressor"] = json!({"id": "x".repeat(1 << 20)}), &["compressor", "xxxx"]),
    ("compressor without id", |d| d["compressor"] = json!({"level": 3}), &["compressor", "id"]),
    ("compressor a string", |d| d["compressor"] = json!("zstd"), &["compressor", "zstd"]),
    ("compressor of level 99", |d| d["compressor"] = json!({"id": "gzip", "level": 99}), &["compressor", "level"]),
    ("compressor of level NaN", |d| d["compressor"] = json!({"id": "zstd", "level": "NaN"}), &["compressor", "level"]),
    ("blosc with a cname of its own", |d| d["compressor"] = json!({"id": "blosc", "cname": "brotli"}), &["compressor", "brotli"]),
    ("blosc with shuffle 7", |d| d["compressor"] = json!({"id": "blosc", "shuffle": 7}), &["compressor", "shuffle"]),
    ("filters not known", |d| d["filters"] = json!([{"id": "\u{202e}delta"}]), &["filters"]),
    ("filters an object", |d| d["filters"] = json!({"id": "delta"}), &["filters"]),
    ("filters that each make eight bytes of one", |d| d["filters"] = json!(vec![json!({"id": "astype", "encode_dtype": "<f8", "decode_dtype": "|u1"}); 23]), &["astype", "chunk"]),
    ("filters that make as much of a fill value", |d| d["filters"] = json!(vec![json!({"id": "delta", "dtype": "|i1", "astype": "<i8"}); 14]), &["delta", "chunk"]),
    ("pages of one element each", |d| { d["shape"] = json!([1_u64 << 39]); d["chunks"] = d["shape"].clone(); d["dtype"] = json!("<i2"); d["compressor"] = json!({"id": "pcodec", "equal_pages_up_to": 1}); }, &["pcodec", "chunk"]),
    ("order of its own", |d| d["order"] = json!("K"), &["order", "K"]),
    ("separator that leads out", |d| d["dimension_separator"] = json!("/../"), &["dimension_separator"]),
    ("fill_value an object", |d| d["fill_value"] = json!({"a": 1}), &["fill_value"]),
    ("fill_value too large", |d| d["fill_value"] = json!(1e300), &["fill_value"]),
];

/// Changes to the text of a document that is fine otherwise.
#[rustfmt::skip]
const TEXTS: [(&str, Rewrite, &[&str]); 20] = [
    ("empty", |_| Vec::new(), &[]),
    ("cut short", |t| t.into_bytes()[..40].to_vec(), &["JSON"]),
    ("followed by another", |t| format!("{t}{t}").into_bytes(), &["JSON"]),
    ("a list", |t| format!("[{t}]").into_bytes(), &["a JSON object"]),
    ("null", |_| b"null".to_vec(), &["a JSON object"]),
    ("not UTF-8", |t| t.replace("null", "\"@\"").into_bytes().iter().map(|&b| if b == b'@' { 0xff } else { b }).collect(), &["UTF-8"]),
    ("UTF-16", |t| t.encode_utf16().flat_map(u16::to_le_bytes).collect(), &[]),
    ("with a byte order mark", |t| format!("\u{feff}{t}").into_bytes(), &["byte order mark"]),
    ("with a key twice", |t| t.replacen("\"shape\"", "\"shape\":[4,4],\"shape\"", 1).into_bytes(), &["shape", "twice"]),
    ("with a key twice, once escaped", |t| t.replacen("\"shape\"", "\"\\u0073hape\":[4,4],\"shape\"", 1).into_bytes(), &["shape", "twice"]),
    ("with a key of 1 MB twice", |t| { let k = format!("{:?}:1,", "k".repeat(1 << 20)); t.replacen('{', &format!("{{{k}{k}"), 1).into_bytes() }, &["twice"]),
    ("with NaN for an extent", |t| t.replacen("\"shape\":[8", "\"shape\":[NaN", 1).into_bytes(), &["shape", "NaN"]),
    ("with a bare word", |t| t.replacen("null", "nil", 1).into_bytes(), &["JSON"]),
    ("with a comment", |t| format!("/* hello */{t}").into_bytes(), &["JSON"]),
    ("with a comma at the end", |t| t.replacen('}', ",}", 1).into_bytes(), &["JSON"]),
    ("with a raw newline in a string", |t| t.replacen("<f4", "<f\n4", 1).into_bytes(), &["JSON"]),
    ("with half a surrogate pair", |t| t.replacen("<f4", "\\ud800", 1).into_bytes(), &["JSON"]),
    ("with leading zeros", |t| t.replacen("[8", "[008", 1).into_bytes(), &["JSON"]),
    ("nested 100000 deep", |t| t.replacen("null", &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), 1).into_bytes(), &["deep"]),
    ("of 2 million values", |t| t.replacen('{', &format!("{{\"x\":[0{}],", ",0".repeat(2_000_000)), 1).into_bytes(), &["values"]),
];

/// Documents of 100 MB, of attributes, and what is no file.
fn others() -> Vec<Case> {
    let write = |key: &'static str, text: fn() -> Vec<u8>| {
        move |scene: &Scene| {
            small(2).write(&scene.source());
            scene.write(key, text());
        }
    };
    let spaces = || vec![b' '; 100 << 20];
    let attributes = |name: &str, text: fn() -> Vec<u8>, words: &[&str]| {
        let words = [&["source.zarr", ".zattrs"], words].concat();
        Case::new(format!("v2 attributes {name}"), write(".zattrs", text), Outcome::refused(&words))
    };
    let group = |name: &str, text: &'static str, words: &[&str]| {
        let build = move |scene: &Scene| {
            small(2).write(&format!("{}/a", scene.source()));
            scene.write(".zgroup", text);
        };
        let words = [&["source.zarr", ".zgroup"], words].concat();
        Case::new(format!("v2 group {name}"), build, Outcome::refused(&words))
    };
    vec![
        group("cut short", "{\"zarr_format\"", &["JSON"]),
        group("of no version", "{}", &["zarr_format", "missing"]),
        group("of version 3", "{\"zarr_format\": 3}", &["zarr_format", "3"]),
        Case::new(
            "v2 document of 100 MB",
            write(".zarray", spaces),
            Outcome::refused(&[".zarray"]),
        ),
        attributes("of 100 MB", spaces, &[]),
        attributes("cut short", || b"{\"a\": [1, 2".to_vec(), &["JSON"]),
        attributes("a list", || b"[]".to_vec(), &["a JSON object"]),
        attributes("not UTF-8", || b"{\"a\": \"\xc3(\"}".to_vec(), &["UTF-8"]),
        attributes("with a key twice", || b"{\"a\": {\"b\": 1, \"b\": 2}}".to_vec(), &["twice"]),
        attributes(
            "nested deep",
            || [vec![b'['; 1 << 20], vec![b']'; 1 << 20]].concat(),
            &["deep"],
        ),
        Case::new(
            "v2 document that is a directory",
            |scene| std::fs::create_dir_all(format!("{}/.zarray/x", scene.source())).unwrap(),
            Outcome::refused(&["source.zarr", ".zarray", "a directory"]),
        ),
        Case::new(
            "v2 attributes that are a directory",
            |scene| {
                small(2).write(&scene.source());
                std::fs::create_dir(format!("{}/.zattrs", scene.source())).unwrap();
            },
            Outcome::refused(&["source.zarr", ".zattrs", "a directory"]),
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let words = |words: &[&str]| Outcome::refused(&[&["source.zarr", ".zarray"], words].concat());
    let field = |&(name, change, said): &(&str, Change, &[&str])| {
        let build = move |scene: &Scene| changed(scene, 2, change);
        Case::new(format!("v2 {name}"), build, words(said))
    };
    let text = |&(name, rewrite, said): &(&str, Rewrite, &[&str])| {
        let build = move |scene: &Scene| rewritten(scene, 2, rewrite);
        Case::new(format!("v2 document {name}"), build, words(said))
    };
    FIELDS.iter().map(field).chain(TEXTS.iter().map(text)).chain(others()).collect()
}

#[test]
fn wrong_v2_metadata_is_refused() {
    play_all("Zarr v2 metadata", &cases());
}
