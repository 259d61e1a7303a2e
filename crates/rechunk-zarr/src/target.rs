//! The metadata of an array that is about to be written.

use rechunk_format::{FormatError, ShardFormat};
use rechunk_grid::{DataType, Endian, FillValue};
use serde_json::Value;

use crate::choice::CodecChoice;
use crate::codec_spec::CodecSpec;
use crate::dimension_names::{self, V2_DIMENSIONS};
use crate::element_type::ElementType;
use crate::field::Field;
use crate::fill_value::v2_nearest;
use crate::kept_codecs::{Naming, kept_codecs, not_core};
use crate::metadata::{ArrayMetadata, KeyEncoding, KeyStyle, ZarrVersion};
use crate::n5_block::without_n5_blocks;
use crate::shard_codec::ShardCodec;
use crate::{null_fill, record, types_v2, variable};

/// Options of a target.
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

impl TargetOptions {
    /// The codecs that were chosen, if others than the source's were.
    pub fn chosen(&self) -> Option<&CodecChoice> {
        self.codec.as_ref().filter(|choice| !choice.is_keep())
    }

    /// Treatment of the source's compressors.
    pub fn naming(&self) -> Naming {
        match &self.codec {
            Some(choice) if choice.is_keep() => Naming::Kept,
            _ => Naming::Nearest,
        }
    }
}

/// The metadata of a target that holds the same array as `source`, and a sentence for whatever
/// could not be kept.
pub fn target_metadata(
    source: &ArrayMetadata,
    options: &TargetOptions,
) -> Result<(ArrayMetadata, Vec<String>), FormatError> {
    if source.spec.data_type.is_variable() {
        return variable::target(source, options);
    }
    let plain = without_n5_blocks(source);
    let source = plain.as_ref().unwrap_or(source);
    let mut warnings = Vec::new();
    let unsharded = without_inner_shards(source).filter(|_| !keeps_shards(source, options));
    let source = match &unsharded {
        Some((unsharded, reason)) => {
            warnings.push(reason.clone());
            unsharded
        }
        None => source,
    };
    let mut target = source.clone();
    target.version = options.version;
    target.spec.chunk_shape.clone_from(&options.chunk_shape);
    target.spec.edges = None; // whatever the source has: chunks are written in one shape
    target.sharding = sharding(source, options)?;
    target.key_encoding = key_encoding(source, options.version);
    target.codecs = if let Some(choice) = options.chosen() {
        if let Some(endian) = choice.endian() {
            target.order.endian = ElementType::new(source.spec.data_type, endian).endian;
        }
        if let Some(axes) = choice.axes(source.spec.shape.len())? {
            target.order.axes = axes;
        }
        let codecs = choice.bound_to(target.element(), options.version)?;
        if let Some(codec) = codecs.iter().find(|codec| codec.is_of_tiff()) {
            let what = format!("codec {:?} in what is written", codec.name());
            let hint = "it is read only: --codec zstd makes smaller chunks";
            return Err(Field::new("--codec", "codec").unsupported(what, hint));
        }
        let others = codecs.iter().filter(|codec| !codec.is_core_v3());
        if options.version == ZarrVersion::V3 {
            warnings.extend(others.map(not_core));
        }
        codecs
    } else {
        let even = without_uneven(source, &options.chunk_shape, &mut warnings);
        kept_codecs(&even, options.version, options.naming(), &mut warnings)
    };
    let has_filters = target.codecs.iter().any(CodecSpec::is_array_to_array);
    if options.version == ZarrVersion::V3 && has_filters {
        // zarr-python 3 hands big-endian elements to filters as they are, and reads other numbers
        // than it has written. Little-endian ones are the same for everybody.
        target.order.endian = Endian::Little;
        target.codecs = target.codecs.into_iter().map(CodecSpec::little_endian).collect();
    }
    say_as(source, &mut target, &mut warnings)?;
    target.check()?;
    warnings.extend(unread_shards(&target));
    Ok((target, warnings))
}

/// Has `target`, which has the codecs and the order of its elements, say in its version what
/// `source` says in its own.
pub(crate) fn say_as(
    source: &ArrayMetadata,
    target: &mut ArrayMetadata,
    warnings: &mut Vec<String>,
) -> Result<(), FormatError> {
    let version = target.version;
    if version != source.version {
        (target.verbatim.data_type, target.verbatim.fill_value) =
            (record_type(source, version)?, None);
    }
    warnings.extend(odd_null(source));
    match version {
        ZarrVersion::V2 => say_in_v2(target, warnings)?,
        ZarrVersion::V3 => say_in_v3(target, warnings),
    }
    name_scalar(source, target);
    if (source.version, version) == (ZarrVersion::V2, ZarrVersion::V3) {
        warnings.extend(dimension_names::drop_nczarr(&mut target.attributes));
    }
    Ok(())
}

