//! Attributes of datasets that readers of N5 give a meaning, and so a type.
//!
//! Elsewhere the names are free: a climate model's `units` is `"K"`. tensorstore opens no dataset
//! whose `axes`, `units` or `resolution` are not lists with an item for each axis; n5-viewer,
//! Paintera and `BigDataViewer` read the others.

use serde_json::{Map, Value};

use rechunk_format::json::{bare_token, text};

use crate::dimension_names::AXES;
use crate::metadata::{BLOCK_SIZE, COMPRESSION, COMPRESSION_TYPE, DATA_TYPE, DIMENSIONS};
use crate::parse::{LABEL_MULTISET, SHARD_SIZE};
use crate::version::VERSION_KEY;

/// The type that readers want of an attribute of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// None: the name is a field of the dataset itself.
    Field,
    /// A text for each axis; those that are not empty differ.
    Labels,
    /// A text for each axis.
    Texts,
    /// A number for each axis.
    Numbers,
    /// Numbers, or lists of numbers.
    Scales,
    /// Numbers, or an object of `dimensions`, which are numbers, and a `unit`.
    PixelResolution,
    /// An object of lists.
    Transform,
    /// Not `true`, which would make bytes a dataset of label multisets.
    NotTrue,
    /// Anything: readers have their own ideas.
    Any,
}

/// Known form of the attribute `name`.
#[derive(Debug, Clone, Copy)]
struct Typed {
    name: &'static str,
    wanted: Wanted,
    /// Its items belong to the axes, in their order.
    is_by_axis: bool,
}

const fn typed(name: &'static str, wanted: Wanted, is_by_axis: bool) -> Typed {
    Typed { name, wanted, is_by_axis }
}

/// The names that have a meaning in N5, and who gives it to them.
const TYPED: [Typed; 18] = [
    // N5 itself.
    typed(VERSION_KEY, Wanted::Field, false),
    typed(DIMENSIONS, Wanted::Field, false),
    typed(BLOCK_SIZE, Wanted::Field, false),
    typed(DATA_TYPE, Wanted::Field, false),
    typed(COMPRESSION, Wanted::Field, false),
    typed(COMPRESSION_TYPE, Wanted::Field, false),
    typed(SHARD_SIZE, Wanted::Field, false),
    // tensorstore, which opens nothing where one of them is of another type; n5-viewer.
    typed(AXES, Wanted::Labels, true),
    typed("units", Wanted::Texts, true),
    typed("resolution", Wanted::Numbers, true),
    // Paintera, n5-viewer.
    typed("offset", Wanted::Numbers, true),
    typed(LABEL_MULTISET, Wanted::NotTrue, false),
    // n5-viewer, BigDataViewer.
    typed("downsamplingFactors", Wanted::Scales, true),
    typed("scales", Wanted::Scales, true),
    typed("pixelResolution", Wanted::PixelResolution, true),
    // COSEM's, which names its axes itself.
    typed("transform", Wanted::Transform, false),
    // funlib and daisy.
    typed("voxel_size", Wanted::Any, true),
    typed("axis_names", Wanted::Any, true),
];

fn find(name: &str) -> Option<&'static Typed> {
    TYPED.iter().find(|typed| typed.name == name)
}

/// Whether `value` is what readers of N5 expect of the attribute `name` of a dataset of `rank`
/// axes.
pub fn suits_dataset(name: &str, value: &Value, rank: usize) -> bool {
    let Some(typed) = find(name) else { return true };
    let of_rank = |is: fn(&Value) -> bool| {
        value.as_array().is_some_and(|list| list.len() == rank && list.iter().all(is))
    };
    match typed.wanted {
        Wanted::Any => true,
        Wanted::Field => false,
        Wanted::NotTrue => *value != Value::Bool(true),
        Wanted::Texts => of_rank(is_text),
        Wanted::Labels => of_rank(is_text) && are_labels(value),
        Wanted::Numbers => of_rank(is_number),
        Wanted::Scales => are_numbers(value) || is_list_of(value, are_numbers),
        Wanted::PixelResolution => {
            let is_unit = |map: &Map<String, Value>| map.get("unit").is_none_or(is_text);
            let of_map = |map: &Map<String, Value>| {
                map.get("dimensions").is_some_and(are_numbers) && is_unit(map)
            };
            are_numbers(value) || value.as_object().is_some_and(of_map)
        }
        Wanted::Transform => value.as_object().is_some_and(is_transform),
    }
}

/// Whether a dataset is not opened, or taken for another, by some reader where the attribute `name`
/// does not suit it. Other attributes only mislead who looks at them.
pub fn keeps_from_opening(name: &str) -> bool {
    let is_strict = |typed: &Typed| {
        let wanted = typed.wanted;
        matches!(wanted, Wanted::Field | Wanted::Labels | Wanted::Texts | Wanted::NotTrue)
    };
    name == "resolution" || find(name).is_some_and(is_strict)
}

/// Whether labels are so distinct that tensorstore takes them.
pub(crate) fn are_distinct(labels: &[&str]) -> bool {
    let is_first = |(at, label): (usize, &&str)| label.is_empty() || !labels[..at].contains(label);
    labels.iter().enumerate().all(is_first)
}

/// The attribute `name` with its items in the opposite order of axes, of which there are `rank`, or
/// any number in a group.
pub fn turned(name: &str, value: &Value, rank: Option<usize>) -> Turned {
    if find(name).is_none_or(|typed| !typed.is_by_axis) {
        return Turned::Free;
    }
    match turn(value, rank) {
        Some(turned) => Turned::Turned(turned),
        // What is no list and no object is not by axis.
        None if value.is_array() || value.is_object() => Turned::Stuck,
        None => Turned::Free,
    }
}

