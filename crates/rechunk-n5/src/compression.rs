//! Compressions as `attributes.json` spells them.

use std::fmt;

use rechunk_codec::{BloscName, Shuffle, lz4_stream};
use rechunk_format::FormatError;
use rechunk_format::field::{Field, shown};
use serde_json::{Map, Value, json};

/// Level of gzip and zlib that leaves the level to the encoder.
const DEFLATE_DEFAULT: i32 = -1;

/// Preset of xz, block sizes of lz4 and bzip2, level of zstd where nothing is said, as in Java.
const XZ_DEFAULT: u8 = 6;
const LZ4_DEFAULT_BYTES: u32 = 1 << 16;
const BZIP2_DEFAULT: u8 = 9;
const ZSTD_DEFAULT: i32 = 3;

/// Compression of the elements of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Nothing.
    Raw,
    /// Gzip, or zlib.
    Gzip {
        /// 0 (stored) to 9; -1 is 6.
        level: i32,
        /// A zlib stream, not a gzip one.
        use_zlib: bool,
    },
    /// Bzip2.
    Bzip2 {
        /// 1 to 9: pieces of so many times 100 kB.
        block_size: u8,
    },
    /// LZMA in xz.
    Xz {
        /// 0 to 9.
        preset: u8,
    },
    /// LZ4, in the blocks of lz4-java.
    Lz4 {
        /// Bytes compressed at a time.
        block_bytes: u32,
    },
    /// Blosc 1.
    Blosc {
        /// The compressor inside.
        cname: BloscName,
        /// 0 (copy) to 9.
        clevel: u8,
        /// Rearrangement before compression.
        shuffle: Shuffle,
        /// Bytes Blosc compresses at a time; 0 lets it decide.
        blocksize: u32,
        /// Bytes of an element as Blosc sees it, for the shuffle; `None` is those of the data type.
        typesize: Option<u8>,
    },
    /// Zstandard.
    Zstd {
        /// -131072 to 22; 0 is zstd's default, 3.
        level: i32,
    },
}

impl Compression {
    /// A compression by its name, with the settings that Java takes where nothing is said.
    pub fn with_defaults(name: &str) -> Option<Self> {
        Some(match name {
            "raw" => Self::Raw,
            "gzip" => Self::Gzip { level: DEFLATE_DEFAULT, use_zlib: false },
            "bzip2" => Self::Bzip2 { block_size: BZIP2_DEFAULT },
            "xz" => Self::Xz { preset: XZ_DEFAULT },
            "lz4" => Self::Lz4 { block_bytes: LZ4_DEFAULT_BYTES },
            "blosc" => Self::Blosc {
                cname: BloscName::BloscLz,
                clevel: 6,
                shuffle: Shuffle::None,
                blocksize: 0,
                typesize: None,
            },
            "zstd" => Self::Zstd { level: ZSTD_DEFAULT },
            _ => return None,
        })
    }

