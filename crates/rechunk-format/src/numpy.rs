//! NumPy's type strings: `<f4`, `|S5`, `>M8[10us]`.

use rechunk_grid::{DataType, Endian, ITEM_BYTES_MAX, TimeUnit};

use crate::FormatError;
use crate::field::{Field, shown};

/// Reads a type string, which has to say its byte order.
pub fn parse(field: &Field, text: &str) -> Result<(DataType, Endian), FormatError> {
    let unsupported = || {
        let text = shown(&serde_json::Value::from(text));
        field.unsupported(format!("data type {text}"), "")
    };
    let kind = text.strip_prefix(['<', '>', '|']).or_else(|| (text == "?").then_some(text));
    let data_type = kind.and_then(parse_kind).ok_or_else(unsupported)?;
    let bytes = data_type.item_bytes();
    if bytes == 0 {
        return Err(field.unsupported(format!("data type {text:?} of no bytes"), ""));
    }
    if bytes > ITEM_BYTES_MAX {
        let hint = format!("the largest is {ITEM_BYTES_MAX} bytes");
        return Err(field.unsupported(format!("an element of {bytes} bytes"), &hint));
    }
    let is_ordered = data_type.swap_bytes() > 1;
    if text.starts_with('|') && is_ordered {
        return Err(field.invalid(format!("{text:?} does not say its byte order (< or >)")));
    }
    let is_big = text.starts_with('>') && is_ordered;
    Ok((data_type, if is_big { Endian::Big } else { Endian::Little }))
}

/// The type of a type string without its byte order.
pub fn parse_kind(kind: &str) -> Option<DataType> {
    let plain = match kind {
        "b1" | "?" => DataType::Bool,
        "i1" => DataType::Int8,
        "i2" => DataType::Int16,
        "i4" => DataType::Int32,
        "i8" => DataType::Int64,
        "u1" => DataType::Uint8,
        "u2" => DataType::Uint16,
        "u4" => DataType::Uint32,
        "u8" => DataType::Uint64,
        "f2" => DataType::Float16,
        "f4" => DataType::Float32,
        "f8" => DataType::Float64,
        "c8" => DataType::Complex64,
        "c16" => DataType::Complex128,
        _ => return parse_sized(kind),
    };
    Some(plain)
}

fn parse_sized(kind: &str) -> Option<DataType> {
    if let Some(unit) = kind.strip_prefix("M8") {
        let (unit, scale) = parse_unit(unit)?;
        return Some(DataType::DateTime64 { unit, scale });
    }
    if let Some(unit) = kind.strip_prefix("m8") {
        let (unit, scale) = parse_unit(unit)?;
        return Some(DataType::TimeDelta64 { unit, scale });
    }
    let length = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // Four times the length has to fit as well; what is too large is told apart later.
        is_number.then(|| digits.parse::<u32>().unwrap_or(u32::MAX).min(u32::MAX / 4))
    };
    match (kind.get(..1)?, kind.get(1..).and_then(length)?) {
        ("S", bytes) => Some(DataType::FixedBytes { bytes }),
        ("U", characters) => Some(DataType::FixedUtf32 { characters }),
        ("V", bytes) => Some(DataType::RawBits { bytes }),
        _ => None,
    }
}

/// `[ns]`, `[10us]`, or nothing.
fn parse_unit(text: &str) -> Option<(TimeUnit, u32)> {
    if text.is_empty() {
        return Some((TimeUnit::Generic, 1));
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    let scale = if digits == 0 { 1 } else { inner[..digits].parse().ok()? };
    let unit = TimeUnit::from_name(&inner[digits..])?;
    is_scale(scale).then_some((unit, scale))
}

/// True for a number that NumPy takes as a multiple of a unit.
pub fn is_scale(scale: u32) -> bool {
    (1..=i32::MAX.unsigned_abs()).contains(&scale)
}

/// The type string; `None` for a type that NumPy has no string for, and for records.
pub fn write(data_type: DataType, endian: Endian) -> Option<String> {
    let bytes = data_type.item_bytes();
    let unit = |unit: TimeUnit, scale: u32| match (unit, scale) {
        (TimeUnit::Generic, 1) => String::new(),
        (unit, 1) => format!("[{}]", unit.name()),
        (unit, scale) => format!("[{scale}{}]", unit.name()),
    };
    let kind = match data_type {
        DataType::Bool => format!("b{bytes}"),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            format!("i{bytes}")
        }
        DataType::Uint8 | DataType::Uint16 | DataType::Uint32 | DataType::Uint64 => {
            format!("u{bytes}")
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => format!("f{bytes}"),
        DataType::Complex64 | DataType::Complex128 => format!("c{bytes}"),
        DataType::DateTime64 { unit: of, scale } => format!("M8{}", unit(of, scale)),
        DataType::TimeDelta64 { unit: of, scale } => format!("m8{}", unit(of, scale)),
        DataType::FixedBytes { bytes } => format!("S{bytes}"),
        DataType::FixedUtf32 { characters } => format!("U{characters}"),
        DataType::RawBits { bytes } => format!("V{bytes}"),
        _ => return None,
    };
    let order = match (data_type.swap_bytes(), endian) {
        (1, _) => '|',
        (_, Endian::Little) => '<',
        (_, Endian::Big) => '>',
    };
    Some(format!("{order}{kind}"))
}
