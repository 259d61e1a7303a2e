//! Whether `scale_offset` and `cast_value` of a source give back what it holds when they encode
//! again.
//!
//! They are judged together: a scaled float comes back where the cast behind it rounds to the same
//! integer.

use rechunk_grid::Endian;

use crate::codec_spec::{CastValue, CodecSpec, ScaleOffset, Word};
use crate::codecs::{decode_each, encode_each, survives};
use crate::element_type::ElementType;
use crate::metadata::ArrayMetadata;

/// The filters of each number that stand at the beginning of a chain.
pub(crate) fn leading(codecs: &[CodecSpec]) -> &[CodecSpec] {
    let count = codecs.iter().take_while(|codec| codec.is_of_each_number()).count();
    &codecs[..count]
}

/// Why such filters are not kept; nothing where they are.
pub(crate) fn fault(source: &ArrayMetadata, filters: &[CodecSpec]) -> Option<&'static str> {
    if !filters.iter().all(gives_back) && !all_give_back(source.element(), filters) {
        return Some("elements could change when they are encoded again");
    }
    let fill = source.spec.fill_value.as_ref()?;
    let fill = fill.stored(source.spec.data_type, source.order.endian);
    let is_kept = survives(filters, &fill);
    (!is_kept).then_some("it cannot hold the fill value, which missing chunks are read as")
}

/// True if whatever is stored comes back, by what the codec does.
fn gives_back(codec: &CodecSpec) -> bool {
    match codec {
        // A quotient that is one, and a sum within the range: both are undone exactly.
        CodecSpec::ScaleOffset(ScaleOffset { element, offset, scale }) => {
            let is_one = |word: Word, one: u8| word.fill_value(*element) == number(one, *element);
            element.is_integer() || (is_one(*offset, 0) && is_one(*scale, 1))
        }
        CodecSpec::CastValue(cast) => {
            let CastValue { types, encode, decode, .. } = cast.as_ref();
            encode.is_empty() && decode.is_empty() && crate::kept_codecs::is_wider(*types)
        }
        _ => false,
    }
}

fn number(value: u8, element: ElementType) -> rechunk_grid::FillValue {
    let double = f64::from(value);
    let bytes = match element.data_type {
        rechunk_grid::DataType::Float16 => half::f16::from_f64(double).to_le_bytes().to_vec(),
        rechunk_grid::DataType::Float32 => f32::from(value).to_le_bytes().to_vec(),
        _ => double.to_le_bytes().to_vec(),
    };
    rechunk_grid::FillValue { bytes }
}

/// True if every value of 8 or 16 bits that decodes comes back: all of them are tried.
fn all_give_back(element: ElementType, filters: &[CodecSpec]) -> bool {
    let stored = filters.iter().fold(element, |input, codec| codec.output(input));
    let values = match stored.item_bytes() {
        1 => 0..=u16::from(u8::MAX),
        2 => 0..=u16::MAX,
        _ => return false,
    };
    let is_big = stored.endian == Endian::Big;
    values.into_iter().all(|value| {
        let bytes = if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
        let bytes = &bytes[..stored.item_bytes()];
        // What does not decode is not there: nobody could read it.
        let Some(element) = decode_all(filters, bytes) else { return true };
        encode_all(filters, element).is_some_and(|encoded| encoded == bytes)
    })
}

fn decode_all(filters: &[CodecSpec], stored: &[u8]) -> Option<Vec<u8>> {
    filters.iter().rev().try_fold(stored.to_vec(), |value, codec| decode_each(codec, &value).ok())
}

fn encode_all(filters: &[CodecSpec], element: Vec<u8>) -> Option<Vec<u8>> {
    filters.iter().try_fold(element, |value, codec| encode_each(codec, &value).ok())
}

#[cfg(test)]
mod tests;
