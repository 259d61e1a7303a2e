//! `cast_value` and `scale_offset`: numbers into others, each alone, with errors for what has no
//! place.
//!
//! `cast_value` rounds and limits as its settings say. Whether a float overflows is decided as if
//! exponents had no end: rounded to the digits of the type first, and then compared with its
//! largest number.

use rechunk_grid::DataType;

use super::value::Value;
use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::number_codecs::{CastValue, OutOfRange, Rounding, ScalarMap, ScaleOffset, Word};

/// A type of floats. It has the digits of the mantissa, the first among them; the exponent of the
/// last place of its smallest number; and the exponent that no number of it reaches.
struct Floats {
    digits: i32,
    lowest: i32,
    end: i32,
}

/// One pass over elements, each of which may have no place in what comes out.
fn map(
    input: &[u8],
    from: ElementType,
    output: &mut Vec<u8>,
    to: ElementType,
    mut each: impl FnMut(Value) -> Result<Value, String>,
) -> Result<(), String> {
    let count = input.len() / from.item_bytes();
    output.clear();
    output.resize(count * to.item_bytes(), 0);
    let slots = output.chunks_exact_mut(to.item_bytes());
    for (element, slot) in input.chunks_exact(from.item_bytes()).zip(slots) {
        each(Value::load(element, from))?.store(slot, to);
    }
    Ok(())
}

pub(super) fn encode_cast(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    codec: &CastValue,
) -> Result<(), String> {
    let (from, to) = (codec.types.decoded, codec.types.encoded);
    cast_all(decoded, from, encoded, to, codec, &codec.encode)
}

pub(super) fn decode_cast(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    codec: &CastValue,
) -> Result<(), String> {
    let (from, to) = (codec.types.encoded, codec.types.decoded);
    cast_all(encoded, from, decoded, to, codec, &codec.decode)
}

fn cast_all(
    input: &[u8],
    from: ElementType,
    output: &mut Vec<u8>,
    to: ElementType,
    codec: &CastValue,
    scalars: &ScalarMap,
) -> Result<(), String> {
    if scalars.is_empty() {
        return map(input, from, output, to, |value| cast(value, to.data_type, codec));
    }
    map(input, from, output, to, |value| match scalars.get(key(value)) {
        Some(word) => Ok(Value::from_word(word.0, to.data_type)),
        None => cast(value, to.data_type, codec),
    })
}

/// A number as a `scalar_map` looks it up: there is one zero, and one not-a-number.
fn key(value: Value) -> Word {
    let normal = match value {
        Value::Integer(_) => value,
        _ if value.to_double().is_nan() => Value::Double(f64::NAN),
        // All floats are doubles here: which type they have is the same for all keys of a map.
        _ => Value::Double(value.to_double() + 0.0),
    };
    let data_type = match normal {
        Value::Integer(_) => DataType::Uint64,
        _ => DataType::Float64,
    };
    Word(normal.word(data_type))
}

/// A number of an element of the type, as a `scalar_map` looks it up.
pub(crate) fn key_of(word: Word, element: ElementType) -> Word {
    key(Value::from_word(word.0, element.data_type))
}

/// The number of a key as an element of the type has it.
pub(crate) fn unkeyed(key: Word, element: ElementType) -> Word {
    let value = if floats(element.data_type).is_some() {
        Value::from_word(key.0, DataType::Float64)
    } else {
        Value::from_word(key.0, element.data_type)
    };
    Word(value.word(element.data_type))
}

fn cast(value: Value, to: DataType, rules: &CastValue) -> Result<Value, String> {
    match (floats(to), value) {
        (None, Value::Integer(integer)) => within(integer, to, rules.out_of_range),
        (None, _) => whole(value.to_double(), to, rules),
        (Some(floats), _) => float(value, &floats, rules),
    }
}

fn floats(data_type: DataType) -> Option<Floats> {
    Some(match data_type {
        DataType::Float16 => Floats { digits: 11, lowest: -24, end: 16 },
        DataType::Bfloat16 => Floats { digits: 8, lowest: -133, end: 128 },
        DataType::Float32 => Floats { digits: 24, lowest: -149, end: 128 },
        DataType::Float64 => Floats { digits: 53, lowest: -1074, end: 1024 },
        _ => return None,
    })
}

