//! Headers of `.nii` files to be written.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rechunk_format::FormatError;
use rechunk_grid::{ArraySpec, Endian};
use serde_json::{Map, Value};

use super::fields::{place, set_float, set_integer};
use super::{ATTRIBUTE, AxisOrder, EXACT, Version, field, parse_nifti, types};
use crate::{Files, Header};

/// Returns the header of an array, and the byte order of its elements. They are those that
/// `attributes` keep, if shape and type are the array's; else the least that is valid.
pub(crate) fn header(
    spec: &ArraySpec,
    attributes: &Map<String, Value>,
    axes: AxisOrder,
) -> Result<(Vec<u8>, Endian), FormatError> {
    match kept(spec, attributes, axes) {
        Some(kept) => Ok(kept),
        None => Ok((least(spec, axes)?, Endian::Little)),
    }
}

/// Whether `attributes` keep a header of this shape and type, which
/// [`RawMetadata::nifti`](crate::RawMetadata::nifti) takes.
pub fn has_nifti_header(
    spec: &ArraySpec,
    attributes: &Map<String, Value>,
    axes: AxisOrder,
) -> bool {
    kept(spec, attributes, axes).is_some()
}

/// The header in the attributes, if it is one of this array.
fn kept(
    spec: &ArraySpec,
    attributes: &Map<String, Value>,
    axes: AxisOrder,
) -> Option<(Vec<u8>, Endian)> {
    let text = attributes.get(ATTRIBUTE)?.get(EXACT)?.as_str()?;
    let bytes = BASE64_STANDARD.decode(text).ok()?;
    let of = parse_nifti(&bytes, "header", axes).ok()?;
    let is_all = matches!(&of.files, Files::Single { header: Header::Nifti(all), .. }
        if all.len() == bytes.len());
    let is_same = of.spec.shape == spec.shape && of.spec.data_type == spec.data_type;
    (is_all && is_same).then_some((bytes, of.order.endian))
}

/// A header that says shape and type and nothing else, little-endian: of NIfTI-1 if its 16 bits
/// hold the extents.
fn least(spec: &ArraySpec, axes: AxisOrder) -> Result<Vec<u8>, FormatError> {
    let shape = axes.shape(&spec.shape);
    if !(1..=7).contains(&shape.len()) {
        let hint = "NIfTI has 1 to 7";
        return Err(field("dim").unsupported(format!("{} axes", shape.len()), hint));
    }
    if shape.contains(&0) {
        return Err(field("dim").unsupported("an axis of extent 0", ""));
    }
    let code = types::code(spec.data_type).ok_or_else(|| {
        let hint = "NIfTI has no such type";
        field("datatype").unsupported(format!("data type {}", spec.data_type), hint)
    })?;
    let is_small = shape.iter().all(|&extent| i16::try_from(extent).is_ok());
    let version = if is_small { Version::One } else { Version::Two };
    let (table, offset) = (version.table(), version.data_offset_min());
    let mut header = vec![0; offset];
    let size = i32::try_from(version.header_bytes()).unwrap_or(0);
    header[..4].copy_from_slice(&size.to_le_bytes());
    let (at, magic) = version.magic();
    header[at..at + magic.len()].copy_from_slice(magic);

    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let little = Endian::Little;
    let mut set =
        |name: &str, at, value| set_integer(&mut header, place(table, name), at, value, little);
    set("dim", 0, i64::try_from(shape.len()).unwrap_or(0));
    for at in 0..7 {
        // Axes that are not there have extent 1.
        set("dim", at + 1, shape.get(at).copied().map_or(1, signed));
    }
    set("datatype", 0, code);
    set("bitpix", 0, signed(8 * spec.item_bytes()));
    match version {
        Version::One => {
            set_float(&mut header, place(table, "vox_offset"), 0, offset as f64, little);
        }
        Version::Two => set("vox_offset", 0, i64::try_from(offset).unwrap_or(0)),
    }
    for at in 0..8 {
        set_float(&mut header, place(table, "pixdim"), at, 1.0, little);
    }
    set_float(&mut header, place(table, "scl_slope"), 0, 1.0, little);
    Ok(header)
}
