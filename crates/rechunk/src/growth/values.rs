//! Do two arrays hold the same values? Where do they differ first?

use rechunk_grid::{DataType, FillValue, Region};
use rechunk_store::Role;
use rechunk_zarr::write_fill_value;
use tokio_util::sync::CancellationToken;

use crate::calendar::Since;
use crate::elements::{chunk_bytes, read_region};
use crate::open::OpenArray;
use crate::plan_request::array_at;
use crate::request::Planning;
use crate::{Error, verify};

/// Arrays and chunks up to so many bytes are read as a whole; of larger ones a plan bounds the
/// memory.
const SMALL_BYTES_MAX: u64 = 4 << 20;

/// Result of comparing two arrays of one shape and type.
#[derive(Debug)]
pub(super) enum Found {
    Equal,
    /// The first place, in C order, where they differ, and the elements there.
    Differ {
        at: Vec<u64>,
        own: Vec<u8>,
        theirs: Vec<u8>,
    },
    /// They differ as they are stored, and nothing more is known: why.
    Unlike(String),
    /// They could not be compared: why.
    Unknown(String),
}

/// Compares the values of two arrays of one shape and type, however they are cut and stored.
pub(super) async fn compare(
    own: &OpenArray,
    theirs: &OpenArray,
    planning: &Planning,
) -> Result<Found, Error> {
    let spec = own.spec();
    if spec.data_type.is_variable() {
        return compare_as_stored(own, theirs, planning).await;
    }
    let whole = Region::whole(&spec.shape);
    let bytes = spec.shape.iter().fold(spec.item_bytes(), |a, b| a.saturating_mul(*b));
    let is_small = |bytes: u64| bytes <= SMALL_BYTES_MAX;
    if is_small(bytes) && is_small(chunk_bytes(own)?) && is_small(chunk_bytes(theirs)?) {
        let found = first_in(own, theirs, &whole).await?;
        return Ok(found.unwrap_or(Found::Equal));
    }
    let (one, other) = if theirs.spec().edges.is_none() { (own, theirs) } else { (theirs, own) };
    let layout = other.array.layout();
    let array = array_at(layout, other.array.store(), Role::Control);
    let compared = verify::compare(one, &array, planning, &CancellationToken::new()).await?;
    match compared.first_difference {
        None => Ok(Found::Equal),
        // Bytes differ; NaN may be written in many ways, and 0 in two.
        Some(_) if parts(spec.data_type).is_some() => first_by_chunks(own, theirs, &whole).await,
        Some(at) => {
            let place = Region::new(at.clone(), vec![1; at.len()]);
            let (own, theirs) =
                (read_region(own, &place).await?, read_region(theirs, &place).await?);
            Ok(Found::Differ { at, own, theirs })
        }
    }
}

/// Elements that differ in length are equal where their chunks are stored alike.
async fn compare_as_stored(
    own: &OpenArray,
    theirs: &OpenArray,
    planning: &Planning,
) -> Result<Found, Error> {
    let (a, b) = (own.array.layout(), theirs.array.layout());
    if own.spec().shape != theirs.spec().shape {
        return Ok(Found::Unknown("it is of another length".to_owned()));
    }
    let is_cut_alike =
        a.spec().chunk_shape == b.spec().chunk_shape && a.spec().edges == b.spec().edges;
    let is_alike = is_cut_alike && a.encoding_identity() == b.encoding_identity();
    let array = array_at(b, theirs.array.store(), Role::Control);
    match verify::compare(own, &array, planning, &CancellationToken::new()).await {
        Ok(_) => Ok(Found::Equal),
        Err(Error::NotAnArray { reason, .. }) if is_alike => Ok(Found::Unlike(reason)),
        Err(Error::NotAnArray { reason, .. }) => Ok(Found::Unknown(reason)),
        Err(error) => Err(error),
    }
}

/// The first difference, looked for chunk by chunk of the target; of those of one chunk the first.
async fn first_by_chunks(
    own: &OpenArray,
    theirs: &OpenArray,
    whole: &Region,
) -> Result<Found, Error> {
    let grid = theirs.grid()?;
    for index in grid.indices().positions() {
        let Some(part) = grid.region(&index).intersect(whole) else { continue };
        if let Some(found) = first_in(own, theirs, &part).await? {
            return Ok(found);
        }
    }
    Ok(Found::Equal)
}

