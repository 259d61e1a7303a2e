//! Specification of the target: as it was asked for, the rest as the source.

use rechunk_format::ShardFormat;
use rechunk_grid::{ArraySpec, AxisChunks, Edges};

use crate::Error;
use crate::cast;
use crate::formats::raw::is_one_file;
use crate::formats::{Fact, Format, Metadata, Wish, specified};
use crate::open::OpenArray;
use crate::request::CopyRequest;
use crate::shard_spec::ShardWish;

/// The target's metadata, and a sentence for whatever the source has and it has not.
pub(crate) fn specify_target(
    request: &CopyRequest,
    source: &OpenArray,
) -> Result<(Metadata, Vec<String>), Error> {
    // Not that of its layout, which may be of a region and begin inside a chunk.
    let mut spec = source.stored_spec();
    spec.data_type = source.spec().data_type;
    cut_edges(&mut spec, source)?;
    let chunks = request.chunks.clone().keeping_extents(request.keep_extent);
    let format = request.target_format();
    let (chunk_shape, edges) = if takes_lengths(request, format) {
        chunks.resolve_lengths(&spec, request.chunk_bytes)?
    } else {
        (chunks.resolve(&spec, request.chunk_bytes)?, None)
    };
    let wish = shard_wish(request, (source, &spec), format.has(Fact::Shards), &chunk_shape);
    let shard_edges = wish.edges()?;
    let (shard_shape, warning) = match &edges {
        None => wish.resolve()?,
        Some(_) => wish.none_around_lengths()?,
    };
    let edges = edges.or(shard_edges);
    if request.separator.is_some() && format.zarr_version().is_none() {
        return Err(Error::Usage {
            message: format!("--separator is of Zarr, not of {}", format.name()),
            hint: Some("leave it out, or give --format zarr3 or zarr2".into()),
        });
    }
    let (chunk_shape, shard_shape) = (&*chunk_shape, shard_shape.as_deref());
    let edges = edges.as_ref();
    let wish =
        Wish { request, source, format, chunk_shape, shard_shape, edges, over_stored: false };
    let (target, mut warnings) = specified(&wish)?;
    warnings.extend(warning);
    if let Some(cast) = source.cast {
        let attributes = source.metadata.attributes();
        let (from, is_zarr) = (source.stored_type(), format.zarr_version().is_some());
        warnings.extend(cast::warnings(from, cast.data_type, attributes, is_zarr));
    }
    Ok((target, warnings))
}

/// Whether chunks of the target may differ in length. They may in a copy into a new array of such a
/// format; one file has no chunks, so that those of the source do not matter.
fn takes_lengths(request: &CopyRequest, format: Format) -> bool {
    if is_one_file(format, &request.target) {
        return true;
    }
    let is_copy =
        request.apply.is_none() && request.pyramid.is_none() && request.placement.is_none();
    is_copy && format.has(Fact::ChunkLengths)
}

/// Cuts the chunk ends of `spec` to the region that is read, where chunks differ in length.
fn cut_edges(spec: &mut ArraySpec, source: &OpenArray) -> Result<(), Error> {
    let (Some((_, region)), Some(edges)) = (&source.region, spec.edges.take()) else {
        spec.edges = source.stored_spec().edges;
        return Ok(());
    };
    let (origin, shape) = (source.origin(), source.of_kept(&region.shape));
    let mut axes = vec![None; spec.shape.len()];
    for (axis, left) in axes.iter_mut().enumerate() {
        let Some(all) = edges.axis(axis) else { continue };
        let (from, to) = (origin[axis], origin[axis] + shape[axis]);
        let lengths = all.chunks().map(|(start, end)| end.min(to).saturating_sub(start.max(from)));
        let runs = lengths.filter(|length| *length > 0).map(|length| (length, 1));
        let chunks = AxisChunks::of_runs(axis, shape[axis], runs);
        let chunks = chunks.map_err(|error| Error::source_grid(&source.location, &error))?;
        spec.chunk_shape[axis] = chunks.longest();
        *left = chunks.into_edges();
    }
    spec.edges = Edges::new(axes);
    Ok(())
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
    let shards = shard_wish(request, (source, spec), true, target).cut()?;
    cut.extend(shards.into_iter().map(|shard| format!("shards {shard}")));
    Ok((!cut.is_empty()).then(|| {
        format!(
            "extents longer than their axes are cut: {}; with ! (as in 10!) or --keep-extent they are \
             kept, for an array that will grow",
            cut.join(", ")
        )
    }))
}

/// Shape of the source's shards; of those that reach beyond the array by their form alone, whole
/// chunks up to its end.
fn within(spec: &ArraySpec, shards: &ShardFormat) -> Vec<u64> {
    if shards.tables().is_none() {
        return shards.shard_shape().to_vec();
    }
    let axes = shards.shard_shape().iter().zip(&spec.shape).zip(&spec.chunk_shape);
    axes.map(|((shard, extent), chunk)| {
        (*shard).min(extent.div_ceil((*chunk).max(1)).max(1).saturating_mul(*chunk))
    })
    .collect()
}

fn shard_wish<'a>(
    request: &'a CopyRequest,
    (source, spec): (&'a OpenArray, &'a ArraySpec),
    has_shards: bool,
    chunk: &'a [u64],
) -> ShardWish<'a> {
    let source_shard = source.array.layout().shards().filter(|shards| !shards.is_scattered());
    let source_shard = source_shard.map(|shards| within(spec, shards));
    ShardWish {
        asked: request.shards.as_ref(),
        has_shards,
        source: spec,
        source_shard,
        chunk,
        keeps_extents: request.keep_extent,
    }
}
