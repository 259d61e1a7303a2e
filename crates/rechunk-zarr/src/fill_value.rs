//! Fill values, bit-exact between JSON and an element's bytes.

pub(crate) mod float;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rechunk_format::FormatError;
use rechunk_grid::{DataType, FillValue};
use serde_json::Value;

use crate::field::{Field, shown};
use crate::json::{bare_token, of_text, unquoted};
use crate::metadata::ZarrVersion;

/// The fill value that `value` says; `null` (v2 only) is none. Records are in base64 here.
pub(crate) fn parse_fill_value(
    field: &Field,
    value: &Value,
    data_type: DataType,
    version: ZarrVersion,
) -> Result<Option<FillValue>, FormatError> {
    if value.is_null() && version == ZarrVersion::V2 {
        return Ok(None);
    }
    let quoted = quoted_number(value, data_type, version);
    let value = quoted.as_ref().unwrap_or(value);
    let bytes = match data_type {
        DataType::Bool => parse_bool(value, version),
        DataType::SmallFloat(_)
        | DataType::Float16
        | DataType::Bfloat16
        | DataType::Float32
        | DataType::Float64 => float::parse(value, data_type),
        DataType::Complex64 | DataType::Complex128 => parse_complex(value, data_type, version),
        DataType::FixedUtf32 { characters } => parse_text(value, characters, version),
        DataType::FixedBytes { .. } | DataType::RawBits { .. } | DataType::Structured { .. } => {
            parse_bytes(value, data_type.item_bytes(), version)
        }
        DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } if *value == "NaT" => {
            Some(i64::MIN.to_le_bytes().to_vec())
        }
        _ => parse_integer(value).and_then(|integer| integer_bytes(integer, data_type)),
    };
    let wrong = || field.invalid(format!("{} is not a {}", shown(value), data_type.name()));
    bytes.map(|bytes| Some(FillValue { bytes })).ok_or_else(wrong)
}

/// A number in quotes, as n5-zarr writes it in v2. The text of a string is one, digits or not.
fn quoted_number(value: &Value, data_type: DataType, version: ZarrVersion) -> Option<Value> {
    let is_text = matches!(
        data_type,
        DataType::FixedUtf32 { .. }
            | DataType::FixedBytes { .. }
            | DataType::RawBits { .. }
            | DataType::Structured { .. }
    );
    let text = value.as_str().filter(|_| version == ZarrVersion::V2 && !is_text)?;
    text.parse().ok().map(Value::Number)
}

fn parse_bool(value: &Value, version: ZarrVersion) -> Option<Vec<u8>> {
    match (value, version) {
        (Value::Bool(value), _) => Some(vec![u8::from(*value)]),
        // Some v2 writers store NumPy's number.
        (Value::Number(_), ZarrVersion::V2) => parse_integer(value)
            .filter(|number| (0..2).contains(number))
            .map(|number| vec![u8::from(number == 1)]),
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
    let range = match data_type {
        DataType::Int2 => -2..=1,
        DataType::Int4 => -8..=7,
        DataType::Int8 => i8::MIN.into()..=i8::MAX.into(),
        DataType::Int16 => i16::MIN.into()..=i16::MAX.into(),
        DataType::Int32 => i32::MIN.into()..=i32::MAX.into(),
        DataType::Int64 | DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => {
            i64::MIN.into()..=i64::MAX.into()
        }
        DataType::Uint2 => 0..=3,
        DataType::Uint4 => 0..=15,
        DataType::Uint8 => 0..=u8::MAX.into(),
        DataType::Uint16 => 0..=u16::MAX.into(),
        DataType::Uint32 => 0..=u32::MAX.into(),
        DataType::Uint64 => 0..=u64::MAX.into(),
        _ => return None,
    };
    let size = usize::try_from(data_type.item_bytes()).ok()?;
    range.contains(&integer).then(|| integer.to_le_bytes()[..size].to_vec())
}

/// `[re, im]`; some v2 writers store a real number alone.
fn parse_complex(value: &Value, data_type: DataType, version: ZarrVersion) -> Option<Vec<u8>> {
    let part = part_of(data_type);
    match (value, version) {
        (Value::Array(parts), _) => match parts.as_slice() {
            [re, im] => Some([float::parse(re, part)?, float::parse(im, part)?].concat()),
            _ => None,
        },
        (Value::Number(_), ZarrVersion::V2) => {
            let zero = FillValue::zero(part.item_bytes());
            Some([float::parse(value, part)?, zero.bytes].concat())
        }
        _ => None,
    }
}

/// The type of both parts of a complex number.
pub(crate) fn part_of(data_type: DataType) -> DataType {
    if data_type == DataType::Complex64 { DataType::Float32 } else { DataType::Float64 }
}

/// Text of at most `characters`, padded with zeros.
fn parse_text(value: &Value, characters: u32, version: ZarrVersion) -> Option<Vec<u8>> {
    let size = usize::try_from(characters).ok()?;
    let text = match value {
        Value::String(text) if bare_token(text).is_some() => return None,
        Value::String(text) => unquoted(text),
        other => zero_of_v2(other, version)?,
    };
    let mut bytes: Vec<u8> =
        text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect();
    (bytes.len() <= 4 * size).then(|| {
        bytes.resize(4 * size, 0);
        bytes
    })
}

/// zarr-python 2 takes 0 for the zero of every type, and some files say it so.
fn zero_of_v2(value: &Value, version: ZarrVersion) -> Option<&'static str> {
    (version == ZarrVersion::V2 && value.as_f64() == Some(0.0)).then_some("")
}

