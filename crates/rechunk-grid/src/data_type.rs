//! Data types: what a rechunker must know of an element is its size and its byte order.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{SmallFloat, TimeUnit};

/// Order of the bytes within an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Endian {
    /// Byte order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// The type of an element, named as in Zarr v3.
///
/// A type with a parameter is one variant with a payload. What an element means beyond its bytes
/// (the fields of a record, the codec of a string) is the business of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum DataType {
    Bool,
    Int2,
    Int4,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint2,
    Uint4,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    /// Floats of at most 8 bits, one byte each.
    SmallFloat(SmallFloat),
    Float16,
    Bfloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
    /// A point in time: a signed 64-bit count of `scale` units since 1970, or NaT.
    DateTime64 {
        unit: TimeUnit,
        scale: u32,
    },
    /// A length of time: a signed 64-bit count of `scale` units, or NaT.
    TimeDelta64 {
        unit: TimeUnit,
        scale: u32,
    },
    /// A byte string, padded with zeros.
    FixedBytes {
        bytes: u32,
    },
    /// A string, padded with zeros: 4 bytes a character.
    FixedUtf32 {
        characters: u32,
    },
    /// Bytes that mean nothing here.
    RawBits {
        bytes: u32,
    },
    /// A record. Its fields are known to the format only.
    Structured {
        bytes: u32,
    },
    /// Elements that differ in length: the format alone can tell one from the next.
    Variable,
}

impl DataType {
    /// Every type that has no parameter.
    pub const ALL: [Self; 30] = [
        Self::Bool,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Uint8,
        Self::Uint16,
        Self::Uint32,
        Self::Uint64,
        Self::Float16,
        Self::Float32,
        Self::Float64,
        Self::Complex64,
        Self::Complex128,
        Self::Bfloat16,
        Self::Int2,
        Self::Int4,
        Self::Uint2,
        Self::Uint4,
        Self::SmallFloat(SmallFloat::Float4E2m1fn),
        Self::SmallFloat(SmallFloat::Float6E2m3fn),
        Self::SmallFloat(SmallFloat::Float6E3m2fn),
        Self::SmallFloat(SmallFloat::Float8E3m4),
        Self::SmallFloat(SmallFloat::Float8E4m3),
        Self::SmallFloat(SmallFloat::Float8E4m3b11fnuz),
        Self::SmallFloat(SmallFloat::Float8E4m3fn),
        Self::SmallFloat(SmallFloat::Float8E4m3fnuz),
        Self::SmallFloat(SmallFloat::Float8E5m2),
        Self::SmallFloat(SmallFloat::Float8E5m2fnuz),
        Self::SmallFloat(SmallFloat::Float8E8m0fnu),
    ];

    /// Bool, integers of 8 to 64 bits, and floats of 16, 32 and 64 bits.
    pub const NUMBERS: [Self; 12] = [
        Self::Bool,
        Self::Uint8,
        Self::Uint16,
        Self::Uint32,
        Self::Uint64,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Float16,
        Self::Float32,
        Self::Float64,
    ];

    /// Bytes of one element. Types of fewer than 8 bits take one byte each. 1 for
    /// [`DataType::Variable`], of which no size is known.
    pub fn item_bytes(self) -> u64 {
        match self {
            Self::Bool
            | Self::Int2
            | Self::Int4
            | Self::Int8
            | Self::Uint2
            | Self::Uint4
            | Self::Uint8
            | Self::SmallFloat(_)
            | Self::Variable => 1,
            Self::Int16 | Self::Uint16 | Self::Float16 | Self::Bfloat16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Int64
            | Self::Uint64
            | Self::Float64
            | Self::Complex64
            | Self::DateTime64 { .. }
            | Self::TimeDelta64 { .. } => 8,
            Self::Complex128 => 16,
            Self::FixedUtf32 { characters } => 4 * u64::from(characters),
            Self::FixedBytes { bytes } | Self::RawBits { bytes } | Self::Structured { bytes } => {
                u64::from(bytes)
            }
        }
    }

    /// Bytes that change places together when the byte order changes; 1 where nothing does. A
    /// complex number is two such units, a string one per character.
    pub fn swap_bytes(self) -> u64 {
        match self {
            Self::Complex64 | Self::Complex128 => self.item_bytes() / 2,
            Self::FixedUtf32 { .. } => 4,
            // The fields of a record have byte orders of their own: it is never swapped.
            Self::FixedBytes { .. } | Self::RawBits { .. } | Self::Structured { .. } => 1,
            _ => self.item_bytes(),
        }
    }

