use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use rechunk_format::FormatError;
use rechunk_grid::{DataType, Endian};

use super::*;
use crate::{
    BitPacking, BloscName, ChecksumKind, CodecSpec, ElementType, LzmaCheck, LzmaFilter, LzmaFormat,
    LzmaSpec, PcodecDelta, PcodecSpec, Scalar, Shuffle, TypePair,
};

fn blosc(cname: BloscName, clevel: u8, shuffle: Shuffle, typesize: u8) -> CodecSpec {
    CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize: 0 }
}

/// Every codec with every kind of setting.
fn codecs() -> Vec<CodecSpec> {
    let mut codecs = vec![CodecSpec::CRC32C];
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
    codecs.push(CodecSpec::Lz4 { acceleration: 1 });
    codecs.extend([1, 9].map(|level| CodecSpec::Bz2 { level }));
    codecs.extend(lzma_codecs());
    codecs
}

fn lzma_codecs() -> Vec<CodecSpec> {
    let lzma = |is_lzma2| LzmaFilter::Lzma {
        is_lzma2,
        preset: Some(1),
        dict_size: Some(1 << 20),
        lc: Some(2),
        lp: Some(1),
        pb: Some(1),
        mode: Some(1),
        nice_len: Some(40),
        mf: Some(3),
        depth: Some(8),
    };
    let delta = LzmaFilter::Delta { distance_less_one: 3 };
    let spec = |format, check, preset, filters| {
        CodecSpec::Lzma(LzmaSpec { format, check, preset, filters })
    };
    let (xz, alone, raw) = (LzmaFormat::Xz, LzmaFormat::Alone, LzmaFormat::Raw);
    vec![
        spec(xz, LzmaCheck::Default, None, None),
        spec(xz, LzmaCheck::Sha256, Some(9), None),
        spec(xz, LzmaCheck::Crc32, Some(1 << 31), None),
        spec(xz, LzmaCheck::None, None, Some(vec![delta.clone(), lzma(true)])),
        spec(alone, LzmaCheck::Default, Some(0), None),
        spec(alone, LzmaCheck::Default, None, Some(vec![lzma(false)])),
        spec(raw, LzmaCheck::Default, None, Some(vec![delta, lzma(true)])),
        spec(raw, LzmaCheck::Default, None, Some(vec![lzma(false)])),
    ]
}

fn element(data_type: DataType, endian: Endian) -> ElementType {
    ElementType::new(data_type, endian)
}

