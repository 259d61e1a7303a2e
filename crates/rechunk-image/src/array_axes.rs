//! Axes of an array that no image is known of.

use serde_json::{Map, Value};

use crate::axis::Axis;
use crate::read_n5::n5_array_place;
use crate::values::texts;

/// Axes of a lone array. Lists are in C order, one entry for each axis.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayAxes {
    /// Its axes, with units where they are said.
    pub axes: Vec<Axis>,
    /// Distance of neighbours, in the units of the axes.
    pub scale: Option<Vec<f64>>,
    /// Place of the centre of element 0, in the units of the axes.
    pub translation: Option<Vec<f64>>,
    /// True if nothing names the axes, and the names are the usual ones of the rank.
    pub is_guess: bool,
}

/// The axes of an array of `rank` axes, of its dimension names and attributes.
///
/// `is_fortran_order` says that lists of attributes have the fastest axis first, as in N5; the
/// `transform` of COSEM has the slowest first nevertheless. Names are always in C order. Without
/// names, `_ARRAY_DIMENSIONS` is looked at.
///
/// ```
/// use rechunk_image::read_axes_from_array;
/// let attributes = serde_json::json!({"resolution": [4.0, 4.0, 40.0], "units": "nm"});
/// let found = read_axes_from_array(3, None, attributes.as_object().unwrap(), true);
/// assert_eq!(found.axes[0].name, "z");
/// assert_eq!(found.scale, Some(vec![40.0, 4.0, 4.0]));
/// assert!(found.is_guess);
/// ```
pub fn read_axes_from_array(
    rank: usize,
    dimension_names: Option<&[Option<String>]>,
    attributes: &Map<String, Value>,
    is_fortran_order: bool,
) -> ArrayAxes {
    let said = n5_array_place(attributes, rank, is_fortran_order);
    let is_usable = |names: &Vec<Option<String>>| {
        names.len() == rank && names.iter().any(|name| is_named(name.as_deref()))
    };
    let of_words = |words: Vec<String>| words.into_iter().map(Some).collect::<Vec<_>>();
    let of_xarray = attributes.get("_ARRAY_DIMENSIONS").and_then(texts).map(of_words);
    let of_n5 = said.names.clone().map(of_words);
    let candidates = [dimension_names.map(<[_]>::to_vec), of_xarray, of_n5];
    let names = candidates.into_iter().flatten().find(is_usable);
    let mut axes = match &names {
        Some(names) => names.iter().enumerate().map(named).collect(),
        None => Axis::of_rank(rank),
    };
    said.set_units(&mut axes);
    let (scale, translation) = (said.scale, said.translation);
    ArrayAxes { axes, scale, translation, is_guess: names.is_none() }
}

fn is_named(name: Option<&str>) -> bool {
    name.is_some_and(|name| !name.is_empty())
}

fn named((at, name): (usize, &Option<String>)) -> Axis {
    match name.as_deref() {
        Some(name) if !name.is_empty() => Axis::of_name(name),
        _ => Axis::of_name(&format!("dim_{at}")),
    }
}
