//! Fill values, bit-exact between JSON and an element's bytes.

use half::f16;
use rechunk_format::FormatError;
use rechunk_grid::{DataType, FillValue};
use serde_json::{Number, Value};

use crate::field::{Field, shown};
use crate::json::bare_token;
use crate::metadata::ZarrVersion;

/// The fill value that `value` says; `null` (v2 only) is none.
pub(crate) fn parse_fill_value(
    field: &Field,
    value: &Value,
    data_type: DataType,
    version: ZarrVersion,
) -> Result<Option<FillValue>, FormatError> {
    if value.is_null() && version == ZarrVersion::V2 {
        return Ok(None);
    }
    let quoted = quoted_number(value, version);
    let value = quoted.as_ref().unwrap_or(value);
    let bytes = match data_type {
        DataType::Bool => parse_bool(value, version),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => parse_float(value, data_type),
        _ => parse_integer(value).and_then(|integer| integer_bytes(integer, data_type)),
    };
    let wrong = || field.invalid(format!("{} is not a {}", shown(value), data_type.name()));
    bytes.map(|bytes| Some(FillValue { bytes })).ok_or_else(wrong)
}

/// A number in quotes, as n5-zarr writes it in v2.
fn quoted_number(value: &Value, version: ZarrVersion) -> Option<Value> {
    let text = value.as_str().filter(|_| version == ZarrVersion::V2)?;
    text.parse().ok().map(Value::Number)
}

fn parse_bool(value: &Value, version: ZarrVersion) -> Option<Vec<u8>> {
    match (value, version) {
        (Value::Bool(value), _) => Some(vec![u8::from(*value)]),
        // Some v2 writers store NumPy's number.
        (Value::Number(number), ZarrVersion::V2) => {
            number.as_u64().filter(|&number| number < 2).map(|number| vec![u8::from(number == 1)])
        }
        _ => None,
    }
}

/// An integer, also where it is written with a fraction of zero.
fn parse_integer(value: &Value) -> Option<i128> {
    let number = value.as_number()?;
    if let Some(integer) = number.as_i64() {
        return Some(i128::from(integer));
    }
    if let Some(integer) = number.as_u64() {
        return Some(i128::from(integer));
    }
    let float = number.as_f64()?;
    // Above 2^53 a float no longer says which integer was meant.
    let is_exact = float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "an integer of at most 54 bits")]
    is_exact.then_some(float as i128)
}

fn integer_bytes(integer: i128, data_type: DataType) -> Option<Vec<u8>> {
    let bytes = match data_type {
        DataType::Int8 => i8::try_from(integer).ok()?.to_le_bytes().to_vec(),
        DataType::Int16 => i16::try_from(integer).ok()?.to_le_bytes().to_vec(),
        DataType::Int32 => i32::try_from(integer).ok()?.to_le_bytes().to_vec(),
        DataType::Int64 => i64::try_from(integer).ok()?.to_le_bytes().to_vec(),
        DataType::Uint8 => u8::try_from(integer).ok()?.to_le_bytes().to_vec(),
        DataType::Uint16 => u16::try_from(integer).ok()?.to_le_bytes().to_vec(),
        DataType::Uint32 => u32::try_from(integer).ok()?.to_le_bytes().to_vec(),
        DataType::Uint64 => u64::try_from(integer).ok()?.to_le_bytes().to_vec(),
        DataType::Bool | DataType::Float16 | DataType::Float32 | DataType::Float64 => return None,
    };
    Some(bytes)
}

fn parse_float(value: &Value, data_type: DataType) -> Option<Vec<u8>> {
    if let Some(number) = value.as_number() {
        let float = number.as_f64()?;
        // A finite number must stay one: 1e300 is no float32.
        return float_bytes(float, data_type).filter(|bytes| is_finite(bytes));
    }
    let text = value.as_str()?;
    let text = bare_token(text).unwrap_or(text);
    match text {
        "NaN" => Some(canonical_nan(data_type)),
        "Infinity" => float_bytes(f64::INFINITY, data_type),
        "-Infinity" => float_bytes(f64::NEG_INFINITY, data_type),
        _ => match text.strip_prefix("0x") {
            Some(digits) => parse_hex(digits, data_type),
            // An integer of more than 64 bits arrives as its text.
            None => bare_token(value.as_str()?)
                .and_then(|token| token.parse().ok())
                .and_then(|float| float_bytes(float, data_type))
                .filter(|bytes| is_finite(bytes)),
        },
    }
}

