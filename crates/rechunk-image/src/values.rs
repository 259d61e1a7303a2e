//! Values out of JSON that others wrote: bounded, and `None` where they are not as they should be.

use serde_json::{Map, Value};

/// Most axes that are looked at.
pub(crate) const AXES_MAX: usize = 32;
/// Most levels that are looked at.
pub(crate) const LEVELS_MAX: usize = 256;
/// Most problems that are told of one image.
const PROBLEMS_MAX: usize = 64;

/// A finite number.
pub(crate) fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

/// Finite numbers, one for each axis.
pub(crate) fn numbers(value: &Value) -> Option<Vec<f64>> {
    let list = value.as_array().filter(|list| !list.is_empty() && list.len() <= AXES_MAX)?;
    list.iter().map(number).collect()
}

/// Whole numbers, one for each axis.
pub(crate) fn sizes(value: &Value) -> Option<Vec<u64>> {
    let list = value.as_array().filter(|list| !list.is_empty() && list.len() <= AXES_MAX)?;
    list.iter().map(Value::as_u64).collect()
}

/// Texts, one for each axis.
pub(crate) fn texts(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array().filter(|list| !list.is_empty() && list.len() <= AXES_MAX)?;
    list.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// A text that is not empty.
pub(crate) fn text(value: Option<&Value>) -> Option<String> {
    value?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The path of an array below its group; `None` if it is empty or leaves the group.
pub(crate) fn path(value: Option<&Value>) -> Option<String> {
    let path = value?.as_str()?.trim_matches('/');
    let leaves = path.split('/').any(|part| part == "..");
    (!path.is_empty() && !leaves).then(|| path.to_owned())
}

/// The attributes without some keys.
pub(crate) fn without(attributes: &Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let kept = attributes.iter().filter(|(key, _)| !keys.contains(&key.as_str()));
    kept.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The list in its other order: N5 says the fastest axis first.
pub(crate) fn reversed<T: Clone>(list: &[T]) -> Vec<T> {
    list.iter().rev().cloned().collect()
}

/// Adds a problem, unless there are many.
pub(crate) fn tell(problems: &mut Vec<String>, problem: String) {
    if problems.len() < PROBLEMS_MAX {
        problems.push(problem);
    }
}
