//! Names of axes, which N5 has no field for, and their order.

use rechunk_format::json::text;
use serde_json::{Map, Value};

use crate::typed::are_distinct;

/// Attribute with a name per axis, in N5's order.
pub(crate) const AXES: &str = "axes";

/// Attribute that xarray keeps the names in, slowest axis first.
const XARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// How N5's axes, fastest first, become ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AxisOrder {
    /// The other way round: N5's x, y, z is z, y, x, and elements are in C order.
    #[default]
    Reversed,
    /// As they are: x, y, z, and elements are in F order.
    Kept,
}

impl AxisOrder {
    /// What belongs to axes from N5's order to ours, or back.
    pub(crate) fn turn<T: Clone>(self, list: &[T]) -> Vec<T> {
        match self {
            Self::Reversed => list.iter().rev().cloned().collect(),
            Self::Kept => list.to_vec(),
        }
    }
}

/// The names of `rank` axes in our order, and the attribute they are in.
pub(crate) fn read_names(
    attributes: &Map<String, Value>,
    rank: usize,
    axis_order: AxisOrder,
) -> Option<(&'static str, Vec<Option<String>>)> {
    [AXES, XARRAY_DIMENSIONS].into_iter().find_map(|key| {
        let list = attributes.get(key)?.as_array().filter(|list| list.len() == rank)?;
        let name = |value: &Value| {
            let text = text(value)?;
            Some((!text.is_empty()).then(|| text.to_owned()))
        };
        let mut names = list.iter().map(name).collect::<Option<Vec<_>>>()?;
        if key == XARRAY_DIMENSIONS {
            names.reverse();
        }
        Some((key, axis_order.turn(&names)))
    })
}

/// Puts names into attributes that have none: into `axes`, or, where one name is on two axes, which
/// tensorstore does not open, where xarray has them.
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
