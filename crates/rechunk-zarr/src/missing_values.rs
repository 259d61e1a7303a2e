//! Which elements xarray takes for missing, from one version to the other.
//!
//! In v2 that is the fill value: xarray (2024.10 and later, `FillValueCoder` in its Zarr backend) reads
//! it as the CF attribute `_FillValue`, and writes no such attribute. In v3 it is the attribute alone,
//! with floats in Base64 of a little-endian `float64`; another float there is an error to it. So what is
//! to be the same data set to xarray has to say the same thing in another way.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rechunk_grid::{DataType, FillValue};
use serde_json::Value;

use crate::field::Field;
use crate::fill_value::{float, parse_fill_value, write_fill_value};
use crate::json::of_bare_token;
use crate::metadata::{ArrayMetadata, ZarrVersion};

/// The attribute of the CF conventions.
const FILL_VALUE: &str = "_FillValue";

/// Has `target`, of another version than `source`, say which elements are missing. Where that takes
/// another fill value, returns a sentence for people.
///
/// Arrays without dimension names are none of xarray's and stay as they are, and so do types for which
/// xarray has no such attribute.
pub fn carry_missing_value(source: &ArrayMetadata, target: &mut ArrayMetadata) -> Option<String> {
    let data_type = source.spec.data_type;
    if source.spec.dimension_names.is_none() || !is_numeric(data_type) {
        return None;
    }
    match (source.version, target.version) {
        (ZarrVersion::V2, ZarrVersion::V3) => {
            if let Some(value) = missing_value(source) {
                target.attributes.insert(FILL_VALUE.to_owned(), encoded(&value, data_type));
            }
            None
        }
        (ZarrVersion::V3, ZarrVersion::V2) => to_v2(source, target),
        _ => None,
    }
}

/// Leaves the older attribute of the CF conventions out where it says that NaN is missing, which it is anyway: as
/// text, which is what JSON has for it, xarray could not write the array again.
///
/// `target` has its attributes from another format; returns a sentence for people.
pub fn leave_out_missing_nan(target: &mut ArrayMetadata) -> Option<String> {
    const MISSING_VALUE: &str = "missing_value";
    let is_nan = target.attributes.get(MISSING_VALUE).is_some_and(|value| {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        crate::json::plain(value) == "NaN" && value != "NaN"
    });
    if !is_nan || !is_float(target.spec.data_type) {
        return None;
    }
    target.attributes.shift_remove(MISSING_VALUE);
    Some("the attribute missing_value NaN is left out: JSON has no NaN, and elements that are NaN are missing".to_owned())
}

/// The element that xarray takes for missing; `None` if there is none, or if the array is none of
/// xarray's.
pub fn missing_value(array: &ArrayMetadata) -> Option<FillValue> {
    let data_type = array.spec.data_type;
    if array.spec.dimension_names.is_none() || !is_numeric(data_type) {
        return None;
    }
    let said = array.attributes.get(FILL_VALUE);
    match array.version {
        ZarrVersion::V2 => {
            let fill = array.spec.fill_value.clone();
            fill.or_else(|| said.and_then(|said| plain(said, data_type)))
        }
        ZarrVersion::V3 => said.and_then(|said| decoded(said, data_type)),
    }
}

/// Whether two elements that are missing are the same: every NaN is.
pub fn is_same_missing_value(one: &FillValue, other: &FillValue, data_type: DataType) -> bool {
    one == other || (is_nan(one, data_type) && is_nan(other, data_type))
}

/// The fill value of v2 becomes what is missing; null where nothing is. Then chunks that the source has
/// not are written, as nothing else says what they hold.
fn to_v2(source: &ArrayMetadata, target: &mut ArrayMetadata) -> Option<String> {
    let data_type = source.spec.data_type;
    let fill = source.spec.fill_value.as_ref()?;
    let said = source.attributes.get(FILL_VALUE);
    let missing = said.and_then(|said| decoded(said, data_type));
    match &missing {
        None if is_nan(fill, data_type) => return None,
        None => target.spec.fill_value = None,
        Some(missing) => {
            // xarray writes it so, and would not read it.
            target.attributes.shift_remove(FILL_VALUE);
            if is_same_missing_value(missing, fill, data_type) {
                return None;
            }
            target.spec.fill_value = Some(missing.clone());
        }
    }
    let words = |value: &FillValue| write_fill_value(value, data_type).to_string();
    Some(format!(
        "xarray takes the fill value of Zarr v2 for missing data: it becomes {}, not {}, and all chunks \
         are written",
        missing.as_ref().map_or("null".to_owned(), words),
        words(fill)
    ))
}

