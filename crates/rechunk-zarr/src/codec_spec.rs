//! The codecs: what a chunk's bytes go through.

use std::fmt;

use rechunk_format::FormatError;

pub(crate) use rechunk_codec::zfp::ZfpElement;
pub use rechunk_codec::zfp::{Real, ZfpMode, ZfpSpec};
pub use rechunk_codec::{BloscName, LzmaCheck, LzmaFilter, LzmaFormat, LzmaSpec, Shuffle};

use crate::codec_names::{N5_BLOCK, SHARDING};
pub use crate::codec_settings::{
    BitPacking, ChecksumKind, PcodecDelta, PcodecSpec, Scalar, TypePair,
};
use crate::element_type::ElementType;
use crate::fill_value::write_fill_value;
use crate::metadata::ZarrVersion;
use crate::n5_block::N5BlockCodec;
pub use crate::number_codecs::{CastValue, OutOfRange, Rounding, ScalarMap, ScaleOffset, Word};
pub use crate::packed_numbers::{NewAxis, PackedNumbers};
use crate::shard_codec::ShardCodec;
pub use crate::tiff_codecs::{Predictor, TiffCompressor};

/// One codec or filter, with its settings: what it does to the bytes of a chunk.
// A tag of its own: without one, rustc 1.95 at opt-level 1 takes one variant for another in a
// `match` (a chunk of Pcodec was handled as a shard; tests/e2e has the arrays that show it).
#[repr(u8)]
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
    /// Zlib.
    Zlib {
        /// 0 (stored) to 9; -1 is 6.
        level: i32,
    },
    /// An LZ4 block behind its size.
    Lz4 {
        /// Setting by which numcodecs trades size for speed; our encoder has one speed.
        acceleration: i32,
    },
    /// Bzip2.
    Bz2 {
        /// 1 to 9: blocks of so many times 100 kB.
        level: u8,
    },
    /// LZMA, in one of its formats.
    Lzma(LzmaSpec),
    /// Pcodec: numbers into bytes.
    Pcodec {
        /// Settings of the encoder.
        spec: PcodecSpec,
        /// The numbers.
        element: ElementType,
    },
    /// zfp: numbers in blocks into bytes, exactly or nearly.
    Zfp {
        /// Settings of the codec.
        spec: ZfpSpec,
        /// The numbers.
        element: ElementType,
    },
    /// A checksum beside the bytes.
    Checksum {
        /// Which.
        kind: ChecksumKind,
        /// Before the bytes, not after them.
        is_first: bool,
    },
    /// Bytes of elements rearranged: all first ones, then all second ones, …
    Shuffle {
        /// Bytes of an element.
        element_bytes: u32,
    },
    /// Differences of neighbours.
    Delta(TypePair),
    /// `(x - offset) * scale`, rounded.
    FixedScaleOffset {
        /// Before and after.
        types: TypePair,
        /// Subtracted before.
        offset: Scalar,
        /// Multiplied with after.
        scale: Scalar,
    },
    /// Rounded to decimal digits.
    Quantize {
        /// Before and after.
        types: TypePair,
        /// Digits after the point that are kept.
        digits: i32,
    },
    /// Another type.
    AsType(TypePair),
    /// Rounded to bits of the mantissa.
    BitRound {
        /// Bits that are kept.
        keep_bits: u32,
        /// The type.
        element: ElementType,
    },
    /// Booleans as bits.
    PackBits(BitPacking),
    /// Some bits of each number.
    PackedNumbers(PackedNumbers),
    /// Numbers shifted and scaled, in their own type.
    ScaleOffset(ScaleOffset),
    /// Numbers in another type.
    CastValue(Box<CastValue>),
    /// Another shape of the chunk, for the codecs behind it.
    Reshape(Vec<NewAxis>),
    /// A compressor of TIFF.
    Tiff(TiffCompressor),
    /// A predictor of TIFF.
    Predictor(Box<Predictor>),
    /// A shard that is no object of its own: elements into bytes.
    Shards(Box<ShardCodec>),
    /// A block of N5: elements into bytes.
    N5Block(Box<N5BlockCodec>),
}

impl CodecSpec {
    /// CRC-32C after the bytes, as Zarr v3 has it.
    pub const CRC32C: Self = Self::Checksum { kind: ChecksumKind::Crc32c, is_first: false };

