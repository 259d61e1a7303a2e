//! Files of elements alone, little-endian.

use std::fs::File;

use rechunk_grid::format_shape;

use super::output::{Expected, length, read_rest};

/// Reads exactly the expected elements.
pub(super) fn read(file: File, expected: &Expected<'_>, bytes: usize) -> Result<Vec<u8>, String> {
    let length = length(&file)?;
    let mut elements = read_rest(file, length, 0, bytes).map_err(|reason| {
        let shape = format_shape(expected.shape);
        format!("{reason} for {shape} elements of {}", expected.data_type)
    })?;
    if cfg!(target_endian = "big") {
        expected.data_type.swap(&mut elements);
    }
    Ok(elements)
}
