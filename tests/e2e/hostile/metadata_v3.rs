//! Group 4, Zarr v3 metadata: what must not be accepted, and what is odd and must be.

use serde_json::{Map, Value, json};

use super::build::{changed, elements, rewritten, small};
use super::outcome::to_c_order;
use super::{Case, Elements, Outcome, Scene, play_all};

type Change = fn(&mut Value);
type Rewrite = fn(String) -> Vec<u8>;

fn map(document: &mut Value) -> &mut Map<String, Value> {
    document.as_object_mut().unwrap()
}

fn take(document: &mut Value, name: &str) {
    map(document).shift_remove(name).unwrap();
}

/// The codecs of the usual array, as a list to add to.
fn codecs(document: &mut Value) -> &mut Vec<Value> {
    document["codecs"].as_array_mut().unwrap()
}

/// A grid of chunks of different lengths.
#[expect(clippy::needless_pass_by_value, reason = "shorter where it is used")]
fn lengths(document: &mut Value, chunk_shapes: Value) {
    let configuration = json!({"kind": "inline", "chunk_shapes": chunk_shapes});
    document["chunk_grid"] = json!({"name": "rectilinear", "configuration": configuration});
}

#[expect(clippy::needless_pass_by_value, reason = "shorter where it is used")]
fn transpose(order: Value) -> Value {
    json!({"name": "transpose", "configuration": {"order": order}})
}

