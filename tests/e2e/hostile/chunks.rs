//! Group 1, damaged chunks: for each codec cut, empty, too long, followed by rubbish, with flipped
//! bits, in another codec. The copy stops at the chunk and names it; damage is never a missing
//! chunk.

use serde_json::json;

use super::build::{coded, coded_array, elements, gzip, small, with_compressor, zlib, zstd};
use super::{Case, Elements, Outcome, Scene, play_all};

/// Name, what `--codec` says, version, and whether a flipped bit is always seen.
const CODECS: [(&str, &str, u8, bool); 14] = [
    ("none", "none", 2, false),
    ("zstd", "zstd:3", 2, false),
    ("zstd with checksum", r#"{"id": "zstd", "level": 3, "checksum": true}"#, 2, true),
    ("gzip", "gzip:5", 2, true),
    ("zlib", r#"{"id": "zlib", "level": 5}"#, 2, true),
    ("blosc blosclz", "blosc:blosclz:5:shuffle", 2, false),
    ("blosc lz4", "blosc:lz4:5:shuffle", 2, false),
    ("blosc lz4 bitshuffle", "blosc:lz4:5:bitshuffle", 2, false),
    ("blosc lz4hc", "blosc:lz4hc:5:noshuffle", 2, false),
    ("blosc snappy", "blosc:snappy:5:shuffle", 2, false),
    ("blosc zlib", "blosc:zlib:5:shuffle", 2, false),
    ("blosc zstd", "blosc:zstd:5:shuffle", 3, false),
    ("crc32c", "crc32c", 3, true),
    (
        "zstd and crc32c",
        r#"[{"name": "zstd", "configuration": {"level": 1}}, {"name": "crc32c"}]"#,
        3,
        true,
    ),
];

type Damage = fn(&mut Vec<u8>);

/// Damage that no codec takes for a chunk.
const SEEN: [(&str, Damage); 7] = [
    ("cut in half", |bytes| bytes.truncate(bytes.len() / 2)),
    ("without its last byte", |bytes| bytes.truncate(bytes.len() - 1)),
    ("of one byte", |bytes| bytes.truncate(1)),
    ("empty", Vec::clear),
    ("with a byte after it", |bytes| bytes.push(b'x')),
    ("with 200 kB after it", |bytes| bytes.resize(bytes.len() + 200_000, b'x')),
    ("of zeros", |bytes| bytes.fill(0)),
];

/// Flips: in the header, in the middle, at the end.
const FLIPS: [(&str, Damage); 3] = [
    ("with a flipped bit at its start", |bytes| bytes[0] ^= 1),
    ("with flipped bits inside", |bytes| {
        for part in [3, 4, 5] {
            let at = bytes.len() / part;
            bytes[at] ^= 0x41;
        }
    }),
    ("with a flipped bit at its end", |bytes| *bytes.last_mut().unwrap() ^= 0x80),
];

fn key_of(version: u8) -> &'static str {
    if version == 2 { "1.0" } else { "c/1/0" }
}

fn damaged(scene: &Scene, codec: &str, version: u8, damage: Damage) {
    for (key, mut bytes) in coded(codec, version) {
        if key == key_of(version) {
            damage(&mut bytes);
        }
        scene.write(&key, bytes);
    }
}

fn damage_case(
    (name, codec, version, _): (&str, &'static str, u8, bool),
    what: &str,
    damage: Damage,
    outcome: Outcome,
) -> Case {
    let build = move |scene: &Scene| damaged(scene, codec, version, damage);
    Case::new(format!("{name}: chunk {what}"), build, outcome).with(&["--chunks", "32,8"])
}

/// A chunk in another codec than the metadata says.
fn foreign(name: &str, compressor: serde_json::Value, chunk: Vec<u8>) -> Case {
    let build = move |scene: &Scene| {
        with_compressor(scene, &compressor);
        scene.write("0.1", &chunk);
        for key in ["0.0", "1.0", "1.1"] {
            scene.remove(key);
        }
    };
    Case::new(name, build, Outcome::stopped(&["source.zarr", "0.1", "damaged"]))
        .with(&["--chunks", "8,2"])
}

/// Chunks that are copied as they are stored: what tells without decoding that they cannot be right
/// is seen.
fn not_decoded() -> Vec<Case> {
    let checked = CODECS.into_iter().filter(|&(name, _, version, _)| {
        name == "none" || name.starts_with("blosc") || version == 3
    });
    let mut cases = Vec::new();
    for (name, codec, version, is_checked) in checked {
        let words = ["source.zarr", key_of(version), "damaged"];
        let damages = SEEN.into_iter().chain(FLIPS.into_iter().filter(|_| is_checked));
        for (what, damage) in damages {
            if what == "of zeros" && name == "none" {
                continue;
            }
            let words = if what.contains("200 kB") { &words[..2] } else { &words };
            let build = move |scene: &Scene| damaged(scene, codec, version, damage);
            let name = format!("{name}: chunk {what}, not decoded");
            let case = Case::new(name, build, Outcome::stopped(words));
            let copy = ["copy", "SOURCE", "TARGET", "--max-mem", "64MiB"];
            cases.push(case.arguments(&[&copy[..], &["--strategy", "passthrough"]].concat()));
        }
    }
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for coded in CODECS {
        let (name, codec, version, is_checked) = coded;
        let words = ["source.zarr", key_of(version), "damaged"];
        for (what, damage) in SEEN {
            // Zeros are elements like others where nothing is coded.
            let is_legal = what == "of zeros" && codec == "none";
            // More than the codec can have made is refused by its size alone.
            let words = if what.contains("200 kB") { &words[..2] } else { &words };
            let outcome = if is_legal { Outcome::Done } else { Outcome::stopped(words) };
            cases.push(damage_case(coded, what, damage, outcome));
        }
        for (what, damage) in FLIPS {
            let outcome = if is_checked {
                Outcome::stopped(&words)
            } else {
                Outcome::copied_or_stopped(&words)
            };
            cases.push(damage_case(coded, what, damage, outcome));
        }
        let build = move |scene: &Scene| damaged(scene, codec, version, |_| {});
        let array = coded_array();
        let whole = Elements::new(&array.shape, elements(&array));
        cases.push(Case::new(format!("{name}: sound"), build, Outcome::Copied(whole)));
    }
    cases.extend(not_decoded());
    let chunk = small(2).chunk(&[0, 1]);
    cases.push(foreign("gzip where zstd is said", json!({"id": "zstd", "level": 3}), gzip(&chunk)));
    cases.push(foreign("zlib where gzip is said", json!({"id": "gzip", "level": 1}), zlib(&chunk)));
    cases.push(foreign("gzip where zlib is said", json!({"id": "zlib", "level": 1}), gzip(&chunk)));
    cases.push(foreign("zstd where blosc is said", json!({"id": "blosc"}), zstd(&chunk)));
    cases.push(foreign("no codec where gzip is said", json!({"id": "gzip"}), chunk.clone()));
    cases.push(foreign("no codec where blosc is said", json!({"id": "blosc"}), chunk));
    cases
}

#[test]
fn damaged_chunks_stop_the_copy() {
    play_all("damaged chunks", &cases());
}
