//! Which elements xarray takes for missing, from one version to the other.
//!
//! In v2 that is the fill value: xarray (2024.10 and later, `FillValueCoder` in its Zarr backend)
//! reads it as the CF attribute `_FillValue`, and writes no such attribute. In v3 it is the
//! attribute alone, with floats in Base64 of a little-endian `float64`; another float there is an
//! error to it, and so is the attribute of text, bytes and NumPy's own times, of which nothing is
//! missing in v3. So what is to be the same data set to xarray has to say the same thing in another
//! way.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rechunk_format::FormatError;
use rechunk_grid::{DataType, FillValue};
use serde_json::Value;

use crate::field::Field;
use crate::fill_value::{float, parse_fill_value, part_of, write_fill_value};
use crate::json::{of_bare_token, plain as plain_json};
use crate::metadata::{ArrayMetadata, ZarrVersion};

/// The attribute of the CF conventions.
const FILL_VALUE: &str = "_FillValue";

/// Says to which versions an element of a type can be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Numbers and truth values: the fill value of v2, the attribute of v3.
    Number,
    /// Text, bytes and NumPy's own times: the fill value of v2. xarray opens no v3 array of such a
    /// type that has the attribute.
    InV2Only,
    /// Types that xarray does not read.
    Neither,
}

impl Kind {
    fn of(data_type: DataType) -> Self {
        match data_type {
            DataType::FixedUtf32 { .. }
            | DataType::FixedBytes { .. }
            | DataType::Variable
            | DataType::DateTime64 { .. }
            | DataType::TimeDelta64 { .. } => Self::InV2Only,
            _ if is_numeric(data_type) => Self::Number,
            _ => Self::Neither,
        }
    }
}

/// Whether an array may be one of xarray's: it has names of dimensions, but for a scalar of v3.
fn is_of_xarray(array: &ArrayMetadata) -> bool {
    array.spec.dimension_names.is_some() || array.is_v3_scalar()
}

/// Has `target`, of another version than `source`, say which elements are missing. Returns a
/// sentence for people where that takes another fill value, or cannot be said.
///
/// Arrays without dimension names are none of xarray's and stay as they are, and so do types that
/// it does not read. A scalar of v3 is one of its arrays without names.
pub fn carry_missing_value(source: &ArrayMetadata, target: &mut ArrayMetadata) -> Option<String> {
    if !is_of_xarray(source) {
        return None;
    }
    let data_type = source.spec.data_type;
    match (source.version, target.version, Kind::of(data_type)) {
        (ZarrVersion::V2, ZarrVersion::V3, Kind::Number) => {
            if let Some(value) = missing_value(source) {
                target.attributes.insert(FILL_VALUE.to_owned(), encoded(&value, data_type));
            }
            None
        }
        (ZarrVersion::V2, ZarrVersion::V3, Kind::InV2Only) => cannot_say(source, target),
        (ZarrVersion::V3, ZarrVersion::V2, Kind::Number) => to_v2(source, target),
        (ZarrVersion::V3, ZarrVersion::V2, Kind::InV2Only) => nothing_missing(source, target),
        _ => None,
    }
}