fn parse_hex(digits: &str, data_type: DataType) -> Option<Vec<u8>> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || digits.len() as u64 != 2 * data_type.item_bytes() {
        return None;
    }
    let bits = u64::from_str_radix(digits, 16).ok()?;
    Some(bits.to_le_bytes()[..digits.len() / 2].to_vec())
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to the type is what is meant")]
fn float_bytes(float: f64, data_type: DataType) -> Option<Vec<u8>> {
    match data_type {
        DataType::Float16 => Some(f16::from_f64(float).to_le_bytes().to_vec()),
        DataType::Float32 => Some((float as f32).to_le_bytes().to_vec()),
        DataType::Float64 => Some(float.to_le_bytes().to_vec()),
        _ => None,
    }
}

/// The value of an element; exact, as every float fits an `f64`.
fn float_value(bytes: &[u8]) -> Option<f64> {
    match bytes.len() {
        2 => bytes.try_into().ok().map(|bytes| f16::from_le_bytes(bytes).to_f64()),
        4 => bytes.try_into().ok().map(|bytes| f64::from(f32::from_le_bytes(bytes))),
        8 => bytes.try_into().ok().map(f64::from_le_bytes),
        _ => None,
    }
}

fn is_finite(bytes: &[u8]) -> bool {
    float_value(bytes).is_some_and(f64::is_finite)
}

/// The NaN that the text `NaN` stands for: quiet, positive, without a payload.
fn canonical_nan(data_type: DataType) -> Vec<u8> {
    match data_type {
        DataType::Float16 => 0x7e00_u16.to_le_bytes().to_vec(),
        DataType::Float32 => 0x7fc0_0000_u32.to_le_bytes().to_vec(),
        _ => 0x7ff8_0000_0000_0000_u64.to_le_bytes().to_vec(),
    }
}

/// The fill value as v3 spells it, and v2 too as far as [`v2_can_hold`] says.
pub(crate) fn write_fill_value(fill_value: &FillValue, data_type: DataType) -> Value {
    let bytes = &fill_value.bytes;
    match data_type {
        DataType::Bool => Value::Bool(bytes.first().is_some_and(|&byte| byte != 0)),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => write_float(bytes, data_type),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
            let mut wide = if negative { [0xff; 8] } else { [0; 8] };
            fill_prefix(&mut wide, bytes);
            Value::from(i64::from_le_bytes(wide))
        }
        DataType::Uint8 | DataType::Uint16 | DataType::Uint32 | DataType::Uint64 => {
            let mut wide = [0; 8];
            fill_prefix(&mut wide, bytes);
            Value::from(u64::from_le_bytes(wide))
        }
    }
}

fn fill_prefix(wide: &mut [u8; 8], bytes: &[u8]) {
    for (to, from) in wide.iter_mut().zip(bytes) {
        *to = *from;
    }
}

fn write_float(bytes: &[u8], data_type: DataType) -> Value {
    let float = float_value(bytes).unwrap_or(f64::NAN);
    if float.is_infinite() {
        return Value::from(if float > 0.0 { "Infinity" } else { "-Infinity" });
    }
    match shortest(float, bytes, data_type) {
        Some(number) => Value::Number(number),
        None if *bytes == canonical_nan(data_type) => Value::from("NaN"),
        None => Value::from(hex(bytes)),
    }
}

/// The number of fewest digits that reads back as these bytes; `None` for NaN.
fn shortest(float: f64, bytes: &[u8], data_type: DataType) -> Option<Number> {
    let reads_back = |candidate: &f64| float_bytes(*candidate, data_type).as_deref() == Some(bytes);
    (0..9)
        .filter_map(|digits| format!("{float:.digits$e}").parse().ok())
        .find(reads_back)
        .or(Some(float))
        .and_then(Number::from_f64)
}

/// `0x7fc00001`: the bits of an element.
fn hex(bytes: &[u8]) -> String {
    let mut wide = [0; 8];
    fill_prefix(&mut wide, bytes);
    format!("0x{:0digits$x}", u64::from_le_bytes(wide), digits = 2 * bytes.len())
}

/// True if v2 can say this fill value: it has one NaN only.
pub(crate) fn v2_can_hold(fill_value: &FillValue, data_type: DataType) -> bool {
    let is_float = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
    let is_nan = is_float && float_value(&fill_value.bytes).is_some_and(f64::is_nan);
    !is_nan || fill_value.bytes == canonical_nan(data_type)
}

/// The nearest fill value that v2 can say.
pub(crate) fn v2_nearest(data_type: DataType) -> FillValue {
    FillValue { bytes: canonical_nan(data_type) }
}

#[cfg(test)]
mod tests;
