//! A target in Zarr.

use std::borrow::Cow;

use rechunk_format::field::Field;
use rechunk_grid::ArraySpec;
use rechunk_zarr::{
    ArrayMetadata, TargetOptions, ZarrVersion, carry_missing_value, check_type, has_opaque_shards,
    keep_missing_value, leave_out_missing_nan, metadata_of_stored, note_null_fill,
    parse_codec_choice, respell_missing_value, said_in_v3, target_metadata, without_inner_shards,
};

use crate::attributes::Way;
use crate::cast::recast;
use crate::formats::{Fact, Metadata, Wish, in_strict_json};
use crate::{Error, ShardSpec};

/// The metadata of a target in Zarr.
pub(crate) fn target(wish: &Wish<'_>) -> Result<(Metadata, Vec<String>), Error> {
    let format = wish.format;
    let codec =
        wish.request.codec.as_ref().map(|codec| parse_codec_choice(codec.text())).transpose();
    let codec = codec.map_err(Error::target_metadata)?;
    let version = format.zarr_version().unwrap_or(ZarrVersion::V3);
    let chunk_shape = wish.chunk_shape.to_vec();
    let shard_shape = wish.shard_shape.map(<[u64]>::to_vec);
    let options = TargetOptions { version, chunk_shape, shard_shape, codec };
    let source = &wish.source.metadata;
    let mut renamed = Vec::new();
    let seen = if wish.over_stored { source.stored_as_zarr() } else { source.as_zarr() };
    let mut seen = seen.map_err(|error| wish.refuse(error))?;
    // Codecs of Zarr keep the names that they have.
    let is_renamed = source.zarr().is_none() && !wish.over_stored;
    if is_renamed && version == ZarrVersion::V3 && options.chosen().is_none() {
        let said = |codec| said_in_v3(codec, options.naming(), &mut renamed);
        let own = seen.to_mut();
        own.codecs = std::mem::take(&mut own.codecs).into_iter().map(said).collect();
    }
    // What only the group says stays there: to xarray, and in v2, the array has no names.
    let seen = match seen {
        seen if wish.source.is_named_by_group => Cow::Owned(without_names(&seen)),
        seen => seen,
    };
    // What is inside the chunks that are kept can stay too.
    let seen = match seen {
        seen if wish.edges.is_some() && wish.edges == seen.spec.edges.as_ref() => {
            Cow::Owned(without_edges(&seen))
        }
        seen => seen,
    };
    let (seen, lost, dropped) = match wish.source.cast {
        Some(cast) => {
            let recast = recast(&seen, cast, wish.source.spec().fill_value.as_ref());
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
        let what = "taking shards of elements that cannot be told apart";
        let hint = "without --shards they are copied as they are";
        return Err(wish.refuse(Field::new("zarr.json", "codecs").unsupported(what, hint)));
    }
    check_type(&seen, options.version)
        .map_err(|error| Error::source_metadata(&wish.source.location, error))?;
    let specified = if wish.over_stored {
        metadata_of_stored(&seen, options.version)
    } else {
        target_metadata(&seen, &options)
    };
    let (mut target, mut warnings) = specified.map_err(|error| wish.refuse(error))?;
    if let Some(edges) = wish.edges {
        let of_lengths = target.with_chunk_lengths(edges.clone());
        target = of_lengths.map_err(|error| wish.refuse(error))?;
    }
    warnings.extend(renamed);
    warnings.extend(unsharded);
    warnings.extend(dropped);
    if options.chosen().is_none() {
        warnings.extend(lost);
    }
    // N5 and raw files have no fill value that anybody takes for missing data. A scalar has no
    // names by which a reader could tell whether it is a part of a data set.
    let is_of_data_set = wish.request.is_member || seen.spec.shape.is_empty();
    if is_of_data_set && source.zarr().is_some() {
        let said = if wish.over_stored {
            keep_missing_value(&seen, &mut target).map_err(|error| wish.refuse(error))?
        } else {
            carry_missing_value(&seen, &mut target)
        };
        warnings.extend(said);
    } else if wish.source.stored_type() != seen.spec.data_type {
        respell_missing_value(&seen, &mut target);
    }
    // xarray shows all attributes, and of its own arrays v2 gets null again without a note.
    if !is_of_data_set || seen.spec.dimension_names.is_none() {
        note_null_fill(&seen, &mut target);
    }
    if format.has(Fact::DimensionNames) && wish.source.is_named_by_group {
        target.spec.dimension_names = wish.source.metadata.spec().dimension_names;
    }
    if let Some(separator) = wish.request.separator {
        target.key_encoding.separator = separator;
    }
    let way = Way { from: source.format(), to: format, axes: wish.axes() };
    let (spec, attributes) = (&target.spec, &mut target.attributes);
    warnings.extend(way.carry(spec, source.attributes(), attributes));
    if format.has(Fact::StrictJson) && source.format() != format {
        warnings.extend(leave_out_missing_nan(&mut target));
        warnings.extend(in_strict_json("the array", &mut target.attributes));
    }
    Ok((Metadata::Zarr(Box::new(target)), warnings))
}

fn without_edges(metadata: &ArrayMetadata) -> ArrayMetadata {
    let spec = ArraySpec { edges: None, ..metadata.spec.clone() };
    ArrayMetadata { spec, ..metadata.clone() }
}

fn without_names(metadata: &ArrayMetadata) -> ArrayMetadata {
    let spec = ArraySpec { dimension_names: None, ..metadata.spec.clone() };
    ArrayMetadata { spec, ..metadata.clone() }
}