#[rustfmt::skip]
const FIELDS: [(&str, Change, &[&str]); 74] = [
    ("no zarr_format", |d| take(d, "zarr_format"), &["zarr_format", "missing"]),
    ("zarr_format 3.5", |d| d["zarr_format"] = json!(3.5), &["zarr_format"]),
    ("zarr_format 2", |d| d["zarr_format"] = json!(2), &["zarr_format"]),
    ("no node_type", |d| take(d, "node_type"), &["node_type", "missing"]),
    ("node_type of its own", |d| d["node_type"] = json!("arrays"), &["node_type", "arrays"]),
    ("no shape", |d| take(d, "shape"), &["shape", "missing"]),
    ("shape of a negative", |d| d["shape"] = json!([-1, 8]), &["shape", "-1"]),
    ("shape of a float", |d| d["shape"] = json!([8.0, 8]), &["shape"]),
    ("shape null", |d| d["shape"] = Value::Null, &["shape", "missing"]),
    ("shape of a million axes", |d| d["shape"] = json!(vec![1; 1_000_000]), &[]),
    ("more elements than can be counted", |d| d["shape"] = json!([u64::MAX, 2]), &["chunk_grid"]),
    ("no data_type", |d| take(d, "data_type"), &["data_type", "missing"]),
    ("data_type not known", |d| d["data_type"] = json!("float31"), &["data_type", "float31"]),
    ("data_type in v2's spelling", |d| d["data_type"] = json!("<f4"), &["data_type"]),
    ("data_type a list", |d| d["data_type"] = json!(["float32"]), &["data_type"]),
    ("data_type with a configuration", |d| d["data_type"] = json!({"name": "float32", "configuration": {"bits": 3}}), &["data_type"]),
    ("data_type with a name of 1 MB", |d| d["data_type"] = json!("f".repeat(1 << 20)), &["data_type"]),
    ("no chunk_grid", |d| take(d, "chunk_grid"), &["chunk_grid", "missing"]),
    ("chunk_grid not known", |d| d["chunk_grid"]["name"] = json!("hexagonal"), &["chunk_grid", "hexagonal"]),
    ("chunk_grid without a shape", |d| d["chunk_grid"]["configuration"] = json!({}), &["chunk_shape", "missing"]),
    ("chunk_grid without a name", |d| take(&mut d["chunk_grid"], "name"), &["chunk_grid", "name"]),
    ("chunk_grid a number", |d| d["chunk_grid"] = json!(4), &["chunk_grid"]),
    ("chunk_grid with a configuration that is a list", |d| d["chunk_grid"]["configuration"] = json!([4, 4]), &["chunk_grid.configuration"]),
    ("chunks of zero", |d| d["chunk_grid"]["configuration"]["chunk_shape"] = json!([4, 0]), &["chunk_shape"]),
    ("chunks of another rank", |d| d["chunk_grid"]["configuration"]["chunk_shape"] = json!([4]), &["chunk_shape"]),
    ("chunks of 2^63 elements", |d| d["chunk_grid"]["configuration"]["chunk_shape"] = json!([1_u64 << 63, 1]), &["chunk_shape"]),
    ("rectilinear without lengths", |d| d["chunk_grid"]["name"] = json!("rectilinear"), &["chunk_grid.configuration.chunk_shape", "not supported"]),
    ("rectilinear of another rank", |d| lengths(d, json!([[3, 5]])), &["chunk_shapes", "1 entries for 2 axes"]),
    ("rectilinear too short", |d| lengths(d, json!([[3, 4], 4])), &["axis 0", "add up to 7"]),
    ("rectilinear with a 0", |d| lengths(d, json!([[3, 0, 5], 4])), &["axis 0", "0 among them"]),
    ("rectilinear 0 times", |d| lengths(d, json!([[[3, 0], 8], 4])), &["axis 0", "0 among them"]),
    ("rectilinear of 0", |d| lengths(d, json!([[3, 5], 0])), &["axis 1", "0"]),
    ("rectilinear with a negative length", |d| lengths(d, json!([[3, -5, 10], 4])), &["axis 0", "-5"]),
    ("rectilinear with a length of 2^63", |d| lengths(d, json!([[3, 1_u64 << 63], 4])), &["axis 0", "63 bits"]),
    ("rectilinear with a length of 2^62", |d| lengths(d, json!([[3, 1_u64 << 62], 4])), &["63 bits"]),
    ("rectilinear with a float", |d| lengths(d, json!([[3, 5.5], 4])), &["axis 0", "5.5"]),
    ("rectilinear with runs of runs", |d| lengths(d, json!([[3, [[5, 1], 1]], 4])), &["axis 0"]),
    ("rectilinear of millions of lengths", |d| lengths(d, json!([vec![1; 2_000_000], 4])), &["values"]),
    ("rectilinear of millions of chunks", |d| { d["shape"] = json!([1_u64 << 40, 8]); lengths(d, json!([[[1, 1_u64 << 39], [2, 1_u64 << 39]], 4])); }, &["axis 0", "1048576"]),
    ("no chunk_key_encoding", |d| take(d, "chunk_key_encoding"), &["chunk_key_encoding", "missing"]),
    ("chunk_key_encoding not known", |d| d["chunk_key_encoding"] = json!({"name": "suffix"}), &["chunk_key_encoding", "suffix"]),
    ("separator that leads out", |d| d["chunk_key_encoding"]["configuration"]["separator"] = json!("/../"), &["separator"]),
    ("separator of a null byte", |d| d["chunk_key_encoding"]["configuration"]["separator"] = json!("\u{0}"), &["separator"]),
    ("separator a list", |d| d["chunk_key_encoding"]["configuration"]["separator"] = json!(["/"]), &["separator"]),
    ("no fill_value", |d| take(d, "fill_value"), &["fill_value", "missing"]),
    ("fill_value true", |d| d["fill_value"] = json!(true), &["fill_value", "true"]),
    ("fill_value of hex too long", |d| d["fill_value"] = json!("0x7fc000000"), &["fill_value"]),
    ("fill_value of hex with a sign", |d| d["fill_value"] = json!("0x+fc00000"), &["fill_value"]),
    ("fill_value 1e300", |d| d["fill_value"] = json!(1e300), &["fill_value"]),
    ("fill_value of 1 MB", |d| d["fill_value"] = json!("\u{9b}".repeat(1 << 19)), &["fill_value"]),
    ("no codecs", |d| take(d, "codecs"), &["codecs", "missing"]),
    ("codecs empty", |d| d["codecs"] = json!([]), &["codecs", "bytes"]),
    ("codecs an object", |d| d["codecs"] = json!({"name": "bytes"}), &["codecs"]),
    ("codecs of null", |d| d["codecs"] = json!([null]), &["codecs"]),
    ("a codec not known", |d| codecs(d).push(json!({"name": "lzma9000"})), &["codecs[1]", "lzma9000"]),
    ("a codec not known that need not be understood", |d| codecs(d).push(json!({"name": "x", "must_understand": false})), &["codecs[1]"]),
    ("a codec with control characters", |d| codecs(d).push(json!("\u{1b}]0;hello\u{7}")), &["codecs[1]"]),
    ("a codec with a name of 1 MB", |d| codecs(d).push(json!("x".repeat(1 << 20))), &["codecs[1]"]),
    ("a codec without a configuration it needs", |d| codecs(d).push(json!("zstd")), &["codecs[1]", "level"]),
    ("a compressor before bytes", |d| codecs(d).insert(0, json!({"name": "gzip", "configuration": {"level": 1}})), &["codecs[0]", "bytes"]),
    ("transpose after bytes", |d| codecs(d).push(transpose(json!([0, 1]))), &["codecs[1]", "transpose"]),
    ("bytes twice", |d| { let bytes = codecs(d)[0].clone(); codecs(d).push(bytes); }, &["codecs[1]", "bytes"]),
    ("bytes without an order", |d| codecs(d)[0] = json!("bytes"), &["endian", "missing"]),
    ("bytes of a middle order", |d| codecs(d)[0]["configuration"]["endian"] = json!("middle"), &["endian", "middle"]),
    ("transpose of one axis twice", |d| codecs(d).insert(0, transpose(json!([0, 0]))), &["order"]),
    ("transpose of an axis that is not there", |d| codecs(d).insert(0, transpose(json!([0, 2]))), &["order"]),
    ("transpose of too few axes", |d| codecs(d).insert(0, transpose(json!([0]))), &["order"]),
    ("transpose of 2^64-1", |d| codecs(d).insert(0, transpose(json!([u64::MAX, 0]))), &["order"]),
    ("transpose by a letter", |d| codecs(d).insert(0, transpose(json!("Z"))), &["order"]),
    ("1000 codecs", |d| { let crc = json!("crc32c"); codecs(d).extend(vec![crc; 1000]); }, &["codecs"]),
    ("dimension_names too few", |d| d["dimension_names"] = json!(["x"]), &["dimension_names"]),
    ("dimension_names of numbers", |d| d["dimension_names"] = json!([1, 2]), &["dimension_names"]),
    ("storage_transformers", |d| d["storage_transformers"] = json!([{"name": "\u{1b}x", "configuration": {}}]), &["storage_transformers"]),
    ("attributes a list", |d| d["attributes"] = json!([]), &["attributes"]),
];