/// The first difference in a region, in C order.
async fn first_in(
    own: &OpenArray,
    theirs: &OpenArray,
    region: &Region,
) -> Result<Option<Found>, Error> {
    let (a, b) = (read_region(own, region).await?, read_region(theirs, region).await?);
    let data_type = own.spec().data_type;
    let item = usize::try_from(data_type.item_bytes()).unwrap_or(1).max(1);
    let mut elements = a.chunks_exact(item).zip(b.chunks_exact(item));
    let first = elements.position(|(one, other)| !is_same(one, other, data_type));
    Ok(first.map(|number| {
        let element = |bytes: &[u8]| bytes[number * item..(number + 1) * item].to_vec();
        let at = region.position(u64::try_from(number).unwrap_or(u64::MAX));
        Found::Differ { at, own: element(&a), theirs: element(&b) }
    }))
}

/// Bytes of the floats that an element consists of; `None` if it consists of none.
fn parts(data_type: DataType) -> Option<usize> {
    match data_type {
        DataType::Float16 | DataType::Bfloat16 => Some(2),
        DataType::Float32 | DataType::Complex64 => Some(4),
        DataType::Float64 | DataType::Complex128 => Some(8),
        _ => None,
    }
}

/// Whether two elements, little-endian, are the same: to the bit, but every NaN is NaN, and -0 is
/// 0.
fn is_same(one: &[u8], other: &[u8], data_type: DataType) -> bool {
    if one == other {
        return true;
    }
    let Some(part) = parts(data_type) else { return false };
    let exponent: u64 = match data_type {
        DataType::Float16 => 0x7c00,
        DataType::Bfloat16 => 0x7f80,
        _ if part == 4 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    };
    let magnitude = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..part].copy_from_slice(bytes);
        let sign = 1_u64 << (8 * part - 1);
        u64::from_le_bytes(word) & !sign
    };
    one.chunks_exact(part).zip(other.chunks_exact(part)).all(|(a, b)| {
        let (x, y) = (magnitude(a), magnitude(b));
        a == b || (x == 0 && y == 0) || (x > exponent && y > exponent)
    })
}

/// An element, little-endian, in words: a time as a date too.
pub(super) fn in_words(element: &[u8], array: &OpenArray) -> String {
    let data_type = array.spec().data_type;
    let value = FillValue { bytes: element.to_vec() };
    let text = write_fill_value(&value, data_type).to_string();
    match moment_in_words(element, array) {
        Some(moment) => format!("{text} ({moment})"),
        None => text,
    }
}

/// The moment that an element stands for, if the array counts times.
fn moment_in_words(element: &[u8], array: &OpenArray) -> Option<String> {
    let data_type = array.spec().data_type;
    let since =
        Since::of_type(data_type).or_else(|| Since::of_attributes(&array.metadata.meaning()))?;
    since.in_words(since.moment_of(element, data_type)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_the_same_to_the_bit_but_for_nan_and_zero() {
        let same = |a: f64, b: f64| is_same(&a.to_le_bytes(), &b.to_le_bytes(), DataType::Float64);
        let other_nan = f64::from_bits(f64::NAN.to_bits() | 1 | 1 << 63);
        assert!(same(0.0, -0.0) && same(f64::NAN, other_nan) && same(1.5, 1.5));
        assert!(
            !same(1.0, -1.0) && !same(1.0, 1.0 + f64::EPSILON) && !same(f64::NAN, f64::INFINITY)
        );
        assert!(!same(f64::INFINITY, f64::NEG_INFINITY) && !same(5e-324, 0.0));
        let small = |a: f32, b: f32| is_same(&a.to_le_bytes(), &b.to_le_bytes(), DataType::Float32);
        assert!(small(-0.0, 0.0) && small(f32::NAN, -f32::NAN) && !small(1.0, 2.0));
        let half = |a: u16, b: u16| is_same(&a.to_le_bytes(), &b.to_le_bytes(), DataType::Float16);
        assert!(half(0x8000, 0) && half(0x7e00, 0xfc01) && !half(0x7c00, 0xfc00));
        let complex = |a: [f32; 2], b: [f32; 2]| {
            let bytes = |parts: [f32; 2]| parts.map(f32::to_le_bytes).concat();
            is_same(&bytes(a), &bytes(b), DataType::Complex64)
        };
        assert!(complex([0.0, f32::NAN], [-0.0, f32::NAN]) && !complex([0.0, 1.0], [0.0, 2.0]));
        assert!(!is_same(&[0; 8], &(1_u64 << 63).to_le_bytes(), DataType::Int64));
    }
}
