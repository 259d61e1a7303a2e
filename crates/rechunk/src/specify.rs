//! What the target is to be: what was asked for, the rest as the source.

use rechunk_format::ShardFormat;
use rechunk_zarr::{TargetOptions, ZarrVersion, parse_codec_choice, target_metadata};

use crate::format::Format;
use crate::metadata::Metadata;
use crate::open::OpenArray;
use crate::request::CopyRequest;
use crate::shard_spec::ShardWish;
use crate::{ChunkSpec, Error};

/// The target's metadata, and a sentence for whatever the source has and it has not.
pub(crate) fn specify_target(
    request: &CopyRequest,
    source: &OpenArray,
) -> Result<(Metadata, Vec<String>), Error> {
    let chunk_shape =
        ChunkSpec::parse(&request.chunks)?.resolve(source.spec(), request.chunk_bytes)?;
    let format = match request.format {
        Some(format) => format,
        None => format_of_name(&request.target)?,
    };
    let (shard_shape, warning) = shards(request, source, format, &chunk_shape)?;
    let (target, mut warnings) = match format {
        Format::Zarr3 => zarr(request, source, ZarrVersion::V3, chunk_shape, shard_shape)?,
        Format::Zarr2 => zarr(request, source, ZarrVersion::V2, chunk_shape, shard_shape)?,
    };
    warnings.extend(warning);
    Ok((target, warnings))
}

/// The shape of its shards, and what is to be said about it.
fn shards(
    request: &CopyRequest,
    source: &OpenArray,
    format: Format,
    chunk: &[u64],
) -> Result<(Option<Vec<u64>>, Option<String>), Error> {
    let wish = ShardWish {
        text: request.shards.as_deref(),
        format,
        source: source.spec(),
        source_shard: source.array.layout().shards().map(ShardFormat::shard_shape),
        chunk,
    };
    wish.resolve()
}

fn zarr(
    request: &CopyRequest,
    source: &OpenArray,
    version: ZarrVersion,
    chunk_shape: Vec<u64>,
    shard_shape: Option<Vec<u64>>,
) -> Result<(Metadata, Vec<String>), Error> {
    let codec = request.codec.as_deref().map(parse_codec_choice).transpose();
    let codec = codec.map_err(Error::target_metadata)?;
    let options = TargetOptions { version, chunk_shape, shard_shape, codec };
    let Metadata::Zarr(metadata) = &source.metadata;
    let (target, warnings) = target_metadata(metadata, &options).map_err(|error| {
        if source.spec().data_type.is_variable() {
            // Whatever was asked for: it is the source that cannot be decoded.
            Error::source_metadata(&source.location, error)
        } else {
            Error::target_metadata(error)
        }
    })?;
    Ok((Metadata::Zarr(target), warnings))
}

/// The format a target's name asks for: zarr3, or an error for one that cannot be written yet.
fn format_of_name(target: &str) -> Result<Format, Error> {
    const LATER: [&str; 4] = [".n5", ".npy", ".nii", ".nii.gz"];
    let name = target.trim_end_matches('/');
    if let Some(ending) = LATER.iter().find(|ending| name.ends_with(**ending)) {
        return Err(Error::Usage {
            message: format!("this version does not write `{ending}`"),
            hint: Some("give --format zarr3 or zarr2 if the name is meant".to_owned()),
        });
    }
    Ok(Format::Zarr3)
}