    /// As v2 metadata and numcodecs spell it; v3 metadata of the core specification too.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Blosc { .. } => "blosc",
            Self::Zstd { .. } => "zstd",
            Self::Gzip { .. } => "gzip",
            Self::Zlib { .. } => "zlib",
            Self::Lz4 { .. } => "lz4",
            Self::Bz2 { .. } => "bz2",
            Self::Lzma(_) => "lzma",
            Self::Pcodec { .. } => "pcodec",
            Self::Zfp { spec, .. } if spec.has_header => "zfpy",
            Self::Zfp { .. } => "zfp",
            Self::Checksum { kind, .. } => kind.name(),
            Self::Shuffle { .. } => "shuffle",
            Self::Delta(_) => "delta",
            Self::FixedScaleOffset { .. } => "fixedscaleoffset",
            Self::Quantize { .. } => "quantize",
            Self::AsType(_) => "astype",
            Self::BitRound { .. } => "bitround",
            Self::PackBits(_) | Self::PackedNumbers(_) => "packbits",
            Self::ScaleOffset(_) => "scale_offset",
            Self::CastValue(_) => "cast_value",
            Self::Reshape(_) => "reshape",
            Self::Tiff(compressor) => compressor.name(),
            Self::Predictor(predictor) => predictor.name(),
            Self::Shards(_) => SHARDING,
            Self::N5Block(_) => N5_BLOCK,
        }
    }

    /// True for the codecs that Zarr v3 names itself, or its registry of extensions; v3 metadata
    /// spells the others `numcodecs.…`.
    pub(crate) fn is_core_v3(&self) -> bool {
        match self {
            Self::Blosc { .. }
            | Self::Zstd { .. }
            | Self::Gzip { .. }
            | Self::Shards(_)
            | Self::N5Block(_)
            | Self::PackedNumbers(_)
            | Self::ScaleOffset(_)
            | Self::CastValue(_)
            | Self::Reshape(_) => true,
            Self::PackBits(packing) => *packing != BitPacking::Numcodecs,
            Self::Zfp { spec, .. } => !spec.has_header,
            other => *other == Self::CRC32C,
        }
    }

    /// True for what makes chunks smaller.
    pub(crate) fn is_compressor(&self) -> bool {
        matches!(
            self,
            Self::Blosc { .. }
                | Self::Zstd { .. }
                | Self::Gzip { .. }
                | Self::Zlib { .. }
                | Self::Lz4 { .. }
                | Self::Bz2 { .. }
                | Self::Lzma(_)
                | Self::Pcodec { .. }
                | Self::Zfp { .. }
                | Self::N5Block(_)
                | Self::Tiff(_)
        )
    }

    /// True for codecs of TIFF, which are read and not written.
    pub(crate) fn is_of_tiff(&self) -> bool {
        matches!(self, Self::Tiff(_) | Self::Predictor(_))
    }

    /// True for what does the same to a number wherever it lies, and to the fill value too.
    pub(crate) fn is_of_each_number(&self) -> bool {
        matches!(self, Self::ScaleOffset(_) | Self::CastValue(_))
    }

    /// True for what notices that the bytes it wrote have changed, or that what it reads from them
    /// has. Checksums inside Blosc's compressors do not cover its header and are not counted on.
    pub(crate) fn has_checksum(&self) -> bool {
        match self {
            Self::Zstd { checksum, .. } => *checksum,
            Self::Gzip { .. } | Self::Zlib { .. } | Self::Bz2 { .. } | Self::Checksum { .. } => {
                true
            }
            Self::Lzma(spec) => spec.format == LzmaFormat::Xz && spec.check != LzmaCheck::None,
            Self::Shards(shards) => shards.codecs.iter().any(Self::has_checksum),
            Self::N5Block(block) => block.compressor.as_ref().is_some_and(Self::has_checksum),
            _ => false,
        }
    }

    /// True for v3's array→array codecs: they work on elements and leave elements.
    pub(crate) fn is_array_to_array(&self) -> bool {
        match self {
            Self::Delta(_)
            | Self::FixedScaleOffset { .. }
            | Self::Quantize { .. }
            | Self::AsType(_)
            | Self::BitRound { .. }
            | Self::ScaleOffset(_)
            | Self::CastValue(_)
            | Self::Reshape(_) => true,
            Self::PackBits(packing) => *packing == BitPacking::Numcodecs,
            Self::Predictor(predictor) => !predictor.is_float,
            _ => false,
        }
    }

    /// True for what stands in the place of v3's `bytes`.
    pub(crate) fn is_array_to_bytes(&self) -> bool {
        match self {
            Self::Pcodec { .. }
            | Self::Zfp { .. }
            | Self::Shards(_)
            | Self::N5Block(_)
            | Self::PackedNumbers(_) => true,
            Self::PackBits(packing) => *packing != BitPacking::Numcodecs,
            Self::Predictor(predictor) => predictor.is_float,
            _ => false,
        }
    }

    /// The type of the elements it looks at; `None` if it takes any bytes.
    pub(crate) fn input(&self) -> Option<ElementType> {
        match self {
            Self::Delta(types)
            | Self::AsType(types)
            | Self::FixedScaleOffset { types, .. }
            | Self::Quantize { types, .. } => Some(types.decoded),
            Self::BitRound { element, .. }
            | Self::Pcodec { element, .. }
            | Self::Zfp { element, .. }
            | Self::ScaleOffset(ScaleOffset { element, .. }) => Some(*element),
            Self::CastValue(cast) => Some(cast.types.decoded),
            Self::Predictor(predictor) => Some(predictor.element),
            _ => None,
        }
    }

    /// Returns this filter on little-endian elements.
    #[must_use]
    pub(crate) fn little_endian(self) -> Self {
        let little = ElementType::little_endian;
        let pair = |types: TypePair| TypePair {
            decoded: little(types.decoded),
            encoded: little(types.encoded),
        };
        match self {
            Self::Delta(types) => Self::Delta(pair(types)),
            Self::AsType(types) => Self::AsType(pair(types)),
            Self::FixedScaleOffset { types, offset, scale } => {
                Self::FixedScaleOffset { types: pair(types), offset, scale }
            }
            Self::Quantize { types, digits } => Self::Quantize { types: pair(types), digits },
            Self::BitRound { keep_bits, element } => {
                Self::BitRound { keep_bits, element: little(element) }
            }
            Self::Shards(shards) => Self::Shards(Box::new(shards.little_endian())),
            Self::ScaleOffset(codec) => {
                Self::ScaleOffset(ScaleOffset { element: little(codec.element), ..codec })
            }
            Self::CastValue(mut cast) => {
                cast.types = pair(cast.types);
                Self::CastValue(cast)
            }
            other => other,
        }
    }

    /// The type of what comes out where elements of `input` go in.
    pub(crate) fn output(&self, input: ElementType) -> ElementType {
        match self {
            Self::Delta(types)
            | Self::AsType(types)
            | Self::FixedScaleOffset { types, .. }
            | Self::Quantize { types, .. } => types.encoded,
            Self::CastValue(cast) => cast.types.encoded,
            Self::BitRound { .. } | Self::ScaleOffset(_) | Self::Reshape(_) => input,
            Self::Predictor(predictor) if !predictor.is_float => input,
            _ => ElementType::BYTE,
        }
    }

    /// The name its speed is looked up under: `blosc-lz4`, `zstd`.
    pub(crate) fn profile_name(&self) -> String {
        match self {
            Self::Blosc { cname, .. } => format!("blosc-{}", cname.name()),
            Self::N5Block(block) => {
                block.compressor.as_ref().map_or("none".to_owned(), Self::profile_name)
            }
            other => other.name().to_owned(),
        }
    }

    /// Refuses what `version` has no name for.
    pub(crate) fn check_version(&self, version: ZarrVersion) -> Result<(), FormatError> {
        let (what, hint) = match (self, version) {
            (Self::Blosc { shuffle: Shuffle::Auto, .. }, ZarrVersion::V3) => (
                "shuffle \"auto\" in Zarr v3",
                "name the shuffle: shuffle, bitshuffle or noshuffle",
            ),
            (Self::N5Block(_), ZarrVersion::V2) => {
                ("codec \"n5_default\" in Zarr v2", "use --format zarr3")
            }
            (Self::Shards(_), ZarrVersion::V2) => {
                ("codec \"sharding_indexed\" in Zarr v2", "use --format zarr3")
            }
            (Self::Zfp { spec, .. }, ZarrVersion::V2) if !spec.has_header => {
                ("codec \"zfp\" of Zarr v3 in Zarr v2", "use {\"id\": \"zfpy\"}")
            }
            (Self::PackBits(packing), ZarrVersion::V2) if *packing != BitPacking::Numcodecs => {
                ("codec \"packbits\" of Zarr v3 in Zarr v2", "use {\"id\": \"packbits\"}")
            }
            (Self::PackedNumbers(_), ZarrVersion::V2) => {
                ("codec \"packbits\" of numbers in Zarr v2", "use --format zarr3")
            }
            (Self::ScaleOffset(_), ZarrVersion::V2) => {
                ("codec \"scale_offset\" in Zarr v2", "use {\"id\": \"fixedscaleoffset\"}")
            }
            (Self::CastValue(_), ZarrVersion::V2) => {
                ("codec \"cast_value\" in Zarr v2", "use {\"id\": \"astype\"}")
            }
            (Self::Reshape(_), ZarrVersion::V2) => {
                ("codec \"reshape\" in Zarr v2", "leave it out: it moves no element")
            }
            _ => return Ok(()),
        };
        Err(version.codec_field().unsupported(what, hint))
    }

    /// Returns these settings with every default and automatic choice spelled out: equal for codecs
    /// whose encoded bytes are interchangeable.
    pub(crate) fn resolved(&self) -> Self {
        let default_level = |level| if level < 0 { 6 } else { level };
        match self.clone() {
            Self::Blosc { cname, clevel, shuffle, typesize, blocksize } => {
                let shuffle = shuffle.resolved(typesize);
                Self::Blosc { cname, clevel, shuffle, typesize, blocksize }
            }
            Self::Zstd { level: 0, checksum } => Self::Zstd { level: 3, checksum },
            Self::Gzip { level } => Self::Gzip { level: default_level(level) },
            Self::Zlib { level } => Self::Zlib { level: default_level(level) },
            Self::Lzma(spec) => Self::Lzma(spec.resolved()),
            Self::Shuffle { element_bytes } => {
                Self::Shuffle { element_bytes: element_bytes.max(1) }
            }
            Self::Shards(mut shards) => {
                shards.codecs = shards.codecs.iter().map(Self::resolved).collect();
                Self::Shards(shards)
            }
            Self::N5Block(mut block) => {
                block.compressor = block.compressor.as_ref().map(Self::resolved);
                Self::N5Block(block)
            }
            other => other,
        }
    }
}

