//! Settings of the codecs that have more than one.

use std::fmt;

use serde_json::{Value, json};

use crate::element_type::ElementType;

/// Types of the elements that a filter reads when it encodes, and that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypePair {
    /// Before encoding.
    pub decoded: ElementType,
    /// After encoding.
    pub encoded: ElementType,
}

/// For people: `float32 as int16`.
impl fmt::Display for TypePair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (decoded, encoded) = (self.decoded.data_type, self.encoded.data_type);
        formatter.write_str(&decoded.name())?;
        if encoded == decoded { Ok(()) } else { write!(formatter, " as {}", encoded.name()) }
    }
}

/// A number in metadata. Whether it has a point matters: NumPy computes otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Without.
    Integer(i64),
    /// With: the bits of an `f64`.
    Float(u64),
}

impl Scalar {
    pub(crate) fn parse(value: &Value) -> Option<Self> {
        match value.as_i64() {
            Some(integer) => Some(Self::Integer(integer)),
            None => value.as_f64().map(|float| Self::Float(float.to_bits())),
        }
    }

    pub(crate) fn write(self) -> Value {
        match self {
            Self::Integer(integer) => json!(integer),
            Self::Float(bits) => json!(f64::from_bits(bits)),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write().fmt(formatter)
    }
}

/// Order of the bits that booleans become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitPacking {
    /// As numcodecs: the padding first, then bits from the highest on.
    Numcodecs,
    /// As Zarr v3: bits from the lowest on.
    LowFirst,
    /// Bits from the lowest on, behind a byte that says the padding.
    LowFirstPaddingFirst,
    /// Bits from the lowest on, before a byte that says the padding.
    LowFirstPaddingLast,
}

impl BitPacking {
    /// Zarr v3's name of where the padding is said.
    pub(crate) fn padding_encoding(self) -> &'static str {
        match self {
            Self::LowFirst => "none",
            Self::Numcodecs | Self::LowFirstPaddingFirst => "first_byte",
            Self::LowFirstPaddingLast => "last_byte",
        }
    }
}

/// A sum over bytes, of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ChecksumKind {
    Crc32,
    Crc32c,
    Adler32,
    Fletcher32,
}

impl ChecksumKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Crc32 => "crc32",
            Self::Crc32c => "crc32c",
            Self::Adler32 => "adler32",
            Self::Fletcher32 => "fletcher32",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Crc32, Self::Crc32c, Self::Adler32, Self::Fletcher32];
        all.into_iter().find(|kind| kind.name() == name)
    }

    /// True if numcodecs puts it before the bytes when nothing is said.
    pub(crate) fn is_first_by_default(self) -> bool {
        matches!(self, Self::Crc32 | Self::Adler32)
    }
}

/// Settings of Pcodec's encoder.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PcodecSpec {
    /// 0 to 12.
    pub level: u8,
    /// Takes numbers as they are, instead of looking for a common factor.
    pub is_classic: bool,
    /// Treatment of neighbours.
    pub delta: PcodecDelta,
    /// Number of times that differences are taken, 0 to 7.
    pub delta_order: Option<u8>,
    /// Most elements of a page.
    pub page_elements: u32,
}

/// Treatment of neighbours by Pcodec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PcodecDelta {
    Auto,
    None,
    Consecutive,
    Lookback,
}

impl PcodecDelta {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Consecutive => "try_consecutive",
            Self::Lookback => "try_lookback",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Auto, Self::None, Self::Consecutive, Self::Lookback];
        all.into_iter().find(|delta| delta.name() == name)
    }
}
