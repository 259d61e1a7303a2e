//! Images of one version of OME-Zarr in terms of the next, or of the one before.

use serde_json::{Map, Value, json};

use crate::axis::Axis;
use crate::documents_ome::{INTRINSIC, axis_value, named_transformation};
use crate::read_ome::{Steps, intrinsic, is_between_systems, list_at};
use crate::values::{path, tell};

type Image = Map<String, Value>;

/// An image of any version up to 0.4 as 0.5 has it.
pub(crate) fn image_from_04(image: &mut Image, notes: &mut Vec<String>) {
    let version = image.shift_remove("version");
    let version = version.as_ref().and_then(Value::as_str);
    if let Some(Value::Array(axes)) = image.get_mut("axes") {
        for axis in axes {
            if let Some(name) = axis.as_str() {
                *axis = axis_value(&Axis::of_name(name));
            }
        }
    } else if matches!(version, Some("0.1" | "0.2")) {
        let axes = Axis::of_rank(5);
        image.insert("axes".to_owned(), axes.iter().map(axis_value).collect());
    } else if !image.contains_key("axes") {
        tell(notes, "an image says no axes, and still says none".to_owned());
    }
    if matches!(version, Some("0.1" | "0.2" | "0.3")) {
        let note = "an image of version 0.3 or before says no scales, and still says none";
        tell(notes, note.to_owned());
    }
}

/// Scale and translation of steps, as versions up to 0.5 write them.
fn plain_steps(steps: Steps) -> Vec<Value> {
    let mut values = vec![json!({"type": "scale", "scale": steps.placement.scale})];
    if steps.has_translation {
        let translation = steps.placement.translation;
        values.push(json!({"type": "translation", "translation": translation}));
    }
    values
}

/// True for a scale, or a scale and a translation: the forms of every version.
pub(crate) fn is_usual(steps: &[Value]) -> bool {
    let kinds: Vec<_> = steps.iter().map(|step| step.get("type").and_then(Value::as_str)).collect();
    matches!(kinds.as_slice(), [Some("scale")] | [Some("scale"), Some("translation")])
}

fn datasets(image: &mut Image) -> impl Iterator<Item = &mut Map<String, Value>> {
    let datasets = image.get_mut("datasets").and_then(Value::as_array_mut);
    datasets.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Puts a list in the place of another key, or at the end.
fn replace_key(image: &mut Image, old: &str, new: &str, value: Value) {
    let before = std::mem::take(image);
    for (key, kept) in before {
        if key == old {
            image.insert(new.to_owned(), value.clone());
        } else {
            image.insert(key, kept);
        }
    }
    image.entry(new).or_insert(value);
}

/// An image of 0.5 as 0.6 has it. Transformations of the whole image go into those of its levels.
/// Says why, if it cannot be.
pub(crate) fn image_to_06(image: &mut Image, notes: &mut Vec<String>) -> Result<(), String> {
    if image.contains_key("coordinateSystems") {
        return Ok(());
    }
    let Some(Value::Array(axes)) = image.get("axes").cloned() else {
        return Err("an image says no axes; write them first".to_owned());
    };
    let whole = image.shift_remove("coordinateTransformations").unwrap_or_default();
    let whole = whole.as_array().cloned().unwrap_or_default();
    let (named, whole): (Vec<_>, Vec<_>) = whole.into_iter().partition(is_between_systems);
    if !named.is_empty() {
        let note = "transformations between coordinate systems of other conventions are left out";
        tell(notes, note.to_owned());
    }
    if !whole.is_empty() {
        tell(notes, "transformations of the whole image are now those of its levels".to_owned());
    }
    for dataset in datasets(image) {
        let Some(path) = path(dataset.get("path")) else {
            return Err("a level has no path below the group; name its array first".to_owned());
        };
        let own = dataset.get("coordinateTransformations").and_then(Value::as_array);
        let own = own.cloned().unwrap_or_default();
        let mut steps = Steps::none(axes.len());
        let read = steps.then(&own).and_then(|()| steps.then(&whole));
        read.map_err(|reason| format!("level {path:?}: {reason}"))?;
        if !steps.has_scale {
            return Err(format!("level {path:?} says no scale; write it first"));
        }
        let values = if is_usual(&own) && whole.is_empty() { own } else { plain_steps(steps) };
        let transformation = named_transformation(&path, values);
        dataset.insert("coordinateTransformations".to_owned(), json!([transformation]));
    }
    let systems = json!([{"name": INTRINSIC, "axes": axes}]);
    replace_key(image, "axes", "coordinateSystems", systems);
    Ok(())
}

/// An image of 0.6 as 0.5 has it. Says why, if it cannot be.
pub(crate) fn image_from_06(image: &mut Image, notes: &mut Vec<String>) -> Result<(), String> {
    let whole_image = Value::Object(image.clone());
    let Some(system) = intrinsic(&whole_image) else { return Ok(()) };
    let Some(Value::Array(axes)) = system.get("axes").cloned() else {
        return Err("its coordinate system says no axes; write them first".to_owned());
    };
    let count = list_at(&whole_image, "coordinateSystems").len();
    if count > 1 {
        tell(notes, format!("{} further coordinate systems are left out", count - 1));
    }
    if image.shift_remove("coordinateTransformations").is_some() {
        tell(notes, "transformations between coordinate systems are left out".to_owned());
    }
    for dataset in datasets(image) {
        let own = dataset.get("coordinateTransformations").and_then(Value::as_array);
        let own = own.cloned().unwrap_or_default();
        let mut steps = Steps::none(axes.len());
        let path = dataset.get("path").and_then(Value::as_str).unwrap_or_default();
        steps.then(&own).map_err(|reason| format!("level {path:?}: {reason}"))?;
        let inner = match own.as_slice() {
            [one] => list_at(one, "transformations"),
            _ => &[],
        };
        let values = if is_usual(inner) { inner.to_vec() } else { plain_steps(steps) };
        dataset.insert("coordinateTransformations".to_owned(), Value::Array(values));
    }
    replace_key(image, "coordinateSystems", "axes", Value::Array(axes));
    Ok(())
}
