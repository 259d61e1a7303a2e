//! The conventions `spatial` of GeoZarr and `proj` of STAC: transform, shape and bounding box of a
//! raster.

use serde_json::{Map, Value};

use super::affine::Affine;
use super::rasters::{Raster, raster};
use super::{AxisChange, Changes, in_words};

/// Beginnings of the attributes' names.
const PREFIXES: [&str; 2] = ["spatial", "proj"];
/// Names of what repeats where a raster is.
const REPEATED: [&str; 3] = ["transform", "shape", "bbox"];

pub(super) fn is_in(attributes: &Map<String, Value>) -> bool {
    names_in(attributes).next().is_some()
}

fn names_in(attributes: &Map<String, Value>) -> impl Iterator<Item = String> {
    let names = PREFIXES
        .into_iter()
        .flat_map(|prefix| REPEATED.into_iter().map(move |name| format!("{prefix}:{name}")));
    names.filter(|name| attributes.contains_key(name))
}

pub(super) fn follow(
    changes: &Changes,
    path: &str,
    attributes: &mut Map<String, Value>,
) -> Vec<String> {
    follow_object(changes, path, &in_words(path), attributes)
}

/// Changes the members of an object that say where the raster at `path` is.
pub(super) fn follow_object(
    changes: &Changes,
    path: &str,
    place: &str,
    object: &mut Map<String, Value>,
) -> Vec<String> {
    if !is_in(object) {
        return Vec::new();
    }
    let dimensions = dimensions(object);
    let names = dimensions.as_ref().map(|names| names.each_ref().map(String::as_str));
    let kept = match raster(changes, path, names) {
        Raster::Same => return Vec::new(),
        Raster::Several => names_in(object).collect(),
        Raster::Cut { rows, columns } => {
            let of_prefix = |prefix| follow_prefix(prefix, rows, columns, object);
            PREFIXES.into_iter().flat_map(of_prefix).collect::<Vec<String>>()
        }
    };
    if kept.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "{place}: {} no longer say where the raster is, and are not changed",
        kept.join(", ")
    )]
}

/// The names of rows and columns.
fn dimensions(object: &Map<String, Value>) -> Option<[String; 2]> {
    let names = object.get("spatial:dimensions")?.as_array()?;
    let names: Vec<String> =
        names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    names.try_into().ok()
}

