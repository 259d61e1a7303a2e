//! Eight booleans in a byte.

use crate::codec_spec::BitPacking;

/// Bytes of `count` booleans, packed.
pub(super) fn encoded_bytes(count: u64, packing: BitPacking) -> u64 {
    count.div_ceil(8).saturating_add(u64::from(packing != BitPacking::LowFirst))
}

/// Number of the last byte's bits that stand for nothing.
fn padding(count: usize) -> u8 {
    u8::try_from((8 - count % 8) % 8).unwrap_or(0)
}

fn bit(packing: BitPacking, position: usize) -> u8 {
    match packing {
        BitPacking::Numcodecs => 0x80 >> position,
        BitPacking::LowFirst
        | BitPacking::LowFirstPaddingFirst
        | BitPacking::LowFirstPaddingLast => 1 << position,
    }
}

/// The packed bits alone, and the byte that says the padding.
fn split(encoded: &[u8], packing: BitPacking) -> Option<(&[u8], Option<u8>)> {
    match packing {
        BitPacking::LowFirst => Some((encoded, None)),
        BitPacking::Numcodecs | BitPacking::LowFirstPaddingFirst => {
            encoded.split_first().map(|(padding, bits)| (bits, Some(*padding)))
        }
        BitPacking::LowFirstPaddingLast => {
            encoded.split_last().map(|(padding, bits)| (bits, Some(*padding)))
        }
    }
}

pub(super) fn encode(decoded: &[u8], encoded: &mut Vec<u8>, packing: BitPacking) {
    encoded.clear();
    let padding = padding(decoded.len());
    if matches!(packing, BitPacking::Numcodecs | BitPacking::LowFirstPaddingFirst) {
        encoded.push(padding);
    }
    let pack = |eight: &[u8]| {
        let set = eight.iter().enumerate().filter(|(_, value)| **value != 0);
        set.fold(0, |byte, (position, _)| byte | bit(packing, position))
    };
    encoded.extend(decoded.chunks(8).map(pack));
    if packing == BitPacking::LowFirstPaddingLast {
        encoded.push(padding);
    }
}

/// Decodes exactly `count` booleans.
pub(super) fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    count: usize,
    packing: BitPacking,
) -> Result<(), String> {
    let (bits, said) = split(encoded, packing).ok_or("there are no bytes")?;
    if bits.len() != count.div_ceil(8) {
        return Err(format!("{} bytes of bits, but {count} elements", bits.len()));
    }
    if said.is_some_and(|said| said != padding(count)) {
        let (said, wanted) = (said.unwrap_or(0), padding(count));
        return Err(format!("{said} bits of padding, but {count} elements leave {wanted}"));
    }
    decoded.clear();
    decoded.reserve_exact(count);
    for (position, byte) in (0..count).zip(bits.iter().flat_map(|byte| [byte; 8])) {
        decoded.push(u8::from(byte & bit(packing, position % 8) != 0));
    }
    Ok(())
}