/// The lowest and the highest number of a type of integers.
fn range(data_type: DataType) -> (i128, i128) {
    let is_small_signed = matches!(data_type, DataType::Int2 | DataType::Int4);
    let bits = match data_type {
        DataType::Int2 | DataType::Uint2 => 2,
        DataType::Int4 | DataType::Uint4 => 4,
        _ => 8 * u32::try_from(data_type.item_bytes()).unwrap_or(8),
    };
    if is_small_signed || ElementType::new(data_type, rechunk_grid::Endian::Little).is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

fn within(integer: i128, to: DataType, rule: Option<OutOfRange>) -> Result<Value, String> {
    let (low, high) = range(to);
    match rule {
        _ if (low..=high).contains(&integer) => Ok(Value::Integer(integer)),
        Some(OutOfRange::Clamp) => Ok(Value::Integer(integer.clamp(low, high))),
        // The lowest bits of it are stored.
        Some(OutOfRange::Wrap) => Ok(Value::Integer(integer)),
        None => Err(beyond(&integer, to)),
    }
}

fn beyond(value: &dyn std::fmt::Display, to: DataType) -> String {
    format!("{value} is beyond the range of {}, and out_of_range is not set", to.name())
}

/// A float as an integer.
fn whole(float: f64, to: DataType, rules: &CastValue) -> Result<Value, String> {
    if !float.is_finite() {
        return Err(format!("{float} is no {}, and scalar_map does not say what it is", to.name()));
    }
    let rounded = match rules.rounding {
        Rounding::NearestEven => float.round_ties_even(),
        Rounding::TowardsZero => float.trunc(),
        Rounding::TowardsPositive => float.ceil(),
        Rounding::TowardsNegative => float.floor(),
        Rounding::NearestAway => float.round(),
    };
    // Beyond what an `i128` holds only the remainder counts, which is exact.
    let small = if rules.out_of_range == Some(OutOfRange::Wrap) {
        rounded % 18_446_744_073_709_551_616.0
    } else {
        rounded
    };
    if rules.out_of_range.is_none() && small.abs() > 1e30 {
        return Err(beyond(&float, to));
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole; the nearest limit where it is beyond"
    )]
    within(small as i128, to, rules.out_of_range)
}

/// Any number as one that a type of floats has, which a double holds exactly.
fn float(value: Value, to: &Floats, rules: &CastValue) -> Result<Value, String> {
    let (is_negative, mantissa, exponent) = if let Value::Integer(integer) = value {
        (integer < 0, integer.unsigned_abs(), 0)
    } else {
        let double = value.to_double();
        if !double.is_finite() || double == 0.0 {
            return Ok(value);
        }
        let (mantissa, exponent) = parts(double);
        (double < 0.0, u128::from(mantissa), exponent)
    };
    if mantissa == 0 {
        return Ok(Value::Double(0.0));
    }
    let length = |number: u128| i32::try_from(128 - number.leading_zeros()).unwrap_or(128);
    let place = (exponent + length(mantissa) - to.digits).max(to.lowest);
    let dropped = place - exponent;
    if dropped <= 0 && exponent + length(mantissa) <= to.end {
        return Ok(value); // exactly
    }
    let kept = if dropped <= 0 {
        mantissa
    } else {
        round(mantissa, u32::try_from(dropped).unwrap_or(u32::MAX), is_negative, rules.rounding)
    };
    let exponent = exponent.max(place);
    if kept != 0 && exponent + length(kept) > to.end {
        return if rules.out_of_range == Some(OutOfRange::Clamp) {
            Ok(Value::Double(if is_negative { f64::NEG_INFINITY } else { f64::INFINITY }))
        } else {
            let value = value.to_double();
            Err(format!("{value} is beyond the range of floats of {} digits", to.digits))
        };
    }
    let size = kept as f64 * power_of_two(exponent);
    Ok(Value::Double(if is_negative { -size } else { size }))
}

