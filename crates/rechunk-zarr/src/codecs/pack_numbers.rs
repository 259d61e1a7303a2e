//! Some bits of each number, packed: v3's `packbits`.

use crate::codec_settings::BitPacking;
use crate::packed_numbers::{PackedNumbers, Parts};

/// Bytes of what `decoded` bytes become. The types of a chunk are those that the codec is for.
pub(super) fn encoded_bytes(decoded: u64, codec: &PackedNumbers) -> u64 {
    let Some(parts) = Parts::of(codec.data_type) else { return decoded };
    let numbers = decoded / (parts.bytes as u64).max(1);
    let bits = numbers.saturating_mul(u64::from(codec.kept_bits()));
    bits.div_ceil(8).saturating_add(u64::from(codec.padding != BitPacking::LowFirst))
}

/// Number of the last byte's bits that stand for nothing.
fn padding(numbers: usize, kept_bits: u32) -> u8 {
    // Only the last three bits of either count.
    let bits = (numbers % 8) * usize::try_from(kept_bits).unwrap_or(0);
    u8::try_from((8 - bits % 8) % 8).unwrap_or(0)
}

/// The lowest bits of a word.
fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// Packs little-endian elements.
pub(super) fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    codec: &PackedNumbers,
) -> Result<(), String> {
    let parts = Parts::of(codec.data_type).ok_or("it has no such elements")?;
    let kept = codec.kept_bits();
    let padding = padding(decoded.len() / parts.bytes, kept);
    encoded.clear();
    if codec.padding == BitPacking::LowFirstPaddingFirst {
        encoded.push(padding);
    }
    let (mut pending, mut pending_bits) = (0_u128, 0_u32);
    for number in decoded.chunks_exact(parts.bytes) {
        let word = number.iter().rev().fold(0_u64, |word, byte| (word << 8) | u64::from(*byte));
        let bits = (word >> codec.first_bit) & mask(kept);
        pending |= u128::from(bits) << pending_bits;
        pending_bits += kept;
        while pending_bits >= 8 {
            encoded.push(lowest_byte(pending));
            pending >>= 8;
            pending_bits -= 8;
        }
    }
    if pending_bits > 0 {
        encoded.push(lowest_byte(pending));
    }
    if codec.padding == BitPacking::LowFirstPaddingLast {
        encoded.push(padding);
    }
    Ok(())
}

fn lowest_byte(word: u128) -> u8 {
    let [byte, ..] = word.to_le_bytes();
    byte
}

/// Decodes to exactly `bytes` bytes of little-endian elements.
pub(super) fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bytes: usize,
    codec: &PackedNumbers,
) -> Result<(), String> {
    let parts = Parts::of(codec.data_type).ok_or("it has no such elements")?;
    let (kept, numbers) = (codec.kept_bits(), bytes / parts.bytes);
    let (packed, said) = match codec.padding {
        BitPacking::LowFirstPaddingFirst => {
            encoded.split_first().map(|(said, packed)| (packed, Some(*said)))
        }
        BitPacking::LowFirstPaddingLast => {
            encoded.split_last().map(|(said, packed)| (packed, Some(*said)))
        }
        _ => Some((encoded, None)),
    }
    .ok_or("there are no bytes")?;
    let wanted =
        encoded_bytes(bytes as u64, &PackedNumbers { padding: BitPacking::LowFirst, ..*codec });
    if packed.len() as u64 != wanted {
        return Err(format!("{} bytes of bits instead of {wanted}", packed.len()));
    }
    let left = padding(numbers, kept);
    if said.is_some_and(|said| said != left) {
        let said = said.unwrap_or(0);
        return Err(format!("{said} bits of padding, but the elements leave {left}"));
    }
    decoded.clear();
    decoded.reserve_exact(bytes);
    let (mut pending, mut pending_bits) = (0_u128, 0_u32);
    let mut packed = packed.iter();
    for _ in 0..numbers {
        while pending_bits < kept {
            pending |= u128::from(*packed.next().unwrap_or(&0)) << pending_bits;
            pending_bits += 8;
        }
        let [low, ..] = words(pending);
        let bits = low & mask(kept);
        pending >>= kept;
        pending_bits -= kept;
        decoded.extend_from_slice(&extended(bits, codec, parts).to_le_bytes()[..parts.bytes]);
    }
    Ok(())
}

fn words(word: u128) -> [u64; 2] {
    let low = u64::try_from(word & u128::from(u64::MAX)).unwrap_or(0);
    [low, u64::try_from(word >> 64).unwrap_or(0)]
}

/// The number that the kept bits stand for.
fn extended(bits: u64, codec: &PackedNumbers, parts: Parts) -> u64 {
    let is_negative = parts.is_signed && bits >> (codec.kept_bits() - 1) == 1;
    let above = if is_negative { !mask(codec.last_bit + 1) } else { 0 };
    (bits << codec.first_bit) | above
}

#[cfg(test)]
mod tests {
    use rechunk_grid::DataType;

    use super::*;