/// Has `target` say which elements are missing over the chunks of `source`, as
/// [`carry_missing_value`] does, with the same fill value. It is read where chunks are missing.
/// Returns a sentence for people where xarray then takes more for missing, and refuses what v2
/// cannot say.
pub fn keep_missing_value(
    source: &ArrayMetadata,
    target: &mut ArrayMetadata,
) -> Result<Option<String>, FormatError> {
    if (source.version, target.version) != (ZarrVersion::V3, ZarrVersion::V2) {
        return Ok(carry_missing_value(source, target));
    }
    let data_type = source.spec.data_type;
    if !is_of_xarray(source) {
        return Ok(None);
    }
    let (json, kind) = (source.fill_value_json(), Kind::of(data_type));
    let said = source.attributes.get(FILL_VALUE).filter(|_| kind == Kind::Number);
    let missing = said.and_then(|said| decoded(said, data_type));
    let fill = source.spec.fill_value.as_ref();
    if let (Some(missing), Some(fill)) = (&missing, fill) {
        if !is_same_missing_value(missing, fill, data_type) {
            let what = format!(
                "that {} is missing, beside the fill value {}, for both of which Zarr v2 has one \
                 value,",
                plain_json(&write_fill_value(missing, data_type)),
                plain_json(&json)
            );
            let hint = "a copy writes all chunks: rechunk copy";
            return Err(Field::new("zarr.json", FILL_VALUE).unsupported(what, hint));
        }
        target.attributes.shift_remove(FILL_VALUE);
        return Ok(None);
    }
    let is_missing_anyway = match kind {
        Kind::Number => fill.is_none_or(|fill| is_nan(fill, data_type)),
        Kind::InV2Only => json.is_null() || fill.is_some_and(|fill| is_nat(fill, source)),
        Kind::Neither => true,
    };
    Ok((!is_missing_anyway).then(|| {
        let fill = plain_json(&json);
        format!(
            "xarray takes the fill value of Zarr v2 for missing data: elements that are {fill} are \
             missing then"
        )
    }))
}

/// Drops what xarray takes for missing in v2, and would not open in v3.
fn cannot_say(source: &ArrayMetadata, target: &mut ArrayMetadata) -> Option<String> {
    let attribute = target.attributes.shift_remove(FILL_VALUE);
    let fill = Some(source.fill_value_json()).filter(|fill| !fill.is_null());
    // What is no time is missing anyway.
    let is_nat = source.spec.fill_value.as_ref().is_some_and(|fill| is_nat(fill, source));
    let missing = fill.filter(|_| !is_nat).or(attribute)?;
    Some(format!(
        "xarray takes elements that are {} for missing in Zarr v2, and has no such thing for their \
         type in v3: there they are values",
        plain_json(&missing)
    ))
}

/// Makes the fill value of v2 null, as nothing is missing: an empty text is a text.
fn nothing_missing(source: &ArrayMetadata, target: &mut ArrayMetadata) -> Option<String> {
    let fill = source.fill_value_json();
    (target.spec.fill_value, target.verbatim.fill_value) = (None, None);
    if source.spec.data_type.is_variable() {
        target.verbatim.fill_value = Some(Value::Null);
    }
    let is_nat = source.spec.fill_value.as_ref().is_some_and(|fill| is_nat(fill, source));
    // Chunks of variable length are copied as they are, so there is no more to be said of them.
    (!fill.is_null() && !is_nat && !source.spec.data_type.is_variable()).then(|| {
        let (was, becomes) = (plain_json(&fill), Value::Null);
        other_fill(&becomes, &was)
    })
}

/// Leaves the older attribute of the CF conventions out where it says that NaN is missing, as it is
/// anyway. JSON has it as text, with which xarray could not write the array again.
///
/// `target` has its attributes from another format; returns a sentence for people.
pub fn leave_out_missing_nan(target: &mut ArrayMetadata) -> Option<String> {
    const MISSING_VALUE: &str = "missing_value";
    let is_nan = target.attributes.get(MISSING_VALUE).is_some_and(|value| {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        crate::json::plain(value) == "NaN" && value != "NaN"
    });
    if !is_nan || !target.spec.data_type.is_ieee_float() {
        return None;
    }
    target.attributes.shift_remove(MISSING_VALUE);
    Some("the attribute missing_value NaN is left out: JSON has no NaN, and elements that are NaN are missing".to_owned())
}

