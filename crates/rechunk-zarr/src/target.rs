//! The metadata of an array that is about to be written.

use rechunk_format::{FormatError, ShardFormat};
use rechunk_grid::{Endian, FillValue};

use crate::choice::CodecChoice;
use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::field::Field;
use crate::fill_value::{v2_can_hold, v2_nearest};
use crate::kept_codecs::kept_codecs;
use crate::metadata::{ArrayMetadata, KeyEncoding, KeyStyle, ZarrVersion};

/// What is asked of a target.
#[derive(Debug, Clone)]
pub struct TargetOptions {
    /// Version to write.
    pub version: ZarrVersion,
    /// Shape of its chunks, elements.
    pub chunk_shape: Vec<u64>,
    /// Shape of its shards, elements; `None` for none.
    pub shard_shape: Option<Vec<u64>>,
    /// Its codecs; `None` keeps the source's as far as the version has them.
    pub codec: Option<CodecChoice>,
}

/// The metadata of a target that holds the same array as `source`, and a sentence for whatever
/// could not be kept.
pub fn target_metadata(
    source: &ArrayMetadata,
    options: &TargetOptions,
) -> Result<(ArrayMetadata, Vec<String>), FormatError> {
    let mut target = source.clone();
    let mut warnings = Vec::new();
    target.version = options.version;
    target.spec.chunk_shape.clone_from(&options.chunk_shape);
    target.sharding = sharding(source, options)?;
    target.key_encoding = key_encoding(source, options.version);
    target.codecs = match &options.codec {
        Some(choice) => {
            if let Some(endian) = choice.endian() {
                target.order.endian = ElementType::new(source.spec.data_type, endian).endian;
            }
            choice.bound_to(target.element(), options.version)?
        }
        None => kept_codecs(source, options.version, &mut warnings),
    };
    let has_filters = target.codecs.iter().any(CodecSpec::is_array_to_array);
    if options.version == ZarrVersion::V3 && has_filters {
        // zarr-python 3 hands big-endian elements to filters as they are, and reads other numbers
        // than it has written. Little-endian ones are the same for everybody.
        target.order.endian = Endian::Little;
        target.codecs = target.codecs.into_iter().map(CodecSpec::little_endian).collect();
    }
    match options.version {
        ZarrVersion::V2 => say_in_v2(&mut target, &mut warnings),
        ZarrVersion::V3 => say_in_v3(&mut target, &mut warnings),
    }
    target.check()?;
    Ok((target, warnings))
}

/// Shards as the source has them (index where it is there), else as most readers know them.
fn sharding(
    source: &ArrayMetadata,
    options: &TargetOptions,
) -> Result<Option<ShardFormat>, FormatError> {
    let Some(shard_shape) = &options.shard_shape else { return Ok(None) };
    let format = match &source.sharding {
        Some(format) => format.reshaped(shard_shape, &options.chunk_shape),
        None => ShardFormat::usual(shard_shape, &options.chunk_shape),
    };
    format.map(Some).map_err(|reason| Field::new("--shards", "shape").invalid(reason))
}

/// The source's way to name chunks in the same version, else the version's usual one.
fn key_encoding(source: &ArrayMetadata, version: ZarrVersion) -> KeyEncoding {
    match version {
        _ if version == source.version => source.key_encoding,
        ZarrVersion::V2 => KeyEncoding { style: KeyStyle::V2, separator: '.' },
        ZarrVersion::V3 => KeyEncoding { style: KeyStyle::Default, separator: '/' },
    }
}

fn say_in_v2(target: &mut ArrayMetadata, warnings: &mut Vec<String>) {
    let rank = target.spec.shape.len();
    let axes = &mut target.order.axes;
    let is_c = axes.iter().copied().eq(0..rank);
    let is_f = axes.iter().copied().eq((0..rank).rev());
    if !is_c && !is_f {
        warnings.push(format!(
            "Zarr v2 has only C and F order: chunks stored in axis order {axes:?} become C"
        ));
        *axes = (0..rank).collect();
    }
    let data_type = target.spec.data_type;
    if target.spec.fill_value.as_ref().is_some_and(|fill| !v2_can_hold(fill, data_type)) {
        warnings.push("Zarr v2 has one NaN: the payload of the fill value is dropped".to_owned());
        target.spec.fill_value = Some(v2_nearest(data_type));
    }
    let names = target.spec.dimension_names.as_ref();
    if names.is_some_and(|names| names.iter().any(Option::is_none)) {
        let all_unnamed = names.is_some_and(|names| names.iter().all(Option::is_none));
        target.spec.dimension_names = None;
        if !all_unnamed {
            let reason = "Zarr v2 names all dimensions or none: the names are dropped";
            warnings.push(reason.to_owned());
        }
    }
}

fn say_in_v3(target: &mut ArrayMetadata, warnings: &mut Vec<String>) {
    if target.spec.fill_value.is_none() {
        warnings.push("Zarr v3 needs a fill value: null becomes zero".to_owned());
        target.spec.fill_value = Some(FillValue::zero(target.spec.item_bytes()));
    }
}

#[cfg(test)]
mod tests;