    /// As `type` spells it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Gzip { .. } => "gzip",
            Self::Bzip2 { .. } => "bzip2",
            Self::Xz { .. } => "xz",
            Self::Lz4 { .. } => "lz4",
            Self::Blosc { .. } => "blosc",
            Self::Zstd { .. } => "zstd",
        }
    }

    /// True for what notices that the bytes it wrote have changed. What writers call lz4 may be a
    /// block without a checksum.
    pub(crate) fn has_checksum(self) -> bool {
        matches!(self, Self::Gzip { .. } | Self::Bzip2 { .. } | Self::Xz { .. })
    }

    /// The name its speed is looked up under: `blosc-lz4`, `zstd`.
    pub(crate) fn profile_name(&self) -> String {
        match self {
            Self::Raw => "none".to_owned(),
            Self::Gzip { use_zlib: true, .. } => "zlib".to_owned(),
            Self::Bzip2 { .. } => "bz2".to_owned(),
            Self::Xz { .. } => "lzma".to_owned(),
            Self::Blosc { cname, .. } => format!("blosc-{}", cname.name()),
            other => other.name().to_owned(),
        }
    }

    /// Returns the compression with a shuffle that says its name: N5 has no word for one that Blosc
    /// chooses itself.
    #[must_use]
    pub fn with_named_shuffle(self, item_bytes: u64) -> Self {
        match (self, self.resolved(item_bytes)) {
            (
                Self::Blosc { cname, clevel, blocksize, typesize, .. },
                Self::Blosc { shuffle, .. },
            ) => Self::Blosc { cname, clevel, shuffle, blocksize, typesize },
            (other, _) => other,
        }
    }

    /// Spells out every default and automatic choice, for elements of `item_bytes`. The result is
    /// equal for compressions whose blocks are interchangeable.
    #[must_use]
    pub(crate) fn resolved(self, item_bytes: u64) -> Self {
        match self {
            Self::Gzip { level: ..0, use_zlib } => Self::Gzip { level: 6, use_zlib },
            Self::Zstd { level: 0 } => Self::Zstd { level: ZSTD_DEFAULT },
            Self::Blosc { cname, clevel, shuffle, blocksize, typesize } => {
                let typesize = typesize.unwrap_or(u8::try_from(item_bytes).unwrap_or(1));
                let shuffle = shuffle.resolved(typesize);
                Self::Blosc { cname, clevel, shuffle, blocksize, typesize: Some(typesize) }
            }
            other => other,
        }
    }

    /// The object in `compression`.
    pub(crate) fn parse(field: &Field, value: &Value) -> Result<Self, FormatError> {
        let map = field.object(value)?;
        let name = field.child("type");
        let value = map.get("type").ok_or_else(|| name.invalid("is missing"))?;
        // What zarr-python calls xz with settings that differ from its own.
        let spelled = name.text(value)?;
        let known = Self::with_defaults(if spelled == "lzma" { "xz" } else { spelled });
        let default = known.ok_or_else(|| name.unsupported(format!("{spelled:?}"), ""))?;
        Settings { field, map }.of(default)
    }

    /// The object for `compression`, as all readers take it.
    pub fn to_json(&self) -> Value {
        match *self {
            Self::Raw => json!({"type": "raw"}),
            Self::Gzip { level, use_zlib } => {
                json!({"type": "gzip", "level": level, "useZlib": use_zlib})
            }
            Self::Bzip2 { block_size } => json!({"type": "bzip2", "blockSize": block_size}),
            Self::Xz { preset } => json!({"type": "xz", "preset": preset}),
            Self::Lz4 { block_bytes } => json!({"type": "lz4", "blockSize": block_bytes}),
            Self::Blosc { cname, clevel, shuffle, blocksize, typesize } => {
                let mut map = json!({
                    "type": "blosc", "cname": cname.name(), "clevel": clevel,
                    "shuffle": shuffle.number(), "blocksize": blocksize,
                });
                // tensorstore refuses settings that it does not know.
                if let Some(typesize) = typesize {
                    map["typesize"] = typesize.into();
                }
                map
            }
            Self::Zstd { level } => json!({"type": "zstd", "level": level}),
        }
    }
}

/// The settings of one compression. Unknown ones are ignored: none here needs one to decode.
struct Settings<'a> {
    field: &'a Field,
    map: &'a Map<String, Value>,
}

