//! Settings of the codecs that have more than one.

use std::fmt;

use serde_json::{Value, json};

use crate::element_type::ElementType;

/// What a filter reads when it encodes, and what it writes.
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

/// How booleans become bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitPacking {
    /// As numcodecs: the padding first, then bits from the highest on.
    Numcodecs,
    /// As Zarr v3: bits from the lowest on.
    LowFirst,
    /// The same behind a byte that says the padding.
    LowFirstPaddingFirst,
    /// The same before a byte that says the padding.
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

    /// Where numcodecs puts it if nothing is said.
    pub(crate) fn is_first_by_default(self) -> bool {
        matches!(self, Self::Crc32 | Self::Adler32)
    }
}

/// Settings of LZMA.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LzmaSpec {
    /// The format.
    pub format: LzmaFormat,
    /// The checksum inside, which only xz has.
    pub check: LzmaCheck,
    /// Level 0 to 9, with bit 31 for "extreme"; none is 6.
    pub preset: Option<u32>,
    /// The chain of filters inside, in place of what the preset says.
    pub filters: Option<Vec<LzmaFilter>>,
}

impl LzmaSpec {
    /// With the defaults spelled out.
    pub(crate) fn resolved(self) -> Self {
        let check = match (self.format, self.check) {
            (LzmaFormat::Xz, LzmaCheck::Default) => LzmaCheck::Crc64,
            (LzmaFormat::Xz, check) => check,
            _ => LzmaCheck::None,
        };
        let preset = if self.filters.is_some() { None } else { self.preset.or(Some(6)) };
        Self { check, preset, ..self }
    }
}

/// For people: `xz, preset 6`.
impl fmt::Display for LzmaSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.format {
            LzmaFormat::Xz => "xz",
            LzmaFormat::Alone => "alone",
            LzmaFormat::Raw => "raw",
        })?;
        match (&self.filters, self.preset) {
            (Some(_), _) => formatter.write_str(", own filters"),
            (None, preset) => write!(formatter, ", preset {}", preset.unwrap_or(6) & 0x1f),
        }
    }
}

/// What surrounds the LZMA data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LzmaFormat {
    /// `.xz`
    Xz,
    /// `.lzma`
    Alone,
    /// Nothing.
    Raw,
}

impl LzmaFormat {
    /// As Python's `lzma` numbers it.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Xz => 1,
            Self::Alone => 2,
            Self::Raw => 3,
        }
    }

    pub(crate) fn from_number(number: i64) -> Option<Self> {
        [Self::Xz, Self::Alone, Self::Raw].into_iter().find(|format| format.number() == number)
    }
}

/// The checksum inside xz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum LzmaCheck {
    /// CRC-64, as xz does by itself.
    Default,
    None,
    Crc32,
    Crc64,
    Sha256,
}

impl LzmaCheck {
    /// As Python's `lzma` numbers it.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Default => -1,
            Self::None => 0,
            Self::Crc32 => 1,
            Self::Crc64 => 4,
            Self::Sha256 => 10,
        }
    }

    pub(crate) fn from_number(number: i64) -> Option<Self> {
        let all = [Self::Default, Self::None, Self::Crc32, Self::Crc64, Self::Sha256];
        all.into_iter().find(|check| check.number() == number)
    }
}

/// A filter inside LZMA. What is not said is as in the preset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LzmaFilter {
    /// Differences of bytes.
    Delta {
        /// Between bytes that are so far apart, less one: 0 to 255.
        distance_less_one: u8,
    },
    /// The compressor.
    #[expect(missing_docs, reason = "named as liblzma and Python name them")]
    Lzma {
        /// LZMA2, not LZMA1.
        is_lzma2: bool,
        preset: Option<u32>,
        dict_size: Option<u32>,
        lc: Option<u32>,
        lp: Option<u32>,
        pb: Option<u32>,
        mode: Option<u32>,
        nice_len: Option<u32>,
        mf: Option<u32>,
        depth: Option<u32>,
    },
}

/// Settings of Pcodec's encoder.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PcodecSpec {
    /// 0 to 12.
    pub level: u8,
    /// Takes numbers as they are, instead of looking for a common factor.
    pub is_classic: bool,
    /// What is done with neighbours.
    pub delta: PcodecDelta,
    /// How many times differences are taken, 0 to 7.
    pub delta_order: Option<u8>,
    /// Most elements of a page.
    pub page_elements: u32,
}

/// What Pcodec does with neighbours.
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
