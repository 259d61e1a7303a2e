//! `multiscales.layout` of GeoZarr: the levels of a pyramid, each with what repeats where its
//! raster is.

use serde_json::{Map, Value};

use super::{Changes, in_words, spatial};

pub(super) fn is_in(attributes: &Map<String, Value>) -> bool {
    attributes.get("multiscales").and_then(|multiscales| multiscales.get("layout")).is_some()
}

pub(super) fn follow(
    changes: &Changes,
    path: &str,
    attributes: &mut Map<String, Value>,
) -> Vec<String> {
    let levels = attributes.get_mut("multiscales").and_then(|all| all.get_mut("layout"));
    let Some(Value::Array(levels)) = levels else { return Vec::new() };
    let mut said = Vec::new();
    let mut is_related = false;
    for level in levels.iter_mut().filter_map(Value::as_object_mut) {
        is_related |= level.get("transform").is_some();
        let Some(asset) = level.get("asset").and_then(Value::as_str) else { continue };
        let names = path.split('/').chain(asset.split('/'));
        let names: Vec<&str> = names.filter(|name| !name.is_empty() && *name != ".").collect();
        let place = format!("{}: the level {asset} of `multiscales.layout`", in_words(path));
        said.extend(spatial::follow_object(changes, &names.join("/"), &place, level));
    }
    let below = |array: &str| path.is_empty() || array.starts_with(&format!("{path}/"));
    let mut axes =
        changes.arrays.iter().filter(|array| below(&array.path)).flat_map(|array| &array.axes);
    if is_related && axes.any(|axis| axis.start != 0) {
        said.push(format!(
            "{}: how `multiscales.layout` says that levels lie on each other is not changed",
            in_words(path)
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::changes;
    use super::*;

    #[test]
    fn each_level_has_its_own_raster() {
        let axes = |length| [("y", length, 10, 20), ("x", length, 0, length)];
        let level = |asset: &str, shape: [u64; 2], top: f64| {
            json!({"asset": asset, "spatial:shape": shape,
                   "spatial:transform": [1.0, 0.0, 0.0, 0.0, -1.0, top]})
        };
        for (path, first, second) in [("", "r10/b", "r20/b"), ("g", "g/r10", "g/r20")] {
            let changes = changes(&[(first, &axes(100)), (second, &axes(50))]);
            let of = |levels: Vec<Value>| json!({"multiscales": {"layout": levels}});
            let before = of(vec![level("r10", [100, 100], 50.0), level("./r20/", [50, 50], 90.0)]);
            let after = of(vec![level("r10", [20, 100], 40.0), level("./r20/", [20, 50], 80.0)]);
            let mut attributes = before.as_object().unwrap().clone();
            assert_eq!(follow(&changes, path, &mut attributes), Vec::<String>::new());
            assert_eq!(Value::Object(attributes), after);
        }
        let changes = changes(&[("r10", &axes(100))]);
        let related =
            json!({"multiscales": {"layout": [{"asset": "r10", "transform": {"scale": [1]}}]}});
        let mut attributes = related.as_object().unwrap().clone();
        let said = follow(&changes, "", &mut attributes);
        assert!(said.len() == 1 && said[0].contains("lie on each other"), "{said:?}");
        assert_eq!(Value::Object(attributes), related);
    }
}