/// Codecs for whole elements of 8 bytes or fewer that give back every bit.
fn element_codecs() -> Vec<CodecSpec> {
    use DataType::{Float32, Float64, Int16, Int32, Int64, Uint8, Uint16, Uint64};
    let (little, big) = (Endian::Little, Endian::Big);
    let pair = |decoded, encoded| TypePair { decoded, encoded };
    let mut codecs = Vec::new();
    for kind in
        [ChecksumKind::Crc32, ChecksumKind::Crc32c, ChecksumKind::Adler32, ChecksumKind::Fletcher32]
    {
        codecs.extend([true, false].map(|is_first| CodecSpec::Checksum { kind, is_first }));
    }
    codecs.extend([0, 1, 2, 4, 8].map(|element_bytes| CodecSpec::Shuffle { element_bytes }));
    for (decoded, encoded) in [
        (element(Int16, little), element(Int16, little)),
        (element(Int16, big), element(Int32, little)),
        (element(Uint8, little), element(Uint16, big)),
        (element(Uint64, big), element(Int64, big)),
    ] {
        codecs.push(CodecSpec::Delta(pair(decoded, encoded)));
        codecs.push(CodecSpec::AsType(pair(decoded, encoded)));
    }
    for data_type in [Int16, Uint16, Int32, Uint64, Int64, Float32, Float64, DataType::Float16] {
        for (delta, delta_order) in [
            (PcodecDelta::Auto, None),
            (PcodecDelta::Consecutive, Some(2)),
            (PcodecDelta::Lookback, None),
            (PcodecDelta::None, None),
        ] {
            let is_classic = delta_order.is_some();
            let spec =
                PcodecSpec { level: 4, is_classic, delta, delta_order, page_elements: 10_000 };
            codecs.push(CodecSpec::Pcodec { spec, element: element(data_type, little) });
        }
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
    Chain::new(codecs, length as u64, &[length as u64]).unwrap()
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
fn what_is_filtered_comes_back() {
    for codec in element_codecs() {
        for length in [8, 104, 5000, 300_000] {
            let chain = chain(std::slice::from_ref(&codec), length);
            let encoded = encode(&chain, &data(length));
            assert!(encoded.len() as u64 <= chain.cost().encoded_bytes_max, "{codec}");
            for mut scratch in [vec![], vec![7; length], vec![7; 2 * length]] {
                assert_eq!(chain.decode(&encoded, &mut scratch).unwrap(), data(length), "{codec}");
            }
        }
    }
}

#[test]
fn booleans_are_bits() {
    use BitPacking::{LowFirst, LowFirstPaddingFirst, LowFirstPaddingLast, Numcodecs};
    let bits = [1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    for (packing, expected) in [
        (Numcodecs, vec![6, 0b1001_0000, 0b0100_0000]),
        (LowFirst, vec![0b0000_1001, 0b0000_0010]),
        (LowFirstPaddingFirst, vec![6, 0b0000_1001, 0b0000_0010]),
        (LowFirstPaddingLast, vec![0b0000_1001, 0b0000_0010, 6]),
    ] {
        let codec = CodecSpec::PackBits(packing);
        let chain = chain(std::slice::from_ref(&codec), 10);
        assert_eq!(encode(&chain, &bits), expected);
        assert_eq!(decode(&chain, &expected).unwrap(), bits);
        assert!(refuse(&codec, &expected[1..], 10).contains("instead of"));
        assert!(refuse(&codec, &[expected.clone(), vec![0]].concat(), 10).contains("more than"));
        if packing != LowFirst {
            let wrong: Vec<u8> =
                expected.iter().map(|&byte| if byte == 6 { 7 } else { byte }).collect();
            assert!(refuse(&codec, &wrong, 10).contains("7 bits of padding"));
        }
    }
}

/// Results of numcodecs for these numbers (0.16, NumPy 2).
#[test]
fn filters_compute_as_numcodecs_does() {
    use DataType::{Float32, Float64, Int8, Int16};
    let little = |data_type| element(data_type, Endian::Little);
    let floats = |numbers: &[f32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    let shorts = |numbers: &[i16]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    let scaled = |decoded, encoded, offset, scale| CodecSpec::FixedScaleOffset {
        types: TypePair { decoded: little(decoded), encoded: little(encoded) },
        offset,
        scale,
    };
    let (int, float) = (Scalar::Integer, |number: f64| Scalar::Float(number.to_bits()));
    let check = |codec: CodecSpec, input: &[u8], encoded: &[u8], decoded: &[u8]| {
        let chain = chain(std::slice::from_ref(&codec), input.len());
        assert_eq!(encode(&chain, input), encoded, "{codec}");
        assert_eq!(decode(&chain, encoded).unwrap(), decoded, "{codec}");
    };
    check(
        scaled(Float32, Int8, int(1000), int(10)),
        &floats(&[1000.0, 1001.26, 1003.0]),
        &[0, 13, 30],
        &floats(&[1000.0, 1001.3, 1003.0]),
    );
    check(
        scaled(Int16, Int16, int(1), int(3)),
        &shorts(&[1000, 1001, 1003]),
        &shorts(&[2997, 3000, 3006]),
        &shorts(&[1000, 1001, 1003]),
    );
    check(
        scaled(Int16, Int16, float(0.5), int(3)),
        &shorts(&[1000, 1001, 1003]),
        &shorts(&[2998, 3002, 3008]),
        &shorts(&[999, 1001, 1003]),
    );
    // Differences wrap in the type of the elements.
    let delta = |encoded| TypePair { decoded: little(Int16), encoded: little(encoded) };
    check(
        CodecSpec::Delta(delta(Int16)),
        &shorts(&[32_000, -32_000, 5]),
        &shorts(&[32_000, 1536, 32_005]),
        &shorts(&[32_000, -32_000, 5]),
    );
    check(
        CodecSpec::Delta(delta(Int8)),
        &shorts(&[100, 200, 150, -50, 300]),
        &[100, 100, 206, 56, 94],
        &shorts(&[100, 200, 150, 206, 300]),
    );
    let types = TypePair { decoded: little(Float64), encoded: little(Float32) };
    let doubles = |n: &[f64]| n.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    check(
        CodecSpec::Quantize { types, digits: 1 },
        &doubles(&[0.0, 1.0 / 9.0, 5.0 / 9.0, 8.0 / 9.0]),
        &floats(&[0.0, 0.125, 0.5625, 0.875]),
        &doubles(&[0.0, 0.125, 0.5625, 0.875]),
    );
    check(
        CodecSpec::BitRound { keep_bits: 3, element: little(Float32) },
        &floats(&[1.0, 1.06, 1.07, -3.3, f32::INFINITY]),
        &floats(&[1.0, 1.0, 1.125, -3.25, f32::INFINITY]),
        &floats(&[1.0, 1.0, 1.125, -3.25, f32::INFINITY]),
    );
}

#[test]
fn elements_that_do_not_divide_are_refused() {
    let shuffle = CodecSpec::Shuffle { element_bytes: 4 };
    for codecs in [vec![shuffle.clone()], vec![CodecSpec::Bz2 { level: 1 }, shuffle]] {
        assert!(Chain::new(&codecs, 1001, &[1001]).is_err(), "{codecs:?}");
    }
}

#[test]
fn nothing_shorter_decodes() {
    for codec in codecs().into_iter().chain(element_codecs()) {
        let chain = chain(std::slice::from_ref(&codec), 256);
        let encoded = encode(&chain, &data(256));
        for length in 0..encoded.len() {
            let decoded = decode(&chain, &encoded[..length]);
            assert!(decoded.is_err(), "{codec}: {length} of {} bytes", encoded.len());
        }
    }
}

#[test]
fn what_follows_a_stream() {
    for codec in [CodecSpec::Bz2 { level: 1 }, lzma_codecs().remove(0), lzma_codecs().remove(4)] {
        let parts = [&data(1000)[..400], &data(1000)[400..]];
        let encoded =
            parts.map(|part| encode(&chain(std::slice::from_ref(&codec), part.len()), part));
        let whole = chain(std::slice::from_ref(&codec), 1000);
        // Several streams are one, and other bytes behind them do not matter, as in Python.
        assert_eq!(decode(&whole, &encoded.concat()).unwrap(), data(1000), "{codec}");
        let first = chain(std::slice::from_ref(&codec), 400);
        let junk = [&encoded[0][..], b"junk, and more"].concat();
        assert_eq!(decode(&first, &junk).unwrap(), parts[0], "{codec}");
        assert!(refuse(&codec, &encoded.concat(), 400).contains("more than 400 bytes"), "{codec}");
    }
}

#[test]
fn claims_of_headers_are_not_believed() {
    let lz4 = CodecSpec::Lz4 { acceleration: 1 };
    let mut encoded = encode(&chain(std::slice::from_ref(&lz4), 1000), &data(1000));
    encoded[..4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(refuse(&lz4, &encoded, 1000).contains("4294967295 decoded bytes, more than 1000"));
    encoded[..4].copy_from_slice(&999_u32.to_le_bytes());
    assert!(!refuse(&lz4, &encoded, 1000).is_empty());
    // A dictionary of 64 MiB where the settings say 256 KiB.
    let xz = |preset| {
        let mut codec = lzma_codecs().remove(0);
        if let CodecSpec::Lzma(spec) = &mut codec {
            spec.preset = Some(preset);
        }
        codec
    };
    let mut large = liblzma::stream::LzmaOptions::new_preset(9).unwrap();
    large.dict_size(64 << 20);
    let mut filters = liblzma::stream::Filters::new();
    filters.lzma2(&large);
    let check = liblzma::stream::Check::Crc64;
    let stream = liblzma::stream::Stream::new_stream_encoder(&filters, check).unwrap();
    let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    encoder.write_all(&data(1000)).unwrap();
    let encoded = encoder.finish().unwrap();
    assert!(refuse(&xz(0), &encoded, 1000).contains("dictionary is larger"));
    assert!(decode(&chain(&[xz(9)], 1000), &encoded).is_ok());
}

/// `numcodecs.PCodec(level=4)` of 0, 2, … 38 as int16 (pcodec 1.1).
const PCODEC: [u8; 24] = [
    0x70, 0x63, 0x6f, 0x21, 3, 0, 4, 5, 4, 1, 8, 0x13, 0, 0, 0x10, 1, 1, 0, 1, 0x40, 0, 0, 0x80, 0,
];

fn pcodec() -> CodecSpec {
    let delta = PcodecDelta::Auto;
    let spec = PcodecSpec {
        level: 8,
        is_classic: false,
        delta,
        delta_order: None,
        page_elements: 1 << 18,
    };
    CodecSpec::Pcodec { spec, element: element(DataType::Int16, Endian::Little) }
}

#[test]
fn pcodec_agrees_with_another_implementation() {
    let numbers: Vec<u8> = (0..20_i16).flat_map(|i| (2 * i).to_le_bytes()).collect();
    let decoded = decode(&chain(&[pcodec()], 40), &PCODEC);
    assert_eq!(decoded.unwrap(), numbers);
}

#[test]
fn pcodec_claims_are_not_believed() {
    // Where the metadata of the first chunk starts.
    let with = |metadata: &[u8]| {
        let mut bytes = PCODEC.to_vec();
        bytes[14..14 + metadata.len()].copy_from_slice(metadata);
        refuse(&pcodec(), &bytes, 40)
    };
    assert!(with(&[0xf4, 0xff, 0xff, 0x1f]).contains("a dictionary of 33554431 entries for 20"));
    assert!(with(&[0x20, 0x17]).contains("a window of 16777216 elements for 20"));
    assert!(refuse(&pcodec(), &PCODEC, 38).contains("more than 38 bytes"));
}

#[test]
fn chains() {
    let gzip = CodecSpec::Gzip { level: 1 };
    let zstd = CodecSpec::Zstd { level: 1, checksum: false };
    let blosc = blosc(BloscName::Lz4, 5, Shuffle::Byte, 2);
    let crc = CodecSpec::CRC32C;
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
    assert_eq!(cost(&[CodecSpec::CRC32C], 10).name, "crc32c");
    let lz4 = blosc(BloscName::Lz4, 5, Shuffle::Byte, 4);
    assert_eq!(cost(&[CodecSpec::CRC32C, lz4], 10).name, "blosc-lz4");
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
