//! The codecs: what a chunk's bytes go through.

use std::fmt;

use rechunk_format::FormatError;

use crate::metadata::ZarrVersion;

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

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cname| cname.name() == name)
    }
}

/// How Blosc rearranges elements before it compresses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// Not at all.
    None,
    /// By byte.
    Byte,
    /// By bit.
    Bit,
    /// v2 only (`-1`): by bit for elements of one byte, else by byte, as numcodecs does.
    Auto,
}

impl Shuffle {
    const ALL: [Self; 4] = [Self::None, Self::Byte, Self::Bit, Self::Auto];

    /// As v3 metadata spells it; v3 has no `auto`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "noshuffle",
            Self::Byte => "shuffle",
            Self::Bit => "bitshuffle",
            Self::Auto => "auto",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shuffle| shuffle.name() == name)
    }

    /// As v2 metadata spells it.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Byte => 1,
            Self::Bit => 2,
            Self::Auto => -1,
        }
    }

    pub(crate) fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|shuffle| shuffle.number() == number)
    }

    /// What is really done to elements of `typesize` bytes: never `Auto`.
    #[must_use]
    pub fn resolved(self, typesize: u8) -> Self {
        match self {
            Self::Auto if typesize == 1 => Self::Bit,
            Self::Auto => Self::Byte,
            other => other,
        }
    }
}

/// One codec that turns bytes into bytes, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CodecSpec {
    /// Blosc 1.
    Blosc {
        /// The compressor inside.
        cname: BloscName,
        /// 0 (copy) to 9.
        clevel: u8,
        /// Rearrangement before compression.
        shuffle: Shuffle,
        /// Bytes of an element as Blosc sees it, for the shuffle; 0 in a choice that is not yet
        /// bound to a data type.
        typesize: u8,
        /// Bytes Blosc compresses at a time; 0 lets it decide.
        blocksize: u32,
    },
    /// Zstandard.
    Zstd {
        /// -131072 to 22; 0 is zstd's default, 3.
        level: i32,
        /// With a checksum of the content in each frame.
        checksum: bool,
    },
    /// Gzip.
    Gzip {
        /// 0 (stored) to 9; -1 is 6.
        level: i32,
    },
    /// Zlib; v2 only.
    Zlib {
        /// 0 (stored) to 9; -1 is 6.
        level: i32,
    },
    /// A checksum after the bytes; v3 only.
    Crc32c,
}

impl CodecSpec {
    /// As metadata spells it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Blosc { .. } => "blosc",
            Self::Zstd { .. } => "zstd",
            Self::Gzip { .. } => "gzip",
            Self::Zlib { .. } => "zlib",
            Self::Crc32c => "crc32c",
        }
    }

    /// The name its speed is looked up under: `blosc-lz4`, `zstd`.
    pub(crate) fn profile_name(&self) -> String {
        match self {
            Self::Blosc { cname, .. } => format!("blosc-{}", cname.name()),
            other => other.name().to_owned(),
        }
    }

    /// Refuses what `version` has no name for.
    pub(crate) fn check_version(&self, version: ZarrVersion) -> Result<(), FormatError> {
        let hint = match (self, version) {
            (Self::Zlib { .. }, ZarrVersion::V3) => "use gzip, which Zarr v3 has",
            (Self::Crc32c, ZarrVersion::V2) => "use Zarr v3, or zstd with its own checksum",
            (Self::Blosc { shuffle: Shuffle::Auto, .. }, ZarrVersion::V3) => {
                "name the shuffle: shuffle, bitshuffle or noshuffle"
            }
            _ => return Ok(()),
        };
        let what = match self {
            Self::Blosc { .. } => "shuffle \"auto\" in Zarr v3".to_owned(),
            other => format!("codec {:?} in Zarr {version:?}", other.name()),
        };
        Err(version.codec_field().unsupported(what, hint))
    }

    /// The same settings with every default and automatic choice spelled out: equal for codecs
    /// whose encoded bytes are interchangeable.
    pub(crate) fn resolved(&self) -> Self {
        let default_level = |level| if level < 0 { 6 } else { level };
        match *self {
            Self::Blosc { cname, clevel, shuffle, typesize, blocksize } => {
                let shuffle = shuffle.resolved(typesize);
                Self::Blosc { cname, clevel, shuffle, typesize, blocksize }
            }
            Self::Zstd { level: 0, checksum } => Self::Zstd { level: 3, checksum },
            Self::Gzip { level } => Self::Gzip { level: default_level(level) },
            Self::Zlib { level } => Self::Zlib { level: default_level(level) },
            Self::Zstd { .. } | Self::Crc32c => self.clone(),
        }
    }
}

/// For people: `blosc(lz4, level 5, shuffle)`.
impl fmt::Display for CodecSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blosc { cname, clevel, shuffle, .. } => {
                write!(formatter, "blosc({}, level {clevel}, {})", cname.name(), shuffle.name())
            }
            Self::Zstd { level, checksum: false } => write!(formatter, "zstd(level {level})"),
            Self::Zstd { level, checksum: true } => {
                write!(formatter, "zstd(level {level}, checksum)")
            }
            Self::Gzip { level } => write!(formatter, "gzip(level {level})"),
            Self::Zlib { level } => write!(formatter, "zlib(level {level})"),
            Self::Crc32c => formatter.write_str("crc32c"),
        }
    }
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
