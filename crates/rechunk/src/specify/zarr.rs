//! A target in Zarr.

use std::borrow::Cow;

use rechunk_format::field::Field;
use rechunk_format::{ElementOrder, FormatError};
use rechunk_grid::{ArraySpec, FillValue};
use rechunk_n5::{ATTRIBUTES_KEY, N5Metadata};
use rechunk_raw::RawMetadata;
use rechunk_zarr::{
    ArrayMetadata, KeyEncoding, KeyStyle, TargetOptions, Verbatim, ZarrVersion,
    carry_missing_value, check_type, has_opaque_shards, leave_out_missing_nan, note_null_fill,
    parse_codec_choice, respell_missing_value, said_in_v3, target_metadata, without_inner_shards,
};

use super::{Wish, codecs};
use crate::attributes::Way;
use crate::axes::Axes;
use crate::cast::recast;
use crate::format::Format;
use crate::metadata::{Metadata, in_strict_json};
use crate::{Error, ShardSpec};

/// Attribute that xarray keeps dimension names in, where a format has no place for them.
const XARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The metadata of a target in Zarr.
pub(super) fn target(
    wish: &Wish<'_>,
    format: Format,
    shard_shape: Option<Vec<u64>>,
) -> Result<(Metadata, Vec<String>), Error> {
    let codec =
        wish.request.codec.as_ref().map(|codec| parse_codec_choice(codec.text())).transpose();
    let codec = codec.map_err(Error::target_metadata)?;
    let version = format.zarr_version().unwrap_or(ZarrVersion::V3);
    let chunk_shape = wish.chunk_shape.to_vec();
    let options = TargetOptions { version, chunk_shape, shard_shape, codec };
    let source = &wish.source.metadata;
    let mut renamed = Vec::new();
    let seen = match source {
        Metadata::Zarr(metadata) => Cow::Borrowed(&**metadata),
        Metadata::N5(metadata, _) if wish.source.spec().data_type.is_variable() => {
            return Err(wish.refuse(variable_in_n5(metadata)));
        }
        Metadata::N5(metadata, axes) => {
            let mut seen = n5_as_zarr(metadata, *axes);
            if version == ZarrVersion::V3 && options.chosen().is_none() {
                let said = |codec| said_in_v3(codec, options.naming(), &mut renamed);
                seen.codecs = seen.codecs.into_iter().map(said).collect();
            }
            Cow::Owned(seen)
        }
        Metadata::Raw(metadata) => Cow::Owned(raw_as_zarr(metadata)),
    };
    // What only the group says stays there: to xarray, and in v2, the array has no names.
    let seen = match seen {
        seen if wish.source.is_named_by_group => Cow::Owned(without_names(&seen)),
        seen => seen,
    };
    let (seen, lost, dropped) = match wish.source.cast {
        Some(cast) => {
            let recast = recast(&seen, cast).map_err(|error| wish.refuse(error))?;
            (Cow::Owned(recast.metadata), recast.left_out, recast.dropped)
        }
        None => (seen, Vec::new(), None),
    };
    let no_shards = wish.request.shards == Some(ShardSpec::None);
    let (seen, unsharded) = match without_inner_shards(&seen).filter(|_| no_shards) {
        Some((seen, reason)) => (Cow::Owned(seen), Some(reason)),
        None => (seen, None),
    };
    if no_shards && has_opaque_shards(&seen) {
        let what = "taking shards of elements of variable length apart";
        let hint = "without --shards they are copied as they are";
        return Err(wish.refuse(Field::new("zarr.json", "codecs").unsupported(what, hint)));
    }
    check_type(&seen, options.version)
        .map_err(|error| Error::source_metadata(&wish.source.location, error))?;
    let (mut target, mut warnings) =
        target_metadata(&seen, &options).map_err(|error| wish.refuse(error))?;
    warnings.extend(renamed);
    warnings.extend(unsharded);
    warnings.extend(dropped);
    if options.chosen().is_none() {
        warnings.extend(lost);
    }
    // N5 and raw files have no fill value that anybody takes for missing data. A scalar has no
    // names by which a reader could tell whether it is a part of a data set.
    let is_of_data_set = wish.request.is_member || seen.spec.shape.is_empty();
    if is_of_data_set && matches!(source, Metadata::Zarr(_)) {
        warnings.extend(carry_missing_value(&seen, &mut target));
    } else if wish.source.stored_type() != seen.spec.data_type {
        respell_missing_value(&seen, &mut target);
    }
    // xarray shows all attributes, and of its own arrays v2 gets null again without a note.
    if !is_of_data_set || seen.spec.dimension_names.is_none() {
        note_null_fill(&seen, &mut target);
    }
    if format == Format::Zarr3 && wish.source.is_named_by_group {
        target.spec.dimension_names = wish.source.metadata.spec().dimension_names;
    }
    if let Some(separator) = wish.request.separator {
        target.key_encoding.separator = separator;
    }
    let way = Way { from: source.format(), to: format, axes: wish.axes() };
    let (spec, attributes) = (&target.spec, &mut target.attributes);
    warnings.extend(way.carry(spec, source.attributes(), attributes));
    if format == Format::Zarr3 && source.format() != format {
        warnings.extend(leave_out_missing_nan(&mut target));
        warnings.extend(in_strict_json("the array", &mut target.attributes));
    }
    Ok((Metadata::Zarr(Box::new(target)), warnings))
}

