//! Names of axes, which N5 has no field for, and their order.

use rechunk_format::json::text;
use serde_json::{Map, Value};

use crate::typed::are_distinct;

/// Attribute with a name per axis, in N5's order.
pub(crate) const AXES: &str = "axes";

/// Attribute of COSEM, an object with names among other things.
const TRANSFORM: &str = "transform";

/// Attribute that xarray keeps the names in, slowest axis first.
const XARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Order of N5's axes, fastest first, in our arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AxisOrder {
    /// The other way round: N5's x, y, z is z, y, x, and elements are in C order.
    #[default]
    Reversed,
    /// As they are: x, y, z, and elements are in F order.
    Kept,
}

impl AxisOrder {
    /// Turns a list by axes from N5's order to ours, or back.
    pub(crate) fn turn<T: Clone>(self, list: &[T]) -> Vec<T> {
        match self {
            Self::Reversed => list.iter().rev().cloned().collect(),
            Self::Kept => list.to_vec(),
        }
    }
}

/// The names of axes, and the attribute that says nothing else.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Names {
    /// A name for each axis that has one, in our order.
    pub(crate) names: Vec<Option<String>>,
    /// The attribute, where it is a list of names alone.
    pub(crate) attribute: Option<&'static str>,
}

/// The names of `rank` axes. First to last: `axes`, names or objects that have one, in N5's order;
/// xarray's attribute; the axes of `transform`, as COSEM writes them, which says its order.
pub(crate) fn read_names(
    attributes: &Map<String, Value>,
    rank: usize,
    axis_order: AxisOrder,
) -> Option<Names> {
    let listed = |key: &'static str, is_c_order: bool| {
        let list = attributes.get(key)?.as_array()?;
        let names = names(list, rank, is_c_order, axis_order)?;
        let is_plain = list.iter().all(Value::is_string);
        Some(Names { names, attribute: is_plain.then_some(key) })
    };
    let of_transform = || {
        let transform = attributes.get(TRANSFORM)?;
        let is_c_order = transform.get("order").and_then(text) != Some("F");
        let list = transform.get(AXES)?.as_array()?;
        let names = names(list, rank, is_c_order, axis_order)?;
        Some(Names { names, attribute: None })
    };
    listed(AXES, false).or_else(|| listed(XARRAY_DIMENSIONS, true)).or_else(of_transform)
}

/// A name of each axis, which may be empty, in our order.
fn names(
    list: &[Value],
    rank: usize,
    is_c_order: bool,
    axis_order: AxisOrder,
) -> Option<Vec<Option<String>>> {
    let name = |axis: &Value| {
        let text = text(axis.get("name").or_else(|| axis.get("label")).unwrap_or(axis))?;
        Some((!text.is_empty()).then(|| text.to_owned()))
    };
    let mut names = list.iter().map(name).collect::<Option<Vec<_>>>()?;
    if is_c_order {
        names.reverse();
    }
    (names.len() == rank).then(|| axis_order.turn(&names))
}

/// Puts names into attributes that have none: into `axes`. Where one name is on two axes, which
/// tensorstore does not open, they go where xarray has them.
pub(crate) fn write_names(
    attributes: &mut Map<String, Value>,
    names: &[Option<String>],
    axis_order: AxisOrder,
) {
    let has_names = names.iter().any(Option::is_some);
    let is_taken = attributes.contains_key(AXES) || attributes.contains_key(XARRAY_DIMENSIONS);
    if !has_names || is_taken {
        return;
    }
    let names = axis_order.turn(names);
    let mut names: Vec<&str> =
        names.iter().map(|name| name.as_deref().unwrap_or_default()).collect();
    let key = if are_distinct(&names) {
        AXES
    } else {
        names.reverse();
        XARRAY_DIMENSIONS
    };
    attributes.insert(key.to_owned(), names.into_iter().map(Value::from).collect());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_come_from_the_first_place_that_has_them() {
        let axes = json!(["x", "y", "z"]);
        let objects = json!([{"label": "x", "unit": "um"}, {"name": "y"}, {"name": ""}]);
        let cosem =
            |order: &str| json!({"axes": ["z", "y", "x"], "order": order, "scale": [1, 2, 3]});
        for (attributes, names, attribute) in [
            (json!({"axes": axes}), Some("z y x"), Some("axes")),
            (json!({"axes": objects}), Some("- y x"), None),
            (
                json!({"_ARRAY_DIMENSIONS": ["t", "y", "x"]}),
                Some("t y x"),
                Some("_ARRAY_DIMENSIONS"),
            ),
            (
                json!({"axes": axes, "_ARRAY_DIMENSIONS": ["t", "v", "u"]}),
                Some("z y x"),
                Some("axes"),
            ),
            (json!({"transform": cosem("C")}), Some("z y x"), None),
            (json!({"transform": cosem("F")}), Some("x y z"), None),
            (json!({"transform": {"axes": ["z", "y", "x"]}}), Some("z y x"), None),
            (json!({"axes": ["x"], "transform": cosem("C")}), Some("z y x"), None),
            (json!({"axes": [1, 2, 3]}), None, None),
            (json!({"transform": {"axes": ["y", "x"]}}), None, None),
            (json!({"transform": [1.0, 0.0]}), None, None),
        ] {
            let map = attributes.as_object().unwrap();
            let found = read_names(map, 3, AxisOrder::Reversed);
            let in_words = |names: &[Option<String>]| {
                let names: Vec<&str> = names.iter().map(|n| n.as_deref().unwrap_or("-")).collect();
                names.join(" ")
            };
            assert_eq!(
                found.as_ref().map(|f| in_words(&f.names)).as_deref(),
                names,
                "{attributes}"
            );
            assert_eq!(found.and_then(|found| found.attribute), attribute, "{attributes}");
            let kept = read_names(map, 3, AxisOrder::Kept).map(|found| found.names);
            let turned = read_names(map, 3, AxisOrder::Reversed)
                .map(|found| found.names.into_iter().rev().collect::<Vec<_>>());
            assert_eq!(kept, turned, "{attributes}");
        }
    }
}
