use proptest::prelude::*;

use super::*;

type Encode = fn(&[u8], &mut Vec<u8>) -> Result<(), String>;
type Decode = fn(&[u8], &mut Vec<u8>, usize) -> Result<(), String>;

/// A codec with its settings: what encodes and what decodes within a bound.
struct Case {
    name: &'static str,
    encode: Encode,
    decode: Decode,
}

const BLOSC: BloscSettings = BloscSettings {
    cname: BloscName::Lz4,
    clevel: 5,
    shuffle: Shuffle::Byte,
    typesize: 4,
    blocksize: 0,
};

const XZ: LzmaSpec =
    LzmaSpec { format: LzmaFormat::Xz, check: LzmaCheck::Crc64, preset: Some(1), filters: None };

fn bound(decoded: &[u8]) -> usize {
    usize::try_from(encoded_bytes_max(decoded.len() as u64)).unwrap()
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "blosc",
            encode: |decoded, encoded| blosc::encode(decoded, encoded, &BLOSC),
            decode: |encoded, decoded, bound| blosc::decode(encoded, decoded, bound, 0),
        },
        Case {
            name: "bzip2",
            encode: |decoded, encoded| bzip2_streams::encode(decoded, encoded, 1, bound(decoded)),
            decode: bzip2_streams::decode,
        },
        Case {
            name: "gzip",
            encode: |decoded, encoded| deflate::encode_gzip(decoded, encoded, 1),
            decode: deflate::decode_gzip,
        },
        Case {
            name: "zlib",
            encode: |decoded, encoded| deflate::encode_zlib(decoded, encoded, 1),
            decode: deflate::decode_zlib,
        },
        Case { name: "lz4", encode: lz4_block::encode, decode: lz4_block::decode },
        Case {
            name: "lzma",
            encode: |decoded, encoded| lzma::encode(decoded, encoded, bound(decoded), &XZ),
            decode: |encoded, decoded, bound| lzma::decode(encoded, decoded, bound, &XZ),
        },
        Case {
            name: "zstd",
            encode: |decoded, encoded| zstd_frames::encode(decoded, encoded, 1, true),
            decode: zstd_frames::decode,
        },
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Bytes come back within exactly their size, are refused within less, and never become more
    /// than promised.
    #[test]
    fn round_trips(bytes in prop::collection::vec(0_u8..4, 1..3000)) {
        for case in cases() {
            let (mut encoded, mut decoded) = (vec![7; 10], vec![9; 5000]);
            (case.encode)(&bytes, &mut encoded).unwrap();
            prop_assert!(encoded.len() <= bound(&bytes), "{}", case.name);
            (case.decode)(&encoded, &mut decoded, bytes.len()).unwrap();
            prop_assert_eq!(&decoded, &bytes, "{}", case.name);
            let mut less = Vec::new();
            let refused = (case.decode)(&encoded, &mut less, bytes.len() - 1);
            let reason = refused.unwrap_err();
            prop_assert!(is_too_long(&reason, bytes.len() - 1), "{}: {reason}", case.name);
            prop_assert!(!is_too_long(&reason, bytes.len()), "{}: {reason}", case.name);
            prop_assert!(less.capacity() <= bytes.len() + 64, "{}", case.name);
        }
    }

    #[test]
    fn any_bytes_stay_within_the_bound(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for case in cases() {
            let mut decoded = Vec::new();
            if (case.decode)(&bytes, &mut decoded, 100).is_ok() {
                prop_assert!(decoded.len() <= 100, "{}", case.name);
            }
        }
    }
}
