//! Floats between JSON and bytes.

use half::{bf16, f16};
use rechunk_grid::{DataType, round_to_odd};
use serde_json::{Number, Value};

use crate::json::bare_token;

/// A float as v3 spells it, and v2 too; `None` if `value` is none of this type.
pub(super) fn parse(value: &Value, data_type: DataType) -> Option<Vec<u8>> {
    if let Some(number) = value.as_number() {
        let float = number.as_f64()?;
        // A finite number must stay one: 1e300 is no float32.
        return bytes_of(float, data_type).filter(|bytes| is_finite(bytes, data_type));
    }
    let text = value.as_str()?;
    let text = bare_token(text).unwrap_or(text);
    match text {
        "NaN" => canonical_nan(data_type),
        "Infinity" => bytes_of(f64::INFINITY, data_type),
        "-Infinity" => bytes_of(f64::NEG_INFINITY, data_type),
        _ => match text.strip_prefix("0x") {
            Some(digits) => parse_hex(digits, data_type),
            // An integer of more than 64 bits arrives as its text.
            None => bare_token(value.as_str()?)
                .and_then(|token| token.parse().ok())
                .and_then(|float| bytes_of(float, data_type))
                .filter(|bytes| is_finite(bytes, data_type)),
        },
    }
}

fn parse_hex(digits: &str, data_type: DataType) -> Option<Vec<u8>> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || digits.len() as u64 != 2 * data_type.item_bytes() {
        return None;
    }
    let bits = u64::from_str_radix(digits, 16).ok()?;
    if let DataType::SmallFloat(kind) = data_type
        && bits > u64::from(kind.largest_byte())
    {
        return None;
    }
    Some(bits.to_le_bytes()[..digits.len() / 2].to_vec())
}

/// The nearest element; `None` if the type is none of floats, or has no such value.
#[expect(clippy::cast_possible_truncation, reason = "rounding to the type is what is meant")]
pub(crate) fn bytes_of(float: f64, data_type: DataType) -> Option<Vec<u8>> {
    match data_type {
        // These are few: a number that is none of them was not meant for the type.
        DataType::SmallFloat(kind) => kind.byte_of(float).map(|byte| vec![byte]),
        DataType::Float16 => Some(f16::from_f32(round_to_odd(float)).to_le_bytes().to_vec()),
        DataType::Bfloat16 => Some(bf16::from_f64(float).to_le_bytes().to_vec()),
        DataType::Float32 => Some((float as f32).to_le_bytes().to_vec()),
        DataType::Float64 => Some(float.to_le_bytes().to_vec()),
        _ => None,
    }
}

/// The value of an element; exact, as every float fits an `f64`.
pub(crate) fn value_of(bytes: &[u8], data_type: DataType) -> Option<f64> {
    match data_type {
        DataType::SmallFloat(kind) => bytes.first().map(|&byte| kind.value(byte)),
        DataType::Float16 => bytes.try_into().ok().map(|bytes| f16::from_le_bytes(bytes).to_f64()),
        DataType::Bfloat16 => {
            bytes.try_into().ok().map(|bytes| bf16::from_le_bytes(bytes).to_f64())
        }
        DataType::Float32 => {
            bytes.try_into().ok().map(|bytes| f64::from(f32::from_le_bytes(bytes)))
        }
        DataType::Float64 => bytes.try_into().ok().map(f64::from_le_bytes),
        _ => None,
    }
}

fn is_finite(bytes: &[u8], data_type: DataType) -> bool {
    value_of(bytes, data_type).is_some_and(f64::is_finite)
}

/// True for a NaN that the text `NaN` does not stand for.
pub(super) fn is_odd_nan(bytes: &[u8], data_type: DataType) -> bool {
    value_of(bytes, data_type).is_some_and(f64::is_nan)
        && canonical_nan(data_type).as_deref() != Some(bytes)
}

/// The NaN that the text `NaN` stands for: quiet, positive, without a payload.
pub(crate) fn canonical_nan(data_type: DataType) -> Option<Vec<u8>> {
    match data_type {
        DataType::SmallFloat(kind) => kind.nan().map(|byte| vec![byte]),
        DataType::Float16 => Some(0x7e00_u16.to_le_bytes().to_vec()),
        DataType::Bfloat16 => Some(0x7fc0_u16.to_le_bytes().to_vec()),
        DataType::Float32 => Some(0x7fc0_0000_u32.to_le_bytes().to_vec()),
        DataType::Float64 => Some(0x7ff8_0000_0000_0000_u64.to_le_bytes().to_vec()),
        _ => None,
    }
}

/// The float as v3 spells it: a number, a name, or its bits.
pub(super) fn write(bytes: &[u8], data_type: DataType) -> Value {
    let float = value_of(bytes, data_type).unwrap_or(f64::NAN);
    if float.is_infinite() {
        return Value::from(if float > 0.0 { "Infinity" } else { "-Infinity" });
    }
    match shortest(float, bytes, data_type) {
        Some(number) => Value::Number(number),
        None if canonical_nan(data_type).as_deref() == Some(bytes) => Value::from("NaN"),
        None => Value::from(hex(bytes)),
    }
}

/// The number of fewest digits that reads back as these bytes; `None` for NaN.
fn shortest(float: f64, bytes: &[u8], data_type: DataType) -> Option<Number> {
    let reads_back = |candidate: &f64| bytes_of(*candidate, data_type).as_deref() == Some(bytes);
    (0..9)
        .filter_map(|digits| format!("{float:.digits$e}").parse().ok())
        .find(reads_back)
        .or(Some(float))
        .and_then(Number::from_f64)
}

/// `0x7fc00001`: the bits of an element.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_once() {
        // Just above the middle of 1 and the next half, which its nearest 32-bit float is.
        let above_the_middle = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-50);
        let bytes = bytes_of(above_the_middle, DataType::Float16);
        assert_eq!(bytes, Some(0x3c01_u16.to_le_bytes().to_vec()));
    }
}
