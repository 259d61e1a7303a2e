//! NCZarr, the Zarr of netCDF-C: a group says the sizes of its dimensions, which netCDF-C compares
//! with the shapes of the arrays.

use serde_json::{Map, Value};

use super::{AxisChange, Changes};

/// Attributes, or members of `.zgroup`, that say the dimensions of a group.
const GROUP_NAMES: [&str; 2] = ["_nczarr_group", "_NCZARR_GROUP"];
/// Those that say the dimensions of an array.
const ARRAY_NAMES: [&str; 2] = ["_nczarr_array", "_NCZARR_ARRAY"];
/// Larger documents are none of netCDF-C.
const DOCUMENT_BYTES_MAX: usize = 1 << 20;
const DIMENSIONS: [&str; 2] = ["dimensions", "dims"];
const REFERENCES: [&str; 2] = ["dimension_references", "dimrefs"];

/// The paths of the dimensions of an array, where its attributes say them: `/time`, `/g/x`.
pub(super) fn references(attributes: &Map<String, Value>) -> Vec<String> {
    let array = ARRAY_NAMES.iter().find_map(|name| attributes.get(*name));
    let references = REFERENCES.iter().find_map(|name| array?.get(name)?.as_array());
    let references = references.into_iter().flatten();
    references.map(|reference| reference.as_str().unwrap_or_default().to_owned()).collect()
}

/// Whether the `.zarray` of an array says its dimensions.
pub(super) fn is_in_document(document: &[u8]) -> bool {
    let has = |name: &&str| document.windows(name.len()).any(|part| part == name.as_bytes());
    document.len() <= DOCUMENT_BYTES_MAX && ARRAY_NAMES.iter().any(has)
}

pub(super) fn is_in(attributes: &Map<String, Value>) -> bool {
    GROUP_NAMES.iter().any(|name| attributes.contains_key(*name))
}

/// Says the new sizes of the dimensions of the group at `path`.
pub(super) fn follow(
    changes: &Changes,
    path: &str,
    attributes: &mut Map<String, Value>,
) -> Vec<String> {
    for name in GROUP_NAMES {
        let Some(group) = attributes.get_mut(name) else { continue };
        for field in DIMENSIONS {
            let Some(Value::Object(dimensions)) = group.get_mut(field) else { continue };
            for (dimension, size) in dimensions {
                if let Some(after) = changes.size(path, dimension) {
                    set_size(size, after);
                }
            }
        }
    }
    Vec::new()
}

/// A size is a number, or an object that also says whether the dimension is unlimited.
fn set_size(size: &mut Value, after: u64) {
    match size {
        Value::Object(members) => {
            members.insert("size".to_owned(), after.into());
        }
        size => *size = after.into(),
    }
}

impl Changes {
    /// The size of a dimension of the group at `group`; `None` if no array has it, or none changes.
    fn size(&self, group: &str, dimension: &str) -> Option<u64> {
        let path = match group {
            "" => format!("/{dimension}"),
            _ => format!("/{group}/{dimension}"),
        };
        let below = if group.is_empty() { String::new() } else { format!("{group}/") };
        let is_meant = |array: &str, axis: &AxisChange| match &axis.reference {
            Some(reference) => *reference == path,
            None => array.starts_with(&below) && axis.name.as_deref() == Some(dimension),
        };
        let axes = self
            .arrays
            .iter()
            .flat_map(|array| array.axes.iter().filter(|axis| is_meant(&array.path, axis)));
        let axes: Vec<&AxisChange> = axes.collect();
        // The array that is longest has all of an unlimited dimension.
        axes.iter()
            .any(|axis| axis.is_changed())
            .then(|| axes.iter().map(|axis| axis.after).max())?
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::changes;
    use super::*;

    #[test]
    fn sizes_follow_the_arrays() {
        let grown = changes(&[
            ("time", &[("time", 3, 0, 6)]),
            ("tas", &[("time", 3, 0, 6), ("lat", 4, 0, 4)]),
            ("g/v", &[("time", 3, 0, 6), ("x", 5, 1, 2)]),
        ]);
        for (path, before, after) in [
            (
                "",
                json!({"_nczarr_group": {"dimensions": {"time": {"size": 3, "unlimited": 1}, "lat": 4, "free": 9}}}),
                json!({"_nczarr_group": {"dimensions": {"time": {"size": 6, "unlimited": 1}, "lat": 4, "free": 9}}}),
            ),
            (
                "",
                json!({"_NCZARR_GROUP": {"dims": {"time": 3}, "vars": ["tas"]}}),
                json!({"_NCZARR_GROUP": {"dims": {"time": 6}, "vars": ["tas"]}}),
            ),
            (
                "g",
                json!({"_nczarr_group": {"dimensions": {"x": 5}, "arrays": ["v"]}}),
                json!({"_nczarr_group": {"dimensions": {"x": 2}, "arrays": ["v"]}}),
            ),
            (
                "g",
                json!({"_nczarr_group": {"dims": {"x": 5}}}),
                json!({"_nczarr_group": {"dims": {"x": 2}}}),
            ),
            (
                "",
                json!({"_nczarr_group": {"dimensions": [3]}, "time": 3}),
                json!({"_nczarr_group": {"dimensions": [3]}, "time": 3}),
            ),
        ] {
            let mut attributes = before.as_object().unwrap().clone();
            assert!(follow(&grown, path, &mut attributes).is_empty());
            assert_eq!(Value::Object(attributes), after, "{path}: {before}");
        }
    }

    /// Two dimensions of one name are told apart by their paths.
    #[test]
    fn paths_of_dimensions_count() {
        let mut changes = changes(&[("a", &[("x", 4, 0, 2)]), ("g/b", &[("x", 9, 0, 5)])]);
        for (array, path) in changes.arrays.iter_mut().zip(["/x", "/g/x"]) {
            array.axes[0].reference = Some(path.to_owned());
        }
        assert_eq!((changes.size("", "x"), changes.size("g", "x")), (Some(2), Some(5)));
        let attributes = json!({"_nczarr_array": {"dimension_references": ["/time", "/g/x"]}});
        assert_eq!(references(attributes.as_object().unwrap()), ["/time", "/g/x"]);
        assert!(references(&Map::new()).is_empty());
    }
}
