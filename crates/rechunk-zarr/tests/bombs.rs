//! Small chunks that decode to very much: refused, and without the memory they ask for.
//!
//! A test binary of its own, because the peak memory of a process is what is looked at.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::{Read, Write};

use rechunk_format::Layout;
use rechunk_zarr::{ZarrLayout, parse_v2};
use serde_json::{Value, json};

/// Bytes that a bomb decodes to.
const BOMB_BYTES: u64 = 1 << 30;

/// Bytes that a bomb decodes to, of encoders that take their time.
const SLOW_BOMB_BYTES: u64 = 1 << 27;

/// Bytes that decoding may add to the process's peak.
const GROWTH_BYTES_MAX: u64 = 32 << 20;

fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// A layout of one chunk of 1 MiB.
fn layout(compressor: &Value) -> ZarrLayout {
    let document = json!({
        "zarr_format": 2, "shape": [1024, 1024], "chunks": [1024, 1024], "dtype": "|u1",
        "compressor": compressor, "fill_value": 0, "order": "C", "filters": null,
    });
    ZarrLayout::new(parse_v2(document.to_string().as_bytes(), None).unwrap()).unwrap()
}

fn zeros(encoder: &mut impl Write) {
    some_zeros(encoder, BOMB_BYTES);
}

fn some_zeros(encoder: &mut impl Write, count: u64) {
    std::io::copy(&mut std::io::repeat(0).take(count), encoder).unwrap();
}

#[test]
fn bombs_are_refused_within_bounds() {
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zeros(&mut zstd);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
    zeros(&mut gzip);
    // A first member of the right size, so that the slow decoder gets the bomb.
    let mut members = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
    members.write_all(&[1; 1000]).unwrap();
    let gzip = gzip.finish().unwrap();
    let members = [members.finish().unwrap(), gzip.clone()].concat();
    let blosc_layout = layout(&json!({"id": "blosc"}));
    let lying = |at: usize| {
        let mut bytes = Vec::new();
        blosc_layout.encode(&[0], &vec![0; 1 << 20], &mut bytes).unwrap();
        bytes[at..at + 4].copy_from_slice(&0x7fff_0000_u32.to_le_bytes());
        bytes
    };
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(9));
    some_zeros(&mut bz2, SLOW_BOMB_BYTES);
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    some_zeros(&mut xz, SLOW_BOMB_BYTES);
    let xz = xz.finish().unwrap();
    let ones = vec![255; 100_000];
    let before = peak_bytes();
    for (compressor, bomb) in [
        (json!({"id": "zstd", "level": 1}), zstd.finish().unwrap()),
        (json!({"id": "gzip", "level": 1}), gzip),
        (json!({"id": "gzip", "level": 1}), members),
        (json!({"id": "bz2", "level": 1}), bz2.finish().unwrap()),
        (json!({"id": "lzma"}), xz),
        // LZ4's header of 2 GiB, and a block that repeats its first byte for ever.
        (json!({"id": "lz4"}), [&[0, 0, 0, 0x7e, 0x1f, 0, 1, 0][..], &ones].concat()),
        (json!({"id": "lz4"}), [&[0, 0, 0x10, 0, 0x1f, 0, 1, 0][..], &ones].concat()),
        (json!({"id": "blosc"}), lying(4)),
        (json!({"id": "blosc"}), lying(8)),
    ] {
        let layout = layout(&compressor);
        let mut scratch = Vec::new();
        let result = layout.decode(&[0], &bomb, &mut scratch).map(<[u8]>::len);
        assert!(result.is_err(), "{compressor}");
    }
    // The kernel's figure is not exact: it may even fall a little.
    let growth = peak_bytes().saturating_sub(before);
    assert!(growth < GROWTH_BYTES_MAX, "decoding added {growth} bytes to the peak");
}
