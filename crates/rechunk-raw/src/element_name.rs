//! Data types as `array.json` and options spell them.

use rechunk_format::FormatError;
use rechunk_format::field::{Field, shown};
use rechunk_format::numpy;
use rechunk_grid::{DataType, Endian, ITEM_BYTES_MAX};
use serde_json::Value;

use crate::record;

/// The type of a name: that of Zarr v3 (`uint16`), or NumPy's without byte order for those with a
/// parameter (`M8[ns]`, `S5`).
pub(crate) fn parse_name(field: &Field, text: &str) -> Result<DataType, FormatError> {
    let named = DataType::from_name(text).or_else(|| numpy::parse_kind(text));
    let refuse = || field.unsupported(format!("data type {}", shown(&Value::from(text))), "");
    let data_type = named.ok_or_else(refuse)?;
    if !(1..=ITEM_BYTES_MAX).contains(&data_type.item_bytes()) {
        let hint = format!("an element has 1 to {ITEM_BYTES_MAX} bytes");
        return Err(field.unsupported(format!("data type {text:?}"), &hint));
    }
    Ok(data_type)
}

/// A type, and the fields if it is a record.
pub(crate) fn parse(
    field: &Field,
    value: &Value,
) -> Result<(DataType, Option<Value>), FormatError> {
    if let Value::Array(list) = value {
        let (data_type, fields) = record::parse(field, list)?;
        return Ok((data_type, Some(fields)));
    }
    Ok((parse_name(field, field.text(value)?)?, None))
}

/// The name of a type that is no record; `None` if it has none.
pub(crate) fn write(data_type: DataType) -> Option<String> {
    if DataType::from_name(data_type.plain_name()) == Some(data_type) {
        return Some(data_type.name());
    }
    // Without the byte order.
    numpy::write(data_type, Endian::Little).map(|text| text[1..].to_owned())
}
