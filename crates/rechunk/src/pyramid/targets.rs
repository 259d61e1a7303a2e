//! Arrays of the levels of a pyramid, specified.

use rechunk_array::Array;
use rechunk_format::ShardFormat;
use rechunk_grid::ArraySpec;
use serde_json::{Map, Value};

use super::image::SourceImage;
use super::plan::JobLevel;
use crate::Error;
use crate::formats::{Fact, Format, Metadata};
use crate::member_location::member_location;
use crate::open::OpenArray;
use crate::request::CopyRequest;
use crate::specify::specify_target;

/// Attributes that say where the elements of one array are, and nothing of coarser ones.
const OF_LEVEL_0: [&str; 12] = [
    "transform",
    "pixelResolution",
    "resolution",
    "voxel_size",
    "offset",
    "downsamplingFactors",
    "multiscales",
    "multiScale",
    "spatial:transform",
    "spatial:shape",
    "spatial:bbox",
    "nifti",
];

/// A level as it is asked for.
pub(super) struct LevelWish {
    /// Source elements of a cell along each axis.
    pub factors: Vec<u64>,
    /// Shape, elements.
    pub shape: Vec<u64>,
    /// Paths of its arrays below the target: one, or one for each index along axes split off.
    pub paths: Vec<String>,
    /// Attributes of its arrays.
    pub attributes: Map<String, Value>,
}

/// A level that is specified: what a job has of it, and the metadata of each of its arrays.
pub(super) struct SpecifiedLevel {
    pub level: JobLevel,
    pub paths: Vec<String>,
    pub metadata: Metadata,
    pub request: CopyRequest,
    pub warnings: Vec<String>,
}

/// The source as an array of the shape of a level: what its target is specified by.
fn as_level(image: &SourceImage, shape: &[u64], factors: &[u64]) -> Result<OpenArray, Error> {
    let source = &image.array;
    // Levels have chunks of one length, whatever the source has.
    let metadata = source.metadata.with_shape(&source.with_all_axes(shape, 1)).without_edges();
    let layout = metadata.layout().map_err(Error::target_metadata)?;
    let layout = source.cast_layout(source.squeezed_layout(layout)?)?;
    let layout = source.recount_layout(layout)?;
    let array = Array::new(layout, source.array.store().clone());
    let voxels = Some(image.voxels(factors));
    Ok(OpenArray { array, metadata, region: None, voxels, ..source.clone() })
}

/// Specifies the arrays of a level, of which the first `split` axes are split off.
pub(super) fn specified(
    request: &CopyRequest,
    image: &SourceImage,
    (format, split): (Format, usize),
    wish: LevelWish,
) -> Result<SpecifiedLevel, Error> {
    let LevelWish { factors, shape, paths, attributes } = wish;
    let seen = as_level(image, &shape, &factors)?;
    let chunk = chunk_of(request, image, (&seen, split))?;
    let first = paths.first().map(String::as_str).unwrap_or_default();
    let text = chunk.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let own = CopyRequest {
        source: image.array.location.clone(),
        target: member_location(&request.target, first),
        chunks: text.parse()?,
        format: Some(format),
        // Members of data sets of xarray have fill values that mean other things.
        is_member: format.zarr_version().is_none(),
        ..request.clone()
    };
    let own = with_shards_of(own, (&seen, format), &chunk)?;
    let (mut metadata, warnings) = specify_target(&own, &seen)?;
    if factors.iter().any(|&factor| factor > 1) || image.array.region.is_some() {
        for name in OF_LEVEL_0 {
            metadata.attributes_mut().remove(name);
        }
    }
    metadata.attributes_mut().extend(attributes);
    if format.has(Fact::DimensionNames) {
        let names: Vec<String> = image.axes.iter().map(|axis| axis.name.clone()).collect();
        metadata.take_names(&names);
    }
    let metadata = metadata.without_first_axes(split).ok_or_else(not_turned)?;
    let layout = metadata.layout().map_err(Error::target_metadata)?;
    let members = paths.iter().map(|path| member_location(&request.target, path)).collect();
    let level = JobLevel { factors, shape, split_axes: split, members, layout };
    Ok(SpecifiedLevel { level, paths, metadata, request: own, warnings })
}

/// The request with the shards of the source, where they are kept: of a level that is smaller they
/// are cut.
fn with_shards_of(
    request: CopyRequest,
    (source, format): (&OpenArray, Format),
    chunk: &[u64],
) -> Result<CopyRequest, Error> {
    let shards = source.array.layout().shards();
    let shards = shards.filter(|found| request.shards.is_none() && !found.is_scattered());
    let Some(shard) = shards.map(ShardFormat::shard_shape).filter(|_| format.has(Fact::Shards))
    else {
        return Ok(request);
    };
    if !shard.iter().zip(chunk).all(|(shard, chunk)| shard.is_multiple_of(*chunk)) {
        return Ok(request); // then there are none, which is said
    }
    let text = shard.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    Ok(CopyRequest { shards: Some(text.parse()?), ..request })
}

/// Shape of the chunks of a level, of one element along axes that are split off. These need not be
/// named in what is asked for.
fn chunk_of(
    request: &CopyRequest,
    image: &SourceImage,
    (seen, split): (&OpenArray, usize),
) -> Result<Vec<u64>, Error> {
    let mut spec: ArraySpec = seen.stored_spec();
    spec.data_type = seen.spec().data_type;
    // To keep lengths that differ is refused.
    spec.edges = image.array.stored_spec().edges;
    let names = image.axes.iter().map(|axis| Some(axis.name.clone()));
    if spec.dimension_names.is_none() {
        spec.dimension_names = Some(names.collect());
    }
    let mut chunks = request.chunks.clone();
    let behind = spec.shape.len() - split;
    if split > 0 && chunks.entries_mut().len() == behind {
        let text = format!("{}{chunks}", "1,".repeat(split));
        chunks = text.parse()?;
    }
    let mut chunk = chunks.resolve(&spec, request.chunk_bytes)?;
    chunk.iter_mut().take(split).for_each(|extent| *extent = 1);
    Ok(chunk)
}

fn not_turned() -> Error {
    Error::Usage {
        message: "times and channels become arrays of their own in N5 only, with axes reversed"
            .to_owned(),
        hint: Some("leave the order of axes out".into()),
    }
}
