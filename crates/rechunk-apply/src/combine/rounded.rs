//! Fractions as plain values: rounded half to even.

use half::f16;
use rechunk_grid::DataType;

use crate::form::{Encoding, Rule, ValueForm};

use super::element::{Element, Narrow, Truth, Widen};
use super::lane::Whole;
use super::parts::CombineError;

fn each<L, S: Widen<L>, T: Narrow<L>>(from: &[u8], to: &mut [u8], value: impl Fn(L) -> L) {
    T::write(to, S::read(from).map(|number| T::narrow(value(number.widen()))));
}

/// Rounds floats of 64 bits into plain elements of a float type; false if it is none.
pub(super) fn floats(
    data_type: DataType,
    numbers: impl Iterator<Item = f64>,
    to: &mut [u8],
) -> bool {
    match data_type {
        DataType::Float16 => f16::write(to, numbers.map(f16::narrow)),
        DataType::Float32 => f32::write(to, numbers.map(f32::narrow)),
        DataType::Float64 => f64::write(to, numbers.map(f64::narrow)),
        _ => return false,
    }
    true
}

/// Turns a row of fractions into plain elements.
pub(super) fn round_row(
    from_form: ValueForm,
    from: &[u8],
    to_form: ValueForm,
    to: &mut [u8],
) -> Result<(), CombineError> {
    let data_type = to_form.data_type;
    let is_done = to_form.encoding == Encoding::Plain
        && match from_form.encoding {
            Encoding::Fixed64 => {
                let divisor = i64::of(from_form.denominator);
                i64::store(data_type, i64::read(from).map(|number| number.rounded(divisor)), to)
            }
            Encoding::Fixed128 => {
                let divisor = i128::of(from_form.denominator);
                i128::store(data_type, i128::read(from).map(|number| number.rounded(divisor)), to)
            }
            Encoding::Float64 => floats(data_type, f64::read(from), to),
            Encoding::Plain => false,
        };
    if is_done { Ok(()) } else { Err(CombineError::Type { data_type, rule: Rule::Assign }) }
}

/// Turns one plain element into a fraction of `form`.
pub(super) fn widen_element(
    form: ValueForm,
    element: &[u8],
    to: &mut [u8],
) -> Result<(), CombineError> {
    let parts = i128::of(form.denominator);
    let times = |number: i128| number.wrapping_mul(parts);
    let wide = &mut [0; 16];
    match (form.data_type, form.encoding) {
        (DataType::Float16, Encoding::Float64) => each::<f64, f16, f64>(element, to, |x| x),
        (DataType::Float32, Encoding::Float64) => each::<f64, f32, f64>(element, to, |x| x),
        (DataType::Float64, Encoding::Float64) => each::<f64, f64, f64>(element, to, |x| x),
        (DataType::Bool, _) => each::<i128, Truth, i128>(element, wide, times),
        (DataType::Uint8, _) => each::<i128, u8, i128>(element, wide, times),
        (DataType::Uint16, _) => each::<i128, u16, i128>(element, wide, times),
        (DataType::Uint32, _) => each::<i128, u32, i128>(element, wide, times),
        (DataType::Uint64, _) => each::<i128, u64, i128>(element, wide, times),
        (DataType::Int8, _) => each::<i128, i8, i128>(element, wide, times),
        (DataType::Int16, _) => each::<i128, i16, i128>(element, wide, times),
        (DataType::Int32, _) => each::<i128, i32, i128>(element, wide, times),
        (DataType::Int64, _) => each::<i128, i64, i128>(element, wide, times),
        (data_type, _) => return Err(CombineError::Type { data_type, rule: Rule::Assign }),
    }
    match form.encoding {
        Encoding::Fixed64 => each::<i128, i128, i64>(wide, to, |x| x),
        Encoding::Fixed128 => each::<i128, i128, i128>(wide, to, |x| x),
        Encoding::Plain | Encoding::Float64 => {}
    }
    Ok(())
}
