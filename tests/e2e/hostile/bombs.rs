//! Group 6, bombs and lies: little that decodes to very much, and sizes that are not what they
//! claim. Refused or stopped in the memory and time of any other refusal.

use serde_json::{Value, json};

use super::build::{blosc_header, blosc_stored, changed, gzip, with_compressor, zeros, zlib, zstd};
use super::{Case, Left, Outcome, Scene, play_all};

const GIB: u64 = 1 << 30;

/// Bytes of a chunk of the usual array.
const CHUNK_BYTES: u64 = 64;

/// The usual array with a compressor, and a chunk that is hostile.
fn chunk(
    name: &str,
    compressor: Value,
    bytes: impl Fn() -> Vec<u8> + 'static,
    words: &'static [&str],
) -> Case {
    let build = move |scene: &Scene| {
        with_compressor(scene, &compressor);
        for key in ["0.0", "0.1", "1.0"] {
            scene.remove(key);
        }
        scene.write("1.1", bytes());
    };
    let words = [&["source.zarr", "1.1"], words].concat();
    Case::new(name, build, Outcome::stopped(&words)).with(&["--chunks", "8,2"])
}

/// A zstd frame of zeros by run-length blocks of 128 KiB, four bytes each.
fn zstd_runs(claimed: Option<u64>, bytes: u64) -> Vec<u8> {
    let mut frame = b"\x28\xb5\x2f\xfd".to_vec();
    match claimed {
        // One segment, with a content size of eight bytes.
        Some(claimed) => {
            frame.push(0xe0);
            frame.extend(claimed.to_le_bytes());
        }
        // A window of 128 MiB, and no content size.
        None => frame.extend([0x00, 0x88]),
    }
    let blocks = bytes >> 17;
    for block in 0..blocks {
        let is_last = u32::from(block + 1 == blocks);
        let header = (1 << 17 << 3) | (1 << 1) | is_last;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

fn gzip_zeros() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(9));
    zeros(&mut encoder, 256 << 20);
    encoder.finish().unwrap()
}

fn zlib_zeros() -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(9));
    zeros(&mut encoder, 256 << 20);
    encoder.finish().unwrap()
}

fn content() -> Vec<u8> {
    vec![7; usize::try_from(CHUNK_BYTES).unwrap()]
}

fn zstd_bombs() -> Vec<Case> {
    let zstd_id = || json!({"id": "zstd", "level": 3});
    vec![
        chunk(
            "zstd frame of 16 GiB",
            zstd_id(),
            || zstd_runs(None, 16 * GIB)[..60_000].to_vec(),
            &[],
        ),
        chunk("zstd frame of 1 GiB that says so", zstd_id(), || zstd_runs(Some(GIB), GIB), &[]),
        chunk("zstd frame of 1 GiB that does not say so", zstd_id(), || zstd_runs(None, GIB), &[]),
        chunk("zstd frame of 1 GiB that says 64", zstd_id(), || zstd_runs(Some(64), GIB), &[]),
        chunk(
            "zstd frame that says 2^64-1",
            zstd_id(),
            || zstd_runs(Some(u64::MAX), 1 << 17),
            &["damaged"],
        ),
        chunk("zstd frames without content", zstd_id(), || zstd(b"").repeat(2000), &["damaged"]),
        chunk(
            "zstd skippable frame of 4 GiB",
            zstd_id(),
            || b"\x50\x2a\x4d\x18\xff\xff\xff\xffabc".to_vec(),
            &["damaged"],
        ),
        chunk(
            "zstd needing a dictionary",
            zstd_id(),
            || b"\x28\xb5\x2f\xfd\x23\xff\xff\xff\x7f\x40\x01\x00\x00".to_vec(),
            &["damaged"],
        ),
    ]
}

