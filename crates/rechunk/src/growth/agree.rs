//! Do source and target mean the same? Asked before anything is written.

use rechunk_format::cast::cast_fill_value;
use rechunk_format::json::plain;
use rechunk_grid::{ArraySpec, FillValue};
use rechunk_zarr::{is_same_missing_value, missing_value, write_fill_value};
use serde_json::{Map, Value};

use super::{Placement, usage};
use crate::chunk_spec::axis_in_words;
use crate::metadata::Metadata;
use crate::open::OpenArray;
use crate::{Error, format_shape};

/// Attributes without which elements mean something else (CF conventions, sections 2.5.1, 3.1, 4.4.1, 8.1;
/// NetCDF attribute conventions for `_Unsigned`). For `_FillValue` see [`check_missing`].
const ENCODINGS: [&str; 6] =
    ["units", "calendar", "scale_factor", "add_offset", "missing_value", "_Unsigned"];

const AS_TARGET: &str = "write the source with the encoding of the target (in xarray: \
                         ds[NAME].encoding.update(...))";

/// The axis that is meant: a dimension's name, else a number.
pub(super) fn axis(placement: &Placement, text: &str, spec: &ArraySpec) -> Result<usize, Error> {
    let text = text.trim();
    let number = || text.parse::<usize>().ok().filter(|axis| *axis < spec.shape.len());
    let axis = spec.axis_named(text).or_else(number);
    if let Some(name) = axis.and_then(|axis| spec.dimension_name(axis))
        && spec.axes_named(name).count() > 1
    {
        return Err(Error::Usage {
            message: format!(
                "{}: {} axes of the target are named `{name}`, and growing one of them would leave \
                 two lengths of one name",
                placement.option(),
                spec.axes_named(name).count()
            ),
            hint: Some("copy the array anew; --region writes into what is there".to_owned()),
        });
    }
    axis.ok_or_else(|| {
        let names: Vec<String> =
            (0..spec.shape.len()).map(|axis| axis_in_words(spec, axis)).collect();
        usage(placement, &format!("the target has no `{text}`, but {}", names.join(", ")))
    })
}

fn conflict(location: &str, reason: String, hint: &str) -> Error {
    Error::Conflict { location: location.to_owned(), reason, hint: Some(hint.to_owned()) }
}

/// Refuses a source that is not of the kind of the target.
pub(super) fn check(location: &str, source: &OpenArray, target: &OpenArray) -> Result<(), Error> {
    let (own, theirs) = (source.spec(), target.spec());
    let cast = source.cast.map(|to| to.data_type.to_string());
    let name = cast.unwrap_or_else(|| source.metadata.data_type_name());
    let theirs_name = target.metadata.data_type_name();
    // Of numbers that are cast, the type is all.
    if own.data_type != theirs.data_type || (source.cast.is_none() && name != theirs_name) {
        let reason = format!("holds {theirs_name}, and the source {name}");
        return Err(conflict(location, reason, "--cast TYPE converts numbers"));
    }
    if own.data_type.is_variable() {
        let reason = "has elements of variable length, which are only copied as a whole".to_owned();
        return Err(conflict(location, reason, "copy the array anew"));
    }
    if source.packed.is_some() {
        let reason = "cannot take a source that is compressed as one file".to_owned();
        return Err(conflict(location, reason, "unpack it first"));
    }
    check_axes(location, own, theirs)?;
    check_encodings(location, &source.metadata, &target.metadata)?;
    check_missing(location, source, target)
}

