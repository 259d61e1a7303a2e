//! The C library, through zarrs' codec without header. Expert mode says everything that the other
//! modes can.

use std::borrow::Cow;
use std::num::NonZeroU64;

use zarrs::array::codec::ZfpCodec;
use zarrs::array::codec::api::{ArrayToBytesCodecTraits, CodecOptions};
use zarrs::array::{ArrayBytes, DataType, FillValue, data_type};

use super::params::Params;
use super::settings::ZfpElement;

/// Decodes a stream that is as long as any of this shape and these parameters can be.
pub(super) fn decode(
    stream: Vec<u8>,
    element: ZfpElement,
    shape: &[u64],
    params: &Params,
) -> Result<Vec<u8>, String> {
    let (fill, options) = (fill(element), CodecOptions::default());
    let decoded = codec(params)
        .decode(Cow::Owned(stream), &whole(shape)?, &data_type(element), &fill, &options)
        .map_err(|error| error.to_string())?;
    let bytes = decoded.into_fixed().map_err(|error| error.to_string())?;
    Ok(bytes.into_owned())
}

/// Encodes to whole words.
pub(super) fn encode(
    decoded: &[u8],
    element: ZfpElement,
    shape: &[u64],
    params: &Params,
) -> Result<Vec<u8>, String> {
    let (fill, options) = (fill(element), CodecOptions::default());
    let elements = ArrayBytes::new_flen(decoded);
    let encoded = codec(params)
        .encode(elements, &whole(shape)?, &data_type(element), &fill, &options)
        .map_err(|error| error.to_string())?;
    Ok(encoded.into_owned())
}

fn codec(params: &Params) -> ZfpCodec {
    let &Params { min_bits, max_bits, max_planes, min_exponent } = params;
    ZfpCodec::new_expert(min_bits, max_bits, max_planes, min_exponent)
}

fn whole(shape: &[u64]) -> Result<Vec<NonZeroU64>, String> {
    let extents =
        shape.iter().map(|&extent| NonZeroU64::new(extent).ok_or("an axis of no elements"));
    extents.collect::<Result<_, _>>().map_err(str::to_owned)
}

/// zarrs asks for one; zfp has no use for it.
fn fill(element: ZfpElement) -> FillValue {
    FillValue::new(vec![0; usize::try_from(element.item_bytes()).unwrap_or(8)])
}

fn data_type(element: ZfpElement) -> DataType {
    match element {
        ZfpElement::Int8 => data_type::int8(),
        ZfpElement::Int16 => data_type::int16(),
        ZfpElement::Int32 => data_type::int32(),
        ZfpElement::Int64 => data_type::int64(),
        ZfpElement::Uint8 => data_type::uint8(),
        ZfpElement::Uint16 => data_type::uint16(),
        ZfpElement::Uint32 => data_type::uint32(),
        ZfpElement::Uint64 => data_type::uint64(),
        ZfpElement::Float32 => data_type::float32(),
        ZfpElement::Float64 => data_type::float64(),
    }
}