fn deflate_bombs() -> Vec<Case> {
    let gzip_id = || json!({"id": "gzip", "level": 1});
    vec![
        chunk("gzip of 256 MiB", gzip_id(), gzip_zeros, &[]),
        chunk(
            "gzip of 256 MiB in a second member",
            gzip_id(),
            || [gzip(&content()[..32]), gzip_zeros()].concat(),
            &[],
        ),
        chunk("gzip of 2000 empty members", gzip_id(), || gzip(b"").repeat(2000), &["damaged"]),
        chunk(
            "gzip whose trailer says 4 GiB",
            gzip_id(),
            || {
                let mut b = gzip(&content());
                let n = b.len();
                b[n - 4..].fill(0xff);
                b
            },
            &["damaged"],
        ),
        chunk("gzip of more than a chunk by a byte", gzip_id(), || gzip(&[7; 65]), &["damaged"]),
        chunk(
            "gzip of two chunks that are alike",
            gzip_id(),
            || gzip(&content()).repeat(2),
            &["damaged"],
        ),
        chunk("gzip header alone", gzip_id(), || gzip(&content())[..10].to_vec(), &["damaged"]),
        chunk(
            "gzip with a name that does not end",
            gzip_id(),
            || [&b"\x1f\x8b\x08\x08\0\0\0\0\0\x03"[..], &[b'n'; 60_000]].concat(),
            &["damaged"],
        ),
        chunk("zlib of 256 MiB", json!({"id": "zlib", "level": 1}), zlib_zeros, &[]),
        chunk(
            "zlib with a dictionary",
            json!({"id": "zlib", "level": 1}),
            || {
                let mut b = zlib(&content());
                b[1] |= 0x20;
                b
            },
            &["damaged"],
        ),
    ]
}

/// Numbers in a header: bytes of an element, decoded bytes, bytes of a block.
const BLOSC_HEADERS: [(&str, u8, u64, u64); 8] = [
    ("4 GiB decoded", 4, 0xffff_ffff, 64),
    ("2 GiB decoded", 4, 0x7fff_ffff, 64),
    ("a byte more", 4, 65, 64),
    ("a byte less", 4, 63, 63),
    ("nothing decoded", 4, 0, 0),
    ("blocks of 4 GiB", 4, 64, 0xffff_ffff),
    ("blocks of nothing", 4, 64, 0),
    ("elements of nothing", 0, 64, 64),
];

type Change = fn(&mut Vec<u8>);

/// Changes of a chunk that is fine otherwise: the sizes, then the flags, then the offsets of its
/// blocks.
const BLOSC_CHANGES: [(&str, Change); 7] = [
    ("that says 4 GiB stored", |b| b[12..16].fill(0xff)),
    ("that says its header is all", |b| b[12..16].copy_from_slice(&[16, 0, 0, 0])),
    ("of a compressor that there is not", |b| b[2] = 0xe0),
    ("whose blocks begin beyond the end", |b| {
        b[2] = 0x20;
        b[16..].fill(0x7f);
    }),
    ("whose blocks begin before the start", |b| {
        b[2] = 0x20;
        b[16..].fill(0xff);
    }),
    ("whose block begins in the header", |b| {
        b[2] = 0x20;
        b[16..].fill(0);
    }),
    ("that ends with its header", |b| {
        b.truncate(16);
        b[12..16].copy_from_slice(&[16, 0, 0, 0]);
    }),
];

fn blosc_lies() -> impl Iterator<Item = Case> {
    let blosc_id = || json!({"id": "blosc"});
    let header = move |(says, typesize, decoded, block): (&str, u8, u64, u64)| {
        let bytes = move || blosc_header(typesize, decoded, block, &content());
        chunk(&format!("blosc that says {says}"), blosc_id(), bytes, &["damaged"])
    };
    let change = move |(name, change): (&str, Change)| {
        let bytes = move || {
            let mut bytes = blosc_stored(&content(), 4);
            change(&mut bytes);
            bytes
        };
        chunk(&format!("blosc {name}"), blosc_id(), bytes, &["damaged"])
    };
    BLOSC_HEADERS.into_iter().map(header).chain(BLOSC_CHANGES.into_iter().map(change))
}