/// Refuses a source whose missing elements are others than those of the target, as far as both say which
/// these are.
fn check_missing(location: &str, source: &OpenArray, target: &OpenArray) -> Result<(), Error> {
    let (Some(own), Some(theirs)) = (source.metadata.zarr(), target.metadata.zarr()) else {
        return Ok(());
    };
    // Levels of an image are none of xarray's arrays: nothing in them is missing.
    if source.is_named_by_group || target.is_named_by_group {
        return Ok(());
    }
    let (from, data_type) = (own.spec.data_type, theirs.spec.data_type);
    let (Some(own), Some(theirs)) = (missing_value(own), missing_value(theirs)) else {
        return Ok(());
    };
    let own =
        if from == data_type { Some(own) } else { cast_fill_value(&own, from, data_type).ok() };
    if own.as_ref().is_some_and(|own| is_same_missing_value(own, &theirs, data_type)) {
        return Ok(());
    }
    let words = |value: &FillValue| write_fill_value(value, data_type).to_string();
    let own = own.as_ref().map_or_else(|| format!("what {data_type} does not hold"), words);
    let reason = format!(
        "has {} for missing elements, and the source {own}: they would become values",
        words(&theirs)
    );
    Err(conflict(location, reason, AS_TARGET))
}

/// Refuses other axes, as far as both have names.
fn check_axes(location: &str, own: &ArraySpec, theirs: &ArraySpec) -> Result<(), Error> {
    let hint = "the source has to have the axes of the target, in their order";
    if own.shape.len() != theirs.shape.len() {
        let reason = format!("has {} axes, and the source {}", theirs.shape.len(), own.shape.len());
        return Err(conflict(location, reason, hint));
    }
    for axis in 0..own.shape.len() {
        if let (Some(mine), Some(name)) = (own.dimension_name(axis), theirs.dimension_name(axis))
            && mine != name
        {
            let reason = format!("has the axis {axis} `{name}`, and the source `{mine}`");
            return Err(conflict(location, reason, hint));
        }
    }
    Ok(())
}

/// Refuses other extents, `but` that of one axis.
pub(super) fn check_extents(
    location: &str,
    own: &ArraySpec,
    theirs: &ArraySpec,
    but: usize,
) -> Result<(), Error> {
    let differs = |&axis: &usize| axis != but && own.shape[axis] != theirs.shape[axis];
    let Some(axis) = (0..own.shape.len()).find(differs) else { return Ok(()) };
    let (mine, name) = (own.shape[axis], axis_in_words(theirs, axis));
    let reason = format!("has {} elements along {name}, and the source {mine}", theirs.shape[axis]);
    Err(conflict(location, reason, "only the axis that is appended along may differ"))
}

/// Refuses elements that would mean something else in the target.
fn check_encodings(location: &str, source: &Metadata, target: &Metadata) -> Result<(), Error> {
    if matches!(source, Metadata::Raw(_)) {
        return Ok(()); // it says nothing of its elements
    }
    for name in ENCODINGS {
        let (own, theirs) = (said(source.attributes(), name), said(target.attributes(), name));
        if own != theirs {
            let (own, theirs) = (in_words(own.as_ref()), in_words(theirs.as_ref()));
            let reason = format!(
                "has the attribute {name} {theirs}, and the source {own}: its elements would mean \
                 something else"
            );
            return Err(conflict(location, reason, AS_TARGET));
        }
    }
    Ok(())
}

/// What an attribute says, where two ways to say the same are one.
fn said(attributes: &Map<String, Value>, name: &str) -> Option<Value> {
    let value = &plain(attributes.get(name)?);
    match (name, value.as_str()) {
        // NaN is missing, and these calendars are the same and meant, where nothing is said (CF, section 4.4.1).
        ("missing_value", Some("NaN")) | ("calendar", Some("standard" | "gregorian")) => None,
        _ => value.as_f64().map(Value::from).or_else(|| Some(value.clone())),
    }
}

fn in_words(value: Option<&Value>) -> String {
    value.map_or_else(|| "not".to_owned(), Value::to_string)
}

/// Refuses an array of a group that the target does not have like that: it is left as it is.
pub(crate) fn check_unmoved(
    location: &str,
    source: &OpenArray,
    target: &OpenArray,
) -> Result<(), Error> {
    let (own, theirs) = (&source.spec().shape, &target.spec().shape);
    if own != theirs {
        let reason =
            format!("has the shape {}, and the source {}", format_shape(theirs), format_shape(own));
        return Err(conflict(
            location,
            reason,
            "arrays without the dimension stay as they are, and have to be alike",
        ));
    }
    check_axes(location, source.spec(), target.spec())
}