fn without_names(metadata: &ArrayMetadata) -> ArrayMetadata {
    let spec = ArraySpec { dimension_names: None, ..metadata.spec.clone() };
    ArrayMetadata { spec, ..metadata.clone() }
}

/// Elements of variable length mean in Zarr what they do not in N5.
fn variable_in_n5(source: &N5Metadata) -> FormatError {
    let what = format!("data type {:?} in another format", source.data_type_name());
    let hint = "--format n5 with the same blocks copies them as they are";
    Field::new(ATTRIBUTES_KEY, "dataType").unsupported(what, hint)
}

/// An N5 dataset as Zarr v3 would describe it: in C order, little-endian, with the codecs that are
/// N5's compressions.
fn n5_as_zarr(source: &N5Metadata, axes: Axes) -> ArrayMetadata {
    let spec = source.spec(axes.of_n5());
    let item_bytes = spec.item_bytes();
    // The names are in `spec`. What says them stays where N5 is the array's own format.
    let mut attributes = match Axes::noted(&source.attributes) {
        Some(_) => source.user_attributes(),
        None => source.attributes.clone(),
    };
    attributes.shift_remove(XARRAY_DIMENSIONS);
    ArrayMetadata {
        order: ElementOrder::c_little(spec.shape.len()),
        spec,
        version: ZarrVersion::V3,
        codecs: codecs::zarr_of_n5(source.compression, item_bytes),
        sharding: None,
        key_encoding: KeyEncoding { style: KeyStyle::Default, separator: '/' },
        attributes,
        verbatim: Verbatim::default(),
    }
}

/// An array in raw files as Zarr v2 would describe it: in C order, little-endian, without codecs.
fn raw_as_zarr(source: &RawMetadata) -> ArrayMetadata {
    let zero = FillValue::zero(source.spec.item_bytes());
    ArrayMetadata {
        order: ElementOrder::c_little(source.spec.shape.len()),
        spec: ArraySpec { fill_value: Some(zero), ..source.spec.clone() },
        version: ZarrVersion::V2,
        codecs: Vec::new(),
        sharding: None,
        key_encoding: KeyEncoding { style: KeyStyle::V2, separator: '.' },
        attributes: source.attributes.clone(),
        verbatim: Verbatim { data_type: source.record.clone(), ..Verbatim::default() },
    }
}
