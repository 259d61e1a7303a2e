//! Group 8, documents of N5. Their attributes are wrong, conflict or claim too much; some are what
//! N5's Java library takes beyond JSON, and some stand in a container and should not.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{Case, Elements, Left, Outcome, Scene, play_all};

/// Name of the source.
pub(super) const SOURCE: &str = "source.n5";

/// The attributes of the usual dataset: 8 × 8 uint16 in blocks of 4 × 4.
pub(super) fn attributes() -> Value {
    json!({
        "n5": "2.5.1", "dimensions": [8, 8], "blockSize": [4, 4], "dataType": "uint16",
        "compression": {"type": "raw"},
    })
}

/// The element at `x` along N5's first axis, and `y`: never 0.
fn element(x: u16, y: u16) -> u16 {
    1 + 8 * y + x
}

/// Big-endian elements of the block at `(x, y)`, `width` × `height` of them.
pub(super) fn payload(at: (u16, u16), width: u16, height: u16) -> Vec<u8> {
    let rows = (0..height).map(|y| 4 * at.1 + y);
    rows.flat_map(|y| (0..width).flat_map(move |x| element(4 * at.0 + x, y).to_be_bytes()))
        .collect()
}

/// A block: mode, sizes, payload.
pub(super) fn block(mode: u16, sizes: &[u32], payload: &[u8]) -> Vec<u8> {
    let rank = u16::try_from(sizes.len()).unwrap();
    let mut bytes = [mode.to_be_bytes(), rank.to_be_bytes()].concat();
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(payload);
    bytes
}

/// Writes the usual dataset, at a path below the source or at its root.
pub(super) fn usual(scene: &Scene, below: &str) {
    scene.write(&format!("{below}attributes.json"), attributes().to_string());
    for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        scene.write(&format!("{below}{x}/{y}"), block(0, &[4, 4], &payload((x, y), 4, 4)));
    }
}

/// Elements of the usual dataset, changed by position.
pub(super) fn holds(change: impl Fn(u16, u16, u16) -> u16) -> Outcome {
    let position = |y| (0..8).map(move |x| (x, y));
    let all = (0..8).flat_map(position);
    let bytes: Vec<u8> = all.flat_map(|(x, y)| change(x, y, element(x, y)).to_le_bytes()).collect();
    Outcome::Copied(Elements::new(&[8, 8], bytes))
}

/// Elements of the usual dataset.
pub(super) fn whole() -> Outcome {
    holds(|_, _, value| value)
}

/// The usual dataset with other fields; `null` takes a field away.
fn with(name: &str, changes: Value, outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        usual(scene, "");
        let mut document = attributes();
        for (name, value) in changes.as_object().unwrap() {
            if value.is_null() {
                document.as_object_mut().unwrap().remove(name);
            } else {
                document[name] = value.clone();
            }
        }
        scene.write("attributes.json", document.to_string());
    };
    Case::new(format!("N5: {name}"), build, outcome).from(SOURCE)
}

/// Attributes that are refused, and the words of it.
fn refused(name: &str, changes: Value, words: &[&str]) -> Case {
    with(name, changes, Outcome::refused(&[&[SOURCE, "attributes.json"], words].concat()))
}

/// The usual dataset with a document of this text.
fn text(name: &str, document: impl Fn() -> Vec<u8> + 'static, outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        usual(scene, "");
        scene.write("attributes.json", document());
    };
    Case::new(format!("N5: {name}"), build, outcome).from(SOURCE)
}

#[rustfmt::skip]
fn sizes() -> Vec<Case> {
    let many = vec![1; 40];
    vec![
        refused("negative dimensions", json!({"dimensions": [8, -8]}), &["dimensions", "-8"]),
        refused("dimensions that are fractions", json!({"dimensions": [8, 8.5]}), &["dimensions", "8.5"]),
        refused("dimensions that are text", json!({"dimensions": ["8", "8"]}), &["dimensions"]),
        refused("dimensions that are a number", json!({"dimensions": 8}), &["dimensions"]),
        refused("dimensions of 2^63", json!({"dimensions": [1_u64 << 63, 1]}), &["dimensions"]),
        refused("dimensions whose product overflows", json!({"dimensions": [1_u64 << 40, 1_u64 << 40]}), &["dimensions"]),
        refused("40 dimensions", json!({"dimensions": many, "blockSize": many}), &["dimensions", "40"]),
        refused("no dimensions at all", json!({"dimensions": [], "blockSize": []}), &["dimensions"]),
        with("a dimension of 0", json!({"dimensions": [8, 0]}), Outcome::Copied(Elements::new(&[0, 8], []))),
        refused("block size of 0", json!({"blockSize": [4, 0]}), &["blockSize", "0"]),
        refused("negative block size", json!({"blockSize": [-4, 4]}), &["blockSize", "-4"]),
        refused("a block size of another rank", json!({"blockSize": [4]}), &["blockSize"]),
        refused("blocks of 2^61 bytes", json!({"blockSize": [1_u64 << 30, 1_u64 << 30]}), &["blockSize"]),
        refused("blocks of more than a header can say", json!({"blockSize": [1_u64 << 33, 1]}), &["blockSize"]),
        with("blocks of 1 TiB", json!({"blockSize": [1 << 20, 1 << 19]}), Outcome::refused(&["blockSize", "2 GiB"])),
        with("2^61 elements in blocks of 4", json!({"dimensions": [1_u64 << 30, 1_u64 << 30]}), Outcome::Done).with(&["--chunks", "1,1", "--dry-run"]),
    ]
}