/// Has `cast`, which is `source` with elements of another type, go on saying which are missing: its
/// attribute is that of `source`, made a value of the new type by `convert`. Where there is no such value
/// it is dropped, for xarray opens no array with another; returns a sentence for people then.
pub fn recast_missing_value(
    source: &ArrayMetadata,
    cast: &mut ArrayMetadata,
    convert: impl Fn(&FillValue) -> Option<FillValue>,
) -> Option<String> {
    let (from, to) = (source.spec.data_type, cast.spec.data_type);
    let said = source.attributes.get(FILL_VALUE)?;
    if let Some(value) = read(said, from, source.version).and_then(|value| convert(&value)) {
        cast.attributes.insert(FILL_VALUE.to_owned(), written(&value, to, cast.version));
        return None;
    }
    cast.attributes.shift_remove(FILL_VALUE);
    Some(format!("{FILL_VALUE}: {said} is no {to}: the attribute is dropped"))
}

/// Has `target`, of another version than `source`, spell the attribute as its version does.
pub fn respell_missing_value(source: &ArrayMetadata, target: &mut ArrayMetadata) {
    let data_type = source.spec.data_type;
    let said = source.attributes.get(FILL_VALUE);
    let value = said.and_then(|said| read(said, data_type, source.version));
    if let Some(value) = value {
        let written = written(&value, data_type, target.version);
        target.attributes.insert(FILL_VALUE.to_owned(), written);
    }
}

/// How the attribute is spelled in v3, for elements of `data_type`, where it comes from another format.
pub fn missing_value_in_v3(said: &Value, data_type: DataType) -> MissingValue {
    if !is_numeric(data_type) || decoded(said, data_type).is_some() {
        return MissingValue::Right;
    }
    match plain(said, data_type) {
        Some(value) => MissingValue::Spelled(encoded(&value, data_type)),
        None => MissingValue::Wrong,
    }
}

/// The attribute `_FillValue` of an array from another format, in v3.
#[derive(Debug, Clone, PartialEq)]
pub enum MissingValue {
    /// It is spelled as in v3, or nothing that xarray looks at.
    Right,
    /// It is spelled so in v3.
    Spelled(Value),
    /// It is no element: xarray opens no such array.
    Wrong,
}

/// The value of the attribute in a version; also the one that was meant where it is spelt otherwise.
fn read(said: &Value, data_type: DataType, version: ZarrVersion) -> Option<FillValue> {
    let in_v3 = (version == ZarrVersion::V3).then(|| decoded(said, data_type)).flatten();
    in_v3.or_else(|| plain(said, data_type))
}

fn written(value: &FillValue, data_type: DataType, version: ZarrVersion) -> Value {
    match version {
        ZarrVersion::V2 => {
            let written = write_fill_value(value, data_type);
            // An attribute is no fill value, and has NaN as Python writes it.
            written.as_str().and_then(of_bare_token).unwrap_or(written)
        }
        ZarrVersion::V3 => encoded(value, data_type),
    }
}

/// True for the types that xarray writes the attribute for as a number or a truth value.
fn is_numeric(data_type: DataType) -> bool {
    is_float(data_type)
        || matches!(
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

fn is_float(data_type: DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

fn is_nan(value: &FillValue, data_type: DataType) -> bool {
    float::value_of(&value.bytes, data_type).is_some_and(f64::is_nan)
}

/// The attribute as v3 has it.
fn encoded(value: &FillValue, data_type: DataType) -> Value {
    match float::value_of(&value.bytes, data_type) {
        Some(float) => Value::from(BASE64_STANDARD.encode(float.to_le_bytes())),
        None => write_fill_value(value, data_type),
    }
}

/// The value of the attribute as v3 has it; `None` for what xarray would not read either.
fn decoded(said: &Value, data_type: DataType) -> Option<FillValue> {
    if !is_float(data_type) {
        return plain(said, data_type);
    }
    let bytes = BASE64_STANDARD.decode(said.as_str()?).ok()?;
    let float = f64::from_le_bytes(bytes.try_into().ok()?);
    float::bytes_of(float, data_type).map(|bytes| FillValue { bytes })
}

/// The value of an attribute that says it as v2 does a fill value.
fn plain(said: &Value, data_type: DataType) -> Option<FillValue> {
    let field = Field::new(".zattrs", FILL_VALUE);
    parse_fill_value(&field, said, data_type, ZarrVersion::V2).ok().flatten()
}

#[cfg(test)]
mod tests;
