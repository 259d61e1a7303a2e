//! Specification of the target: as it was asked for, the rest as the source.

mod codecs;
mod n5;
mod raw;
mod zarr;

use rechunk_format::{FormatError, ShardFormat};
use rechunk_grid::ArraySpec;

use crate::Error;
use crate::axes::Axes;
use crate::cast;
use crate::format::{Format, has_ending};
use crate::metadata::Metadata;
use crate::open::OpenArray;
use crate::request::CopyRequest;
use crate::shard_spec::ShardWish;

/// Wishes and facts that a target follows from.
#[derive(Debug, Clone, Copy)]
struct Wish<'a> {
    request: &'a CopyRequest,
    source: &'a OpenArray,
    /// Shape of its chunks, elements.
    chunk_shape: &'a [u64],
}

/// The target's metadata, and a sentence for whatever the source has and it has not.
pub(crate) fn specify_target(
    request: &CopyRequest,
    source: &OpenArray,
) -> Result<(Metadata, Vec<String>), Error> {
    // Not that of its layout, which may be of a region and begin inside a chunk.
    let mut spec = source.metadata.spec();
    spec.data_type = source.spec().data_type;
    let chunks = request.chunks.clone().keeping_extents(request.keep_extent);
    let chunk_shape = chunks.resolve(&spec, request.chunk_bytes)?;
    let format = request.format.unwrap_or_else(|| Format::of_target(&request.target));
    let wish = shard_wish(request, (source, &spec), format, &chunk_shape);
    let (shard_shape, warning) = wish.resolve()?;
    let wish = Wish { request, source, chunk_shape: &chunk_shape };
    let (target, mut warnings) = match format {
        Format::Zarr3 | Format::Zarr2 => zarr::target(&wish, format, shard_shape)?,
        _ if request.separator.is_some() => {
            return Err(Error::Usage {
                message: format!("--separator is of Zarr, not of {}", format.name()),
                hint: Some("leave it out, or give --format zarr3 or zarr2".into()),
            });
        }
        Format::N5 => n5::target(&wish)?,
        Format::Raw | Format::Npy | Format::Nii => raw::target(&wish, format)?,
    };
    warnings.extend(warning);
    if let Some(cast) = source.cast {
        let attributes = source.metadata.attributes();
        let (from, is_zarr) = (source.stored_type(), format.zarr_version().is_some());
        warnings.extend(cast::warnings(from, cast.data_type, attributes, is_zarr));
    }
    Ok((target, warnings))
}

/// Extents of `--chunks` and `--shards` that the axes cut, in a sentence; `target` is the shape of
/// the chunks.
pub(crate) fn cut_extents(
    request: &CopyRequest,
    source: &OpenArray,
    target: &[u64],
) -> Result<Option<String>, Error> {
    let spec = source.spec();
    let chunks = request.chunks.clone().keeping_extents(request.keep_extent);
    let mut cut = chunks.cut(spec, &spec.shape)?;
    let shards = shard_wish(request, (source, spec), Format::Zarr3, target).cut()?;
    cut.extend(shards.into_iter().map(|shard| format!("shards {shard}")));
    Ok((!cut.is_empty()).then(|| {
        format!(
            "extents longer than their axes are cut: {}; with ! (as in 10!) or --keep-extent they are \
             kept, for an array that will grow",
            cut.join(", ")
        )
    }))
}

fn shard_wish<'a>(
    request: &'a CopyRequest,
    (source, spec): (&'a OpenArray, &'a ArraySpec),
    format: Format,
    chunk: &'a [u64],
) -> ShardWish<'a> {
    ShardWish {
        asked: request.shards.as_ref(),
        format,
        source: spec,
        source_shard: source.array.layout().shards().map(ShardFormat::shard_shape),
        chunk,
        keeps_extents: request.keep_extent,
    }
}

impl Wish<'_> {
    /// Order of axes between this source and a target of `format`.
    fn axes(&self) -> Axes {
        match &self.source.metadata {
            Metadata::N5(_, axes) => return *axes,
            // Of NIfTI nothing is noted in the file.
            metadata if metadata.format() == Format::Nii => {
                return self.request.axes.unwrap_or_default();
            }
            _ => {}
        }
        let noted = Axes::noted(self.source.metadata.attributes());
        self.request.axes.or(noted).unwrap_or_default()
    }

    /// An error of a target that cannot be: the source's where nothing else could have been asked.
    fn refuse(&self, error: FormatError) -> Error {
        if self.source.spec().data_type.is_variable() {
            Error::source_metadata(&self.source.location, error)
        } else {
            Error::target_metadata(error)
        }
    }
}

/// True if the place is below a container of N5, which says the version for all that is in it.
pub(crate) fn is_inside_n5(location: &str) -> bool {
    let above = location.trim_end_matches('/').rsplit('/').skip(1);
    above.into_iter().any(|name| has_ending(name, "n5"))
}