/// Warns of shards that zarr-python does not open: it tries the filters inside on zero, whatever
/// the fill value is.
fn unread_shards(target: &ArrayMetadata) -> Option<String> {
    target.sharding.as_ref()?;
    let zero = FillValue::zero(target.spec.item_bytes()).bytes;
    let reason = ShardCodec::set_fill(&mut target.codecs.clone(), &zero).err()?;
    let reason = reason.replace("the fill value", "zero");
    Some(format!("zarr-python (3.4 and before) does not open these shards: {reason}"))
}

/// `source` in chunks of this shape, without shuffles of what they do not hold a whole number of.
fn without_uneven(
    source: &ArrayMetadata,
    chunk_shape: &[u64],
    warnings: &mut Vec<String>,
) -> ArrayMetadata {
    let mut even = ArrayMetadata { codecs: Vec::new(), ..source.clone() };
    even.spec.chunk_shape = chunk_shape.to_vec();
    for codec in &source.codecs {
        even.codecs.push(codec.clone());
        if matches!(codec, CodecSpec::Shuffle { .. }) && even.chain().is_err() {
            even.codecs.pop();
            warnings.push(format!(
                "{codec} is left out: chunks do not hold a whole number of its elements"
            ));
        }
    }
    even
}

/// `source` as if its chunks were no shards themselves, and a sentence for people; `None` if none
/// is.
pub fn without_inner_shards(source: &ArrayMetadata) -> Option<(ArrayMetadata, String)> {
    if !source.codecs.iter().any(|codec| matches!(codec, CodecSpec::Shards(_))) {
        return None;
    }
    let which = if source.spec.edges.is_some() { "of different shapes" } else { "inside chunks" };
    let reason = format!("shards {which} are not kept: elements are encoded as in them");
    Some((ArrayMetadata { codecs: ShardCodec::without(&source.codecs), ..source.clone() }, reason))
}

/// True for elements of variable length whose chunks are shards: those are copied as they are.
pub fn has_opaque_shards(source: &ArrayMetadata) -> bool {
    source.spec.data_type.is_variable() && variable::has_shards(source)
}

/// True if the target's chunks are the source's, so that what is inside them can stay.
fn keeps_shards(source: &ArrayMetadata, options: &TargetOptions) -> bool {
    options.version == ZarrVersion::V3
        && options.chosen().is_none()
        && source.spec.edges.is_none()
        && options.chunk_shape == source.spec.chunk_shape
}

