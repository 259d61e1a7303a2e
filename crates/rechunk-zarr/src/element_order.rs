//! Order of the bytes and of the axes of elements, as configurations of codecs say it.

use rechunk_format::FormatError;
use rechunk_grid::Endian;
use serde_json::{Map, Value};

use crate::field::{Field, shown};
use crate::json::text;

/// The axes after one more transposition.
pub(crate) fn parse_transpose(
    field: &Field,
    configuration: &Map<String, Value>,
    axes: &[usize],
) -> Result<Vec<usize>, FormatError> {
    let field = field.child("order");
    let value = configuration.get("order").ok_or_else(|| field.invalid("is missing"))?;
    let order = field.shape(value)?;
    let moved: Option<Vec<usize>> = order
        .iter()
        .map(|&axis| usize::try_from(axis).ok().and_then(|axis| axes.get(axis).copied()))
        .collect();
    let is_permutation = |moved: &Vec<usize>| {
        let mut sorted = moved.clone();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..axes.len())
    };
    moved.filter(is_permutation).ok_or_else(|| {
        field.invalid(format!("{} does not order {} axes", shown(value), axes.len()))
    })
}

/// The byte order in the configuration of `bytes`.
pub(crate) fn parse_endian(
    field: &Field,
    configuration: &Map<String, Value>,
) -> Result<Option<Endian>, FormatError> {
    let field = field.child("endian");
    let Some(value) = configuration.get("endian").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    match text(value) {
        Some("little") => Ok(Some(Endian::Little)),
        Some("big") => Ok(Some(Endian::Big)),
        _ => {
            let reason = format!("expected \"little\" or \"big\", found {}", shown(value));
            Err(field.invalid(reason))
        }
    }
}
