//! Metadata of targets whose elements differ in length.

use rechunk_format::{FormatError, ShardFormat};
use rechunk_grid::{DataType, Endian};
use serde_json::json;

use super::codecs::take_bytes;
use super::{VariableCodecs, refusal};
use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::field::Field;
use crate::kept_codecs::{kept_codecs, not_core};
use crate::metadata::{ArrayMetadata, Verbatim, ZarrVersion};
use crate::target::{TargetOptions, drop_v3_only, key_encoding, name_scalar, odd_null, sharding};

/// The metadata of a target of such elements, and a sentence for whatever could not be kept. Where
/// nothing but the place is another, all is carried as it stands.
pub(crate) fn target(
    source: &ArrayMetadata,
    options: &TargetOptions,
) -> Result<(ArrayMetadata, Vec<String>), FormatError> {
    let differs = difference(source, options);
    let Some(codecs) = VariableCodecs::of(source) else {
        return match differs {
            Some(what) => Err(refusal(source, what)),
            None if source.spec.edges.is_some() => {
                Err(refusal(source, "writing chunks of different lengths"))
            }
            None => Ok(as_it_stands(source)),
        };
    };
    if differs.is_none() && source.spec.edges.is_none() {
        return Ok(as_it_stands(source));
    }
    let mut warnings = Vec::new();
    let mut target = source.clone();
    target.version = options.version;
    target.key_encoding = key_encoding(source, options.version);
    target.spec.edges = None; // whatever the source has: chunks are written in one shape
    if !is_kept(source, options) {
        target.spec.chunk_shape.clone_from(&options.chunk_shape);
    }
    target.sharding = sharding(source, options)?;
    if options.version != source.version {
        let unlike = "such a fill value in another version of Zarr";
        let fill_value = codecs.fill_value(source, &mut warnings);
        target.verbatim.fill_value = Some(fill_value.ok_or_else(|| refusal(source, unlike))?);
    } else if let Some(reason) = odd_null(source) {
        target.verbatim.fill_value = Some(json!(""));
        warnings.push(reason);
    }
    let chosen = bytes_codecs(source, options, &codecs, &mut warnings)?;
    match options.version {
        ZarrVersion::V2 => {
            target.verbatim.data_type = Some(json!("|O"));
            target.verbatim.codecs = Some(codecs.in_v2(&chosen));
            drop_v3_only(&mut target, &mut warnings);
            name_scalar(source, &mut target);
        }
        ZarrVersion::V3 => {
            let Some((data_type, list)) = codecs.in_v3(&chosen) else {
                return Err(refusal(source, "lists of numbers in Zarr v3"));
            };
            if source.version == ZarrVersion::V2 {
                target.verbatim.data_type = Some(data_type);
            }
            target.verbatim.codecs = Some(list);
            // Its chunks have no other order: elements are put into it.
            target.order.axes = (0..source.spec.shape.len()).collect();
        }
    }
    target.check()?;
    Ok((target, warnings))
}

fn as_it_stands(source: &ArrayMetadata) -> (ArrayMetadata, Vec<String>) {
    let mut target = source.clone();
    let odd = odd_null(source);
    if odd.is_some() {
        target.verbatim.fill_value = Some(json!(""));
    }
    (target, odd.into_iter().collect())
}

/// Whether the chunk shape that is asked for is the source's. One that is larger than the array is
/// cut to its size by whoever asks for the same chunks.
fn is_kept(source: &ArrayMetadata, options: &TargetOptions) -> bool {
    let spec = &source.spec;
    let clipped = spec.chunk_shape.iter().zip(&spec.shape).map(|(c, n)| *c.min(n.max(&1)));
    options.chunk_shape == spec.chunk_shape || options.chunk_shape.iter().copied().eq(clipped)
}

/// The change that chunks have to be decoded for; `None` if chunks and shards can stay as they are.
fn difference(source: &ArrayMetadata, options: &TargetOptions) -> Option<&'static str> {
    let shards = source.sharding.as_ref().map(ShardFormat::shard_shape);
    if !is_kept(source, options) {
        return Some("re-cutting elements of variable length");
    }
    if options.shard_shape.as_deref() != shards {
        return Some("shards of elements of variable length");
    }
    if options.chosen().is_some() {
        return Some("another codec for elements of variable length");
    }
    let is_same = options.version == source.version;
    (!is_same).then_some("elements of variable length in another version of Zarr")
}

/// Codecs of the stream in the target: those that were chosen, else the source's as far as the
/// version has them.
fn bytes_codecs(
    source: &ArrayMetadata,
    options: &TargetOptions,
    own: &VariableCodecs,
    warnings: &mut Vec<String>,
) -> Result<Vec<CodecSpec>, FormatError> {
    let Some(choice) = options.chosen() else {
        if options.version == source.version {
            return Ok(own.codecs.clone());
        }
        let bytes = as_bytes(source, own);
        let kept = kept_codecs(&bytes, options.version, options.naming(), warnings);
        return Ok(kept);
    };
    let codecs = choice.bound_to(ElementType::BYTE, options.version)?;
    if !take_bytes(&codecs) || choice.axes(source.spec.shape.len())?.is_some() {
        let names: Vec<String> = codecs.iter().map(ToString::to_string).collect();
        let what = format!("{} on elements of variable length", names.join(" + "));
        let hint = "compressors and checksums are, such as zstd";
        return Err(Field::new("the codec", "codec").unsupported(what, hint));
    }
    if options.version == ZarrVersion::V3 {
        warnings.extend(codecs.iter().filter(|codec| !codec.is_core_v3()).map(not_core));
    }
    for codec in &codecs {
        codec.check_version(options.version)?;
    }
    Ok(codecs)
}

/// An array of bytes with the codecs of the stream.
fn as_bytes(source: &ArrayMetadata, own: &VariableCodecs) -> ArrayMetadata {
    let mut bytes = source.clone();
    bytes.spec.data_type = DataType::Uint8;
    bytes.order.endian = Endian::Little;
    bytes.codecs.clone_from(&own.codecs);
    bytes.sharding = None;
    bytes.verbatim = Verbatim::default();
    bytes
}
