//! Filters on elements, as numcodecs has them: delta, fixedscaleoffset, quantize, astype, bitround.
//!
//! A buffer is flat: the elements of a chunk in storage order. Each filter is one pass that reads
//! elements of one type and writes elements of another.

use rechunk_grid::DataType;

use super::value::Value;
use crate::codec_spec::{Scalar, TypePair};
use crate::element_type::ElementType;

/// Bits of the mantissa that are stored, by type.
pub(super) fn mantissa_bits(data_type: DataType) -> Option<u32> {
    match data_type {
        DataType::Float16 => Some(10),
        DataType::Float32 => Some(23),
        DataType::Float64 => Some(52),
        _ => None,
    }
}

/// One pass from elements of `from` to elements of `to`.
fn map(
    input: &[u8],
    from: ElementType,
    output: &mut Vec<u8>,
    to: ElementType,
    mut each: impl FnMut(Value) -> Value,
) {
    let count = input.len() / from.item_bytes();
    output.clear();
    output.resize(count * to.item_bytes(), 0);
    let slots = output.chunks_exact_mut(to.item_bytes());
    for (element, slot) in input.chunks_exact(from.item_bytes()).zip(slots) {
        each(Value::load(element, from)).store(slot, to);
    }
}

/// The first element, then differences, each in the type of the decoded elements.
pub(super) fn encode_delta(decoded: &[u8], encoded: &mut Vec<u8>, types: TypePair) {
    let mut before: Option<Value> = None;
    map(decoded, types.decoded, encoded, types.encoded, |value| match before.replace(value) {
        Some(before) => value.subtract(before).cast(types.decoded.data_type),
        None => value,
    });
}

/// The running sum, in the type of the decoded elements.
pub(super) fn decode_delta(encoded: &[u8], decoded: &mut Vec<u8>, types: TypePair) {
    let data_type = types.decoded.data_type;
    let mut sum: Option<Value> = None;
    map(encoded, types.encoded, decoded, types.decoded, |value| {
        let value = value.cast(data_type);
        let next = sum.map_or(value, |sum| sum.add(value).cast(data_type));
        sum = Some(next);
        next
    });
}

/// `(x - offset) * scale`, rounded.
pub(super) fn encode_scaled(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    types: TypePair,
    (offset, scale): (Scalar, Scalar),
) {
    let data_type = types.decoded.data_type;
    // Integers stay in their type, and wrap as in NumPy, as long as they meet integers only.
    let narrow = |value: Value| match value {
        Value::Integer(_) => value.cast(data_type),
        other => other,
    };
    map(decoded, types.decoded, encoded, types.encoded, |value| {
        let shifted = narrow(value.subtract(Value::scalar(offset, value)));
        narrow(shifted.multiply(Value::scalar(scale, shifted))).round()
    });
}

/// `x / scale + offset`.
pub(super) fn decode_scaled(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    types: TypePair,
    (offset, scale): (Scalar, Scalar),
) {
    map(encoded, types.encoded, decoded, types.decoded, |value| {
        let quotient = value.divide(Value::scalar(scale, value));
        quotient.add(Value::scalar(offset, quotient))
    });
}

/// Only the type changes.
pub(super) fn convert(input: &[u8], from: ElementType, output: &mut Vec<u8>, to: ElementType) {
    map(input, from, output, to, |value| value);
}

/// Rounded to a power of two that keeps `digits` decimal digits after the point.
pub(super) fn encode_quantized(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    types: TypePair,
    digits: i32,
) {
    let scale = Scalar::Float(quantum(digits).to_bits());
    map(decoded, types.decoded, encoded, types.encoded, |value| {
        let scale = Value::scalar(scale, value);
        scale.multiply(value).round().divide(scale)
    });
}

/// The power of two that is multiplied with, as numcodecs computes it.
fn quantum(digits: i32) -> f64 {
    let exponent = 10_f64.powi(-digits).log10();
    let exponent = if exponent < 0.0 { exponent.floor() } else { exponent.ceil() };
    let bits = 10_f64.powf(-exponent).log2().ceil();
    bits.exp2()
}

/// Rounds each mantissa to `keep_bits` bits, halves to even, in the bits of the element.
///
/// NaN stay as they are, other than in numcodecs: rounded as a number, a NaN may become infinity,
/// or run over into the sign and be zero.
pub(super) fn encode_bit_rounded(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    element: ElementType,
    keep_bits: u32,
) {
    let mantissa = mantissa_bits(element.data_type).unwrap_or(0);
    let dropped = mantissa.saturating_sub(keep_bits);
    if dropped == 0 {
        encoded.clear();
        encoded.extend_from_slice(decoded);
        return;
    }
    let bits = match element.item_bytes() {
        2 => DataType::Uint16,
        4 => DataType::Uint32,
        _ => DataType::Uint64,
    };
    let bits = ElementType { data_type: bits, endian: element.endian };
    let half = (1_i128 << (dropped - 1)) - 1;
    let magnitudes = (1_i128 << (8 * element.item_bytes() - 1)) - 1;
    let infinity = (magnitudes >> mantissa) << mantissa;
    map(decoded, bits, encoded, bits, |value| match value {
        Value::Integer(word) if word & magnitudes > infinity => value,
        Value::Integer(word) => {
            let rounded = word + half + ((word >> dropped) & 1);
            Value::Integer((rounded >> dropped) << dropped)
        }
        other => other,
    });
}

#[cfg(test)]
mod tests {
    use rechunk_grid::DataType::{Float16, Float32, Float64};
    use rechunk_grid::Endian;

    use super::*;

    #[test]
    fn rounded_mantissas_leave_nan_as_they_are() {
        // Quiet, signalling, and those of which a carry would run over into the sign.
        let nan = [
            (Float16, vec![0x7e00_u64, 0x7c01, 0x7fff, 0xffff, 0xfc01]),
            (Float32, vec![0x7fc0_0000, 0x7f80_0001, 0x7fff_ffff, 0xffff_ffff, 0xff80_0001]),
            (Float64, vec![0x7ff8 << 48, (0x7ff0 << 48) | 1, u64::MAX >> 1, u64::MAX]),
        ];
        for (data_type, words) in nan {
            for (endian, keep_bits) in
                [Endian::Little, Endian::Big].iter().flat_map(|&e| [0, 1, 5, 9].map(|k| (e, k)))
            {
                let element = ElementType { data_type, endian };
                let stored = words.iter().flat_map(|word| match endian {
                    Endian::Little => word.to_le_bytes()[..element.item_bytes()].to_vec(),
                    Endian::Big => word.to_be_bytes()[8 - element.item_bytes()..].to_vec(),
                });
                let (stored, mut encoded) = (stored.collect::<Vec<u8>>(), Vec::new());
                encode_bit_rounded(&stored, &mut encoded, element, keep_bits);
                assert_eq!(encoded, stored, "{data_type:?} {endian:?} {keep_bits}");
            }
        }
        // Infinity is no NaN, and a number next to it is rounded to it.
        let element = ElementType { data_type: Float32, endian: Endian::Little };
        let numbers = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1.07];
        let mut encoded = Vec::new();
        encode_bit_rounded(&numbers.map(f32::to_le_bytes).concat(), &mut encoded, element, 3);
        let expected = [f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, 1.125];
        assert_eq!(encoded, expected.map(f32::to_le_bytes).concat());
    }
}
