//! Records, as Zarr v2 and `.npy` files spell them: `[["a", "<i4"], ["b", "<f8", [2]]]`.

use rechunk_format::FormatError;
use rechunk_format::field::{Field, shown};
use rechunk_format::json::text;
use rechunk_format::numpy;
use rechunk_grid::{DataType, ITEM_BYTES_MAX, element_count};
use serde_json::{Value, json};

/// Deepest nesting of records that is read.
const DEPTH_MAX: usize = 16;

/// Reads a record; its type, and its spelling without what has no meaning (titles of fields).
pub(crate) fn parse(field: &Field, list: &[Value]) -> Result<(DataType, Value), FormatError> {
    let (bytes, spelled) = parse_fields(field, list, 0)?;
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    Ok((DataType::Structured { bytes }, spelled))
}

fn parse_fields(field: &Field, list: &[Value], depth: usize) -> Result<(u64, Value), FormatError> {
    if depth > DEPTH_MAX {
        return Err(field.unsupported(format!("records in records, {depth} deep"), ""));
    }
    let mut spelled = Vec::new();
    let mut bytes = 0_u64;
    for item in list {
        let (item_bytes, item) = parse_field(field, item, depth)?;
        bytes = bytes.saturating_add(item_bytes);
        spelled.push(item);
    }
    if !(1..=ITEM_BYTES_MAX).contains(&bytes) {
        let hint = format!("a record has 1 to {ITEM_BYTES_MAX} bytes");
        return Err(field.unsupported(format!("a record of {bytes} bytes"), &hint));
    }
    Ok((bytes, Value::Array(spelled)))
}

/// Bytes of a field, and how it is spelled.
fn parse_field(field: &Field, value: &Value, depth: usize) -> Result<(u64, Value), FormatError> {
    let wrong = || field.invalid(format!("{} is not a field of a record", shown(value)));
    let parts = value.as_array().ok_or_else(wrong)?;
    let (name, kind, shape) = match parts.as_slice() {
        [name, kind] => (name, kind, None),
        [name, kind, shape] => (name, kind, Some(shape)),
        _ => return Err(wrong()),
    };
    // NumPy writes a title as a pair with the name.
    let name = name.as_array().and_then(|pair| pair.get(1)).unwrap_or(name);
    let name = text(name).ok_or_else(wrong)?;
    let field = field.child(name);
    let (bytes, kind) = match kind {
        Value::Array(list) => parse_fields(&field, list, depth + 1)?,
        other => {
            let text = field.text(other)?;
            (numpy::parse(&field, text)?.0.item_bytes(), Value::from(text))
        }
    };
    let Some(shape) = shape else { return Ok((bytes, json!([name, kind]))) };
    let shape = match shape.as_u64() {
        Some(extent) => vec![extent],
        None => field.shape(shape)?,
    };
    let elements = element_count(&shape).unwrap_or(u64::MAX);
    Ok((bytes.saturating_mul(elements), json!([name, kind, shape])))
}
