//! Elements of one type as elements of another, where that is possible: what does not fit is an
//! error, never another value. To round is what a cast to a float means; nothing else is.

mod convert;
mod layout;
mod number;
mod times;

use rechunk_grid::{DataType, Endian, FillValue};

use crate::FormatError;
use crate::numpy::parse_kind;

pub use convert::{Convert, converter};
pub use layout::{CastLayout, ElementMap};
pub use number::is_number;
pub use times::{Count, Recount, Uncounted};

/// The type that elements are cast to, and the order of their bytes in a target that has a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CastTo {
    /// The type.
    pub data_type: DataType,
    /// Byte order.
    pub endian: Endian,
}

impl CastTo {
    /// A type by its name (`float32`), or as NumPy spells it (`<f4`, `>i2`, `f4`); without a byte
    /// order it is little-endian. `None` if it is none, or not of numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (kind, endian) = match text.split_at_checked(1) {
            Some(("<" | "|" | "=", kind)) => (kind, Endian::Little),
            Some((">", kind)) => (kind, Endian::Big),
            _ => (text, Endian::Little),
        };
        let data_type = DataType::from_name(text).or_else(|| parse_kind(kind))?;
        is_number(data_type).then_some(Self { data_type, endian })
    }
}

/// The names of types that can be cast, and be cast to.
pub fn castable_names() -> Vec<String> {
    let numbers = DataType::ALL.into_iter().filter(|data_type| is_number(*data_type));
    numbers.map(DataType::name).collect()
}

/// A fill value in another type; an error if it does not fit.
pub fn cast_fill_value(
    fill: &FillValue,
    from: DataType,
    to: DataType,
) -> Result<FillValue, FormatError> {
    let convert = pair(from, to)?;
    let mut bytes = vec![0; usize::try_from(to.item_bytes()).unwrap_or(0)];
    if convert.run(&fill.bytes, Endian::Little, &mut bytes, 0).is_none() {
        return Ok(FillValue { bytes });
    }
    let value = convert.shown(&fill.bytes, Endian::Little);
    Err(FormatError::Cast { reason: format!("the fill value {}", value_fault(&value, to)) })
}

/// Whether some value of type `from` would be rounded in `to`, where it is cast to a float. Equal
/// to what `numpy.can_cast` calls unsafe, but for 64-bit integers in float64, which are rounded
/// too.
pub fn rounds(from: DataType, to: DataType) -> bool {
    let Some(kept) = number::float_bits(to) else { return false };
    // What is near 0 in bfloat16 is 0 in float16, which has more digits and smaller exponents.
    let is_smaller = from == DataType::Bfloat16 && to == DataType::Float16;
    is_smaller || number::significant_bits(from).is_some_and(|wanted| wanted > kept)
}

/// That a value does not fit.
fn value_fault(value: &str, to: DataType) -> String {
    format!("{value} does not fit {to}")
}

/// Returns the converter of `from` into `to`, or refuses the pair.
fn pair(from: DataType, to: DataType) -> Result<Convert, FormatError> {
    converter(from, to).ok_or_else(|| FormatError::Unsupported {
        key: "--cast".to_owned(),
        what: format!("a cast from {from} to {to}"),
        hint: "; numbers of 8 to 64 bits and bool can be cast".to_owned(),
    })
}

#[cfg(test)]
mod tests;