/// Fields that are not known: the specification asks to refuse them.
#[rustfmt::skip]
const UNKNOWN: [(&str, Change, &[&str]); 4] = [
    ("that must be understood", |d| d["new"] = json!({"must_understand": true}), &["new"]),
    ("that does not say", |d| d["new"] = json!({"name": "x"}), &["new"]),
    ("that is no object", |d| d["new"] = json!(false), &["new"]),
    ("with a name of 1 MB and control characters", |d| { map(d).insert("\u{1b}[2J".repeat(1 << 18), json!(1)); }, &["zarr.json"]),
];

#[rustfmt::skip]
const TEXTS: [(&str, Rewrite, &[&str]); 9] = [
    ("empty", |_| Vec::new(), &[]),
    ("cut short", |t| t.into_bytes()[..60].to_vec(), &["JSON"]),
    ("not UTF-8", |t| [t.as_bytes(), &b"\xff"[..]].concat(), &["UTF-8"]),
    ("with a byte order mark", |t| format!("\u{feff}{t}").into_bytes(), &["byte order mark"]),
    ("with a key twice", |t| t.replacen("\"codecs\"", "\"codecs\":[],\"codecs\"", 1).into_bytes(), &["codecs", "twice"]),
    ("with a key twice inside", |t| t.replacen("\"endian\"", "\"endian\":\"big\",\"endian\"", 1).into_bytes(), &["endian", "twice"]),
    ("with NaN for an extent", |t| t.replacen("[8", "[NaN", 1).into_bytes(), &["shape", "NaN"]),
    ("nested 1000 deep", |t| t.replacen("{}", &format!("{}1{}", "{\"a\":".repeat(1000), "}".repeat(1000)), 1).into_bytes(), &["deep"]),
    ("of 16 MiB and one byte", |t| format!("{t}{}", " ".repeat((16 << 20) + 1 - t.len())).into_bytes(), &["zarr.json"]),
];

/// Changes that are odd and allowed.
#[rustfmt::skip]
const ODD: [(&str, Change); 17] = [
    ("extension names as text", |d| d["data_type"] = json!({"name": "float32"})),
    ("an empty list of transformers", |d| d["storage_transformers"] = json!([])),
    ("no attributes", |d| take(d, "attributes")),
    ("a field that need not be understood", |d| d["new"] = json!({"must_understand": false, "x": [1]})),
    ("a second codec that says must_understand", |d| codecs(d)[0]["must_understand"] = json!(true)),
    ("dimension_names of null", |d| d["dimension_names"] = json!([null, null])),
    ("dimension_names null", |d| d["dimension_names"] = Value::Null),
    ("dimension_names twice the same", |d| d["dimension_names"] = json!(["x", "x"])),
    ("dimension_names with control characters", |d| d["dimension_names"] = json!(["\u{1b}[31m\n", "\u{202e}"])),
    ("dimension_names of 1 MB", |d| d["dimension_names"] = json!(["x".repeat(1 << 20), "y"])),
    ("a name of no characters", |d| d["dimension_names"] = json!(["", "y"])),
    ("fill_value as hex", |d| d["fill_value"] = json!("0x7fc00001")),
    ("fill_value NaN", |d| d["fill_value"] = json!("NaN")),
    ("transposed there and back", |d| { for _ in 0..2 { codecs(d).insert(0, transpose(json!([1, 0]))); } }),
    ("transposed 50 times", |d| { for _ in 0..50 { codecs(d).insert(0, transpose(json!([1, 0]))); } }),
    ("the draft's name of bytes", |d| codecs(d)[0]["name"] = json!("endian")),
    ("attributes like metadata", |d| d["attributes"] = json!({"shape": [1], "zarr_format": 9, "_ARRAY_DIMENSIONS": ["q"]})),
];

