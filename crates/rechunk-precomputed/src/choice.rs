//! The encoding a user asks for.

use rechunk_format::FormatError;
use rechunk_format::field::Field;

use crate::encoding::{BlockSize, Encoding, JpegQuality};
use crate::metadata::{GZIP_LEVEL_DEFAULT, GZIP_LEVEL_MAX, Packing};

/// An encoding of chunks, and the compression of their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Encoding of the voxels.
    pub encoding: Encoding,
    /// Compression around it: none, or gzip.
    pub packing: Packing,
}

impl Choice {
    /// Refuses chunks of a size along x, y and z that it cannot be written in.
    pub fn check_chunk(&self, size: [u64; 3]) -> Result<(), FormatError> {
        match self.encoding {
            Encoding::Jpeg(_) => crate::images::check_jpeg(size),
            Encoding::Raw | Encoding::CompressedSegmentation(_) | Encoding::Png => Ok(()),
        }
    }
}

/// Reads the codec that a user asks for. That is `raw` (or `none`), `compressed_segmentation` with
/// the size of a block along x, y and z (`compressed_segmentation:8,8,8`), `png`, or `jpeg` with a
/// quality from 1 to 100 (`jpeg:85`), which loses something; each may be followed by `+gzip:6` for
/// files that are compressed as a whole. `gzip:6` alone is `raw+gzip:6`.
pub fn parse_choice(text: &str) -> Result<Choice, FormatError> {
    let text = text.trim();
    let field = Field::new("codec", text);
    let (inner, outer) = match text.split_once('+') {
        Some((inner, outer)) => (inner, Some(outer)),
        None if name_of(text) == "gzip" => ("raw", Some(text)),
        None => (text, None),
    };
    let packing = outer.map_or(Ok(Packing::None), |outer| gzip(&field, outer))?;
    let settings = inner.split_once(':').map(|(_, settings)| settings);
    let encoding = match name_of(inner) {
        "raw" | "none" if settings.is_none() => Encoding::Raw,
        "png" if settings.is_none() => Encoding::Png,
        "compressed_segmentation" | "cseg" => {
            Encoding::CompressedSegmentation(settings.map_or(Ok(BlockSize::DEFAULT), |text| {
                block_size(text).ok_or_else(|| {
                    let wanted = "three numbers from 1 to 4096, and at most a million voxels";
                    field.invalid(format!("{text:?} is no block: {wanted}, such as 8,8,8"))
                })
            })?)
        }
        "jpeg" => {
            let quality = settings.map_or(Ok(JpegQuality::DEFAULT), |text| {
                let quality = text.parse().ok().and_then(JpegQuality::new);
                quality
                    .ok_or_else(|| field.invalid(format!("{text:?} is no quality from 1 to 100")))
            });
            Encoding::Jpeg(Some(quality?))
        }
        "raw" | "none" | "png" => return Err(field.invalid(format!("{inner:?} takes no settings"))),
        other => {
            let hint = "precomputed has raw, compressed_segmentation, png and jpeg, each with +gzip, and gzip";
            return Err(field.unsupported(format!("codec {other:?} in precomputed"), hint));
        }
    };
    Ok(Choice { encoding, packing })
}

fn name_of(text: &str) -> &str {
    text.split(':').next().unwrap_or_default()
}

fn gzip(field: &Field, text: &str) -> Result<Packing, FormatError> {
    let wrong = |reason: String| field.invalid(reason);
    if name_of(text) != "gzip" {
        return Err(wrong(format!("{text:?} is not gzip, the only compression of whole files")));
    }
    let level = text.split_once(':').map_or(Ok(GZIP_LEVEL_DEFAULT), |(_, level)| {
        let found = level.parse().ok().filter(|level| *level <= GZIP_LEVEL_MAX);
        found.ok_or_else(|| wrong(format!("{level:?} is not a level from 0 to {GZIP_LEVEL_MAX}")))
    })?;
    Ok(Packing::Gzip { level })
}

fn block_size(text: &str) -> Option<BlockSize> {
    let mut parts = text.split(',').map(|part| part.trim().parse().ok());
    let size = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then(|| BlockSize::new(size))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen() {
        for (text, shown, packing) in [
            ("raw", "raw", Packing::None),
            ("none", "raw", Packing::None),
            ("gzip", "raw", Packing::Gzip { level: 6 }),
            ("raw+gzip:1", "raw", Packing::Gzip { level: 1 }),
            ("png", "png", Packing::None),
            ("jpeg", "jpeg(quality 85)", Packing::None),
            ("jpeg:100+gzip:1", "jpeg(quality 100)", Packing::Gzip { level: 1 }),
            ("cseg", "compressed_segmentation(blocks of 8 x 8 x 8)", Packing::None),
            (
                "compressed_segmentation:16,8,4+gzip:9",
                "compressed_segmentation(blocks of 16 x 8 x 4)",
                Packing::Gzip { level: 9 },
            ),
        ] {
            let choice = parse_choice(text).unwrap();
            assert_eq!((choice.encoding.to_string().as_str(), choice.packing), (shown, packing));
        }
        for (text, reason) in [
            ("zstd", "precomputed has raw"),
            ("jpeg:0", "1 to 100"),
            ("jpeg:101", "1 to 100"),
            ("jpeg:high", "1 to 100"),
            ("gzip:10", "0 to 9"),
            ("raw+zstd", "not gzip"),
            ("raw:1", "no settings"),
            ("cseg:8,8", "no block"),
            ("cseg:8,8,0", "no block"),
            ("cseg:4096,4096,4096", "no block"),
        ] {
            let error = parse_choice(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
