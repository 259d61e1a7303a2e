use super::*;
use crate::{BloscName, BloscSettings, Shuffle, blosc};

/// Decodes chunks that c-blosc has encoded, all of them and any part, as c-blosc does. There is one
/// of every inner codec, element size, block size and length that makes another kind of block.
#[test]
fn decodes_what_c_blosc_has_made() {
    let noise = |n: usize| (n.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()[0];
    let (mut own, mut split, mut whole, mut left_out) = (0, 0, 0, 0);
    for cname in [BloscName::Lz4, BloscName::Lz4hc, BloscName::Zstd, BloscName::Zlib] {
        for typesize in [1_u8, 2, 3, 4, 8, 12, 16, 24] {
            for (length, blocksize) in
                [(240, 0), (5040, 1024), (100_003, 4096), (70_000, 0), (131_072, 65_536)]
            {
                for shuffle in [Shuffle::None, Shuffle::Byte, Shuffle::Bit] {
                    let smooth = |n: usize| (n / 300).to_le_bytes()[0];
                    let byte = |n: usize| {
                        if n.is_multiple_of(usize::from(typesize)) {
                            noise(n) & 7
                        } else {
                            smooth(n)
                        }
                    };
                    let elements: Vec<u8> = (0..length).map(byte).collect();
                    let settings = BloscSettings { cname, clevel: 5, shuffle, typesize, blocksize };
                    let encoded = blosc::encode_by_library(&elements, settings).unwrap();
                    let mut decoded = vec![9; 17];
                    blosc::decode(&encoded, &mut decoded, length, blocksize).unwrap();
                    assert!(decoded == elements, "{settings:?} {length}");
                    let mut part = Vec::new();
                    for wanted in [0..1, 7..length - 2, length - 1..length, length / 3..length / 2]
                    {
                        part.clear();
                        blosc::decode_part(&encoded, &mut part, length, blocksize, wanted.clone())
                            .unwrap();
                        assert_eq!(part.len(), length);
                        assert!(part[wanted.clone()] == elements[wanted], "{settings:?} {length}");
                    }
                    let block = u32::from_le_bytes(*encoded[8..].first_chunk().unwrap());
                    let blocks = Blocks::new(&encoded, usize::try_from(block).unwrap());
                    own += usize::from(blocks.is_some());
                    split += usize::from(encoded[2] & (ONE_STREAM | COPIED) == 0);
                    whole += usize::from(encoded[2] & ONE_STREAM != 0);
                    let is_parted = blocks.is_some() && encoded[2] & COPIED == 0;
                    if is_parted && length / usize::try_from(block).unwrap() >= 6 {
                        assert!(part != elements, "{settings:?}: nothing was left out");
                        left_out += 1;
                    }
                }
            }
        }
    }
    assert!(own == 480 && split > 50 && whole > 50, "{own} {split} {whole}");
    assert!(left_out > 10, "{left_out}");
}

/// Bytes may be wanted behind the end of a chunk that says to be shorter than it should be.
#[test]
fn what_is_wanted_behind_the_end_is_not_there() {
    let elements = compressible(5000);
    for typesize in [1, 2, 3, 4, 8] {
        let (cname, clevel, shuffle) = (BloscName::Lz4, 5, Shuffle::Byte);
        let settings = BloscSettings { cname, clevel, shuffle, typesize, blocksize: 1920 };
        let mut encoded = Vec::new();
        blosc::encode(&elements, &mut encoded, &settings).unwrap();
        for wanted in [4999..5001, 5000..5001, 5001..5002, 5500..9000, 9000..9001] {
            let mut part = Vec::new();
            blosc::decode_part(&encoded, &mut part, 10_000, 1920, wanted.clone()).unwrap();
            assert_eq!(part.len(), 5000, "{typesize} {wanted:?}");
        }
    }
}

/// Decodes a stream of LZ4 up to the last wanted byte: damage behind it matters to the whole, not
/// to that part.
#[test]
fn streams_of_lz4_are_decoded_as_far_as_they_are_wanted() {
    const LENGTH: usize = 64 << 10;
    let elements = compressible(LENGTH);
    for (shuffle, typesize) in [(Shuffle::Byte, 2), (Shuffle::Byte, 4), (Shuffle::None, 1)] {
        let blocksize = u32::try_from(LENGTH).unwrap();
        let (cname, clevel) = (BloscName::Lz4, 5);
        let settings = BloscSettings { cname, clevel, shuffle, typesize, blocksize };
        let mut encoded = Vec::new();
        blosc::encode(&elements, &mut encoded, &settings).unwrap();
        // A match of the last stream far in front of the first byte.
        let end = encoded.len();
        encoded[end - 2000..end - 1000].fill(0xff);
        let mut decoded = Vec::new();
        for wanted in [0..1, 0..LENGTH / 3, 1000..LENGTH / 2 + 1, LENGTH / 2..LENGTH / 2 + 9] {
            let part =
                blosc::decode_part(&encoded, &mut decoded, LENGTH, blocksize, wanted.clone());
            assert_eq!(part, Ok(()), "{settings:?} {wanted:?}");
            assert!(decoded[wanted.clone()] == elements[wanted.clone()], "{settings:?} {wanted:?}");
        }
        for wanted in [0..LENGTH, LENGTH - 1..LENGTH, 0..usize::MAX] {
            let part =
                blosc::decode_part(&encoded, &mut decoded, LENGTH, blocksize, wanted.clone());
            assert_eq!(part, Err("the data is damaged".to_owned()), "{settings:?} {wanted:?}");
        }
    }
}

/// Bytes that become half as many.
fn compressible(length: usize) -> Vec<u8> {
    let noise = |n: usize| (n.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()[0];
    let byte = |n: usize| {
        if (n / 32).is_multiple_of(2) { noise(n) } else { (n / 300).to_le_bytes()[0] }
    };
    (0..length).map(byte).collect()
}

/// The part of a chunk that `wanted` needs, with the first bytes it is told by; `None` if all is.
fn narrowed(encoded: &[u8], head_bytes: usize, wanted: &Range<usize>) -> Option<Vec<u8>> {
    let mut part = encoded[..head_bytes.min(encoded.len())].to_vec();
    let stored_bytes = encoded.len() as u64;
    let body = blosc::narrow(&mut part, stored_bytes, 1 << 20, 1024, wanted.clone());
    if body.is_none() {
        assert!(encoded.starts_with(&part), "it was changed for nothing");
    }
    let [start, end] = body.map(|body| [body.start, body.end].map(usize::try_from))?;
    part.extend_from_slice(&encoded[start.unwrap()..end.unwrap()]);
    Some(part)
}

#[test]
fn a_part_is_as_good_as_the_whole_for_its_blocks() {
    const LENGTH: usize = 700_000;
    let elements = compressible(LENGTH);
    let mut narrow = 0;
    for cname in [BloscName::Lz4, BloscName::Zstd, BloscName::Zlib] {
        for (shuffle, typesize) in [(Shuffle::Byte, 4), (Shuffle::None, 1), (Shuffle::Bit, 2)] {
            let blocksize = 1024;
            let settings = BloscSettings { cname, clevel: 5, shuffle, typesize, blocksize };
            let mut encoded = Vec::new();
            blosc::encode(&elements, &mut encoded, &settings).unwrap();
            let block = u32::from_le_bytes(*encoded[8..].first_chunk().unwrap());
            let table = 16 + 4 * LENGTH.div_ceil(usize::try_from(block).unwrap());
            for wanted in [0..10, 0..90_000, 200_000..200_001, 300_000..410_000, 650_000..LENGTH] {
                for head_bytes in [table, table + 90, 4096, encoded.len()] {
                    let Some(part) = narrowed(&encoded, head_bytes, &wanted) else { continue };
                    narrow += 1;
                    assert!(part.len() <= encoded.len() / 4 * 3, "{wanted:?}");
                    let mut decoded = Vec::new();
                    blosc::decode_part(&part, &mut decoded, LENGTH, 1024, wanted.clone()).unwrap();
                    assert_eq!(decoded.len(), elements.len());
                    assert!(decoded[wanted.clone()] == elements[wanted.clone()], "{wanted:?}");
                    let all = blosc::decode(&part, &mut decoded, LENGTH, 1024);
                    assert_eq!(all, Err("a block is outside the data".to_owned()));
                }
                assert_eq!(narrowed(&encoded, table - 1, &wanted), None, "the last is not known");
            }
            assert_eq!(narrowed(&encoded, 4096, &(0..LENGTH)), None, "that is all");
        }
    }
    assert!(narrow > 50, "{narrow}");
}

/// Heads of [`blosc::head_bytes`] say where all blocks are, however many.
#[test]
fn heads_are_as_long_as_they_have_to_be() {
    let elements = compressible(1 << 20);
    for (blocksize, typesize) in [(1024, 4), (1000, 16), (0, 1), (1 << 17, 1)] {
        let (cname, shuffle) = (BloscName::Zstd, Shuffle::Byte);
        let settings = BloscSettings { cname, clevel: 1, shuffle, typesize, blocksize };
        let mut encoded = Vec::new();
        blosc::encode(&elements, &mut encoded, &settings).unwrap();
        let mut head = encoded[..blosc::head_bytes(1 << 20, blocksize)].to_vec();
        let stored_bytes = encoded.len() as u64;
        let body = blosc::narrow(&mut head, stored_bytes, 1 << 20, blocksize, 70_000..70_001);
        assert!(body.is_some(), "{settings:?}");
    }
    assert_eq!(blosc::head_bytes(usize::MAX, 1), 64 << 10);
    assert_eq!(blosc::head_bytes(100, 0), 512);
}

/// Several threads of c-blosc put blocks in any order.
#[test]
fn blocks_may_lie_in_any_order() {
    const LENGTH: usize = 300_000;
    let elements = compressible(LENGTH);
    for (cname, shuffle, typesize) in
        [(BloscName::Lz4, Shuffle::Byte, 4), (BloscName::Zstd, Shuffle::None, 1)]
    {
        let settings = BloscSettings { cname, clevel: 5, shuffle, typesize, blocksize: 4096 };
        let mut encoded = Vec::new();
        blosc::encode(&elements, &mut encoded, &settings).unwrap();
        let word = |at: usize| {
            usize::try_from(u32::from_le_bytes(*encoded[at..].first_chunk().unwrap())).unwrap()
        };
        let count = LENGTH.div_ceil(word(8));
        assert!(count > 4, "{count} blocks");
        let ends = (1..count).map(|n| word(16 + 4 * n)).chain([encoded.len()]);
        let blocks: Vec<_> =
            ends.enumerate().map(|(n, end)| &encoded[word(16 + 4 * n)..end]).collect();
        // Every third one, from the last to the first, and so on.
        let order = (0..3).flat_map(|of| (0..count).rev().filter(move |n| n % 3 == of));
        let mut shuffled = encoded[..16 + 4 * count].to_vec();
        for block in order {
            let at = u32::try_from(shuffled.len()).unwrap();
            shuffled[16 + 4 * block..][..4].copy_from_slice(&at.to_le_bytes());
            shuffled.extend_from_slice(blocks[block]);
        }
        assert_eq!(shuffled.len(), encoded.len());
        let mut decoded = Vec::new();
        blosc::decode(&shuffled, &mut decoded, LENGTH, 4096).unwrap();
        assert!(decoded == elements);
        let mut narrow = 0;
        for wanted in [0..10, LENGTH - 1..LENGTH, LENGTH / 2..LENGTH / 2 + 9000] {
            let Some(part) = narrowed(&shuffled, 1024, &wanted) else { continue };
            narrow += 1;
            blosc::decode_part(&part, &mut decoded, LENGTH, 4096, wanted.clone()).unwrap();
            assert!(decoded[wanted.clone()] == elements[wanted.clone()], "{wanted:?}");
        }
        assert!(narrow >= 2, "{narrow}");
    }
}

/// Damaged heads: a part decodes only if the whole does, and to the same bytes.
#[test]
fn a_part_of_a_damaged_chunk_is_no_other() {
    let settings = BloscSettings {
        cname: BloscName::Lz4,
        clevel: 5,
        shuffle: Shuffle::Byte,
        typesize: 2,
        blocksize: 512,
    };
    let elements = compressible(400_000);
    let mut encoded = Vec::new();
    blosc::encode(&elements, &mut encoded, &settings).unwrap();
    let wanted = 100_000..150_000;
    let (mut same, mut refused) = (0, 0);
    for at in 0..100 {
        for flip in [1, 2, 4, 16, 64, 128, 255] {
            let mut damaged = encoded.clone();
            damaged[at] ^= flip;
            let Some(part) = narrowed(&damaged, 200, &wanted) else { continue };
            let [mut of_part, mut of_all] = [Vec::new(), Vec::new()];
            let decode = |from: &[u8], to: &mut Vec<u8>| {
                blosc::decode_part(from, to, 400_000, 512, wanted.clone())
            };
            if decode(&part, &mut of_part).is_err() {
                refused += 1;
                continue;
            }
            assert_eq!(decode(&damaged, &mut of_all), Ok(()), "byte {at} ^ {flip}");
            assert_eq!(of_part.len(), of_all.len());
            assert!(of_part[wanted.clone()] == of_all[wanted.clone()], "byte {at} ^ {flip}");
            same += 1;
        }
    }
    assert!(same > 100 && refused > 10, "{same} {refused}");
}

#[test]
fn what_is_copied_is_taken_as_it_is() {
    let settings = BloscSettings {
        cname: BloscName::Lz4,
        clevel: 0,
        shuffle: Shuffle::Byte,
        typesize: 2,
        blocksize: 0,
    };
    let elements: Vec<u8> = (0..3000_u32).map(|n| ((n * n) >> 3).to_le_bytes()[0]).collect();
    let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    blosc::encode(&elements, &mut encoded, &settings).unwrap();
    assert_ne!(encoded[2] & COPIED, 0);
    blosc::decode(&encoded, &mut decoded, 3000, 0).unwrap();
    assert_eq!(decoded, elements);
}

#[test]
fn no_damage_is_worse_than_an_error() {
    for (cname, shuffle) in [
        (BloscName::Lz4, Shuffle::Byte),
        (BloscName::Lz4, Shuffle::Bit),
        (BloscName::Zstd, Shuffle::Bit),
    ] {
        let settings = BloscSettings { cname, clevel: 5, shuffle, typesize: 4, blocksize: 512 };
        damage(settings);
    }
}

fn damage(settings: BloscSettings) {
    let elements: Vec<u8> = (0..4000_u32).map(|n| (n / 40).to_le_bytes()[0]).collect();
    let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    blosc::encode(&elements, &mut encoded, &settings).unwrap();
    for at in 0..encoded.len() {
        for flip in [0xff, 0x80, 1] {
            let mut damaged = encoded.clone();
            damaged[at] ^= flip;
            let _ = blosc::decode(&damaged, &mut decoded, 4000, 512);
            assert!(decoded.capacity() <= 8000);
        }
    }
    for length in 0..encoded.len() {
        let mut cut = encoded[..length].to_vec();
        if let Some(said) = cut.get_mut(12..16) {
            said.copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
        }
        assert!(blosc::decode(&cut, &mut decoded, 4000, 512).is_err(), "{length}");
    }
}