/// Base64 of at most `size` bytes, padded with zeros as NumPy does; or a list of all of them.
fn parse_bytes(value: &Value, size: u64, version: ZarrVersion) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    let mut bytes = match value {
        Value::String(text) => BASE64_STANDARD.decode(text).ok()?,
        Value::Array(list) if version == ZarrVersion::V3 && list.len() == size => {
            let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
            list.iter().map(byte).collect::<Option<_>>()?
        }
        other => zero_of_v2(other, version)?.into(),
    };
    (bytes.len() <= size).then(|| {
        bytes.resize(size, 0);
        bytes
    })
}

/// The fill value as v3 spells it, and v2 too as far as `v2_can_hold` says.
pub fn write_fill_value(fill_value: &FillValue, data_type: DataType) -> Value {
    let bytes = &fill_value.bytes;
    match data_type {
        DataType::Bool => Value::Bool(bytes.first().is_some_and(|&byte| byte != 0)),
        DataType::SmallFloat(_)
        | DataType::Float16
        | DataType::Bfloat16
        | DataType::Float32
        | DataType::Float64 => float::write(bytes, data_type),
        DataType::Complex64 | DataType::Complex128 => {
            let part = part_of(data_type);
            let (re, im) = bytes.split_at(bytes.len() / 2);
            Value::from([float::write(re, part), float::write(im, part)].to_vec())
        }
        DataType::FixedUtf32 { .. } => of_text(&text_of(bytes)),
        DataType::FixedBytes { .. } | DataType::RawBits { .. } | DataType::Structured { .. } => {
            Value::from(BASE64_STANDARD.encode(bytes))
        }
        DataType::Uint2
        | DataType::Uint4
        | DataType::Uint8
        | DataType::Uint16
        | DataType::Uint32
        | DataType::Uint64 => {
            let mut wide = [0; 8];
            fill_prefix(&mut wide, bytes);
            Value::from(u64::from_le_bytes(wide))
        }
        _ => {
            let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
            let mut wide = if negative { [0xff; 8] } else { [0; 8] };
            fill_prefix(&mut wide, bytes);
            Value::from(i64::from_le_bytes(wide))
        }
    }
}

/// The bits of an element in hexadecimal: how every reader of v3 takes the smallest floats.
pub(crate) fn write_bits(fill_value: &FillValue) -> Value {
    Value::from(float::hex(&fill_value.bytes))
}

/// Raw bytes as the core specification of v3 spells them: a list.
pub(crate) fn write_byte_list(fill_value: &FillValue) -> Value {
    Value::from(fill_value.bytes.clone())
}

/// The characters without the zeros at the end. Whatever came from a document is text.
fn text_of(bytes: &[u8]) -> String {
    let character = |unit: &[u8]| {
        let unit = unit.try_into().map_or(0, u32::from_le_bytes);
        char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
    };
    let text: String = bytes.chunks_exact(4).map(character).collect();
    text.trim_end_matches('\0').to_owned()
}

fn fill_prefix(wide: &mut [u8; 8], bytes: &[u8]) {
    for (to, from) in wide.iter_mut().zip(bytes) {
        *to = *from;
    }
}

/// The nearest fill value that v2 can say, which has one NaN only. Equal to `fill_value` where v2
/// can say it.
pub(crate) fn v2_nearest(fill_value: &FillValue, data_type: DataType) -> FillValue {
    let part = match data_type {
        DataType::Complex64 | DataType::Complex128 => part_of(data_type),
        _ => data_type,
    };
    let size = usize::try_from(part.item_bytes()).unwrap_or(1).max(1);
    let mut bytes = fill_value.bytes.clone();
    for part_bytes in bytes.chunks_mut(size) {
        if float::is_odd_nan(part_bytes, part)
            && let Some(nan) = float::canonical_nan(part)
        {
            part_bytes.copy_from_slice(&nan);
        }
    }
    FillValue { bytes }
}

#[cfg(test)]
mod tests;
