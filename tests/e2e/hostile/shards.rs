//! Group 5, shards and their indexes: what an index may not say, and what it may.
//!
//! The usual array is 8 × 8 float32 in shards of 4 × 4 of inner chunks of 2 × 2, with the index of
//! 4 entries and a checksum at the end, all built here.

use serde_json::{Value, json};

use super::build::{changed, elements, small};
use super::{Case, Elements, Outcome, Scene, play_all};
use crate::arrays::RawArray;

/// Whether shards are read. Where they are not, they must be refused by name.
const SHARDS: bool = true;

/// Bytes of an inner chunk, uncompressed.
const INNER_BYTES: u64 = 16;
/// Inner chunks of a shard.
const INNER_COUNT: u64 = 4;
/// Bytes of the index: offset and length of each inner chunk, and a checksum.
const INDEX_BYTES: usize = 16 * 4 + 4;
/// Value of both halves of an entry where there is no inner chunk.
const ABSENT: u64 = u64::MAX;

type Entries = Vec<[u64; 2]>;

/// A shard while it is built: the inner chunks' bytes, and the entries of its index.
struct Shard {
    content: Vec<u8>,
    entries: Entries,
}

impl Shard {
    /// The shard of the usual array at an index.
    fn usual(index: [u64; 2]) -> Self {
        let inner = RawArray { chunks: vec![2, 2], ..small(3) };
        let mut content = Vec::new();
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            content.extend(inner.chunk(&[2 * index[0] + row, 2 * index[1] + column]));
        }
        let entries = (0..INNER_COUNT).map(|n| [n * INNER_BYTES, INNER_BYTES]).collect();
        Self { content, entries }
    }

    fn index(&self) -> Vec<u8> {
        let words = self.entries.iter().flatten();
        let mut index: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        index.extend(crc32c::crc32c(&index).to_le_bytes());
        index
    }

    /// The object, its index at the end.
    fn object(&self) -> Vec<u8> {
        [&self.content[..], &self.index()].concat()
    }
}

/// `sharding_indexed` as the usual array has it.
fn sharding() -> Value {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2, 2], "codecs": [bytes], "index_codecs": [bytes, {"name": "crc32c"}],
        "index_location": "end",
    }})
}

/// The sharded array with its sharding codec changed, its shard (1, 1) being `object`.
fn write(scene: &Scene, change: fn(&mut Value), object: impl Fn() -> Vec<u8>) {
    changed(scene, 3, |document| {
        let mut codec = sharding();
        change(&mut codec["configuration"]);
        document["codecs"] = json!([codec]);
    });
    for index in [[0, 0], [0, 1], [1, 0]] {
        scene.write(&small(3).key(&index), Shard::usual(index).object());
    }
    scene.write("c/1/1", object());
}

/// A shard that is damaged as an object.
fn damaged(name: &str, object: fn() -> Vec<u8>) -> Case {
    let outcome = Outcome::stopped(&["source.zarr", "c/1/1"]);
    case(name, |_| {}, object, outcome).with(&["--chunks", "8,2"])
}

/// A shard whose index has a sound checksum and says what is wrong.
fn lying(name: &str, lie: fn(&mut Shard)) -> Case {
    let build = move || {
        let mut shard = Shard::usual([1, 1]);
        lie(&mut shard);
        shard.object()
    };
    let outcome = Outcome::stopped(&["source.zarr", "c/1/1"]);
    case(name, |_| {}, build, outcome).with(&["--chunks", "8,2"])
}

/// Metadata of a sharding codec that is refused.
fn refused(name: &str, change: fn(&mut Value), words: &[&str]) -> Case {
    let words = [&["source.zarr", "zarr.json", "codecs"], words].concat();
    case(name, change, || Shard::usual([1, 1]).object(), Outcome::refused(&words))
}

