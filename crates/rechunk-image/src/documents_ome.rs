//! Attributes of OME-Zarr, 0.4 to 0.6.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::axis::{Axis, AxisKind, names};
use crate::conventions::{OME_KEYS, VERSIONED_KEYS};
use crate::dialect::Dialect;
use crate::error::ImageError;
use crate::image::{Image, Level};
use crate::units::long_unit;
use crate::values::without;

/// Name of the coordinate system of an image.
pub(crate) const INTRINSIC: &str = "intrinsic";

/// Refuses axes that versions up to 0.6 do not have.
fn check_axes(axes: &[Axis], dialect: Dialect) -> Result<(), ImageError> {
    let count = |kind: AxisKind| axes.iter().filter(|axis| axis.kind == kind).count();
    let place = |axis: &Axis| match axis.kind {
        AxisKind::Time => 0,
        AxisKind::Channel | AxisKind::Other => 1,
        AxisKind::Space => 2,
    };
    let different: BTreeSet<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    let others = count(AxisKind::Channel) + count(AxisKind::Other);
    let reason = if !(2..=5).contains(&axes.len()) {
        format!("there are {}, it has 2 to 5", axes.len())
    } else if !(2..=3).contains(&count(AxisKind::Space)) {
        format!("{} of them are of space, it has 2 or 3", count(AxisKind::Space))
    } else if count(AxisKind::Time) > 1 {
        format!("{} of them are of time, it has at most 1", count(AxisKind::Time))
    } else if others > 1 {
        format!("{others} of them are of channels or other things, it has at most 1")
    } else if !axes.is_sorted_by_key(place) {
        "their order is not time, channel, space".to_owned()
    } else if different.len() < axes.len() || different.contains("") {
        "a name is empty or used twice".to_owned()
    } else {
        return Ok(());
    };
    Err(ImageError::Axes {
        dialect: dialect.name(),
        axes: names(axes),
        reason,
        hint: "name, transpose or drop axes until they fit, or write `plain`".to_owned(),
    })
}

/// An axis as an object.
pub(crate) fn axis_value(axis: &Axis) -> Value {
    let mut value = Map::new();
    value.insert("name".to_owned(), json!(axis.name));
    let kind = match axis.kind {
        AxisKind::Space => Some("space"),
        AxisKind::Time => Some("time"),
        AxisKind::Channel => Some("channel"),
        AxisKind::Other => None,
    };
    if let Some(kind) = kind {
        value.insert("type".to_owned(), json!(kind));
    }
    if let Some(unit) = axis.unit.as_deref().and_then(long_unit) {
        value.insert("unit".to_owned(), json!(unit));
    }
    Value::Object(value)
}

/// Scale and translation; the latter is left out at level 0 where it is zero.
fn steps(at: usize, level: &Level) -> Vec<Value> {
    let mut steps = vec![json!({"type": "scale", "scale": level.scale})];
    if at > 0 || level.translation.iter().any(|offset| *offset != 0.0) {
        steps.push(json!({"type": "translation", "translation": level.translation}));
    }
    steps
}

/// The transformation of a level of 0.6, of the steps that versions before have.
pub(crate) fn named_transformation(path: &str, mut steps: Vec<Value>) -> Value {
    let single = if steps.len() == 1 { steps.pop() } else { None };
    let mut value = match single {
        Some(Value::Object(step)) => step,
        other => {
            steps.extend(other);
            let mut value = Map::new();
            value.insert("type".to_owned(), json!("sequence"));
            value.insert("transformations".to_owned(), Value::Array(steps));
            value
        }
    };
    value.insert("input".to_owned(), json!({"path": path}));
    value.insert("output".to_owned(), json!({"name": INTRINSIC}));
    Value::Object(value)
}

fn dataset(at: usize, level: &Level, dialect: Dialect) -> Value {
    let steps = steps(at, level);
    let steps = match dialect {
        Dialect::OmeZarr06 => vec![named_transformation(&level.path, steps)],
        _ => steps,
    };
    json!({"path": level.path, "coordinateTransformations": steps})
}

/// The recipe of the coarser levels, so that it can be told from others.
fn recipe(image: &Image, method: &str) -> Value {
    let factors: Vec<_> = image.levels.iter().map(|level| &level.factors).collect();
    let mut settings = image.settings.clone();
    settings.insert("factors".to_owned(), json!(factors));
    json!({
        "description": format!("levels reduced by {method}"),
        "method": format!("rechunk.{method}"),
        "version": env!("CARGO_PKG_VERSION"),
        "kwargs": settings,
    })
}

fn multiscale(image: &Image, dialect: Dialect) -> Value {
    let mut value = Map::new();
    if dialect == Dialect::OmeZarr04 {
        value.insert("version".to_owned(), json!(dialect.ome_version()));
    }
    value.insert("name".to_owned(), json!(image.name));
    let axes: Vec<Value> = image.axes.iter().map(axis_value).collect();
    if dialect == Dialect::OmeZarr06 {
        let system = json!({"name": INTRINSIC, "axes": axes});
        value.insert("coordinateSystems".to_owned(), Value::Array(vec![system]));
    } else {
        value.insert("axes".to_owned(), Value::Array(axes));
    }
    let levels = image.levels.iter().enumerate();
    let datasets = levels.map(|(at, level)| dataset(at, level, dialect)).collect();
    value.insert("datasets".to_owned(), Value::Array(datasets));
    if let Some(method) = &image.method {
        value.insert("type".to_owned(), json!(method));
        value.insert("metadata".to_owned(), recipe(image, method));
    }
    Value::Object(value)
}

/// Gives a value of 0.4 its version, and takes it from those after.
pub(crate) fn set_version(key: &str, value: &mut Value, dialect: Dialect) {
    let Some(value) = value.as_object_mut().filter(|_| VERSIONED_KEYS.contains(&key)) else {
        return;
    };
    if dialect == Dialect::OmeZarr04 {
        value.insert("version".to_owned(), json!("0.4"));
    } else {
        value.shift_remove("version");
    }
}

/// Attributes of the group of an image.
pub(crate) fn ome_group(image: &Image, dialect: Dialect) -> Result<Map<String, Value>, ImageError> {
    check_axes(&image.axes, dialect)?;
    let mut ome = Map::new();
    if let (false, Some(version)) = (dialect == Dialect::OmeZarr04, dialect.ome_version()) {
        ome.insert("version".to_owned(), json!(version));
    }
    ome.insert("multiscales".to_owned(), Value::Array(vec![multiscale(image, dialect)]));
    let known = image.carried.iter().filter(|(key, _)| OME_KEYS.contains(&key.as_str()));
    let unknown = image.carried.get("ome").and_then(Value::as_object);
    for (key, value) in known.chain(unknown.into_iter().flatten()) {
        if !ome.contains_key(key) && key != "version" {
            let mut value = value.clone();
            set_version(key, &mut value, dialect);
            ome.insert(key.clone(), value);
        }
    }
    if !image.is_label {
        ome.shift_remove("image-label");
    } else if !ome.contains_key("image-label") {
        let mut label = json!({});
        set_version("image-label", &mut label, dialect);
        ome.insert("image-label".to_owned(), label);
    }
    let others: Vec<&str> = OME_KEYS.into_iter().chain(["ome"]).collect();
    let others = without(&image.carried, &others);
    let mut attributes = if dialect == Dialect::OmeZarr04 {
        ome
    } else {
        Map::from_iter([("ome".to_owned(), Value::Object(ome))])
    };
    for (key, value) in others {
        attributes.entry(key).or_insert(value);
    }
    Ok(attributes)
}
