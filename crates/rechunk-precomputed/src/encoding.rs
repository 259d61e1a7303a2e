//! Encodings of chunks.

use std::fmt;

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use rechunk_grid::DataType;
use serde_json::{Map, Value, json};

use crate::field::{integer, triple};
use crate::names::{BLOCK_SIZE, ENCODING, JPEG_QUALITY, PNG_LEVEL};

/// Largest extent of a block of a compressed segmentation, and most voxels of one.
const BLOCK_EXTENT_MAX: u32 = 1 << 12;
const BLOCK_VOXELS_MAX: u64 = 1 << 20;

/// Encodings by other names that others write, none of which is read here.
const OTHERS: [&str; 9] =
    ["jxl", "jpegxl", "compresso", "crackle", "fpzip", "kempressed", "zfpc", "webp", "avif"];

/// Voxels along x, y and z of a block of a compressed segmentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockSize([u32; 3]);

impl BlockSize {
    /// The size that is usual.
    pub const DEFAULT: Self = Self([8, 8, 8]);

    /// A size; `None` if it is not from 1 to 4096 along each axis, or has over a million voxels.
    pub fn new(size: [u32; 3]) -> Option<Self> {
        let voxels: u64 = size.iter().map(|extent| u64::from(*extent)).product();
        let fits = size.iter().all(|extent| (1..=BLOCK_EXTENT_MAX).contains(extent));
        (fits && voxels <= BLOCK_VOXELS_MAX).then_some(Self(size))
    }

    /// Voxels along x, y and z.
    pub fn xyz(self) -> [u64; 3] {
        self.0.map(u64::from)
    }
}

/// Quality of a JPEG, as most programs count it: 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JpegQuality(u8);

impl JpegQuality {
    /// The quality that is written where nothing is said.
    pub const DEFAULT: Self = Self(85);

    /// A quality; `None` if it is not from 1 to 100.
    pub fn new(quality: u8) -> Option<Self> {
        (1..=100).contains(&quality).then_some(Self(quality))
    }

    /// 1 to 100.
    pub fn get(self) -> u8 {
        self.0
    }
}

/// Encoding of the voxels of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// As they are, little-endian.
    Raw,
    /// A table and indices of few bits for each block.
    CompressedSegmentation(BlockSize),
    /// A JPEG image of this quality. Where none is known, chunks are read, and copied as they are.
    Jpeg(Option<JpegQuality>),
    /// A PNG image.
    Png,
}

impl Encoding {
    /// As `encoding` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::CompressedSegmentation(_) => "compressed_segmentation",
            Self::Jpeg(_) => "jpeg",
            Self::Png => "png",
        }
    }

    /// Reads the fields of a scale.
    pub(crate) fn parse(
        name: &str,
        scale: &Map<String, Value>,
        at: &Field,
    ) -> Result<Self, FormatError> {
        let lower = name.to_ascii_lowercase();
        Ok(match lower.as_str() {
            "raw" => Self::Raw,
            "jpeg" => {
                let quality = scale.get(JPEG_QUALITY).and_then(integer);
                let quality = quality.and_then(|quality| u8::try_from(quality).ok());
                Self::Jpeg(quality.and_then(JpegQuality::new))
            }
            "png" => Self::Png,
            "compressed_segmentation" => {
                let at = at.child(BLOCK_SIZE);
                let size = scale.get(BLOCK_SIZE).ok_or_else(|| at.invalid("is missing"))?;
                let extent = |value: &Value| integer(value).and_then(|n| u32::try_from(n).ok());
                let size = triple(&at, size, extent, "three positive integers")?;
                Self::CompressedSegmentation(BlockSize::new(size).ok_or_else(|| {
                    at.invalid(format!(
                        "{size:?} is not from 1 to {BLOCK_EXTENT_MAX}, and at most a million voxels"
                    ))
                })?)
            }
            _ => {
                let at = at.child(ENCODING);
                let hint = if OTHERS.contains(&lower.as_str()) {
                    "transcode it first with a tool that has this codec, e.g. cloud-volume"
                } else {
                    ""
                };
                return Err(at.unsupported(format!("encoding {name:?}"), hint));
            }
        })
    }

    /// Refuses a type and a number of channels that it cannot hold.
    pub(crate) fn check(self, data_type: DataType, channels: u64) -> Result<(), FormatError> {
        let is = |types: &[DataType]| types.contains(&data_type);
        let (fits, wanted) = match self {
            Self::Raw => return Ok(()),
            Self::CompressedSegmentation(_) => {
                (is(&[DataType::Uint32, DataType::Uint64]), "uint32 and uint64")
            }
            Self::Jpeg(_) => {
                (is(&[DataType::Uint8]) && [1, 3].contains(&channels), "uint8 of 1 or 3 channels")
            }
            Self::Png => (
                is(&[DataType::Uint8, DataType::Uint16]) && (1..=4).contains(&channels),
                "uint8 and uint16 of 1 to 4 channels",
            ),
        };
        if fits {
            return Ok(());
        }
        let what = format!("{} of {channels} channels as {}", data_type.name(), self.name());
        let hint = format!("it holds {wanted}: take raw");
        Err(crate::field::field(ENCODING).unsupported(what, &hint))
    }

    /// True if it gives back what was put into it.
    pub fn is_lossless(self) -> bool {
        match self {
            Self::Raw | Self::CompressedSegmentation(_) | Self::Png => true,
            Self::Jpeg(_) => false,
        }
    }

    /// Puts it into the fields of a scale.
    pub(crate) fn write(self, scale: &mut Map<String, Value>) {
        scale.insert(ENCODING.to_owned(), self.name().into());
        // Each of these goes with one encoding; tensorstore refuses it beside another.
        for (name, is_kept) in [
            (BLOCK_SIZE, matches!(self, Self::CompressedSegmentation(_))),
            (JPEG_QUALITY, matches!(self, Self::Jpeg(_))),
            (PNG_LEVEL, self == Self::Png),
        ] {
            if !is_kept {
                scale.shift_remove(name);
            }
        }
        if let Self::CompressedSegmentation(size) = self {
            scale.insert(BLOCK_SIZE.to_owned(), json!(size.0));
        }
        if let Self::Jpeg(Some(quality)) = self {
            scale.insert(JPEG_QUALITY.to_owned(), quality.0.into());
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CompressedSegmentation(BlockSize([x, y, z])) => {
                write!(formatter, "compressed_segmentation(blocks of {x} x {y} x {z})")
            }
            Self::Jpeg(Some(JpegQuality(quality))) => write!(formatter, "jpeg(quality {quality})"),
            other => formatter.write_str(other.name()),
        }
    }
}
