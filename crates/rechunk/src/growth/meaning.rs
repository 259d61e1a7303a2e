//! Attributes that give elements their meaning: do source and target say the same?

use rechunk_format::cast::cast_fill_value;
use rechunk_format::json::plain;
use rechunk_grid::FillValue;
use rechunk_zarr::{is_same_missing_value, missing_value, write_fill_value};
use serde_json::{Map, Value};

use super::conflict;
use crate::calendar::Since;
use crate::formats::Fact;
use crate::open::OpenArray;
use crate::{Error, Remedy};

/// Attributes that say how times are counted (CF conventions, section 4.4).
const COUNTS: [&str; 2] = ["calendar", "units"];
/// Attributes without which elements mean something else, also where one side has none. See the CF
/// conventions, sections 2.5.1, 3.1, 4.3, 8.1, 8.2, and the NetCDF attribute conventions for
/// `_Unsigned`; for `_FillValue` see [`check_missing`].
const ENCODINGS: [&str; 6] =
    ["scale_factor", "add_offset", "missing_value", "_Unsigned", "positive", "compress"];
/// Attributes that mean something else where both sides have them and differ (CF conventions,
/// sections 3.3, 3.5, 4, 4.3.3).
const DESCRIPTIONS: [&str; 6] =
    ["standard_name", "axis", "flag_values", "flag_masks", "flag_meanings", "formula_terms"];
/// Attributes that tell a grid mapping from other arrays (CF conventions, section 5.6; GDAL).
const GRID_MAPPING: [&str; 3] = ["grid_mapping_name", "crs_wkt", "spatial_ref"];
/// Attributes that are no parameters of a grid mapping: texts for people, and what says how it is
/// stored.
const NO_PARAMETERS: [&str; 13] = [
    "_ARRAY_DIMENSIONS",
    "_FillValue",
    "_nczarr_attrs",
    "_nczarr_var",
    "_NCProperties",
    "comment",
    "coordinates",
    "grid_mapping",
    "history",
    "institution",
    "long_name",
    "references",
    "source",
];

/// Ways to write degrees along latitude and longitude (CF conventions, sections 4.1, 4.2).
const DEGREES: [(&str, [&str; 6]); 2] = [
    (
        "degrees_north",
        ["degrees_north", "degree_north", "degree_N", "degrees_N", "degreeN", "degreesN"],
    ),
    (
        "degrees_east",
        ["degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"],
    ),
];

const AS_TARGET: Remedy = Remedy::EncodeOrTrust;

/// Refuses a source whose elements would mean something else in the target. `is_recounted`: its
/// times are read as the target counts them.
pub(super) fn check(
    location: &str,
    source: &OpenArray,
    target: &OpenArray,
    is_recounted: bool,
) -> Result<(), Error> {
    if !source.metadata.format().has(Fact::Meaning) {
        return Ok(()); // it says nothing of its elements
    }
    let (own, theirs) = (source.metadata.meaning(), target.metadata.meaning());
    let (own, theirs) = (&*own, &*theirs);
    let differs = |name: &str| {
        let (own, theirs) = (said(own, name), said(theirs, name));
        (own != theirs).then(|| {
            let (own, theirs) = (in_words(own.as_ref()), in_words(theirs.as_ref()));
            let reason = format!(
                "has the attribute {name} {theirs}, and the source {own}: its elements would mean \
                 something else"
            );
            conflict(location, reason, AS_TARGET)
        })
    };
    let both = |name: &&str| said(own, name).is_some() && said(theirs, name).is_some();
    let (count, their_count) = (Since::of_attributes(own), Since::of_attributes(theirs));
    let is_counted_alike = is_recounted || (count.is_some() && count == their_count);
    let counts = COUNTS.iter().copied().filter(|_| !is_counted_alike);
    let described = DESCRIPTIONS.iter().copied().filter(|name| both(name));
    let parameters = parameters(own, theirs);
    let parameters = parameters.iter().map(String::as_str);
    let mut names = counts.chain(ENCODINGS).chain(described).chain(parameters);
    if let Some(error) = names.find_map(differs) {
        return Err(error);
    }
    if is_recounted { Ok(()) } else { check_missing(location, source, target) }
}

