//! Where a Zarr array has the names of its dimensions, and which of these places is believed.
//!
//! First to last: the field `dimension_names` of v3; the attribute `_ARRAY_DIMENSIONS`, which
//! xarray keeps in v2 (early versions in v3 too, and a v2 store that was migrated still has it);
//! the references that netCDF-C writes, in `.zarray` up to version 4.9 and among the attributes
//! later. Names that only a group has for its arrays are not known here.

use serde_json::{Map, Value};

use crate::json::text;

/// Attribute that xarray keeps the dimension names of a v2 array in.
pub(crate) const V2_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Names of netCDF-C's own object in the document or the attributes of an array.
const NCZARR_ARRAY: [&str; 2] = ["_nczarr_array", "_NCZARR_ARRAY"];

/// Names of its attribute with the types of the others.
const NCZARR_TYPES: [&str; 4] = ["_nczarr_attr", "_nczarr_attrs", "_NCZARR_ATTR", "_NCZARR_ATTRS"];

/// Members of that object that list the dimensions, by version of netCDF-C.
const NCZARR_DIMENSIONS: [&str; 3] = ["dimension_references", "dimrefs", "dimensions"];

/// A name for each axis, where it has one.
type Names = Vec<Option<String>>;

/// Finds the names of a v2 array of `rank` axes, from its attributes and from `document`, the
/// members of its `.zarray`. The attribute that only says them is taken out.
pub(crate) fn of_v2(
    document: &Map<String, Value>,
    attributes: &mut Map<String, Value>,
    rank: usize,
) -> Option<Names> {
    take_attribute(attributes, rank)
        .or_else(|| of_nczarr(document, rank))
        .or_else(|| of_nczarr(attributes, rank))
}

/// Finds the names of a v3 array of `rank` axes: those of its `field`, if it names an axis, else
/// those among its attributes. The attribute that only says them is taken out where it is believed.
pub(crate) fn of_v3(
    field: Option<Names>,
    attributes: &mut Map<String, Value>,
    rank: usize,
) -> Option<Names> {
    if field.as_ref().is_some_and(|names| names.iter().any(Option::is_some)) {
        return field;
    }
    take_attribute(attributes, rank).or_else(|| of_nczarr(attributes, rank)).or(field)
}

/// Takes the names that xarray keeps out of the attributes. What does not fit the array stays.
pub(crate) fn take_attribute(attributes: &mut Map<String, Value>, rank: usize) -> Option<Names> {
    let names = listed(attributes.get(V2_DIMENSIONS)?, rank)?;
    let names = names.into_iter().map(|name| Some(name.to_owned())).collect();
    attributes.shift_remove(V2_DIMENSIONS);
    Some(names)
}

/// Drops the notes that netCDF-C has of an array of v2 beside its names. Those of an array of v3
/// differ; xarray hides them in v2 alone. Returns a sentence for people.
pub(crate) fn drop_nczarr(attributes: &mut Map<String, Value>) -> Option<String> {
    let known = NCZARR_ARRAY.iter().chain(&NCZARR_TYPES);
    let dropped: Vec<&str> =
        known.copied().filter(|name| attributes.shift_remove(*name).is_some()).collect();
    (!dropped.is_empty()).then(|| {
        let names = dropped.join(", ");
        format!("what netCDF-C notes for itself of arrays of Zarr v2 is dropped: {names}")
    })
}

/// The names that netCDF-C refers to. Its references are paths from the root: `/group/time`.
fn of_nczarr(map: &Map<String, Value>, rank: usize) -> Option<Names> {
    let array = NCZARR_ARRAY.iter().find_map(|name| map.get(*name)?.as_object())?;
    let list = NCZARR_DIMENSIONS.iter().find_map(|name| array.get(*name))?;
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    Some(listed(list, rank)?.into_iter().map(|path| Some(name(path))).collect())
}

/// A text for each of `rank` axes.
fn listed(value: &Value, rank: usize) -> Option<Vec<&str>> {
    let list = value.as_array().filter(|list| list.len() == rank)?;
    list.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the functions under test return it")]
    fn named(names: &[&str]) -> Option<Names> {
        Some(names.iter().map(|name| Some((*name).to_owned())).collect())
    }

    #[test]
    fn names_of_v2_come_from_the_first_place_that_has_them() {
        let xarray = json!({"_ARRAY_DIMENSIONS": ["t", "x"]});
        let both = json!({"_ARRAY_DIMENSIONS": ["t", "x"],
                          "_nczarr_array": {"dimension_references": ["/a", "/b"]}});
        let refs =
            |key: &str, list: &str| json!({key: {list: ["/a", "/g/b"], "storage": "chunked"}});
        let none = json!({});
        for (document, attributes, names, left) in [
            (&none, &xarray, named(&["t", "x"]), 0),
            (&none, &both, named(&["t", "x"]), 1),
            (&refs("_NCZARR_ARRAY", "dimrefs"), &none, named(&["a", "b"]), 0),
            (&refs("_nczarr_array", "dimrefs"), &none, named(&["a", "b"]), 0),
            (&refs("_nczarr_array", "dimensions"), &none, named(&["a", "b"]), 0),
            (&none, &refs("_nczarr_array", "dimension_references"), named(&["a", "b"]), 1),
            (&refs("_NCZARR_ARRAY", "dimrefs"), &xarray, named(&["t", "x"]), 0),
            (&refs("_NCZARR_ARRAY", "chunks"), &none, None, 0),
            (&json!({"_NCZARR_ARRAY": {"dimrefs": ["/a"]}}), &none, None, 0),
            (&json!({"_NCZARR_ARRAY": {"dimrefs": ["/a", 1]}}), &none, None, 0),
            (&json!({"_NCZARR_ARRAY": ["/a", "/b"]}), &none, None, 0),
            (&none, &json!({"_ARRAY_DIMENSIONS": ["t"]}), None, 1),
        ] {
            let mut attributes = map(attributes);
            let found = of_v2(&map(document), &mut attributes, 2);
            assert_eq!((found, attributes.len()), (names, left), "{document} {attributes:?}");
        }
    }

    #[test]
    fn the_field_of_v3_is_believed_before_its_attributes() {
        let attribute = json!({"_ARRAY_DIMENSIONS": ["t", "x"]});
        let unnamed = Some(vec![None, None]);
        let partly = Some(vec![None, Some("x".to_owned())]);
        for (field, attributes, names, left) in [
            (named(&["a", "b"]), &attribute, named(&["a", "b"]), 1),
            (partly.clone(), &attribute, partly, 1),
            (unnamed.clone(), &attribute, named(&["t", "x"]), 0),
            (None, &attribute, named(&["t", "x"]), 0),
            (None, &json!({"_nczarr_array": {"dimrefs": ["/t", "/x"]}}), named(&["t", "x"]), 1),
            (unnamed.clone(), &json!({"_ARRAY_DIMENSIONS": ["t"]}), unnamed, 1),
            (None, &json!({"_ARRAY_DIMENSIONS": "t"}), None, 1),
        ] {
            let mut attributes = map(attributes);
            let found = of_v3(field, &mut attributes, 2);
            assert_eq!((found, attributes.len()), (names, left), "{attributes:?}");
        }
    }

    #[test]
    fn a_scalar_has_no_names_or_an_empty_list() {
        let mut attributes = map(&json!({"_ARRAY_DIMENSIONS": []}));
        assert_eq!(of_v2(&Map::new(), &mut attributes, 0), Some(Vec::new()));
        assert_eq!(of_v2(&Map::new(), &mut attributes, 0), None);
    }
}
