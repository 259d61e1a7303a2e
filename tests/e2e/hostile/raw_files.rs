//! Group 11, directories of raw files. An `array.json` lies, files are missing or of another size,
//! and other things stand where a file should be.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use super::{Case, Elements, Left, Outcome, Scene, play_all};
use crate::harness::open_to_all;

pub(super) const SOURCE: &str = "source.raw";

/// The usual array: 8 × 8 uint16 in files of 4 × 4.
fn document() -> Value {
    json!({
        "shape": [8, 8], "data_type": "uint16", "endian": "little", "order": "C",
        "chunk_shape": [4, 4], "key": "{0}_{1}.bin", "offset_bytes": 0,
    })
}

/// The element at a row and a column.
fn element(row: u16, column: u16) -> u16 {
    1 + 8 * row + column
}

fn block(row: u16, column: u16) -> Vec<u8> {
    let rows = 4 * row..4 * row + 4;
    rows.flat_map(|y| (4 * column..4 * column + 4).flat_map(move |x| element(y, x).to_le_bytes()))
        .collect()
}

/// Writes the usual array.
pub(super) fn usual(scene: &Scene) {
    scene.write("array.json", document().to_string());
    for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        scene.write(&format!("{row}_{column}.bin"), block(row, column));
    }
}

fn whole() -> Outcome {
    let bytes: Vec<u8> = (1..=64_u16).flat_map(u16::to_le_bytes).collect();
    Outcome::Copied(Elements::new(&[8, 8], bytes))
}

/// The usual array with other members; `null` takes one away.
fn with(name: &str, changes: Value, outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        usual(scene);
        let mut document = document();
        for (name, value) in changes.as_object().unwrap() {
            if value.is_null() {
                document.as_object_mut().unwrap().remove(name);
            } else {
                document[name] = value.clone();
            }
        }
        scene.write("array.json", document.to_string());
    };
    Case::new(format!("array.json: {name}"), build, outcome).from(SOURCE)
}

fn refused(name: &str, changes: Value, words: &[&str]) -> Case {
    with(name, changes, Outcome::refused(&[&[SOURCE], words].concat()))
}

#[rustfmt::skip]
fn members() -> Vec<Case> {
    let key = |name: &str, key: &str, words: &[&str]| refused(name, json!({"key": key}), &[&["key"], words].concat());
    vec![
        refused("no shape", json!({"shape": null}), &["shape", "missing"]),
        refused("no byte order", json!({"endian": null}), &["endian", "missing"]),
        refused("no name of files", json!({"key": null}), &["key", "missing"]),
        refused("a negative extent", json!({"shape": [8, -8]}), &["shape", "-8"]),
        refused("an extent of 2^63", json!({"shape": [1_u64 << 63, 1]}), &["shape"]),
        refused("extents whose product overflows", json!({"shape": [1_u64 << 32, 1_u64 << 32]}), &["63 bits"]),
        refused("40 axes", json!({"shape": vec![1; 40], "chunk_shape": vec![1; 40]}), &["40"]),
        refused("files of another rank", json!({"chunk_shape": [4]}), &["chunk_shape"]),
        refused("files of no elements", json!({"chunk_shape": [4, 0]}), &["the chunk extent of axis 1 is 0"]),
        refused("files of 2^62 elements", json!({"chunk_shape": [1_u64 << 31, 1_u64 << 31]}), &["chunk"]),
        refused("objects", json!({"data_type": "object"}), &["data_type", "object"]),
        refused("a type of control characters", json!({"data_type": "\u{1b}[31m\u{202e}"}), &["data_type"]),
        refused("records with objects", json!({"data_type": [["a", "<i4"], ["b", "|O"]]}), &["data_type"]),
        refused("an order of its own", json!({"order": "K"}), &["order"]),
        refused("a byte order of its own", json!({"endian": "native"}), &["endian"]),
        refused("a negative offset", json!({"offset_bytes": -1}), &["offset_bytes"]),
        refused("an offset of 2^63 - 1", json!({"offset_bytes": i64::MAX}), &["63 bits"]),
        refused("a codec", json!({"compressor": "zlib"}), &["compressor"]),
        refused("names for other axes", json!({"dimension_names": ["y"]}), &["dimension_names"]),
        key("names that lead out", "../{0}_{1}", &["no name"]),
        key("names that lead out further on", "a/../../{0}_{1}", &["no name"]),
        key("names from the root", "/etc/{0}_{1}", &["no name"]),
        key("names that are hidden", ".{0}_{1}", &["no name"]),
        key("a name that is the document's", "array.json/{0}_{1}", &["no name"]),
        key("a name of control characters", "\u{1b}[31m{0}_{1}", &["control"]),
        key("names that collide", "{0}{1}", &["same name"]),
        key("names that collide by digits", "{0}1{1}", &["same name"]),
        key("names of one axis", "{0}", &["{1}"]),
        key("names of an axis that there is not", "{0}_{1}_{2}", &["axis 2"]),
        key("names of 4 kB", &format!("{{0}}_{{1}}{}", "x".repeat(4000)), &["bytes"]),
        key("names of Python's formats", "{0:05}_{1!r}", &["brace"]),
        with("10^15 files", json!({"shape": [1_u64 << 25, 1_u64 << 25], "chunk_shape": [1, 1]}), Outcome::refused(&[SOURCE, ".bin has 32 bytes"])),
        with("10^11 files, two of them there", json!({"shape": [1_u64 << 40, 4], "chunk_shape": [4, 4]}), Outcome::refused(&[SOURCE, "2_0.bin is missing", "2 of 274877906944"])),
        with("by columns", json!({"order": "F"}), Outcome::Done),
        with("NaN as text", json!({"attributes": {"v": "NaN", "\u{1b}": "\u{9b}"}}), whole()),
    ]
}