    /// Turns elements of one byte order into the other.
    pub fn swap(self, elements: &mut [u8]) {
        // A width that is known is swapped many elements at a time.
        match self.swap_bytes() {
            0 | 1 => {}
            2 => elements.as_chunks_mut::<2>().0.iter_mut().for_each(|unit| unit.reverse()),
            4 => elements.as_chunks_mut::<4>().0.iter_mut().for_each(|unit| unit.reverse()),
            8 => elements.as_chunks_mut::<8>().0.iter_mut().for_each(|unit| unit.reverse()),
            other => {
                let unit_bytes = usize::try_from(other).unwrap_or(usize::MAX);
                elements.chunks_mut(unit_bytes).for_each(<[u8]>::reverse);
            }
        }
    }

    /// Floats of IEEE 754, of 16, 32 or 64 bits.
    pub fn is_ieee_float(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32 | Self::Float64)
    }

    /// Least and largest value of bool and of integers of whole bytes; `None` for other types.
    ///
    /// ```
    /// use rechunk_grid::DataType;
    /// assert_eq!(DataType::Int8.integer_range(), Some((-128, 127)));
    /// assert_eq!(DataType::Float32.integer_range(), None);
    /// ```
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let unsigned = |bits: u32| (0, (1_i128 << bits) - 1);
        let signed = |bits: u32| (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
        Some(match self {
            Self::Bool => unsigned(1),
            Self::Uint8 => unsigned(8),
            Self::Uint16 => unsigned(16),
            Self::Uint32 => unsigned(32),
            Self::Uint64 => unsigned(64),
            Self::Int8 => signed(8),
            Self::Int16 => signed(16),
            Self::Int32 => signed(32),
            Self::Int64 => signed(64),
            _ => return None,
        })
    }

    /// Elements differ in length: chunks can be copied as they are, but not cut.
    pub fn is_variable(self) -> bool {
        self == Self::Variable
    }

    /// The Zarr v3 name, which is also how the type is shown; parameters follow in brackets:
    /// `int16`, `numpy.datetime64[10us]`, `fixed_length_utf32[20]` (bytes).
    pub fn name(self) -> String {
        self.to_string()
    }

    /// The type of a name, if it is one without parameters.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|data_type| data_type.plain_name() == name)
    }

    /// The Zarr v3 name without parameters.
    pub fn plain_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int2 => "int2",
            Self::Int4 => "int4",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint2 => "uint2",
            Self::Uint4 => "uint4",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::SmallFloat(kind) => kind.name(),
            Self::Float16 => "float16",
            Self::Bfloat16 => "bfloat16",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
            Self::DateTime64 { .. } => "numpy.datetime64",
            Self::TimeDelta64 { .. } => "numpy.timedelta64",
            Self::FixedBytes { .. } => "null_terminated_bytes",
            Self::FixedUtf32 { .. } => "fixed_length_utf32",
            Self::RawBits { .. } => "raw_bytes",
            Self::Structured { .. } => "structured",
            Self::Variable => "variable",
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plain_name())?;
        match *self {
            Self::DateTime64 { unit, scale } | Self::TimeDelta64 { unit, scale } => {
                let scale = if scale == 1 { String::new() } else { scale.to_string() };
                write!(f, "[{scale}{}]", unit.name())
            }
            Self::FixedBytes { .. }
            | Self::FixedUtf32 { .. }
            | Self::RawBits { .. }
            | Self::Structured { .. } => write!(f, "[{}]", self.item_bytes()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for data_type in DataType::ALL {
            assert_eq!(DataType::from_name(&data_type.name()), Some(data_type));
        }
        assert_eq!(DataType::from_name("float128"), None);
    }

    #[test]
    fn parameters_are_shown() {
        let time = DataType::DateTime64 { unit: TimeUnit::Microsecond, scale: 10 };
        assert_eq!(time.name(), "numpy.datetime64[10us]");
        assert_eq!(DataType::FixedUtf32 { characters: 5 }.name(), "fixed_length_utf32[20]");
    }

    #[test]
    fn units_of_swapping_divide_the_element() {
        let more = [
            DataType::FixedUtf32 { characters: 7 },
            DataType::FixedBytes { bytes: 5 },
            DataType::Structured { bytes: 12 },
        ];
        for data_type in DataType::ALL.into_iter().chain(more) {
            assert!(data_type.item_bytes().is_multiple_of(data_type.swap_bytes()), "{data_type}");
        }
        assert_eq!(DataType::Complex64.swap_bytes(), 4);
        assert_eq!(DataType::FixedUtf32 { characters: 7 }.swap_bytes(), 4);
        assert_eq!(DataType::Structured { bytes: 12 }.swap_bytes(), 1);
        let mut elements = [1, 2, 3, 4, 5, 6, 7, 8];
        DataType::Complex64.swap(&mut elements);
        assert_eq!(elements, [4, 3, 2, 1, 8, 7, 6, 5]);
    }
}
