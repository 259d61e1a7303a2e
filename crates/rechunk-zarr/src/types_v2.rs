//! Data types as `.zarray` spells them: NumPy's type strings.

use rechunk_format::{FormatError, numpy};
use rechunk_grid::{DataType, Endian, SmallFloat};

use crate::field::Field;

/// Reads a type string, `<f4`, or a name that tensorstore adds to them, `bfloat16`.
pub(crate) fn parse(field: &Field, text: &str) -> Result<(DataType, Endian), FormatError> {
    if let Some(data_type) = DataType::from_name(text).filter(|&data_type| is_named(data_type)) {
        return Ok((data_type, Endian::Little));
    }
    numpy::parse(field, text)
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
    if is_named(data_type) {
        return Some(data_type.name());
    }
    numpy::write(data_type, endian)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rechunk_grid::TimeUnit;

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