/// Form of an attribute where axes are listed in the opposite order.
#[derive(Debug, Clone, PartialEq)]
pub enum Turned {
    /// Its items follow the axes.
    Turned(Value),
    /// It has items, but not one for each axis: it stays, and says something else of the axes.
    Stuck,
    /// It says nothing of the axes.
    Free,
}

fn turn(value: &Value, rank: Option<usize>) -> Option<Value> {
    if let Some(map) = value.as_object() {
        let mut map = map.clone();
        let list = map.get_mut("dimensions")?;
        *list = turn(list, rank)?;
        return Some(Value::Object(map));
    }
    let list = value.as_array()?;
    if !list.is_empty() && list.iter().all(Value::is_array) {
        return list.iter().map(|item| turn(item, rank)).collect::<Option<_>>();
    }
    let fits = rank.map_or(list.len() > 1, |rank| list.len() == rank);
    fits.then(|| list.iter().rev().cloned().collect())
}

fn is_text(value: &Value) -> bool {
    text(value).is_some()
}

fn is_number(value: &Value) -> bool {
    // A number too large or too fine for JSON's reader is kept as a token, but no NaN is a number
    // here.
    let of_token = |token: &str| token.parse::<f64>().is_ok_and(f64::is_finite);
    value.is_number() || value.as_str().and_then(bare_token).is_some_and(of_token)
}

fn is_list_of(value: &Value, is: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is))
}

fn are_numbers(value: &Value) -> bool {
    is_list_of(value, is_number)
}

fn are_labels(value: &Value) -> bool {
    let labels = value.as_array().into_iter().flatten().filter_map(text);
    are_distinct(&labels.collect::<Vec<_>>())
}

/// True for what COSEM calls a transform: texts in `axes` and `units`, numbers in `scale` and
/// `translate`.
fn is_transform(map: &Map<String, Value>) -> bool {
    let lists = |names: [&str; 2], is: fn(&Value) -> bool| {
        names.iter().all(|name| map.get(*name).is_none_or(|value| is_list_of(value, is)))
    };
    map.contains_key("scale")
        && lists(["axes", "units"], is_text)
        && lists(["scale", "translate"], is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_suits_a_dataset_of_three_axes() {
        for (name, fits, does_not) in [
            (
                "axes",
                vec![json!(["x", "y", "z"]), json!(["", "", "z"])],
                vec![
                    json!(["x", "y"]),
                    json!(["x", "x", "y"]),
                    json!([{"name": "x"}, {"name": "y"}, {"name": "z"}]),
                    json!("xyz"),
                ],
            ),
            ("units", vec![json!(["nm", "", "s"])], vec![json!("K"), json!(["K"]), json!(null)]),
            ("resolution", vec![json!([4, 4.5, 40])], vec![json!(4), json!(["4", 4, 4])]),
            ("offset", vec![json!([0, 0, -1])], vec![json!(273.15), json!([0, 0])]),
            (
                "downsamplingFactors",
                vec![json!([2, 2, 1]), json!([[1, 1, 1], [2, 2, 2]])],
                vec![json!(2), json!({"x": 2})],
            ),
            (
                "pixelResolution",
                vec![json!([4, 4, 4]), json!({"dimensions": [4, 4, 40], "unit": "nm"})],
                vec![json!("4nm"), json!({"dimensions": "4"})],
            ),
            (
                "transform",
                vec![json!({"axes": ["z", "y", "x"], "scale": [4, 4, 4], "translate": [0, 0, 0],
                       "units": ["nm", "nm", "nm"]})],
                vec![json!([1, 0, 0, 0, 1, 0]), json!("identity"), json!({"scale": 2})],
            ),
            ("isLabelMultiset", vec![json!(false), json!("x")], vec![json!(true)]),
            ("compression", vec![], vec![json!("none"), json!({"type": "raw"})]),
            ("n5", vec![], vec![json!("2.5.1")]),
            ("long_name", vec![json!("anything"), json!([1])], vec![]),
        ] {
            for value in fits {
                assert!(suits_dataset(name, &value, 3), "{name} {value}");
            }
            for value in does_not {
                assert!(!suits_dataset(name, &value, 3), "{name} {value}");
            }
        }
    }

    #[test]
    fn items_follow_the_axes() {
        let followed = |value: Value| Turned::Turned(value);
        for (name, value, rank, expected) in [
            ("resolution", json!([4, 5, 40]), Some(3), followed(json!([40, 5, 4]))),
            ("axes", json!(["x", "y"]), Some(2), followed(json!(["y", "x"]))),
            (
                "scales",
                json!([[1, 1, 1], [2, 2, 1]]),
                None,
                followed(json!([[1, 1, 1], [1, 2, 2]])),
            ),
            (
                "pixelResolution",
                json!({"unit": "nm", "dimensions": [4, 5, 40]}),
                Some(3),
                followed(json!({"unit": "nm", "dimensions": [40, 5, 4]})),
            ),
            ("resolution", json!([4, 5, 40]), Some(4), Turned::Stuck),
            ("pixelResolution", json!({"x": 4}), Some(3), Turned::Stuck),
            ("units", json!("K"), Some(3), Turned::Free),
            ("transform", json!({"scale": [1, 2, 3]}), Some(3), Turned::Free),
            ("valid_range", json!([0, 1]), Some(2), Turned::Free),
        ] {
            assert_eq!(turned(name, &value, rank), expected, "{name} {value}");
        }
    }
}
