//! Group 9, blocks of N5: headers that lie, payloads that are cut, damaged or too much, and what
//! stands where a block should be.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::build::{blosc_header, gzip, zeros, zlib, zstd};
use super::n5::{SOURCE, attributes, block, holds, payload, usual, whole};
use super::{Case, Outcome, Scene, play_all};
use crate::arrays::RawArray;
use crate::harness::{Folder, open_to_all, rechunk};

/// The block that is hostile: N5 counts x first.
const KEY: &str = "1/0";

/// The usual dataset with another block at [`KEY`].
fn block_case(name: &str, bytes: impl Fn() -> Vec<u8> + 'static, outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        usual(scene, "");
        scene.write(KEY, bytes());
    };
    Case::new(format!("N5 block {name}"), build, outcome).from(SOURCE)
}

fn stopped(more: &[&str]) -> Outcome {
    Outcome::stopped(&[&[SOURCE, KEY], more].concat())
}

/// A block that stops the copy.
fn wrong(name: &str, bytes: impl Fn() -> Vec<u8> + 'static, words: &[&str]) -> Case {
    block_case(name, bytes, stopped(words)).with(&["--chunks", "8,2"])
}

fn sound() -> Vec<u8> {
    block(0, &[4, 4], &payload((1, 0), 4, 4))
}

#[rustfmt::skip]
fn headers() -> Vec<Case> {
    let elements = || payload((1, 0), 4, 4);
    vec![
        wrong("that is empty", Vec::new, &["too few"]),
        wrong("of one byte", || vec![0], &["too few"]),
        wrong("that ends after its mode", || vec![0, 0], &["too few"]),
        wrong("that ends in its sizes", || sound()[..9].to_vec(), &["too few"]),
        wrong("without elements", || sound()[..12].to_vec(), &["damaged"]),
        wrong("without its last byte", || { let mut b = sound(); b.pop(); b }, &["31 bytes", "32"]),
        wrong("with a byte after it", || { let mut b = sound(); b.push(0); b }, &["33 bytes", "32"]),
        wrong("with 200 kB after it", || { let mut b = sound(); b.resize(200_000, 0); b }, &["200000 bytes", "at most 48"]),
        wrong("of mode 3", move || block(3, &[4, 4], &elements()), &["mode 3"]),
        wrong("of mode 1", move || [&block(1, &[4, 4], &16_u32.to_be_bytes())[..], &elements()].concat(), &["mode 1"]),
        wrong("of mode 2", move || block(2, &[], &elements()), &["mode 2"]),
        wrong("of three axes", move || block(0, &[4, 4, 1], &elements()), &["3 dimensions"]),
        wrong("of no axes", move || block(0, &[], &elements()), &["0 dimensions"]),
        wrong("of 65 535 axes", || [0, 0, 0xff, 0xff].repeat(8), &["65535 dimensions"]),
        wrong("larger than a block", || block(0, &[5, 3], &[1; 30]), &["5 elements"]),
        wrong("of 2^64 elements", move || block(0, &[u32::MAX, u32::MAX], &elements()), &["4294967295"]),
        wrong("of a negative size", move || block(0, &[4, 0x8000_0004], &elements()), &["2147483652"]),
        wrong("with a little-endian header", || sound().chunks(4).flat_map(|word| word.iter().rev().copied().collect::<Vec<_>>()).collect(), &["mode"]),
        wrong("that is a web page", || b"<!DOCTYPE html><html><body>404 Not Found</body></html>".to_vec(), &["damaged"]),
        wrong("of zeros", || vec![0; 44], &["0 dimensions"]),
        // Legal, if rare.
        block_case("that holds less", || block(0, &[2, 3], &payload((1, 0), 2, 3)),
            holds(|x, y, value| if x >= 6 && y < 4 || x >= 4 && y == 3 { 0 } else { value })),
        block_case("that holds nothing", || block(0, &[0, 4], &[]),
            holds(|x, y, value| if x >= 4 && y < 4 { 0 } else { value })),
    ]
}