/// Shards as the source has them (index where it is there), else as most readers know them.
pub(crate) fn sharding(
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

/// The fields of a record as another version spells them; `None` for what is no record.
fn record_type(source: &ArrayMetadata, version: ZarrVersion) -> Result<Option<Value>, FormatError> {
    let of = |kind: &Value| record::of(kind, source.version);
    let Some(record) = source.verbatim.data_type.as_ref().and_then(of) else { return Ok(None) };
    let is_big = source.order.endian == Endian::Big;
    let spelled = match version {
        ZarrVersion::V2 => record
            .to_v2(source.order.endian)
            .ok_or_else(|| format!("the record {} in Zarr v2", record.describe())),
        ZarrVersion::V3 if is_big => Err("a big-endian record in Zarr v3".to_owned()),
        ZarrVersion::V3 => record.to_v3(),
    };
    spelled.map(Some).map_err(|what| type_field(source).unsupported(what, "keep the format"))
}

/// An error if arrays of `version` cannot have elements of the type of `source`, whatever else is
/// asked for.
pub fn check_type(source: &ArrayMetadata, version: ZarrVersion) -> Result<(), FormatError> {
    if version == source.version { Ok(()) } else { record_type(source, version).map(|_| ()) }
}

/// Field of an array's data type.
fn type_field(metadata: &ArrayMetadata) -> Field {
    let name = match metadata.version {
        ZarrVersion::V2 => "dtype",
        ZarrVersion::V3 => "data_type",
    };
    Field::new(metadata.version.document_key(), name)
}

/// The source's way to name chunks in the same version, else the version's usual one.
pub(crate) fn key_encoding(source: &ArrayMetadata, version: ZarrVersion) -> KeyEncoding {
    match version {
        // Version 2 cannot say that keys have a `c`, as those may that were found under it.
        ZarrVersion::V2 if version == source.version => {
            KeyEncoding { style: KeyStyle::V2, ..source.key_encoding }
        }
        _ if version == source.version => source.key_encoding,
        ZarrVersion::V2 => KeyEncoding { style: KeyStyle::V2, separator: '.' },
        ZarrVersion::V3 => KeyEncoding { style: KeyStyle::Default, separator: '/' },
    }
}

fn say_in_v2(target: &mut ArrayMetadata, warnings: &mut Vec<String>) -> Result<(), FormatError> {
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
    check_v2_type(target, warnings)?;
    null_fill::restore(target);
    let data_type = target.spec.data_type;
    if let Some(fill_value) = &target.spec.fill_value {
        let nearest = v2_nearest(fill_value, data_type);
        if nearest != *fill_value {
            let reason = "Zarr v2 has one NaN: the payload of the fill value is dropped";
            warnings.push(reason.to_owned());
            target.spec.fill_value = Some(nearest);
        }
    }
    // In a v2 source it has been read as what v2 can say.
    drop_v3_only(target, warnings);
    Ok(())
}

/// Refuses types that v2 has no name for, and says where only few readers know it.
fn check_v2_type(
    target: &mut ArrayMetadata,
    warnings: &mut Vec<String>,
) -> Result<(), FormatError> {
    let data_type = target.spec.data_type;
    if matches!(data_type, DataType::Structured { .. }) {
        target.order.endian = Endian::Little; // the fields say theirs
        return Ok(());
    }
    if types_v2::write(data_type, target.order.endian).is_none() {
        let what = format!("data type {:?} in Zarr v2", data_type.name());
        return Err(type_field(target).unsupported(what, "use --format zarr3"));
    }
    if types_v2::is_named(data_type) {
        target.order.endian = Endian::Little;
        warnings.push(format!(
            "Zarr v2 has no {data_type}: it is written as tensorstore does, and other readers may \
             refuse it"
        ));
    }
    Ok(())
}

/// Drops what only v3 can say beside the elements.
pub(crate) fn drop_v3_only(target: &mut ArrayMetadata, warnings: &mut Vec<String>) {
    let fields = std::mem::take(&mut target.verbatim.fields);
    if !fields.is_empty() {
        let names: Vec<String> = fields.keys().map(|name| format!("{name:?}")).collect();
        warnings.push(format!("Zarr v2 has no place for {}: dropped", names.join(", ")));
    }
    // What v3 may have as an attribute besides is the names in v2.
    let rank = target.spec.shape.len();
    let among_attributes = dimension_names::take_attribute(&mut target.attributes, rank);
    let names = target.spec.dimension_names.as_ref();
    if names.is_some_and(|names| names.iter().any(Option::is_none)) {
        let all_unnamed = names.is_some_and(|names| names.iter().all(Option::is_none));
        target.spec.dimension_names = None;
        if !all_unnamed && among_attributes.is_none() {
            let reason = "Zarr v2 names all dimensions or none: the names are dropped";
            warnings.push(reason.to_owned());
        }
    }
    if target.spec.dimension_names.is_none() {
        target.spec.dimension_names = among_attributes;
        return;
    }
    let is_odd = target.attributes.shift_remove(V2_DIMENSIONS).is_some();
    if is_odd || among_attributes.is_some_and(|n| target.spec.dimension_names != Some(n)) {
        let reason = "names the dimensions otherwise than `dimension_names`, which stay";
        warnings.push(format!("the attribute {V2_DIMENSIONS} {reason}"));
    }
}

fn say_in_v3(target: &mut ArrayMetadata, warnings: &mut Vec<String>) {
    if target.spec.fill_value.is_none() {
        warnings.push(null_fill::fill_in(target));
    }
}

/// Says that a v3 source has the fill value null, which is read as zero.
pub(crate) fn odd_null(source: &ArrayMetadata) -> Option<String> {
    let is_null = source.fill_value_json().is_null();
    (is_null && source.version == ZarrVersion::V3).then(|| {
        "the fill value is null, which Zarr v3 does not have (GDAL writes it): missing chunks are \
         read as zero"
            .to_owned()
    })
}

/// Gives a scalar that goes from v3 to v2 the empty list of names that xarray asks for there. In v3
/// it needs none, and zarr-python writes none.
pub(crate) fn name_scalar(source: &ArrayMetadata, target: &mut ArrayMetadata) {
    if source.is_v3_scalar() && target.version == ZarrVersion::V2 {
        target.spec.dimension_names.get_or_insert_default();
    }
}

#[cfg(test)]
mod tests;