/// A double that is neither zero nor infinite as a whole number and a power of two.
fn parts(double: f64) -> (u64, i32) {
    let bits = double.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) & 0x7ff);
    match i32::try_from(exponent).unwrap_or(0) {
        0 => (fraction, -1074),
        exponent => (fraction | (1 << 52), exponent - 1075),
    }
}

/// 2 to a power that a double has.
fn power_of_two(exponent: i32) -> f64 {
    match u64::try_from(exponent + 1023) {
        Ok(biased @ 1..) => f64::from_bits(biased.min(0x7ff) << 52),
        // Below those with all their digits.
        _ => f64::from_bits(1 << u32::try_from(exponent + 1074).unwrap_or(0)),
    }
}

/// Drops the lowest bits.
fn round(mantissa: u128, bits: u32, is_negative: bool, rounding: Rounding) -> u128 {
    let (kept, rest) = match 1_u128.checked_shl(bits) {
        Some(one) => (mantissa >> bits, mantissa & (one - 1)),
        None => (0, mantissa),
    };
    // A mantissa has at most 65 bits: where more are dropped, less than a half is.
    let half = 1_u128.checked_shl(bits - 1).unwrap_or(u128::MAX);
    let is_up = match rounding {
        Rounding::NearestEven => rest > half || (rest == half && kept % 2 == 1),
        Rounding::NearestAway => rest >= half,
        Rounding::TowardsZero => false,
        Rounding::TowardsPositive => rest != 0 && !is_negative,
        Rounding::TowardsNegative => rest != 0 && is_negative,
    };
    kept + u128::from(is_up)
}

/// `(x - offset) * scale`.
pub(super) fn encode_scaled(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    codec: &ScaleOffset,
) -> Result<(), String> {
    let (offset, scale, data_type) = numbers(codec);
    map(decoded, codec.element, encoded, codec.element, |value| match (value, offset, scale) {
        (Value::Integer(value), Value::Integer(offset), Value::Integer(scale)) => {
            let product = (value - offset).checked_mul(scale);
            in_type(Value::Integer(product.unwrap_or(i128::MAX)), data_type)
        }
        _ => Ok(value.subtract(offset).multiply(scale)),
    })
}

/// `x / scale + offset`. A quotient of integers has to be one.
pub(super) fn decode_scaled(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    codec: &ScaleOffset,
) -> Result<(), String> {
    let (offset, scale, data_type) = numbers(codec);
    map(encoded, codec.element, decoded, codec.element, |value| {
        let quotient = match (value, scale) {
            (Value::Integer(value), Value::Integer(scale)) => {
                if value.checked_rem(scale) != Some(0) {
                    return Err(format!("{value} is no multiple of the scale {scale}"));
                }
                Value::Integer(value / scale)
            }
            _ => value.divide(scale),
        };
        in_type(quotient.add(offset), data_type)
    })
}

fn numbers(codec: &ScaleOffset) -> (Value, Value, DataType) {
    let data_type = codec.element.data_type;
    let number = |word: Word| Value::from_word(word.0, data_type);
    (number(codec.offset), number(codec.scale), data_type)
}

/// An integer must be one of the type. Floats may become infinite.
fn in_type(value: Value, data_type: DataType) -> Result<Value, String> {
    match value {
        Value::Integer(integer) => {
            let (low, high) = range(data_type);
            if (low..=high).contains(&integer) {
                Ok(value)
            } else {
                Err(format!("{integer} is beyond the range of {}", data_type.name()))
            }
        }
        _ => Ok(value),
    }
}

/// Encodes one element by a filter of each number; returns the element itself where the codec is no
/// such filter.
pub(crate) fn encode_each(codec: &CodecSpec, element: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoded = Vec::new();
    match codec {
        CodecSpec::ScaleOffset(codec) => encode_scaled(element, &mut encoded, codec)?,
        CodecSpec::CastValue(cast) => encode_cast(element, &mut encoded, cast)?,
        _ => encoded.extend_from_slice(element),
    }
    Ok(encoded)
}

#[cfg(test)]
mod tests;