/// A shard that is odd and legal: the usual elements but for absent inner chunks, which are zeros.
fn legal(name: &str, change: fn(&mut Value), shape: fn(&mut Shard), location: Place) -> Case {
    let build = move |scene: &Scene| {
        write(scene, change, || Shard::usual([1, 1]).object());
        for index in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let mut shard = Shard::usual(index);
            shape(&mut shard);
            let object = match location {
                Place::End => shard.object(),
                Place::Start => [&shard.index()[..], &shard.content].concat(),
            };
            scene.write(&small(3).key(&index), object);
        }
    };
    let whole = Outcome::Copied(Elements::new(&[8, 8], elements(&small(3))));
    switched(name, Box::new(build), whole)
}

/// Place of the index.
#[derive(Clone, Copy)]
enum Place {
    Start,
    End,
}

fn case(
    name: &str,
    change: fn(&mut Value),
    object: impl Fn() -> Vec<u8> + 'static,
    outcome: Outcome,
) -> Case {
    switched(name, Box::new(move |scene: &Scene| write(scene, change, &object)), outcome)
}

fn switched(name: &str, build: Box<dyn Fn(&Scene)>, outcome: Outcome) -> Case {
    let not_yet = Outcome::refused(&["source.zarr", "zarr.json", "sharding_indexed"]);
    Case::new(format!("shard: {name}"), build, if SHARDS { outcome } else { not_yet })
}

fn inner_codec(configuration: &mut Value, codec: Value) {
    configuration["codecs"].as_array_mut().unwrap().push(codec);
}

fn index_codec(configuration: &mut Value, codec: Value) {
    configuration["index_codecs"].as_array_mut().unwrap().push(codec);
}

#[rustfmt::skip]
fn damages() -> Vec<Case> {
    vec![
        damaged("empty", Vec::new),
        damaged("shorter than its index", || Shard::usual([1, 1]).object()[..INDEX_BYTES - 1].to_vec()),
        damaged("index cut at its end", || { let mut o = Shard::usual([1, 1]).object(); o.pop(); o }),
        damaged("index followed by a byte", || { let mut o = Shard::usual([1, 1]).object(); o.push(0); o }),
        damaged("checksum of the index wrong", || { let mut o = Shard::usual([1, 1]).object(); *o.last_mut().unwrap() ^= 1; o }),
        damaged("index with a flipped bit", || { let mut o = Shard::usual([1, 1]).object(); o[67] ^= 4; o }),
        damaged("of zeros", || vec![0; Shard::usual([1, 1]).object().len()]),
        damaged("of 100 MB", || vec![7; 100 << 20]),
        lying("entry that begins beyond the object", |s| s.entries[2] = [1 << 20, INNER_BYTES]),
        lying("entry that ends beyond the object", |s| s.entries[3] = [3 * INNER_BYTES + 70, INNER_BYTES]),
        lying("entry whose end overflows", |s| s.entries[1] = [u64::MAX - 8, INNER_BYTES]),
        lying("entry of 2^63 bytes", |s| s.entries[0] = [0, 1 << 63]),
        lying("entry of 2^64-2 bytes from 2", |s| s.entries[0] = [2, u64::MAX - 1]),
        lying("entry of more bytes than a chunk has", |s| s.entries[0] = [0, INNER_BYTES + 1]),
        lying("entry of no bytes", |s| s.entries[0] = [0, 0]),
        lying("entry that points into the index", |s| s.entries[0] = [4 * INNER_BYTES, INNER_BYTES + 4]),
        lying("offset absent, length not", |s| s.entries[0] = [ABSENT, INNER_BYTES]),
        lying("length absent, offset not", |s| s.entries[0] = [0, ABSENT]),
    ]
}

