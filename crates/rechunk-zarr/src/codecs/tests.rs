use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use rechunk_format::FormatError;

use super::*;
use crate::{BloscName, CodecSpec, Shuffle};

fn blosc(cname: BloscName, clevel: u8, shuffle: Shuffle, typesize: u8) -> CodecSpec {
    CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize: 0 }
}

/// Every codec with every kind of setting.
fn codecs() -> Vec<CodecSpec> {
    let mut codecs = vec![CodecSpec::Crc32c];
    for level in [-5, 0, 1, 3, 12, 19] {
        codecs.push(CodecSpec::Zstd { level, checksum: level % 2 == 0 });
    }
    for level in -1..=9 {
        codecs.extend([CodecSpec::Gzip { level }, CodecSpec::Zlib { level }]);
    }
    for cname in [BloscName::BloscLz, BloscName::Lz4, BloscName::Lz4hc, BloscName::Snappy] {
        codecs.extend([0, 5, 9].map(|clevel| blosc(cname, clevel, Shuffle::Byte, 4)));
    }
    for shuffle in [Shuffle::None, Shuffle::Byte, Shuffle::Bit, Shuffle::Auto] {
        codecs.extend([1, 2, 8].map(|typesize| blosc(BloscName::Zstd, 3, shuffle, typesize)));
        codecs.push(blosc(BloscName::Zlib, 1, shuffle, 4));
    }
    codecs
}

/// Half smooth, half noise.
fn data(length: usize) -> Vec<u8> {
    let noise = |i: usize| (i.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0];
    let smooth = |i: usize| (i / 64).to_le_bytes()[0];
    (0..length).map(|i| if i < length / 2 { smooth(i) } else { noise(i) }).collect()
}

fn chain(codecs: &[CodecSpec], length: usize) -> Chain {
    Chain::new(codecs, length as u64).unwrap()
}

fn decode(chain: &Chain, encoded: &[u8]) -> Result<Vec<u8>, FormatError> {
    chain.decode(encoded, &mut Vec::new()).map(<[u8]>::to_vec)
}

fn encode(chain: &Chain, elements: &[u8]) -> Vec<u8> {
    let mut encoded = vec![9; 100]; // what a buffer held before does not matter
    chain.encode(elements, &mut encoded).unwrap();
    encoded
}

fn refuse(codec: &CodecSpec, encoded: &[u8], length: usize) -> String {
    decode(&chain(std::slice::from_ref(codec), length), encoded).unwrap_err().to_string()
}

#[test]
fn gzip_members_that_are_alike_are_not_taken_for_one() {
    let member = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let (gzip, twice) = (CodecSpec::Gzip { level: 1 }, member(&data(500)).repeat(2));
    let chain = chain(std::slice::from_ref(&gzip), 1000);
    assert_eq!(decode(&chain, &twice).unwrap(), data(500).repeat(2));
    assert!(refuse(&gzip, &twice, 500).contains("more than 500 bytes"));
}

#[test]
fn what_is_encoded_decodes_within_its_bounds() {
    for codec in codecs() {
        for length in [1, 8, 100, 5000, 300_000] {
            let chain = chain(std::slice::from_ref(&codec), length);
            let encoded = encode(&chain, &data(length));
            assert!(encoded.len() as u64 <= chain.cost().encoded_bytes_max, "{codec}");
            // A scratch buffer of any size will do.
            for mut scratch in [vec![], vec![7; length], vec![7; 2 * length]] {
                assert_eq!(chain.decode(&encoded, &mut scratch).unwrap(), data(length));
            }
        }
    }
}

#[test]
fn chains() {
    let gzip = CodecSpec::Gzip { level: 1 };
    let zstd = CodecSpec::Zstd { level: 1, checksum: false };
    let blosc = blosc(BloscName::Lz4, 5, Shuffle::Byte, 2);
    let crc = CodecSpec::Crc32c;
    for codecs in [
        vec![gzip.clone(), crc.clone()],
        vec![crc.clone(), gzip.clone()],
        vec![crc.clone(), crc.clone()],
        vec![blosc.clone(), zstd.clone(), gzip.clone()],
        vec![crc.clone(), zstd.clone(), blosc, crc.clone(), gzip, crc],
    ] {
        let chain = chain(&codecs, 20_000);
        let encoded = encode(&chain, &data(20_000));
        assert_eq!(decode(&chain, &encoded).unwrap(), data(20_000));
        let mut damaged = encoded.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        assert!(decode(&chain, &damaged).is_err(), "{codecs:?} hold a checksum");
    }
}

#[test]
fn raw_chunks_are_not_copied() {
    let chain = chain(&[], 100);
    assert!(chain.cost().is_raw && chain.cost().encoded_bytes_max == 100);
    let elements = data(100);
    let encoded = encode(&chain, &elements);
    assert_eq!(encoded, elements);
    let mut scratch = Vec::new();
    assert_eq!(chain.decode(&encoded, &mut scratch).unwrap().as_ptr(), encoded.as_ptr());
    assert_eq!(scratch.capacity(), 0);
    assert_eq!(
        decode(&chain, &[0; 99]).unwrap_err().to_string(),
        "bytes: 99 bytes, but a chunk has 100"
    );
    assert!(chain.encode(&[0; 101], &mut Vec::new()).is_err());
}

