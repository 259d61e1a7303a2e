//! Floats into elements of a type that is asked for.

use rechunk_grid::DataType;

use crate::element::{Element, for_elements};
use crate::error::OpError;
use crate::view::elements_mut;

/// Elements that are converted at once: they stay in the first cache.
pub(super) const BLOCK: usize = 1024;

/// Writes floats, block by block, as elements of one type.
pub(super) type StoreBlock = fn(&str, &[f64], &mut [u8]) -> Result<(), OpError>;

/// Returns the function that stores a block as `data_type`. Elements are the nearest, ties to even;
/// integers saturate, NaN becomes 0; for bool, other numbers than 0 (also NaN) are true.
pub(super) fn store_block(operation: &str, data_type: DataType) -> Result<StoreBlock, OpError> {
    if data_type == DataType::Bool {
        return Ok(store_bool);
    }
    Ok(for_elements!(operation, data_type, T => store::<T>))
}

fn store<T: Element>(operation: &str, values: &[f64], out: &mut [u8]) -> Result<(), OpError> {
    for (out, &value) in elements_mut::<T>(operation, out)?.iter_mut().zip(values) {
        *out = T::from_f64(value);
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "as those of other types")]
fn store_bool(_operation: &str, values: &[f64], out: &mut [u8]) -> Result<(), OpError> {
    for (out, &value) in out.iter_mut().zip(values) {
        *out = u8::from(value != 0.0);
    }
    Ok(())
}