/// The usual array with another text as its document.
fn text(name: &str, change: fn(String) -> Vec<u8>, words: &[&str]) -> Case {
    let build = move |scene: &Scene| {
        usual(scene);
        scene.write("array.json", change(document().to_string()));
    };
    let outcome = Outcome::refused(&[&[SOURCE, "array.json"], words].concat());
    Case::new(format!("array.json: {name}"), build, outcome).from(SOURCE)
}

#[rustfmt::skip]
fn texts() -> Vec<Case> {
    vec![
        text("empty", |_| Vec::new(), &[]),
        text("cut", |text| text.into_bytes()[..30].to_vec(), &[]),
        text("a list", |_| b"[]".to_vec(), &["object"]),
        text("100 MB", |_| vec![b' '; 100_000_000], &["bytes"]),
        text("a member twice", |text| text.replacen('{', r#"{"shape": [1, 1], "#, 1).into_bytes(), &["twice"]),
        text("nested 100 000 deep", |text| text.replacen('{', &format!(r#"{{"attributes": {}, "#, "[".repeat(100_000)), 1).into_bytes(), &["deep"]),
        text("not UTF-8", |text| text.replacen("uint16", "\u{fffd}", 1).into_bytes().into_iter().filter(|&b| b != 0xbf).collect(), &[]),
    ]
}

/// The usual array after something was done to its directory.
fn changed(name: &str, change: fn(&Scene), outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        usual(scene);
        change(scene);
    };
    Case::new(format!("raw files: {name}"), build, outcome).from(SOURCE)
}

fn path(scene: &Scene) -> String {
    format!("{}/1_0.bin", scene.source())
}

/// Puts something in place of a file.
fn instead(scene: &Scene, put: impl Fn(&str)) {
    scene.remove("1_0.bin");
    put(&path(scene));
}

#[rustfmt::skip]
fn files() -> Vec<Case> {
    let refused = |name: &str, change: fn(&Scene), words: &[&str]| {
        changed(name, change, Outcome::refused(&[&[SOURCE, "1_0.bin"], words].concat()))
    };
    vec![
        changed("sound", |_| {}, whole()),
        refused("a file is missing", |scene| scene.remove("1_0.bin"), &["missing", "3 of 4"]),
        refused("a file is empty", |scene| scene.write("1_0.bin", ""), &["0 bytes", "32"]),
        refused("a file is too short", |scene| scene.write("1_0.bin", &block(1, 0)[1..]), &["31 bytes", "32"]),
        refused("a file is too long", |scene| scene.write("1_0.bin", [block(1, 0), vec![0]].concat()), &["33 bytes", "32"]),
        refused("a file of 1 TiB, most of it a hole", |scene| {
            std::fs::File::create(path(scene)).unwrap().set_len(1 << 40).unwrap();
        }, &["1099511627776 bytes"]),
        refused("a directory", |scene| instead(scene, |path| std::fs::create_dir(path).unwrap()), &[]),
        refused("a pipe", |scene| instead(scene, |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())), &[]),
        refused("a link to itself", |scene| instead(scene, |path| symlink("1_0.bin", path).unwrap()), &[]),
        refused("a link to nothing", |scene| instead(scene, |path| symlink("nothing", path).unwrap()), &[]),
        refused("a link to /dev/zero", |scene| instead(scene, |path| symlink("/dev/zero", path).unwrap()), &[]),
        changed("a link to the file elsewhere", |scene| {
            std::fs::rename(path(scene), scene.at("elsewhere")).unwrap();
            symlink(scene.at("elsewhere"), path(scene)).unwrap();
        }, whole()),
        changed("more beside them", |scene| {
            for name in ["README", "2_0.bin", "00_0.bin", "0_0.bin.part", "-1_0.bin", "0_0.bin.rechunk/x"] {
                scene.write(name, "somebody's");
            }
        }, whole()),
        changed("a file that nobody may read", |scene| {
            open_to_all(scene.at("out").as_ref(), 0o777);
            open_to_all(path(scene).as_ref(), 0);
        }, Outcome::stopped(&["1_0.bin", "ermission"])).by_nobody(),
        changed("a directory that nobody may enter", |scene| {
            open_to_all(scene.at("out").as_ref(), 0o777);
            open_to_all(scene.source().as_ref(), 0);
        }, Outcome::refused(&[SOURCE, "ermission"])).by_nobody(),
        changed("the document as a pipe", |scene| {
            scene.remove("array.json");
            assert!(Command::new("mkfifo").arg(format!("{}/array.json", scene.source())).status().unwrap().success());
        }, Outcome::refused(&[SOURCE, "array.json", "a pipe"])),
        changed("no document", |scene| scene.remove("array.json"), Outcome::refused(&[SOURCE, "array.json"])),
        changed("two documents", |scene| scene.write(".zarray", "{}"), Outcome::refused(&[SOURCE])),
        changed("few open files", |_| {}, whole()).within(r#"ulimit -n 32; exec "$@""#),
    ]
}

/// A source that is no file of the kind its name says.
#[rustfmt::skip]
fn sources() -> Vec<Case> {
    let case = |name: &str, source: &'static str, build: fn(&Scene), words: &[&str]| {
        Case::new(format!("raw source: {name}"), build, Outcome::refused(&[&[source], words].concat())).from(source)
    };
    vec![
        case("a pipe called .npy", "source.npy", |scene| assert!(Command::new("mkfifo").arg(scene.source()).status().unwrap().success()), &["a pipe"]),
        case("a directory called .npy", "source.npy", |scene| std::fs::create_dir(scene.source()).unwrap(), &[]),
        case("a directory called .nii.gz", "source.nii.gz", |scene| std::fs::create_dir(scene.source()).unwrap(), &[]),
        case("a link to /dev/zero called .npy", "source.npy", |scene| symlink("/dev/zero", scene.source()).unwrap(), &["a device"]),
        case("a link to itself called .nii", "source.nii", |scene| symlink("source.nii", scene.source()).unwrap(), &["symbolic link"]),
        case("nothing called .npy", "source.npy", |_| {}, &["nothing"]),
        case("a pipe as elements", "source.bin", |scene| assert!(Command::new("mkfifo").arg(scene.source()).status().unwrap().success()), &["a pipe"])
            .arguments(&["copy", "SOURCE", "TARGET", "--raw-shape", "4", "--raw-dtype", "uint8"]),
        case("a link to /dev/zero as elements", "source.bin", |scene| symlink("/dev/zero", scene.source()).unwrap(), &["a device"])
            .arguments(&["copy", "SOURCE", "TARGET", "--raw-shape", "4", "--raw-dtype", "uint8"]),
        case("nothing as elements", "source.bin", |_| {}, &["nothing"])
            .arguments(&["copy", "SOURCE", "TARGET", "--raw-shape", "4", "--raw-dtype", "uint8"]),
        Case::new("raw source: a file in place of a directory", |scene| scene.write_file("x"),
            Outcome::fails(3, &["source.raw"], Left::Nothing)).from(SOURCE),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    [members(), texts(), files(), sources()].into_iter().flatten().collect()
}

#[test]
fn hostile_directories_of_raw_files_are_refused() {
    play_all("directories of raw files", &cases());
}
