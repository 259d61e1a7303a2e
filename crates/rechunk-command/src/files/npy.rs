//! NumPy's file of one array.

use std::fs::File;

use super::npy_header::{self, Header};
use super::output::{Expected, length, read_rest};
use crate::format::npy_name;

/// Reads an array of exactly the expected type and shape.
pub(super) fn read(
    mut file: File,
    expected: &Expected<'_>,
    bytes: usize,
) -> Result<Vec<u8>, String> {
    let length = length(&file)?;
    let (header, header_bytes) = npy_header::read(&mut file)?;
    let is_little = check(&header, expected)?;
    let mut elements = read_rest(file, length, header_bytes, bytes)?;
    if is_little != cfg!(target_endian = "little") {
        expected.data_type.swap(&mut elements);
    }
    Ok(elements)
}

/// Refuses another type, order or shape. Returns true for little-endian elements.
fn check(header: &Header, expected: &Expected<'_>) -> Result<bool, String> {
    let name = npy_name(expected.data_type).unwrap_or_default();
    let order = header.descr.strip_suffix(name);
    let is_little = match order {
        Some("|") if expected.data_type.item_bytes() == 1 => true,
        Some("<") => true,
        Some(">") => false,
        _ => {
            let (has, should) = (&header.descr, expected.data_type);
            return Err(format!("it has elements of type `{has}`, it should have {should}"));
        }
    };
    if header.shape != expected.shape {
        return Err(expected.mismatch(&header.shape));
    }
    if header.is_fortran {
        let advice = "save numpy.ascontiguousarray of it";
        return Err(format!(
            "its elements are in Fortran order, they should be in C order: {advice}"
        ));
    }
    Ok(is_little)
}