/// A chunk file of 10 GB without blocks on the disk.
fn sparse(name: &str, compressor: Value) -> Case {
    let build = move |scene: &Scene| {
        with_compressor(scene, &compressor);
        for key in ["0.0", "0.1", "1.0"] {
            scene.remove(key);
        }
        let path = format!("{}/1.1", scene.source());
        std::fs::File::create(path).unwrap().set_len(10_000_000_000).unwrap();
    };
    let words = ["source.zarr", "1.1", "10000000000"];
    Case::new(name, build, Outcome::stopped(&words)).with(&["--chunks", "8,2"])
}

/// Metadata whose numbers are large: a plan within 64 MiB or none, at once.
fn large(name: &str, version: u8, shape: [u64; 2], chunks: [u64; 2], outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        changed(scene, version, |document| {
            document["shape"] = json!(shape);
            if version == 2 {
                document["chunks"] = json!(chunks);
            } else {
                document["chunk_grid"]["configuration"]["chunk_shape"] = json!(chunks);
            }
        });
    };
    let plan = ["plan", "SOURCE", "TARGET", "--chunks", "1,1", "--max-mem", "64MiB"];
    Case::new(name, build, outcome).arguments(&plan)
}

/// Bomb in Zarr v3, with a codec.
fn packed(name: &str, shape: [u64; 2], chunks: [u64; 2], outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        changed(scene, 3, |document| {
            document["shape"] = json!(shape);
            document["chunk_grid"]["configuration"]["chunk_shape"] = json!(chunks);
            let codecs = document["codecs"].as_array_mut().expect("an array has codecs");
            codecs.push(json!({"name": "gzip", "configuration": {"level": 1}}));
        });
    };
    let plan = ["plan", "SOURCE", "TARGET", "--chunks", "1,1", "--max-mem", "64MiB"];
    Case::new(name, build, outcome).arguments(&plan)
}

fn numbers() -> Vec<Case> {
    let too_large = || Outcome::fails(5, &["--max-mem"], Left::Nothing);
    vec![
        // Without a codec a task reads what it takes of a chunk.
        large("chunks of 1 TiB", 3, [1 << 38, 1], [1 << 38, 1], Outcome::Done),
        packed("packed chunks of 1 TiB", [1 << 38, 1], [1 << 38, 1], too_large()),
        large(
            "chunks of 1 TiB and 4 bytes",
            3,
            [1 << 39, 1],
            [(1 << 38) + 1, 1],
            Outcome::refused(&["1 TiB"]),
        ),
        large("a shape of 2^63", 2, [1 << 63, 1], [1, 1], Outcome::refused(&["chunks"])),
        large("a shape of 2^62 bytes in one chunk each", 3, [1 << 60, 1], [1, 1], Outcome::Done),
        large("a shape of 2^61 in large chunks", 3, [1 << 61, 1], [1 << 20, 1], Outcome::Done),
        large(
            "a chunk of 2^63 along an axis of 1",
            2,
            [1, 1],
            [1, 1 << 63],
            Outcome::refused(&["chunks"]),
        ),
        large(
            "a chunk of 4 GiB of an array of one element",
            2,
            [1, 1],
            [1 << 15, 1 << 15],
            Outcome::Done,
        ),
        packed(
            "a packed chunk of 4 GiB of an array of one element",
            [1, 1],
            [1 << 15, 1 << 15],
            too_large(),
        ),
        Case::new(
            "a shape of 2^65 bytes",
            |scene| {
                changed(scene, 3, |document| {
                    document["data_type"] = json!("float64");
                    document["shape"] = json!([1_u64 << 62, 1]);
                    document["chunk_grid"]["configuration"]["chunk_shape"] = json!([1 << 20, 1]);
                });
            },
            Outcome::Done,
        )
        .arguments(&[
            "plan",
            "SOURCE",
            "TARGET",
            "--chunks",
            "1000,1",
            "--max-mem",
            "64MiB",
        ]),
        Case::new(
            "blosc chunks of 2 GiB",
            |scene| {
                changed(scene, 2, |document| {
                    document["chunks"] = json!([1 << 29, 1]);
                    document["compressor"] = json!({"id": "blosc"});
                });
            },
            Outcome::refused(&["blosc", "2147483631"]),
        ),
        Case::new(
            "as many attributes as are read",
            |scene| {
                changed(scene, 3, |document| {
                    let many = (0..40_000).map(|n| (format!("a{n}"), json!([n, n])));
                    document["attributes"] = Value::Object(many.collect());
                });
            },
            Outcome::Done,
        ),
        Case::new(
            "a million attributes",
            |scene| {
                changed(scene, 3, |document| {
                    let many = (0..300_000).map(|n| (format!("a{n}"), json!([n, {"n": n}])));
                    document["attributes"] = Value::Object(many.collect());
                });
            },
            Outcome::refused(&["zarr.json", "values"]),
        ),
    ]
}

