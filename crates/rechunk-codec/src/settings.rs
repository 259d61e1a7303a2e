//! Settings of the codecs that have more than one.

use std::fmt;

/// The compressor inside Blosc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BloscName {
    BloscLz,
    Lz4,
    Lz4hc,
    Snappy,
    Zlib,
    Zstd,
}

impl BloscName {
    const ALL: [Self; 6] =
        [Self::BloscLz, Self::Lz4, Self::Lz4hc, Self::Snappy, Self::Zlib, Self::Zstd];

    /// As metadata spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::BloscLz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4hc => "lz4hc",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The compressor of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cname| cname.name() == name)
    }
}

/// Rearrangement of elements by Blosc before it compresses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// Not at all.
    None,
    /// By byte.
    Byte,
    /// By bit.
    Bit,
    /// `-1`, which not every metadata can say: by bit for elements of one byte, else by byte, as
    /// numcodecs does.
    Auto,
}

impl Shuffle {
    const ALL: [Self; 4] = [Self::None, Self::Byte, Self::Bit, Self::Auto];

    /// As Zarr v3 metadata spells it, which has no `auto`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "noshuffle",
            Self::Byte => "shuffle",
            Self::Bit => "bitshuffle",
            Self::Auto => "auto",
        }
    }

    /// The shuffle of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shuffle| shuffle.name() == name)
    }

    /// As numcodecs numbers it, and so Zarr v2 and N5.
    pub fn number(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Byte => 1,
            Self::Bit => 2,
            Self::Auto => -1,
        }
    }

    /// The shuffle of a number.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|shuffle| shuffle.number() == number)
    }

    /// Rearrangement that elements of `typesize` bytes really get: never `Auto`.
    #[must_use]
    pub fn resolved(self, typesize: u8) -> Self {
        match self {
            Self::Auto if typesize == 1 => Self::Bit,
            Self::Auto => Self::Byte,
            other => other,
        }
    }
}

/// Settings of Blosc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BloscSettings {
    /// The compressor inside.
    pub cname: BloscName,
    /// 0 (copy) to 9.
    pub clevel: u8,
    /// Rearrangement before compression.
    pub shuffle: Shuffle,
    /// Bytes of an element as Blosc sees it, for the shuffle.
    pub typesize: u8,
    /// Bytes Blosc compresses at a time; 0 lets it decide.
    pub blocksize: u32,
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
    #[must_use]
    pub fn resolved(self) -> Self {
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

/// Container of the LZMA data.
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
    pub fn number(self) -> i64 {
        match self {
            Self::Xz => 1,
            Self::Alone => 2,
            Self::Raw => 3,
        }
    }

    /// The format of a number.
    pub fn from_number(number: i64) -> Option<Self> {
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
    pub fn number(self) -> i64 {
        match self {
            Self::Default => -1,
            Self::None => 0,
            Self::Crc32 => 1,
            Self::Crc64 => 4,
            Self::Sha256 => 10,
        }
    }

    /// The check of a number.
    pub fn from_number(number: i64) -> Option<Self> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_shuffle_is_that_of_numcodecs() {
        assert_eq!(Shuffle::Auto.resolved(1), Shuffle::Bit);
        assert_eq!([2, 4, 8].map(|typesize| Shuffle::Auto.resolved(typesize)), [Shuffle::Byte; 3]);
        assert_eq!(Shuffle::None.resolved(1), Shuffle::None);
        assert_eq!(Shuffle::Bit.resolved(4), Shuffle::Bit);
    }
}