/// A compression, as `--codec` says it, and whether it has a checksum over its content.
const CODECS: [(&str, &str, bool); 8] = [
    ("gzip", "gzip:5", true),
    ("zlib", "zlib:5", true),
    ("bzip2", "bz2:9", true),
    ("xz", "xz:1", true),
    ("lz4", "lz4", true),
    ("zstd", "zstd:3", false),
    ("blosc", "blosc:lz4:5:shuffle", false),
    ("raw", "none", false),
];

/// Bytes of the header of a block of two axes.
const HEADER_BYTES: usize = 12;

type Damage = fn(&mut Vec<u8>);

/// Damage that no compression takes for a block.
const SEEN: [(&str, Damage); 4] = [
    ("cut in half", |bytes| bytes.truncate(bytes.len() / 2)),
    ("without its last byte", |bytes| bytes.truncate(bytes.len() - 1)),
    ("with a byte after it", |bytes| bytes.push(b'x')),
    ("without content", |bytes| bytes.truncate(HEADER_BYTES)),
];

/// The files of 2 × 2 blocks of 16 × 16 in a compression; coded once, by ourselves.
fn coded(codec: &str) -> BTreeMap<String, Vec<u8>> {
    static MADE: Mutex<BTreeMap<String, BTreeMap<String, Vec<u8>>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap();
    let files = made.entry(codec.to_owned()).or_insert_with(|| {
        let folder = Folder::new();
        let (raw, coded) = (folder.at("raw.zarr"), folder.at("coded.n5"));
        RawArray::v2(&[32, 32], &[16, 16]).write(&raw);
        rechunk(&["copy", &raw, &coded, "--codec", codec, "--no-fsync"]).ok();
        let keys = ["attributes.json", "0/0", "0/1", "1/0", "1/1"];
        let read = |key: &str| std::fs::read(Path::new(&coded).join(key)).unwrap();
        keys.iter().map(|&key| (key.to_owned(), read(key))).collect()
    });
    files.clone()
}

fn damaged(name: &str, codec: &'static str, damage: Damage, outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        for (key, mut bytes) in coded(codec) {
            if key == KEY {
                damage(&mut bytes);
            }
            scene.write(&key, bytes);
        }
    };
    Case::new(name, build, outcome).from(SOURCE).with(&["--chunks", "32,8"])
}

fn payloads() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, codec, is_checked) in CODECS {
        for (what, damage) in SEEN {
            // Python's bzip2 ignores what follows a stream, and so does ours.
            let is_legal = name == "bzip2" && what == "with a byte after it";
            let outcome = if is_legal { Outcome::Done } else { stopped(&["damaged"]) };
            cases.push(damaged(&format!("N5 {name}: block {what}"), codec, damage, outcome));
        }
        let flips: Damage = |bytes| {
            let at = HEADER_BYTES + (bytes.len() - HEADER_BYTES) * 3 / 5;
            bytes[at] ^= 0x41;
        };
        let outcome = if is_checked {
            stopped(&["damaged"])
        } else {
            Outcome::copied_or_stopped(&[SOURCE, KEY, "damaged"])
        };
        cases.push(damaged(&format!("N5 {name}: block with a flip"), codec, flips, outcome));
    }
    // Checksums: of gzip before the size at the end; of lz4-java in the header of its blocks.
    let at_crc: Damage = |bytes| {
        let at = bytes.len() - 8;
        bytes[at] ^= 1;
    };
    let at_xxh: Damage = |bytes| bytes[HEADER_BYTES + 8 + 1 + 4 + 4] ^= 1;
    let at_sum: Damage = |bytes| *bytes.last_mut().unwrap() ^= 1;
    for (name, codec, damage) in [
        ("N5 gzip: another CRC", "gzip:5", at_crc),
        ("N5 lz4: another xxHash", "lz4", at_xxh),
        ("N5 zlib: another Adler-32", "zlib:5", at_sum),
    ] {
        cases.push(damaged(name, codec, damage, stopped(&["damaged"])));
    }
    cases
}