#[rustfmt::skip]
fn metadata() -> Vec<Case> {
    vec![
        refused("without a chunk shape", |c| drop(c.as_object_mut().unwrap().shift_remove("chunk_shape")), &["chunk_shape"]),
        refused("inner chunks of zero", |c| c["chunk_shape"] = json!([0, 2]), &["chunk_shape"]),
        refused("inner chunks that do not divide", |c| c["chunk_shape"] = json!([3, 2]), &["chunk_shape"]),
        refused("inner chunks larger than the shard", |c| c["chunk_shape"] = json!([8, 8]), &["chunk_shape"]),
        refused("inner chunks of another rank", |c| c["chunk_shape"] = json!([2]), &["chunk_shape"]),
        refused("inner chunks of 2^64-1", |c| c["chunk_shape"] = json!([u64::MAX, 2]), &["chunk_shape"]),
        refused("inner chunks of text", |c| c["chunk_shape"] = json!("2,2"), &["chunk_shape"]),
        refused("without codecs", |c| drop(c.as_object_mut().unwrap().shift_remove("codecs")), &["codecs"]),
        refused("inner codecs empty", |c| c["codecs"] = json!([]), &["codecs"]),
        refused("an inner codec not known", |c| inner_codec(c, json!("lzma9000")), &["lzma9000"]),
        refused("index codecs empty", |c| c["index_codecs"] = json!([]), &["index_codecs"]),
        refused("index codecs of any size", |c| index_codec(c, json!({"name": "gzip", "configuration": {"level": 1}})), &["index_codecs"]),
        refused("index codecs not known", |c| index_codec(c, json!("lzma9000")), &["lzma9000"]),
        refused("index at a place of its own", |c| c["index_location"] = json!("middle"), &["index_location"]),
        refused("index at a number", |c| c["index_location"] = json!(7), &["index_location"]),
        refused("shards in shards 10 deep", |c| {
            let nested = (0..10).fold(sharding(), |inner, _| { let mut outer = sharding(); outer["configuration"]["codecs"] = json!([inner]); outer });
            c["codecs"] = json!([nested]);
        }, &["sharding_indexed"]),
    ]
}

#[rustfmt::skip]
fn oddities() -> Vec<Case> {
    let same: fn(&mut Value) = |_| {};
    vec![
        legal("usual", same, |_| {}, Place::End),
        legal("index at the start", |c| c["index_location"] = json!("start"), |s| for entry in &mut s.entries { entry[0] += INDEX_BYTES as u64; }, Place::Start),
        legal("no index_location", |c| drop(c.as_object_mut().unwrap().shift_remove("index_location")), |_| {}, Place::End),
        legal("rubbish between the inner chunks", same, |s| {
            let chunks: Vec<Vec<u8>> = s.content.chunks(16).map(<[u8]>::to_vec).collect();
            s.content = chunks.iter().flat_map(|chunk| [&b"rubbish"[..], chunk].concat()).collect();
            s.entries = (0..INNER_COUNT).map(|n| [n * (INNER_BYTES + 7) + 7, INNER_BYTES]).collect();
        }, Place::End),
        legal("inner chunks in the other order", same, |s| {
            s.content = s.content.chunks(16).rev().flatten().copied().collect();
            s.entries.reverse();
        }, Place::End),
        legal("overlapping entries", same, |s| {
            // All inner chunks twice; half of the entries point to the second copy.
            s.content = [&s.content[..], &s.content].concat();
            s.entries[1][0] += INNER_COUNT * INNER_BYTES;
            s.entries[3][0] += INNER_COUNT * INNER_BYTES;
        }, Place::End),
        case("all inner chunks absent", |_| {}, || {
            let mut shard = Shard::usual([1, 1]);
            shard.content.clear();
            shard.entries = vec![[ABSENT; 2]; 4];
            shard.object()
        }, without_the_last_shard()),
        case("all inner chunks the same bytes", |_| {}, || {
            let mut shard = Shard::usual([1, 1]);
            shard.content = vec![0; 16];
            shard.entries = vec![[0, INNER_BYTES]; 4];
            shard.object()
        }, without_the_last_shard()),
    ]
}

/// The usual elements, zeros in the last shard.
fn without_the_last_shard() -> Outcome {
    let mut bytes = elements(&small(3));
    for row in 4..8 {
        bytes[(row * 8 + 4) * 4..(row * 8 + 8) * 4].fill(0);
    }
    Outcome::Copied(Elements::new(&[8, 8], bytes))
}

pub(super) fn cases() -> Vec<Case> {
    damages().into_iter().chain(metadata()).chain(oddities()).collect()
}

#[test]
fn shards_are_checked_before_they_are_believed() {
    play_all("shards", &cases());
}
