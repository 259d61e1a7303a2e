//! Parts that builders of cases share: small arrays, and encoders that are not ours.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use serde_json::Value;

use super::Scene;
use crate::arrays::RawArray;
use crate::harness::{Folder, rechunk};

/// The usual array: 8 × 8 float32 in chunks of 4 × 4.
pub(super) fn small(version: u8) -> RawArray {
    RawArray { version, ..RawArray::v2(&[8, 8], &[4, 4]) }
}

/// Elements of an array of [`RawArray`], C order.
pub(super) fn elements(array: &RawArray) -> Vec<u8> {
    let whole = RawArray { chunks: array.shape.clone(), ..array.clone() };
    whole.chunk(&vec![0; array.shape.len()])
}

/// Writes the usual array with its metadata changed.
pub(super) fn changed(scene: &Scene, version: u8, change: impl Fn(&mut Value)) {
    let array = small(version);
    array.write(&scene.source());
    let (key, mut document) = array.metadata();
    change(&mut document);
    scene.write(key, document.to_string());
}

/// Writes the usual array with the text of its metadata changed.
pub(super) fn rewritten(scene: &Scene, version: u8, change: impl Fn(String) -> Vec<u8>) {
    let array = small(version);
    array.write(&scene.source());
    let (key, document) = array.metadata();
    scene.write(key, change(document.to_string()));
}

/// The files of an array of [`CODED`] in a codec, by key; coded once, by ourselves.
pub(super) fn coded(codec: &str, version: u8) -> BTreeMap<String, Vec<u8>> {
    type Made = BTreeMap<(String, u8), BTreeMap<String, Vec<u8>>>;
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap();
    let files = made.entry((codec.to_owned(), version)).or_insert_with(|| {
        let folder = Folder::new();
        let (raw, coded) = (folder.at("raw.zarr"), folder.at("coded.zarr"));
        coded_array().write(&raw);
        let format = if version == 2 { "zarr2" } else { "zarr3" };
        rechunk(&["copy", &raw, &coded, "--codec", codec, "--format", format, "--no-fsync"]).ok();
        files_below(coded.as_ref())
    });
    files.clone()
}

/// Array that [`coded`] codes: 2 × 2 chunks of 16 × 16 float32.
pub(super) fn coded_array() -> RawArray {
    RawArray::v2(&[32, 32], &[16, 16])
}

fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let key = path.strip_prefix(root).unwrap().display().to_string();
                files.insert(key, std::fs::read(path).unwrap());
            }
        }
    }
    files
}

/// A gzip member.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zlib stream.
pub(super) fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Zeros in an encoder's form, `bytes` of them, written a little at a time.
pub(super) fn zeros(encoder: &mut impl Write, bytes: u64) {
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), bytes), encoder).unwrap();
}

/// A zstd frame.
pub(super) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// `metadata` of the usual v2 array with a compressor.
pub(super) fn with_compressor(scene: &Scene, compressor: &Value) {
    changed(scene, 2, |document| document["compressor"] = compressor.clone());
}

/// Blosc's header and content that is not compressed.
pub(super) fn blosc_stored(content: &[u8], typesize: u8) -> Vec<u8> {
    blosc_header(typesize, content.len() as u64, content.len() as u64, content)
}

/// Blosc's header with sizes that may be lies, before bytes marked as not compressed.
pub(super) fn blosc_header(typesize: u8, decoded: u64, block: u64, content: &[u8]) -> Vec<u8> {
    let word = |value: u64| u32::try_from(value).unwrap().to_le_bytes();
    let stored = content.len() as u64 + 16;
    [&[2, 1, 2, typesize][..], &word(decoded), &word(block), &word(stored), content].concat()
}