/// The usual dataset in a compression, its only block one that is hostile.
fn foreign(name: &str, compression: Value, content: impl Fn() -> Vec<u8> + 'static) -> Case {
    let build = move |scene: &Scene| {
        let mut document = attributes();
        document["compression"] = compression.clone();
        scene.write("attributes.json", document.to_string());
        scene.write(KEY, block(0, &[4, 4], &content()));
    };
    let case = Case::new(format!("N5 {name}"), build, stopped(&[])).from(SOURCE);
    case.with(&["--chunks", "8,2"])
}

/// Header of lz4-java: token, compressed and decoded bytes, xxHash; then the content.
fn lz4_java(token: u8, encoded: u32, decoded: u32, content: &[u8]) -> Vec<u8> {
    let sizes = [encoded.to_le_bytes(), decoded.to_le_bytes(), [0; 4]].concat();
    [&b"LZ4Block"[..], &[token], &sizes, content].concat()
}

fn gzip_zeros(bytes: u64) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(9));
    zeros(&mut encoder, bytes);
    encoder.finish().unwrap()
}

/// A zstd frame of zeros: run-length blocks of 128 KiB, four bytes each.
fn zstd_zeros(blocks: usize) -> Vec<u8> {
    let header = |is_last: u32| (1 << 17 << 3 | 1 << 1 | is_last).to_le_bytes();
    let block = |is_last| [&header(is_last)[..3], &[0]].concat();
    [&b"\x28\xb5\x2f\xfd\x00\x88"[..], &block(0).repeat(blocks - 1), &block(1)].concat()
}

/// Compresses zeros with a program of the system, a few MiB of which are GiB.
fn by_program(program: &'static str, bytes: u64) -> Option<Vec<u8>> {
    let command = format!("head -c {bytes} /dev/zero | {program} -9");
    let made = Command::new("sh").args(["-c", &command]).output().ok()?;
    (made.status.success() && !made.stdout.is_empty()).then_some(made.stdout)
}

