//! The fill value `null`: nothing is said of missing chunks. v2 has it. v3 demands a value, though
//! GDAL writes null there for a raster without nodata.
//!
//! What v3 is given instead must not look like a statement. GDAL takes any fill value of v3 for the
//! nodata of a raster, and no field keeps it from that. So floats get NaN, as GDAL and xarray write
//! themselves, times get NaT, and integers zero, as zarr-python does, with a warning.

use rechunk_grid::{DataType, FillValue};
use serde_json::Value;

use crate::fill_value::{float, part_of};
use crate::metadata::{ArrayMetadata, ZarrVersion};

/// Attribute of a v3 array whose fill value was null in v2; its value is null.
const NOTE: &str = "rechunk_fill_value";

/// Gives `target`, which is of v3 and has null for its fill value, one that v3 has. Returns a
/// sentence for people.
pub(crate) fn fill_in(target: &mut ArrayMetadata) -> String {
    let data_type = target.spec.data_type;
    let (fill, word) = instead(data_type);
    target.spec.fill_value = Some(fill);
    let is_raster = target.spec.shape.len() >= 2 && is_integer(data_type);
    let consequence = if is_raster { ", which GDAL takes for nodata" } else { "" };
    format!("Zarr v3 needs a fill value: null becomes {word}{consequence}")
}

/// Says in a v3 `target` that the fill value of its v2 source was null, for the way back.
pub fn note_null_fill(source: &ArrayMetadata, target: &mut ArrayMetadata) {
    if source.version == ZarrVersion::V2
        && target.version == ZarrVersion::V3
        && source.spec.fill_value.is_none()
        && !source.spec.data_type.is_variable()
    {
        target.attributes.insert(NOTE.to_owned(), Value::Null);
    }
}

/// Gives a v2 `target` back the null that it had before it went to v3, if that is noted.
pub(crate) fn restore(target: &mut ArrayMetadata) {
    if target.attributes.get(NOTE).is_some_and(Value::is_null) {
        target.attributes.shift_remove(NOTE);
        target.spec.fill_value = None;
    }
}

/// The value that says least, and its name.
fn instead(data_type: DataType) -> (FillValue, &'static str) {
    let nan = match data_type {
        DataType::Float16 | DataType::Bfloat16 | DataType::Float32 | DataType::Float64 => {
            float::canonical_nan(data_type)
        }
        DataType::Complex64 | DataType::Complex128 => {
            float::canonical_nan(part_of(data_type)).map(|part| part.repeat(2))
        }
        _ => None,
    };
    if let Some(bytes) = nan {
        return (FillValue { bytes }, "NaN");
    }
    if matches!(data_type, DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. }) {
        return (FillValue { bytes: i64::MIN.to_le_bytes().to_vec() }, "NaT");
    }
    let is_text = matches!(data_type, DataType::FixedUtf32 { .. } | DataType::FixedBytes { .. });
    (FillValue::zero(data_type.item_bytes()), if is_text { "an empty text" } else { "zero" })
}

fn is_integer(data_type: DataType) -> bool {
    matches!(
        data_type,
        DataType::Bool
            | DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Uint8
            | DataType::Uint16
            | DataType::Uint32
            | DataType::Uint64
    )
}

#[cfg(test)]
mod tests;