impl Settings<'_> {
    fn of(&self, default: Compression) -> Result<Compression, FormatError> {
        Ok(match default {
            Compression::Raw => Compression::Raw,
            Compression::Gzip { level, .. } => Compression::Gzip {
                level: narrow(self.integer("level", level.into(), (-1, 9))?),
                use_zlib: self.boolean("useZlib")?,
            },
            Compression::Bzip2 { block_size } => Compression::Bzip2 {
                block_size: narrow(self.integer("blockSize", block_size.into(), (1, 9))?),
            },
            Compression::Xz { preset } => self.xz(preset)?,
            Compression::Lz4 { block_bytes } => {
                let said = self.integer("blockSize", block_bytes.into(), (0, i32::MAX.into()))?;
                // z5 writes its level here; decoding does not need to know.
                let said = u32::try_from(said).ok();
                let said = said.filter(|said| lz4_stream::BLOCK_BYTES.contains(said));
                Compression::Lz4 { block_bytes: said.unwrap_or(block_bytes) }
            }
            Compression::Blosc { .. } => self.blosc()?,
            Compression::Zstd { level } => {
                let (field, value) = (self.field.child("level"), self.get("level"));
                let level = value.map_or(Ok(level.into()), |v| field.clamped(v, -131_072, 22))?;
                Compression::Zstd { level: narrow(level) }
            }
        })
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn integer(
        &self,
        name: &str,
        default: i64,
        (low, high): (i64, i64),
    ) -> Result<i64, FormatError> {
        let field = self.field.child(name);
        self.get(name).map_or(Ok(default), |value| field.integer(value, low, high))
    }

    fn boolean(&self, name: &str) -> Result<bool, FormatError> {
        let field = self.field.child(name);
        self.get(name).map_or(Ok(false), |value| field.boolean(value))
    }

    /// zarr-python adds the format, the check and the filters of Python's `lzma`.
    fn xz(&self, preset: u8) -> Result<Compression, FormatError> {
        if self.integer("format", 1, (0, 3))? > 1 {
            let what = format!("{} of LZMA", shown(&self.map["format"]));
            return Err(self.field.child("format").unsupported(what, "N5 has xz, which is 1"));
        }
        if let Some(filters) = self.get("filters") {
            let field = self.field.child("filters");
            return Err(field.unsupported(format!("{} in xz", shown(filters)), ""));
        }
        // Bit 31, "extreme", only makes the encoder slower.
        let preset = self.integer("preset", preset.into(), (0, i64::from(u32::MAX)))? & 0x7fff_ffff;
        let wrong = || self.field.child("preset").invalid(format!("{preset} is not from 0 to 9"));
        let preset = u8::try_from(preset).ok().filter(|preset| *preset <= 9).ok_or_else(wrong)?;
        Ok(Compression::Xz { preset })
    }

    fn blosc(&self) -> Result<Compression, FormatError> {
        let field = self.field.child("cname");
        let value = self.get("cname").ok_or_else(|| field.invalid("is missing"))?;
        let name = field.text(value)?;
        let cname = BloscName::from_name(name)
            .ok_or_else(|| field.unsupported(format!("blosc compressor {name:?}"), ""))?;
        let shuffle = self.integer("shuffle", 1, (-1, 2))?;
        let most = i64::from(i32::MAX);
        let typesize = self.integer("typesize", 0, (0, most))?;
        Ok(Compression::Blosc {
            cname,
            clevel: narrow(self.integer("clevel", 5, (0, 9))?),
            shuffle: Shuffle::from_number(shuffle).unwrap_or(Shuffle::Auto),
            blocksize: narrow(self.integer("blocksize", 0, (0, most))?),
            // As Blosc: elements of more bytes than it can count are bytes.
            typesize: (typesize > 0).then(|| u8::try_from(typesize).unwrap_or(1)),
        })
    }
}

/// An integer whose range has been checked.
fn narrow<T: TryFrom<i64> + Default>(value: i64) -> T {
    T::try_from(value).unwrap_or_default()
}

/// For people: `gzip(level 6)`.
impl fmt::Display for Compression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raw => formatter.write_str("none"),
            Self::Gzip { level, use_zlib } => {
                write!(formatter, "{}(level {level})", if *use_zlib { "zlib" } else { "gzip" })
            }
            Self::Bzip2 { block_size } => write!(formatter, "bzip2(level {block_size})"),
            Self::Xz { preset } => write!(formatter, "xz(preset {preset})"),
            Self::Lz4 { block_bytes } => write!(formatter, "lz4(blocks of {block_bytes} bytes)"),
            Self::Blosc { cname, clevel, shuffle, .. } => {
                write!(formatter, "blosc({}, level {clevel}, {})", cname.name(), shuffle.name())
            }
            Self::Zstd { level } => write!(formatter, "zstd(level {level})"),
        }
    }
}
