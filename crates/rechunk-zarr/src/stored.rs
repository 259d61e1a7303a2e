//! The metadata of an array in another version, over the chunks that it has.
//!
//! Nothing is encoded again, so every codec has to be said as it is: also those that a copy would
//! leave out because they round, and none in the place of another. What cannot be said so is
//! refused.

use rechunk_format::FormatError;
use rechunk_grid::{DataType, Endian, FillValue};

use crate::choice::bind;
use crate::codec_spec::CodecSpec;
use crate::kept_codecs::{Naming, in_v2, said_in_v3, widens_bytes};
use crate::metadata::{ArrayMetadata, KeyEncoding, KeyStyle, ZarrVersion};
use crate::target::{TargetOptions, say_as};
use crate::variable;

/// Returns the metadata of `version` for the chunks that `source` has, under the keys that they
/// have; and a sentence for whatever is said otherwise. Refuses what that version has no words for.
pub fn metadata_of_stored(
    source: &ArrayMetadata,
    version: ZarrVersion,
) -> Result<(ArrayMetadata, Vec<String>), FormatError> {
    let mut warnings = Vec::new();
    let key_encoding = key_encoding(source, version)?;
    if source.spec.data_type.is_variable() {
        let chunk_shape = source.spec.chunk_shape.clone();
        let options = TargetOptions { version, chunk_shape, shard_shape: None, codec: None };
        let (target, warnings) = variable::target(source, &options)?;
        return Ok((ArrayMetadata { key_encoding, ..target }, warnings));
    }
    let mut target = source.clone();
    target.version = version;
    target.key_encoding = key_encoding;
    target.codecs = codecs(source, version, &mut warnings)?;
    if version == ZarrVersion::V3 && target.spec.fill_value.is_none() {
        // Chunks that are missing go on being read as they were.
        target.spec.fill_value = Some(FillValue::zero(target.spec.item_bytes()));
        let text =
            "Zarr v3 needs a fill value: null becomes zero, as which missing chunks are read";
        warnings.push(text.to_owned());
    }
    say_as(source, &mut target, &mut warnings)?;
    // The fields of a record say their own order.
    let is_record = matches!(source.spec.data_type, DataType::Structured { .. });
    let is_turned = target.order.axes != source.order.axes;
    if is_turned || (target.order.endian != source.order.endian && !is_record) {
        let what = format!("axis order {:?} in {}", source.order.axes, version.format_name());
        return Err(source.version.codec_field().unsupported(what, COPY));
    }
    target.check()?;
    Ok((target, warnings))
}

/// Warning about chunks that stay blocks of N5.
const N5_READERS: &str = "the chunks stay blocks of N5: readers of Zarr v3 need the codec n5_default \
     (zarr-python has it with the package zarr-n5)";

/// Advice where chunks cannot stay as they are.
const COPY: &str = "a copy writes such chunks anew: rechunk copy";

/// The keys that the chunks have, as `version` says them.
fn key_encoding(source: &ArrayMetadata, version: ZarrVersion) -> Result<KeyEncoding, FormatError> {
    let of_source = source.key_encoding;
    if version == ZarrVersion::V2 && of_source.style != KeyStyle::V2 {
        let field = source.version.chunk_field();
        let what = "chunks under the keys of Zarr v3 (`c/0/1`) in Zarr v2";
        return Err(field.unsupported(what, COPY));
    }
    Ok(of_source)
}

/// The codecs of `source` by the names that `version` has for them.
fn codecs(
    source: &ArrayMetadata,
    version: ZarrVersion,
    warnings: &mut Vec<String>,
) -> Result<Vec<CodecSpec>, FormatError> {
    let refuse = |what: String| Err(source.version.codec_field().unsupported(what, COPY));
    let has_shards = |codec: &CodecSpec| matches!(codec, CodecSpec::Shards(_));
    let name = version.format_name();
    let mut codecs = source.codecs.clone();
    match version {
        ZarrVersion::V2 => {
            if source.sharding.is_some() || codecs.iter().any(has_shards) {
                return refuse("shards in Zarr v2".to_owned());
            }
            let stays = |codecs: &[CodecSpec]| {
                let mut lost = Vec::new();
                in_v2(codecs.to_vec(), &mut lost) == codecs && lost.is_empty()
            };
            if !stays(&codecs) {
                // Of all of them together, where each alone would stay.
                let mut names = source.codec_names();
                let alone = codecs.iter().map(|codec| stays(std::slice::from_ref(codec)));
                let alone: Vec<bool> = alone.collect();
                if alone.contains(&false) {
                    let mut alone = alone.into_iter();
                    names.retain(|_| alone.next() == Some(false));
                }
                return refuse(format!("codecs {} in {name}", names.join(", ")));
            }
        }
        ZarrVersion::V3 => {
            let has_filters = codecs.iter().any(CodecSpec::is_array_to_array);
            if source.version != version && has_filters && source.order.endian == Endian::Big {
                // zarr-python 3 hands such elements to filters as they are, and reads other
                // numbers.
                return refuse("a filter on big-endian elements in zarr3".to_owned());
            }
            // zarr-python 3 takes what quantize leaves for elements of the type that it had.
            let narrows = |codec: &CodecSpec| match codec {
                CodecSpec::Quantize { types, .. } => types.decoded != types.encoded,
                _ => false,
            };
            let is_unread = |codec: &&CodecSpec| {
                let is_new = source.version != version;
                codec.is_of_tiff() || is_new && (widens_bytes(codec) || narrows(codec))
            };
            if let Some(codec) = codecs.iter().find(is_unread) {
                return refuse(format!("codec {:?} in {name}", codec.name()));
            }
            for codec in &mut codecs {
                *codec = match std::mem::replace(codec, CodecSpec::CRC32C) {
                    CodecSpec::N5Block(mut block) => {
                        let inside = block.compressor.take();
                        block.compressor =
                            inside.map(|codec| said_in_v3(codec, Naming::Kept, warnings));
                        warnings.push(N5_READERS.to_owned());
                        CodecSpec::N5Block(block)
                    }
                    codec => said_in_v3(codec, Naming::Kept, warnings),
                };
            }
        }
    }
    let mut input = source.element();
    for codec in &mut codecs {
        bind(codec, input, source.element(), version);
        input = codec.output(input);
    }
    Ok(codecs)
}

#[cfg(test)]
mod tests;