#[test]
fn a_chunk_of_another_size_is_refused() {
    for codec in codecs() {
        for wrong in [999, 1001, 2000] {
            let other = chain(std::slice::from_ref(&codec), wrong);
            let encoded = encode(&other, &data(wrong));
            assert!(refuse(&codec, &encoded, 1000).starts_with(codec.name()), "{codec} {wrong}");
        }
    }
}

#[test]
fn streams_of_several_pieces() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let (all, codec) = (data(1000), CodecSpec::Gzip { level: 1 });
    let whole = chain(std::slice::from_ref(&codec), 1000);
    let members = [gzip(&all[..400]), gzip(&[]), gzip(&all[400..])].concat();
    assert_eq!(decode(&whole, &members).unwrap(), all);
    assert!(refuse(&codec, &members, 999).contains("more than 999 bytes"));
    assert!(refuse(&codec, &members, 1001).contains("1000 bytes instead of 1001"));
    // The first member alone has the right size: what follows must still be looked at.
    assert!(refuse(&codec, &members, 400).contains("more than 400 bytes"));
    assert!(decode(&whole, &[gzip(&all), gzip(&[])].concat()).is_ok());
    assert!(!refuse(&codec, &[gzip(&all), b"junk".to_vec()].concat(), 1000).is_empty());

    let codec = CodecSpec::Zstd { level: 1, checksum: false };
    let frame = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    let frames = [frame(&all[..400]), frame(&all[400..])].concat();
    assert_eq!(decode(&chain(std::slice::from_ref(&codec), 1000), &frames).unwrap(), all);
    assert!(!refuse(&codec, &frames, 999).is_empty());
    assert!(!refuse(&codec, &[frame(&all), b"junk".to_vec()].concat(), 1000).is_empty());
}

#[test]
fn zlib_agrees_with_another_implementation() {
    let (all, chain) = (data(5000), chain(&[CodecSpec::Zlib { level: 6 }], 5000));
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(&all).unwrap();
    let mut theirs = encoder.finish().unwrap();
    assert_eq!(decode(&chain, &theirs).unwrap(), all);
    let ours = encode(&chain, &all);
    let mut decoded = Vec::new();
    std::io::copy(&mut flate2::read::ZlibDecoder::new(&ours[..]), &mut decoded).unwrap();
    assert_eq!(decoded, all);
    theirs.push(0);
    assert!(decode(&chain, &theirs).unwrap_err().to_string().contains("after the end"));
}

#[test]
fn blosc_headers_are_checked() {
    let codec = blosc(BloscName::Lz4, 5, Shuffle::Byte, 4);
    let length = 100_000;
    let good = encode(&chain(std::slice::from_ref(&codec), length), &data(length));
    let with = |at: usize, value: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        refuse(&codec, &bytes, length)
    };
    assert!(with(4, u32::MAX).contains("4294967295 decoded bytes, more than 100000"));
    assert!(with(4, 100).contains("instead of 100000") || with(4, 100).contains("blocks of"));
    assert!(with(8, 0x7fff_0000).contains("blocks of 2147418112 bytes, more than 100000"));
    assert!(with(12, 17).contains("the header says 17 bytes, but there are"));
    assert!(with(0, 3).contains("format version 3"));
    assert!(refuse(&codec, &good[..10], length).contains("10 bytes are too few"));
    assert!(refuse(&codec, &good[..good.len() - 1], length).contains("the header says"));
}

#[test]
fn costs() {
    let cost = |codecs: &[CodecSpec], length| chain(codecs, length).cost();
    assert_eq!(cost(&[], 10).name, "none");
    assert_eq!(cost(&[CodecSpec::Crc32c], 10).name, "crc32c");
    let lz4 = blosc(BloscName::Lz4, 5, Shuffle::Byte, 4);
    assert_eq!(cost(&[CodecSpec::Crc32c, lz4], 10).name, "blosc-lz4");
    let zstd = |level| CodecSpec::Zstd { level, checksum: false };
    let workspace = |level, length| cost(&[zstd(level)], length).encode_workspace_bytes;
    // zstd's own estimates: 722256 KiB for level 22, but 17664 KiB for a mebibyte of data.
    assert_eq!(workspace(22, 1 << 30), 722_256 << 10);
    assert!((17_664 << 10..20_000 << 10).contains(&workspace(22, 1 << 20)));
    assert!((281 << 10..=569 << 10).contains(&workspace(-5, 1 << 30)));
}

proptest! {
    /// Damaged chunks are refused or decode to the right size; nothing panics or grows.
    #[test]
    fn damaged_chunks(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let codecs = codecs();
        let chain = chain(&codecs[which.index(codecs.len())..][..1], 3000);
        let mut bytes = encode(&chain, &data(3000));
        for (position, byte) in edits {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        if let Ok(decoded) = decode(&chain, &bytes) {
            prop_assert_eq!(decoded.len(), 3000);
        }
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(decode(&chain, &bytes).is_err());
    }
}