fn others() -> Vec<Case> {
    let whole = |bytes: Vec<u8>| Outcome::Copied(Elements::new(&[8, 8], bytes));
    let transposed = |scene: &Scene| {
        changed(scene, 3, |d| {
            d["chunk_grid"]["configuration"]["chunk_shape"] = json!([8, 8]);
            codecs(d).insert(0, transpose(json!([1, 0])));
        });
        scene.write("c/0/0", elements(&small(3)));
    };
    let both = |scene: &Scene| {
        small(3).write(&scene.source());
        scene.write(".zarray", "{");
    };
    let info = |name: &str, change: Change| {
        let build = move |scene: &Scene| changed(scene, 3, change);
        Case::new(name, build, Outcome::Done).arguments(&["info", "SOURCE"])
    };
    vec![
        Case::new(
            "v3 group with a field that must be understood",
            |scene| {
                let document =
                    r#"{"zarr_format": 3, "node_type": "group", "storage": {"name": "x"}}"#;
                scene.write("zarr.json", document);
                small(3).write(&format!("{}/a", scene.source()));
            },
            Outcome::refused(&["source.zarr", "zarr.json", "storage"]),
        ),
        Case::new(
            "v3 group with names of control characters",
            |scene| {
                scene.write("zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
                scene.write("a\u{1b}[31m\n/zarr.json", "{}");
                scene.write("b/zarr.json", "{}");
                scene.write("\u{202e}c/zarr.json", "{}");
            },
            Outcome::refused(&["cannot read or write", "202e"]),
        ),
        Case::new(
            "v3 document that is a directory",
            |scene| std::fs::create_dir_all(format!("{}/zarr.json/x", scene.source())).unwrap(),
            Outcome::refused(&["zarr.json", "a directory"]),
        ),
        Case::new(
            "odd v3: transposed",
            transposed,
            whole(to_c_order(&elements(&small(3)), &[8, 8], 4)),
        ),
        Case::new("odd v3: beside a damaged .zarray", both, whole(elements(&small(3)))),
        info("info of names with control characters", |d| {
            d["dimension_names"] = json!(["\u{1b}]0;x\u{7}", "\u{9b}31m\u{202e}"]);
            d["attributes"] =
                json!({"\u{1b}[31m": "\u{1b}\u{7f}\u{9b}\u{202e}", "b": ["\u{9b}", {"\u{9b}": 1}]});
            d["fill_value"] = json!("NaN");
        }),
        Case::new(
            "a chunk spec that names what has control characters",
            |scene| {
                changed(scene, 3, |d| {
                    d["dimension_names"] = json!(["\u{1b}[31m", "\u{9b}\u{202e}"]);
                });
            },
            Outcome::fails(2, &["chunks"], super::Left::Nothing),
        )
        .with(&["--chunks", "1,2,3"]),
        Case::new(
            "a chunk spec that names what has names of 1 MB",
            |scene| {
                changed(scene, 3, |d| d["dimension_names"] = json!(["x".repeat(1 << 20), "y"]));
            },
            Outcome::fails(2, &["z"], super::Left::Nothing),
        )
        .with(&["--chunks", "z=2"]),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let words = |words: &[&str]| Outcome::refused(&[&["source.zarr", "zarr.json"], words].concat());
    let field = |&(name, change, said): &(&str, Change, &[&str])| {
        let build = move |scene: &Scene| changed(scene, 3, change);
        Case::new(format!("v3 {name}"), build, words(said))
    };
    let unknown = |&(name, change, said): &(&str, Change, &[&str])| {
        let build = move |scene: &Scene| changed(scene, 3, change);
        Case::new(format!("v3 field {name}"), build, words(said))
    };
    let text = |&(name, rewrite, said): &(&str, Rewrite, &[&str])| {
        let build = move |scene: &Scene| rewritten(scene, 3, rewrite);
        Case::new(format!("v3 document {name}"), build, words(said))
    };
    let odd = |&(name, change): &(&str, Change)| {
        let build = move |scene: &Scene| changed(scene, 3, change);
        let whole = Outcome::Copied(Elements::new(&[8, 8], elements(&small(3))));
        Case::new(format!("odd v3: {name}"), build, whole)
    };
    let refused = FIELDS.iter().map(field).chain(UNKNOWN.iter().map(unknown));
    refused.chain(TEXTS.iter().map(text)).chain(ODD.iter().map(odd)).chain(others()).collect()
}

#[test]
fn wrong_v3_metadata_is_refused_and_odd_is_copied() {
    play_all("Zarr v3 metadata", &cases());
}