/// The names of the parameters of a grid mapping, if one of the two is one.
fn parameters(own: &Map<String, Value>, theirs: &Map<String, Value>) -> Vec<String> {
    let is_mapping =
        |said: &Map<String, Value>| GRID_MAPPING.iter().any(|name| said.contains_key(*name));
    if !is_mapping(own) && !is_mapping(theirs) {
        return Vec::new();
    }
    let names = own.keys().chain(theirs.keys().filter(|name| !own.contains_key(*name)));
    names.filter(|name| !NO_PARAMETERS.contains(&name.as_str())).cloned().collect()
}

/// Refuses a source whose missing elements are others than those of the target, as far as both say
/// which these are.
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

/// The value of an attribute, where two ways to say the same are one.
fn said(attributes: &Map<String, Value>, name: &str) -> Option<Value> {
    let value = plain(attributes.get(name)?);
    match (name, value.as_str()) {
        ("missing_value", Some("NaN")) => None, // it is anyway
        ("calendar", Some(calendar)) => calendar_said(calendar),
        ("units", Some(units)) => Some(Value::from(units_said(units))),
        ("positive" | "axis", Some(word)) => Some(Value::from(word.to_ascii_lowercase())),
        _ => Some(as_numbers(value)),
    }
}

/// A calendar by one of its names; where nothing is said it is the standard one (CF conventions,
/// section 4.4.1).
fn calendar_said(name: &str) -> Option<Value> {
    match name.to_ascii_lowercase().as_str() {
        "standard" | "gregorian" => None,
        "365_day" => Some(Value::from("noleap")),
        "366_day" => Some(Value::from("all_leap")),
        other => Some(Value::from(other)),
    }
}

fn units_said(units: &str) -> &str {
    let known = DEGREES.iter().find(|(_, names)| names.contains(&units));
    known.map_or(units, |(name, _)| name)
}

/// Numbers by their value, and lists of one as the one: NetCDF does not tell them apart.
fn as_numbers(value: Value) -> Value {
    match value {
        Value::Array(mut list) if list.len() == 1 => list.pop().map_or(Value::Null, as_numbers),
        Value::Array(list) => Value::Array(list.into_iter().map(as_numbers).collect()),
        Value::Number(number) => number.as_f64().map_or(Value::Number(number), Value::from),
        other => other,
    }
}

fn in_words(value: Option<&Value>) -> String {
    /// Most characters of a value in a message: WKT is longer.
    const SHOWN_CHARS_MAX: usize = 200;
    let text = value.map_or_else(|| "not".to_owned(), Value::to_string);
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn two_ways_to_say_the_same_are_one() {
        for (name, one, other) in [
            ("calendar", json!("standard"), json!("gregorian")),
            ("calendar", json!("365_day"), json!("NoLeap")),
            ("calendar", json!("366_day"), json!("all_leap")),
            ("units", json!("degrees_north"), json!("degree_N")),
            ("units", json!("degrees_east"), json!("degreesE")),
            ("scale_factor", json!(1), json!(1.0)),
            ("scale_factor", json!([0.5]), json!(0.5)),
            ("flag_values", json!([0, 1]), json!([0.0, 1.0])),
            ("positive", json!("down"), json!("Down")),
        ] {
            let of = |value: &Value| said(&object(json!({ name: value })), name);
            assert_eq!(of(&one), of(&other), "{name}: {one} and {other}");
        }
        for (name, one, other) in [
            ("calendar", json!("noleap"), json!("standard")),
            ("units", json!("hPa"), json!("Pa")),
            ("units", json!("degrees_north"), json!("degrees_east")),
            ("flag_values", json!([0, 1]), json!([1, 0])),
            ("positive", json!("up"), json!("down")),
        ] {
            let of = |value: &Value| said(&object(json!({ name: value })), name);
            assert_ne!(of(&one), of(&other), "{name}: {one} and {other}");
        }
    }

    #[test]
    fn a_grid_mapping_is_all_of_its_parameters() {
        let own = object(json!({"crs_wkt": "x", "history": "1", "earth_radius": 6.4e6}));
        let theirs = object(json!({"crs_wkt": "x", "long_name": "2", "proj4": "+x"}));
        assert_eq!(parameters(&own, &theirs), ["crs_wkt", "earth_radius", "proj4"]);
        let plain = object(json!({"units": "K", "proj4": "+x"}));
        assert_eq!(parameters(&plain, &plain), [""; 0]);
    }
}
