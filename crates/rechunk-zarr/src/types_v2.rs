//! Data types as `.zarray` spells them: NumPy's type strings.

use rechunk_format::FormatError;
use rechunk_grid::{DataType, Endian, ITEM_BYTES_MAX, SmallFloat, TimeUnit};

use crate::field::{Field, shown};

/// Reads a type string, `<f4`, or a name that tensorstore adds to them, `bfloat16`.
pub(crate) fn parse(field: &Field, text: &str) -> Result<(DataType, Endian), FormatError> {
    let unsupported = || {
        let text = shown(&serde_json::Value::from(text));
        field.unsupported(format!("data type {text}"), "")
    };
    if let Some(data_type) = DataType::from_name(text).filter(|&data_type| is_named(data_type)) {
        return Ok((data_type, Endian::Little));
    }
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
pub(crate) fn parse_kind(kind: &str) -> Option<DataType> {
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

/// What NumPy takes as a multiple of a unit.
pub(crate) fn is_scale(scale: u32) -> bool {
    (1..=i32::MAX.unsigned_abs()).contains(&scale)
}

/// Types that NumPy's strings do not have and tensorstore adds to v2 by their v3 names,
/// little-endian.
pub(crate) fn is_named(data_type: DataType) -> bool {
    match data_type {
        DataType::Bfloat16 | DataType::Int2 | DataType::Int4 => true,
        DataType::SmallFloat(kind) => !matches!(
            kind,
            // tensorstore's fill value of this one is not a number.
            SmallFloat::Float4E2m1fn
                | SmallFloat::Float6E2m3fn
                | SmallFloat::Float6E3m2fn
                | SmallFloat::Float8E4m3
        ),
        _ => false,
    }
}

/// The type string; `None` for a type that v2 has no name for.
pub(crate) fn write(data_type: DataType, endian: Endian) -> Option<String> {
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
        named if is_named(named) => return Some(named.name()),
        _ => return None,
    };
    let order = match (data_type.swap_bytes(), endian) {
        (1, _) => '|',
        (_, Endian::Little) => '<',
        (_, Endian::Big) => '>',
    };
    Some(format!("{order}{kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(DataType, Endian), String> {
        parse(&Field::new(".zarray", "dtype"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn strings_round_trip() {
        for text in [
            "|b1",
            "|i1",
            "<i2",
            ">i8",
            "|u1",
            "<u4",
            "<f2",
            ">f8",
            "<c8",
            ">c16",
            "<M8[ns]",
            ">M8[10us]",
            "<M8",
            "<m8[W]",
            "<m8",
            ">m8[25s]",
            "|S5",
            "<U7",
            ">U13",
            "|V3",
            "bfloat16",
            "int4",
            "int2",
            "float8_e4m3fn",
        ] {
            let (data_type, endian) = read(text).unwrap();
            assert_eq!(write(data_type, endian).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_writers_spell_differently() {
        assert_eq!(read("?").unwrap().0, DataType::Bool);
        assert_eq!(read("|?").unwrap().0, DataType::Bool);
        assert_eq!(read("<i1").unwrap(), (DataType::Int8, Endian::Little));
        assert_eq!(read(">b1").unwrap(), (DataType::Bool, Endian::Little));
        assert_eq!(read(">S3").unwrap(), (DataType::FixedBytes { bytes: 3 }, Endian::Little));
        let generic = DataType::DateTime64 { unit: TimeUnit::Generic, scale: 1 };
        assert_eq!(read("<M8[generic]").unwrap().0, generic);
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "",
            "f4",
            "=f4",
            "<f3",
            "<f16",
            "<c32",
            "<c4",
            "|O",
            "|S",
            "|S-1",
            "|S+1",
            "<U",
            "<M8[]",
            "<M8[0s]",
            "<M8[x]",
            "<M4[s]",
            "<M8[4294967295s]",
            "uint4",
            "float6_e2m3fn",
            "string",
            "<é",
            "<M8[ns",
            "a",
        ] {
            assert!(read(text).unwrap_err().contains("is not supported"), "{text}");
        }
        for text in ["|i2", "|c8", "|U3", "|M8[s]"] {
            assert!(read(text).unwrap_err().contains("byte order"), "{text}");
        }
        for text in ["|S0", "<U0", "|V0"] {
            assert!(read(text).unwrap_err().contains("of no bytes"), "{text}");
        }
        for text in ["|S1048577", "<U262145", "|V99999999999999999999"] {
            assert!(read(text).unwrap_err().contains("largest is 1048576 bytes"), "{text}");
        }
    }

    #[test]
    fn some_types_have_no_name_in_v2() {
        let e4m3 = DataType::SmallFloat(SmallFloat::Float8E4m3);
        for data_type in [DataType::Uint2, DataType::Uint4, e4m3, DataType::Variable] {
            assert_eq!(write(data_type, Endian::Little), None);
        }
    }
}