#[rustfmt::skip]
fn names() -> Vec<Case> {
    let compressed = |name: &str, compression: Value, words: &[&str]| {
        refused(name, json!({"compression": compression}), &[&["compression"], words].concat())
    };
    vec![
        refused("no block size", json!({"blockSize": null}), &["blockSize", "missing"]),
        // As Java has it: a group.
        with("no data type", json!({"dataType": null}), Outcome::Done),
        refused("no compression", json!({"compression": null}), &["compression", "missing"]),
        refused("data type int128", json!({"dataType": "int128"}), &["dataType", "int128"]),
        refused("data type with control characters", json!({"dataType": "\u{1b}[31mred\n\u{202e}"}), &["dataType"]),
        refused("a data type of 100 kB", json!({"dataType": "x".repeat(100_000)}), &["dataType"]),
        refused("data type as a list", json!({"dataType": ["uint16"]}), &["dataType"]),
        with("serialised objects", json!({"dataType": "object"}), Outcome::refused(&["dataType", "object"])),
        with("strings", json!({"dataType": "string"}), Outcome::refused(&["dataType", "string"])),
        with("sets of labels", json!({"dataType": "uint8", "isLabelMultiset": true}), Outcome::refused(&["dataType", "abel"])),
        compressed("compression that there is not", json!({"type": "jpeg2000"}), &["jpeg2000"]),
        compressed("compression without a type", json!({"level": 5}), &["type"]),
        compressed("compression that is a number", json!(5), &[]),
        compressed("gzip of level 99", json!({"type": "gzip", "level": 99}), &["level", "99"]),
        compressed("gzip of a level that is text", json!({"type": "gzip", "level": "best"}), &["level"]),
        compressed("lz4 in blocks of a negative size", json!({"type": "lz4", "blockSize": -1}), &["blockSize"]),
        compressed("lz4 in blocks of 1 TiB", json!({"type": "lz4", "blockSize": 1_u64 << 40}), &["blockSize"]),
        compressed("blosc of a compressor that there is not", json!({"type": "blosc", "cname": "rar", "clevel": 5, "shuffle": 1}), &["cname", "rar"]),
        compressed("blosc of shuffle 9", json!({"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 9}), &["shuffle"]),
        compressed("xz of preset 30", json!({"type": "xz", "preset": 30}), &["preset"]),
        refused("two compressions", json!({"compressionType": "gzip"}), &["compressionType", "gzip", "raw"]),
        refused("shards", json!({"shardSize": [8, 8]}), &["shardSize"]),
        refused("version 5.0.0", json!({"n5": "5.0.0"}), &["n5", "5.0.0"]),
        refused("version 99999999999999999999", json!({"n5": "99999999999999999999"}), &["n5"]),
        with("version 4.0.0", json!({"n5": "4.0.0"}), whole()),
        with("a version that is no number", json!({"n5": "unknown"}), whole()),
        with("attributes with names of control characters", json!({"\u{1b}[31m": 1, "b\n": "\u{9b}"}), whole()),
    ]
}

#[rustfmt::skip]
fn documents() -> Vec<Case> {
    let fine = || attributes().to_string();
    let words = &[SOURCE, "attributes.json"];
    let broken = |name: &str, document: fn(String) -> Vec<u8>, more: &[&str]| {
        text(name, move || document(fine()), Outcome::refused(&[words, more].concat()))
    };
    vec![
        broken("a document that is empty", |_| Vec::new(), &[]),
        broken("a document of spaces", |_| b" \n ".to_vec(), &[]),
        broken("a document that is a list", |_| b"[1, 2]".to_vec(), &["object"]),
        broken("a document that is cut", |text| text.into_bytes()[..40].to_vec(), &[]),
        broken("a document with more after it", |text| (text + "}").into_bytes(), &[]),
        broken("a document of 100 MB", |_| vec![b' '; 100_000_000], &["bytes"]),
        broken("a document in UTF-16", |text| text.encode_utf16().flat_map(u16::to_le_bytes).collect(), &[]),
        broken("a document with a NUL in it", |text| text.replacen("[8,8]", "[8,8\0]", 1).into_bytes(), &["dimensions"]),
        broken("a key that appears twice", |text| text.replacen('{', r#"{"dimensions": [1, 1], "#, 1).into_bytes(), &["dimensions", "twice"]),
        broken("nested 100 000 deep", |text| text.replacen('{', &format!(r#"{{"a": {}, "#, "[".repeat(100_000)), 1).into_bytes(), &["deep"]),
        broken("nested 100 000 deep, not as JSON", |text| text.replacen('{', &format!("{{a: {}, ", "{a=".repeat(100_000)), 1).into_bytes(), &["deep"]),
        broken("a comment that does not end", |text| format!("/* {text}").into_bytes(), &["comment"]),
        broken("a number of 100 000 digits", |text| text.replacen("[8,8]", &format!("[8,{}]", "8".repeat(100_000)), 1).into_bytes(), &["dimensions"]),
        text("comments, single quotes, no quotes", || br#"// by hand
            { n5: '2.5.1', "dimensions": [8, 8,], 'blockSize' = [4; 4], # sizes
              dataType: uint16, compression: {type: raw} /* none */ }"#.to_vec(),
            Outcome::refused(&[words, &["dimensions"][..]].concat())),
        text("comments, single quotes, no quotes, right", || br#"// by hand
            { n5: '2.5.1', "dimensions": [8, 8], 'blockSize' = [4; 4], # sizes
              dataType: uint16, compression: {type: raw} /* none */ }"#.to_vec(), whole()),
        text("NaN and Infinity in attributes", move || fine().replacen('{', r#"{"a": NaN, "b": [-Infinity, Infinity], "#, 1).into_bytes(), whole()),
        text("a byte-order mark", move || format!("\u{feff}{}", fine()).into_bytes(), whole()),
    ]
}

/// Containers with other things beside datasets, and ways to them.
#[rustfmt::skip]
fn containers() -> Vec<Case> {
    let container = |scene: &Scene| {
        scene.write("attributes.json", r#"{"n5": "2.5.1"}"#);
        usual(scene, "a/");
    };
    let case = |name: &str, build: fn(&Scene), outcome: Outcome| {
        Case::new(format!("N5: {name}"), build, outcome).from(SOURCE)
    };
    let tree = |name: &str, build: fn(&Scene), outcome: Outcome| {
        case(name, build, outcome).arguments(&["copy", "SOURCE", "TARGET", "--max-mem", "64MiB", "--no-fsync"])
    };
    let nothing = |code, words: &[&str]| Outcome::fails(code, words, Left::Nothing);
    vec![
        case("a dataset that is not there", |scene| scene.write("attributes.json", r#"{"n5": "2.5.1"}"#),
            Outcome::refused(&["source.n5/b"])).arguments(&["copy", "SCENE/source.n5/b", "TARGET"]),
        case("a dataset by a detour", |scene| usual(scene, "a/"), Outcome::Done)
            .arguments(&["copy", "SCENE/source.n5/a/../a", "TARGET", "--no-fsync"]),
        case("a way out of the container to nothing", |scene| usual(scene, "a/"), Outcome::refused(&["nothing"]))
            .arguments(&["copy", "SCENE/source.n5/../nothing", "TARGET"]),
        case("a target by a way out of the container of the source", |scene| usual(scene, "a/"), nothing(4, &["source.n5"]))
            .arguments(&["copy", "SCENE/source.n5/a", "SCENE/out/../source.n5/a/b"]),
        case("a container as an array of chunks", container, nothing(2, &[]))
            .arguments(&["copy", "SOURCE", "TARGET", "--chunks", "2,2,2"]),
        tree("a container with a link round in a circle", |scene| {
            scene.write("attributes.json", r#"{"n5": "2.5.1"}"#);
            usual(scene, "a/");
            symlink(".", format!("{}/loop", scene.source())).unwrap();
        }, nothing(3, &["source.n5/loop", "loop"])),
        tree("a container with a link to itself by name", |scene| {
            scene.write("attributes.json", r#"{"n5": "2.5.1"}"#);
            usual(scene, "a/");
            symlink("loop", format!("{}/loop", scene.source())).unwrap();
        }, Outcome::Done),
        tree("a container of which one dataset is broken", |scene| {
            usual(scene, "a/");
            usual(scene, "b/");
            scene.write("attributes.json", r#"{"n5": "2.5.1"}"#);
            scene.write("b/attributes.json", "{");
        }, nothing(3, &["source.n5", "b"])),
        tree("a container of version 5.0.0", |scene| {
            usual(scene, "a/");
            scene.write("attributes.json", r#"{"n5": "5.0.0"}"#);
        }, nothing(3, &["source.n5", "5.0.0"])),
        case("a dataset inside a dataset", |scene| {
            usual(scene, "");
            usual(scene, "a/");
        }, whole()),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    [sizes(), names(), documents(), containers()].into_iter().flatten().collect()
}

#[test]
fn hostile_documents_of_n5_are_refused() {
    play_all("documents of N5", &cases());
}