/// An array that claims to be enormous, and of which two chunks are stored: the rest is passed
/// over.
fn enormous(
    name: &str,
    shape: &'static [u64],
    chunks: &'static [u64],
    (target, max_mem): (&'static str, &'static str),
) -> Case {
    let build = move |scene: &Scene| {
        let document = json!({
            "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "|u1", "order": "C",
            "compressor": null, "filters": null, "fill_value": 0,
        });
        scene.write(".zarray", document.to_string());
        let bytes: u64 = chunks.iter().product();
        let last = shape.iter().zip(chunks).map(|(extent, chunk)| (extent - 1) / chunk);
        for index in [vec![0; shape.len()], last.collect()] {
            let key: Vec<String> = index.iter().map(u64::to_string).collect();
            scene.write(&key.join("."), vec![7; usize::try_from(bytes).unwrap()]);
        }
    };
    let copy = ["copy", "SOURCE", "TARGET", "--max-mem", max_mem, "--no-fsync", "--chunks", target];
    Case::new(name, build, Outcome::Done).arguments(&copy)
}

fn enormous_cases() -> [Case; 4] {
    let (plane, volume) = (&[1 << 31, 1 << 31][..], &[1_000_000, 1_000_000, 1000][..]);
    [
        enormous("four exabytes, copied", plane, &[1024, 1024], ("keep", "64MiB")),
        enormous("four exabytes, cut along one axis", plane, &[1024, 1024], ("512,2048", "64MiB")),
        enormous("a petabyte, cut along all axes", volume, &[64, 64, 64], ("1,256,1000", "64MiB")),
        // Two tasks run, in which each of a thousand elements of a chunk goes elsewhere.
        enormous(
            "a terabyte of tiny chunks, turned",
            &[1_000_000; 2],
            &[1000, 1],
            ("1,1000", "16MiB"),
        ),
    ]
}

/// Nothing is stored of an array that claims to be large: whoever compares knows that soon.
fn nothing(name: &str, arguments: &[&'static str]) -> Case {
    let build = |scene: &Scene| {
        let document = json!({
            "zarr_format": 2, "shape": [1 << 24, 9], "chunks": [6, 6], "dtype": "<f4", "order": "C",
            "compressor": null, "filters": null, "fill_value": 0,
        });
        scene.write(".zarray", document.to_string());
    };
    Case::new(name, build, Outcome::Done).arguments(arguments)
}

fn nothing_cases() -> [Case; 2] {
    [
        nothing("six million absent chunks, verified", &["verify", "SOURCE", "SOURCE"]),
        nothing(
            "six million absent chunks, copied and verified",
            &["copy", "SOURCE", "TARGET", "--verify", "--max-mem", "64MiB", "--no-fsync"],
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let sparse_cases = [
        sparse("a chunk file of 10 GB", Value::Null),
        sparse("a zstd chunk file of 10 GB", json!({"id": "zstd", "level": 1})),
        sparse("a blosc chunk file of 10 GB", json!({"id": "blosc"})),
    ];
    let codecs = zstd_bombs().into_iter().chain(deflate_bombs()).chain(blosc_lies());
    codecs
        .chain(sparse_cases)
        .chain(enormous_cases())
        .chain(nothing_cases())
        .chain(numbers())
        .collect()
}

#[test]
fn bombs_and_lies_are_refused_within_bounds() {
    play_all("bombs and lies", &cases());
}