#[rustfmt::skip]
fn bombs() -> Vec<Case> {
    let gzip_type = || json!({"type": "gzip", "level": 5});
    let (lz4, blosc) = (json!({"type": "lz4", "blockSize": 65536}), json!({"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}));
    let fine = || payload((1, 0), 4, 4);
    let mut cases = vec![
        foreign("gzip of 256 MiB in a block of 32 bytes", gzip_type(), || gzip_zeros(256 << 20)),
        foreign("gzip of 1 MiB in a block of 32 bytes", gzip_type(), || gzip_zeros(1 << 20)),
        foreign("gzip of a byte more", gzip_type(), || gzip(&[7; 33])),
        foreign("gzip of a byte less", gzip_type(), || gzip(&[7; 31])),
        foreign("gzip of 2000 empty members", gzip_type(), || gzip(b"").repeat(2000)),
        foreign("zlib of a byte more", json!({"type": "gzip", "level": 5, "useZlib": true}), || zlib(&[7; 33])),
        foreign("zstd of 8 GiB", json!({"type": "zstd", "level": 3}), || zstd_zeros(1 << 16)),
        foreign("zstd of 32 MiB", json!({"type": "zstd", "level": 3}), || zstd_zeros(256)),
        foreign("lz4 that says 2 GiB", lz4.clone(), || lz4_java(0x26, 40, 0x7fff_ffff, &[0x1f; 40])),
        foreign("lz4 that says -1 bytes", lz4.clone(), || lz4_java(0x26, u32::MAX, 32, &[0; 40])),
        foreign("lz4 blocks that are empty", lz4.clone(), || lz4_java(0x16, 0, 0, &[]).repeat(1000)),
        foreign("lz4 block whose match runs on", lz4, || [&[0x1f, 0, 1, 0][..], &[0xff; 200]].concat()),
        foreign("blosc that says 4 GiB", blosc.clone(), move || blosc_header(2, 0xffff_ffff, 32, &fine())),
        foreign("blosc that says 2 GiB", blosc.clone(), move || blosc_header(2, 0x7fff_ffff, 32, &fine())),
        foreign("blosc that says a byte less", blosc.clone(), move || blosc_header(2, 31, 31, &fine())),
        foreign("blosc with blocks of 4 GiB", blosc, move || blosc_header(2, 32, 0xffff_ffff, &fine())),
        foreign("zstd where gzip is said", gzip_type(), move || zstd(&fine())),
        foreign("raw where gzip is said", gzip_type(), fine),
        foreign("gzip where raw is said", json!({"type": "raw"}), move || gzip(&fine())),
    ];
    for (program, compression) in [("xz", json!({"type": "xz", "preset": 6})), ("bzip2", json!({"type": "bzip2", "blockSize": 9}))] {
        match by_program(program, 64 << 20) {
            Some(bomb) => cases.push(foreign(&format!("{program} of 64 MiB"), compression, move || bomb.clone())),
            None => println!("no {program}: its bomb is not tried"),
        }
    }
    cases
}

fn in_place_of_blocks() -> Vec<Case> {
    type Put = fn(&Scene, &str);
    #[rustfmt::skip]
    let things: [(&str, Put, &str); 6] = [
        ("a pipe", |_, path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()), "a pipe"),
        ("a directory", |_, path| std::fs::create_dir(path).unwrap(), "a directory"),
        ("a link to itself", |_, path| symlink("0", path).unwrap(), "symbolic link"),
        ("a link to nothing", |_, path| symlink("nothing", path).unwrap(), "missing"),
        ("a link to /dev/zero", |_, path| symlink("/dev/zero", path).unwrap(), "a device"),
        ("a block that nobody may read", |scene, path| {
            std::fs::write(path, sound()).unwrap();
            open_to_all(scene.at("out").as_ref(), 0o777);
            open_to_all(path.as_ref(), 0);
        }, "ermission"),
    ];
    let mut cases: Vec<Case> = things
        .into_iter()
        .map(|(name, put, word)| {
            let build = move |scene: &Scene| {
                usual(scene, "");
                let path = format!("{}/{KEY}", scene.source());
                std::fs::remove_file(&path).unwrap();
                put(scene, &path);
            };
            // Whether a block is there is asked first: N5 tells that from a block of zeros.
            let outcome = Outcome::refused(&[SOURCE, KEY, word]);
            let case = Case::new(format!("N5: {name} as a block"), build, outcome);
            let case = case.from(SOURCE).with(&["--chunks", "8,2"]);
            if word == "ermission" { case.by_nobody() } else { case }
        })
        .collect();
    let build = |scene: &Scene| {
        usual(scene, "");
        std::fs::remove_dir_all(format!("{}/1", scene.source())).unwrap();
        scene.write("1", "a file where a directory should be");
    };
    // Whichever of the blocks below it is read first.
    let outcome = Outcome::refused(&[SOURCE, " 1/", "a part of the path is a file"]);
    let clash = Case::new("N5: a file in place of a directory of blocks", build, outcome);
    cases.push(clash.from(SOURCE).with(&["--chunks", "8,2"]));
    let build = |scene: &Scene| {
        usual(scene, "");
        for key in ["0/00", "+1/0", "9/9", "1/-1", "c", "0.0"] {
            scene.write(key, "no block of this dataset");
        }
    };
    cases.push(Case::new("N5: names that are no blocks", build, whole()).from(SOURCE));
    cases
}

/// Blocks that are copied as they are stored.
fn not_decoded() -> Vec<Case> {
    let copy = ["copy", "SOURCE", "TARGET", "--format", "n5", "--strategy", "passthrough"];
    let case = |name: &str, bytes: fn() -> Vec<u8>, outcome: Outcome| {
        block_case(&format!("{name}, not decoded"), bytes, outcome).arguments(&copy)
    };
    vec![
        case("that is sound", sound, Outcome::Done),
        case("that ends in its sizes", || sound()[..9].to_vec(), stopped(&["too few"])),
        case("without its last byte", || sound()[..43].to_vec(), stopped(&["31 bytes", "32"])),
        case("of three axes", || block(0, &[4, 4, 1], &[0; 32]), stopped(&["3 dimensions"])),
        case("larger than blocks are", || block(0, &[4, 5], &[0; 40]), stopped(&["damaged"])),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let groups = [headers(), payloads(), bombs(), in_place_of_blocks(), not_decoded()];
    groups.into_iter().flatten().collect()
}

#[test]
fn hostile_blocks_of_n5_stop_the_copy() {
    play_all("blocks of N5", &cases());
}