/// For people: `blosc(lz4, level 5, shuffle)`.
impl fmt::Display for CodecSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Self::Blosc { cname, clevel, shuffle, .. } => {
                write!(formatter, "blosc({}, level {clevel}, {})", cname.name(), shuffle.name())
            }
            Self::Zstd { level, checksum: true } => {
                write!(formatter, "zstd(level {level}, checksum)")
            }
            Self::Zstd { level, .. } | Self::Gzip { level } | Self::Zlib { level } => {
                write!(formatter, "{name}(level {level})")
            }
            Self::Bz2 { level } => write!(formatter, "bz2(level {level})"),
            Self::Lzma(spec) => write!(formatter, "lzma({spec})"),
            Self::Pcodec { spec, .. } => write!(formatter, "pcodec(level {})", spec.level),
            Self::Zfp { spec, .. } => write!(formatter, "{name}({})", spec.mode),
            Self::Shuffle { element_bytes } => write!(formatter, "shuffle({element_bytes})"),
            Self::Delta(types) | Self::AsType(types) => write!(formatter, "{name}({types})"),
            Self::FixedScaleOffset { types, offset, scale } => {
                write!(formatter, "{name}(offset {offset}, scale {scale}, {types})")
            }
            Self::Quantize { digits, .. } => write!(formatter, "quantize({digits} digits)"),
            Self::BitRound { keep_bits, .. } => write!(formatter, "bitround({keep_bits} bits)"),
            Self::ScaleOffset(ScaleOffset { element, offset, scale }) => {
                let number = |word: &Word| {
                    let value = write_fill_value(&word.fill_value(*element), element.data_type);
                    rechunk_format::json::plain(&value)
                };
                write!(formatter, "{name}(offset {}, scale {})", number(offset), number(scale))
            }
            Self::N5Block(block) => match &block.compressor {
                Some(compressor) => write!(formatter, "{name}({compressor})"),
                None => formatter.write_str(name),
            },
            Self::CastValue(cast) => write!(formatter, "{name}({cast})"),
            Self::PackedNumbers(packed) => {
                write!(formatter, "{name}(bits {} to {})", packed.first_bit, packed.last_bit)
            }
            Self::Lz4 { .. }
            | Self::Checksum { .. }
            | Self::PackBits(_)
            | Self::Reshape(_)
            | Self::Tiff(_)
            | Self::Predictor(_) => formatter.write_str(name),
            Self::Shards(shards) => {
                let codecs: Vec<String> = shards.codecs.iter().map(ToString::to_string).collect();
                let chunk = rechunk_grid::format_shape(&shards.chunk_shape);
                write!(formatter, "shards of {chunk} chunks({})", codecs.join(" + "))
            }
        }
    }
}