/// The element that xarray takes for missing; `None` if there is none, or if the array is none of
/// xarray's.
pub fn missing_value(array: &ArrayMetadata) -> Option<FillValue> {
    let data_type = array.spec.data_type;
    if array.spec.dimension_names.is_none() || Kind::of(data_type) != Kind::Number {
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
    let part = if is_complex(data_type) { part_of(data_type) } else { data_type };
    let part_bytes = usize::try_from(part.item_bytes()).unwrap_or(1).max(1);
    let is_same_part = |(one, other): (&[u8], &[u8])| {
        let is_nan = |bytes| float::value_of(bytes, part).is_some_and(f64::is_nan);
        one == other || (is_nan(one) && is_nan(other))
    };
    let parts = one.bytes.chunks(part_bytes).zip(other.bytes.chunks(part_bytes));
    one.bytes.len() == other.bytes.len() && parts.into_iter().all(is_same_part)
}

/// The fill value of v2 becomes what is missing; null where nothing is. Then chunks that the source
/// has not are written, as nothing else says what they hold.
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
    let words = |value: &FillValue| write_fill_value(value, data_type);
    Some(other_fill(&missing.as_ref().map_or(Value::Null, words), &words(fill)))
}

/// Says that a v2 target has another fill value than its source.
fn other_fill(becomes: &Value, was: &Value) -> String {
    format!(
        "xarray takes the fill value of Zarr v2 for missing data: it becomes {becomes}, not {was}, and \
         all chunks are written"
    )
}

/// Whether a fill value is NumPy's "not a time".
fn is_nat(fill: &FillValue, array: &ArrayMetadata) -> bool {
    matches!(array.spec.data_type, DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. })
        && fill.bytes == i64::MIN.to_le_bytes()
}

/// Has `cast`, which is `source` with elements of another type, go on saying which are missing. Its
/// attribute is that of `source`, made a value of the new type by `convert`. Where there is no such
/// value it is dropped, for xarray opens no array with another; returns a sentence for people then.
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

/// Spells the attribute for v3, for elements of `data_type`, where it comes from another format.
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

/// The value of the attribute in a version; also the one that was meant where it is spelt
/// otherwise.
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
    data_type.is_ieee_float()
        || matches!(
            data_type,
            DataType::Complex64
                | DataType::Complex128
                | DataType::Bool
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

fn is_nan(value: &FillValue, data_type: DataType) -> bool {
    float::value_of(&value.bytes, data_type).is_some_and(f64::is_nan)
}

/// The attribute as v3 has it: of a complex number both parts.
fn encoded(value: &FillValue, data_type: DataType) -> Value {
    if is_complex(data_type) {
        let (real, imaginary) = value.bytes.split_at(value.bytes.len() / 2);
        let parts = [real, imaginary].map(|part| encoded_float(part, part_of(data_type)));
        return parts.into_iter().flatten().collect();
    }
    encoded_float(&value.bytes, data_type).unwrap_or_else(|| write_fill_value(value, data_type))
}

fn encoded_float(bytes: &[u8], data_type: DataType) -> Option<Value> {
    let float = float::value_of(bytes, data_type)?;
    Some(Value::from(BASE64_STANDARD.encode(float.to_le_bytes())))
}

/// The value of the attribute as v3 has it; `None` for what xarray would not read either.
fn decoded(said: &Value, data_type: DataType) -> Option<FillValue> {
    if is_complex(data_type) {
        let [real, imaginary] = said.as_array()?.as_slice() else { return None };
        let part = |said| decoded_float(said, part_of(data_type));
        return Some(FillValue { bytes: [part(real)?, part(imaginary)?].concat() });
    }
    if !data_type.is_ieee_float() {
        return plain(said, data_type);
    }
    decoded_float(said, data_type).map(|bytes| FillValue { bytes })
}

fn decoded_float(said: &Value, data_type: DataType) -> Option<Vec<u8>> {
    let bytes = BASE64_STANDARD.decode(said.as_str()?).ok()?;
    float::bytes_of(f64::from_le_bytes(bytes.try_into().ok()?), data_type)
}

fn is_complex(data_type: DataType) -> bool {
    matches!(data_type, DataType::Complex64 | DataType::Complex128)
}

/// The value of an attribute that says it as v2 does a fill value.
fn plain(said: &Value, data_type: DataType) -> Option<FillValue> {
    let field = Field::new(".zattrs", FILL_VALUE);
    parse_fill_value(&field, said, data_type, ZarrVersion::V2).ok().flatten()
}

#[cfg(test)]
mod tests;
