//! Codecs that references to TIFF files name, as the package imagecodecs has them. They are read
//! only.
//!
//! Other codecs of imagecodecs (`imagecodecs_zlib`, `imagecodecs_zstd`, …) are those of numcodecs
//! under another name.

use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::metadata::ArrayMetadata;

/// Compressors of TIFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TiffCompressor {
    /// LZW.
    Lzw,
    /// Runs of equal bytes.
    PackBits,
}

/// Elements as differences, along one axis of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Predictor {
    /// Differences of the bytes of floats, the highest of all elements first; else of elements as
    /// integers.
    pub is_float: bool,
    /// The elements.
    pub element: ElementType,
    /// Shape of a chunk as it is stored; empty for that of the chunk it is used on.
    pub shape: Vec<u64>,
    /// The axis; below zero from the last on.
    pub axis: i64,
}

impl TiffCompressor {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lzw => "imagecodecs_lzw",
            Self::PackBits => "imagecodecs_packbits",
        }
    }
}

impl Predictor {
    pub(crate) fn name(&self) -> &'static str {
        if self.is_float { "imagecodecs_floatpred" } else { "imagecodecs_delta" }
    }
}

/// Replaces codecs of TIFF in `source` by one that every reader of Zarr knows; returns a sentence
/// for people, too. `None` if it has none of those.
pub(crate) fn without_tiff(source: &ArrayMetadata) -> Option<(ArrayMetadata, String)> {
    let of_tiff: Vec<&str> =
        source.codecs.iter().filter(|c| c.is_of_tiff()).map(CodecSpec::name).collect();
    if of_tiff.is_empty() {
        return None;
    }
    let instead = CodecSpec::Zstd { level: 3, checksum: false };
    let mut codecs = Vec::with_capacity(source.codecs.len());
    let mut is_replaced = false;
    for codec in &source.codecs {
        match codec {
            CodecSpec::Tiff(_) => {
                codecs.push(instead.clone());
                is_replaced = true;
            }
            CodecSpec::Predictor(_) => {}
            other => codecs.push(other.clone()),
        }
    }
    let done = if is_replaced {
        format!("chunks are written with {instead}; --codec names another")
    } else {
        "chunks are written without it".to_owned()
    };
    let names = of_tiff.join(" and ");
    let are = if of_tiff.len() == 1 { "is a codec" } else { "are codecs" };
    let reason = format!("{names} {are} of TIFF files, which few readers of Zarr have: {done}");
    Some((ArrayMetadata { codecs, ..source.clone() }, reason))
}