    fn codec(data_type: DataType, bits: std::ops::RangeInclusive<u32>) -> PackedNumbers {
        let (first_bit, last_bit) = (*bits.start(), *bits.end());
        PackedNumbers { data_type, first_bit, last_bit, padding: BitPacking::LowFirst }
    }

    #[test]
    fn numbers_are_packed_as_the_specification_says() {
        type Case = (DataType, std::ops::RangeInclusive<u32>, &'static [u8], &'static [u8]);
        let cases: &[Case] = &[
            (DataType::Uint2, 0..=1, &[0, 1, 2, 3, 3], &[0b1110_0100, 0b11]),
            (DataType::Int2, 0..=1, &[0, 1, 0xfe, 0xff], &[0b1110_0100]),
            (DataType::Uint4, 0..=3, &[1, 15, 7], &[0xf1, 0x07]),
            (DataType::Int4, 0..=3, &[1, 0xff, 0xf8, 7], &[0xf1, 0x78]),
            (DataType::Bool, 0..=0, &[1, 0, 0, 1, 0, 0, 0, 0, 1], &[0b1001, 1]),
            (DataType::Uint8, 0..=7, &[1, 2], &[1, 2]),
            (DataType::Uint16, 0..=11, &[0xff, 0x0f, 0x01, 0x02], &[0xff, 0x1f, 0x20]),
            (DataType::Uint16, 4..=11, &[0xf0, 0x0f, 0x10, 0x02], &[0xff, 0x21]),
            (DataType::Int16, 0..=11, &[0xff, 0xff, 0x00, 0xf8], &[0xff, 0x0f, 0x80]),
            (DataType::Int32, 4..=8, &[0xf0, 0xff, 0xff, 0xff], &[0x1f]),
            (DataType::Uint64, 0..=63, &[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4, 5, 6, 7, 8]),
            (DataType::Complex64, 30..=31, &[0, 0, 0, 0x40, 0, 0, 0, 0xc0], &[0b1101]),
        ];
        for (data_type, bits, elements, packed) in cases {
            for padding in [
                BitPacking::LowFirst,
                BitPacking::LowFirstPaddingFirst,
                BitPacking::LowFirstPaddingLast,
            ] {
                let codec = PackedNumbers { padding, ..codec(*data_type, bits.clone()) };
                let numbers = elements.len() / Parts::of(*data_type).unwrap().bytes;
                let said = (8 - u32::try_from(numbers).unwrap() * codec.kept_bits() % 8) % 8;
                let said = u8::try_from(said).unwrap();
                let expected: Vec<u8> = match padding {
                    BitPacking::LowFirstPaddingFirst => [&[said], *packed].concat(),
                    BitPacking::LowFirstPaddingLast => [*packed, &[said]].concat(),
                    _ => packed.to_vec(),
                };
                let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
                encode(elements, &mut encoded, &codec).unwrap();
                assert_eq!(encoded, expected, "{codec:?}");
                assert_eq!(encoded_bytes(elements.len() as u64, &codec), encoded.len() as u64);
                decode(&encoded, &mut decoded, elements.len(), &codec).unwrap();
                assert_eq!(decoded, *elements, "{codec:?}");
            }
        }
    }

    #[test]
    fn all_bits_round_trip_and_bits_that_are_not_kept_are_dropped() {
        for data_type in DataType::ALL {
            let Some(parts) = Parts::of(data_type) else { continue };
            let codec = codec(data_type, 0..=parts.bits - 1);
            let few = [0_u8, 1, 2, 3, 0xff, 0xfe, 0x7f, 0x80];
            let all: Vec<u8> =
                few.into_iter().cycle().take(parts.bytes * parts.count * 5).collect();
            let (mut encoded, mut once, mut twice) = (Vec::new(), Vec::new(), Vec::new());
            encode(&all, &mut encoded, &codec).unwrap();
            decode(&encoded, &mut once, all.len(), &codec).unwrap();
            encode(&once, &mut encoded, &codec).unwrap();
            decode(&encoded, &mut twice, all.len(), &codec).unwrap();
            assert_eq!(once, twice, "{data_type:?}");
            if parts.bits as usize == parts.bytes * 8 {
                assert_eq!(once, all, "{data_type:?}");
            }
        }
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let plain = codec(DataType::Uint4, 0..=3);
        let first = PackedNumbers { padding: BitPacking::LowFirstPaddingFirst, ..plain };
        let last = PackedNumbers { padding: BitPacking::LowFirstPaddingLast, ..plain };
        let cases: &[(PackedNumbers, &[u8], &str)] = &[
            (plain, &[0x21], "instead of 2"),
            (plain, &[0x21, 0x03, 0x00], "instead of 2"),
            (plain, &[], "instead of 2"),
            (first, &[], "no bytes"),
            (first, &[0, 0x21, 0x03], "leave 4"),
            (last, &[0x21, 0x03, 8], "leave 4"),
            (last, &[4], "instead of 2"),
        ];
        for (codec, encoded, words) in cases {
            let error = decode(encoded, &mut Vec::new(), 3, codec).unwrap_err();
            assert!(error.contains(words), "{encoded:?}: {error}");
        }
    }
}