/// Changes what begins with `prefix`; the names of what could not be changed.
fn follow_prefix(
    prefix: &str,
    rows: &AxisChange,
    columns: &AxisChange,
    object: &mut Map<String, Value>,
) -> Vec<String> {
    let name = |what: &str| format!("{prefix}:{what}");
    let is_affine =
        object.get(&name("transform_type")).is_none_or(|kind| kind.as_str() == Some("affine"));
    // Points at the corners of the raster have one step less between them than there are.
    let is_node = object.get(&name("registration")).and_then(Value::as_str) == Some("node");
    let steps = |points: u64| if is_node { points.saturating_sub(1) } else { points };
    let mut kept = Vec::new();
    let transform = object.get(&name("transform")).cloned();
    let before = transform.as_ref().filter(|_| is_affine).and_then(Affine::of);
    let after = before.as_ref().map(|affine| affine.moved(rows.start, columns.start));
    match &after {
        Some(after) => {
            object.insert(name("transform"), after.value());
        }
        None if transform.is_some() => kept.push(name("transform")),
        None => {}
    }
    if let Some(shape) = object.get_mut(&name("shape")) {
        if *shape == Value::from(vec![rows.before, columns.before]) {
            *shape = Value::from(vec![rows.after, columns.after]);
        } else {
            kept.push(name("shape"));
        }
    }
    if let Some(bbox) = object.get_mut(&name("bbox")) {
        // One of another system of coordinates is not that of the corners.
        let is_of = |affine: &Affine| {
            let bounds = affine.bounds(steps(rows.before), steps(columns.before));
            let said = bbox.as_array().map(|said| said.iter().filter_map(Value::as_f64));
            let near = |(a, b): (f64, &f64)| (a - b).abs() <= affine.step() * 1e-3;
            said.is_some_and(|said| said.clone().count() == 4 && said.zip(&bounds).all(near))
        };
        match (&before, &after) {
            (Some(before), Some(after)) if is_of(before) => {
                let bounds = after.bounds(steps(rows.after), steps(columns.after));
                *bbox = Value::from(bounds.to_vec());
            }
            _ => kept.push(name("bbox")),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::changes;
    use super::*;

    fn follow_in(attributes: Value, rows: &str, columns: &str) -> (Value, Vec<String>) {
        let axes = [(rows, 100, 20, 30), (columns, 200, 10, 50)];
        let changes = changes(&[("red", &axes), ("time", &[("time", 3, 0, 3)])]);
        let Value::Object(mut attributes) = attributes else { panic!() };
        let said = follow(&changes, "", &mut attributes);
        (Value::Object(attributes), said)
    }

    #[test]
    fn where_a_raster_is_follows_what_is_cut_of_it() {
        for (rows, columns, before, after) in [
            (
                "y",
                "x",
                json!({"spatial:dimensions": ["y", "x"], "spatial:shape": [100, 200],
                       "spatial:transform": [10.0, 0.0, 500_000.0, 0.0, -10.0, 9000.0],
                       "spatial:bbox": [500_000.0, 8000.0, 502_000.0, 9000.0], "proj:code": "EPSG:32632"}),
                json!({"spatial:dimensions": ["y", "x"], "spatial:shape": [30, 50],
                       "spatial:transform": [10.0, 0.0, 500_100.0, 0.0, -10.0, 8800.0],
                       "spatial:bbox": [500_100.0, 8500.0, 500_600.0, 8800.0], "proj:code": "EPSG:32632"}),
            ),
            (
                "lat",
                "lon",
                json!({"proj:transform": [1, 0, 0, 0, -1, 90], "proj:shape": [100, 200]}),
                json!({"proj:transform": [1, 0, 10, 0, -1, 70], "proj:shape": [30, 50]}),
            ),
            (
                "row",
                "column",
                json!({"spatial:dimensions": ["row", "column"], "spatial:registration": "node",
                       "spatial:transform": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
                       "spatial:bbox": [0.0, 0.0, 199.0, 99.0]}),
                json!({"spatial:dimensions": ["row", "column"], "spatial:registration": "node",
                       "spatial:transform": [1.0, 0.0, 10.0, 0.0, 1.0, 20.0],
                       "spatial:bbox": [10.0, 20.0, 59.0, 49.0]}),
            ),
            ("y", "x", json!({"proj:code": "EPSG:4326"}), json!({"proj:code": "EPSG:4326"})),
            ("a", "b", json!({"spatial:shape": [100, 200]}), json!({"spatial:shape": [100, 200]})),
        ] {
            let (found, said) = follow_in(before.clone(), rows, columns);
            assert_eq!((found, said), (after, vec![]), "{before}");
        }
    }

    #[test]
    fn what_cannot_be_computed_is_said() {
        for (attributes, names) in [
            (json!({"spatial:bbox": [0, 0, 1, 1]}), "spatial:bbox"),
            (json!({"spatial:shape": [1, 2]}), "spatial:shape"),
            (
                json!({"spatial:transform_type": "rpc", "spatial:transform": [1, 0, 0, 0, 1, 0]}),
                "spatial:transform",
            ),
            (json!({"proj:transform": "1 0 0 0 1 0"}), "proj:transform"),
            (json!({"spatial:transform": [1.0, 0.0, 0.0, 0.0, 1.0]}), "spatial:transform"),
        ] {
            let (found, said) = follow_in(attributes.clone(), "y", "x");
            assert_eq!(found, attributes);
            assert!(said.len() == 1 && said[0].contains(names), "{said:?}");
        }
    }
}
