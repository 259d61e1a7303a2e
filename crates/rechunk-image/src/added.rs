//! Levels that are put into the description of an image that is there.

use serde_json::{Map, Value, json};

use crate::placement::Placement;
use crate::read_ome::list_at;

/// The images of OME-Zarr in attributes of a group, to be changed.
fn images(attributes: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    if attributes.get("ome").is_some_and(|ome| ome.get("multiscales").is_some()) {
        return attributes.get_mut("ome")?.get_mut("multiscales")?.as_array_mut();
    }
    attributes.get_mut("multiscales")?.as_array_mut()
}

/// Numbers of a list of any length: what others wrote stays, also beyond what is read of it.
fn numbers(list: &Value) -> Option<Vec<f64>> {
    list.as_array()?.iter().map(Value::as_f64).collect()
}

/// Scale and translation of transformations for all levels of an image, of `rank` axes. Lists of
/// other ranks do not count.
fn of_all(image: &Value, rank: usize) -> Placement {
    let mut all = Placement::identity(rank);
    for one in list_at(image, "coordinateTransformations") {
        if let Some(scale) = one.get("scale").and_then(numbers) {
            all.then_scale(&scale);
        }
        if let Some(translation) = one.get("translation").and_then(numbers) {
            all.then_translation(&translation);
        }
    }
    all
}

/// Takes what an image says of all levels out of the transformations of one.
fn take_out(dataset: &mut Value, of_all: &Placement) {
    let own = dataset.get_mut("coordinateTransformations").and_then(Value::as_array_mut);
    for one in own.into_iter().flatten() {
        let Some(kind) = one.get("type").and_then(Value::as_str) else { continue };
        let kind = kind.to_owned();
        let Some(list) = one.get(&kind).and_then(numbers) else { continue };
        let axes = list.iter().zip(&of_all.scale).zip(&of_all.translation);
        let list: Vec<f64> = axes
            .map(|((own, by), place)| {
                let own = if kind == "translation" { own - place } else { *own };
                if *by == 0.0 { own } else { own / by }
            })
            .collect();
        one[&kind] = json!(list);
    }
}

/// Scale of a dataset along all axes, multiplied: coarser levels have larger ones.
fn coarseness(dataset: &Value) -> f64 {
    let transformations = list_at(dataset, "coordinateTransformations").iter();
    let scales = transformations.filter_map(|one| {
        let mut nested = list_at(one, "transformations").iter();
        let nested = nested.find_map(|one| numbers(one.get("scale")?));
        one.get("scale").and_then(numbers).or(nested)
    });
    scales.flatten().map(f64::abs).product()
}

/// Puts the datasets of `paths` out of `new` into the image of OME-Zarr that `own` describes. `new`
/// describes it with all levels; all else of `own` stays as it is. `None` if it has no such image.
///
/// ```
/// use rechunk_image::with_levels;
/// # use serde_json::json;
/// # let dataset = |path: &str, scale: f64| json!({"path": path, "coordinateTransformations": [
/// #     {"type": "scale", "scale": [scale]}]});
/// let own = json!({"multiscales": [{"@type": "ngff:Image", "datasets": [dataset("0", 1.0)]}]});
/// let new = json!({"multiscales": [{"datasets": [dataset("0", 1.0), dataset("1", 2.0)]}]});
/// let all = with_levels(own.as_object().unwrap(), new.as_object().unwrap(), &["1"]).unwrap();
/// assert_eq!(all["multiscales"][0]["@type"], "ngff:Image");
/// assert_eq!(all["multiscales"][0]["datasets"][1], dataset("1", 2.0));
/// ```
pub fn with_levels(
    own: &Map<String, Value>,
    new: &Map<String, Value>,
    paths: &[&str],
) -> Option<Map<String, Value>> {
    let (mut all, mut new) = (own.clone(), new.clone());
    let added = images(&mut new)?.first()?.get("datasets")?.as_array()?.clone();
    let image = images(&mut all)?.first_mut()?;
    let rank = added.iter().find_map(|dataset| {
        let first = dataset.get("coordinateTransformations")?.get(0)?;
        Some(first.get("scale")?.as_array()?.len())
    });
    let for_all = of_all(image, rank.unwrap_or(0));
    let datasets = image.get_mut("datasets")?.as_array_mut()?;
    let is_added = |dataset: &Value| {
        dataset.get("path").and_then(Value::as_str).is_some_and(|path| paths.contains(&path))
    };
    datasets.retain(|dataset| !is_added(dataset)); // an interrupted run may have put some in
    for mut dataset in added.into_iter().filter(is_added) {
        if rank.is_some() {
            take_out(&mut dataset, &for_all);
        }
        let own = coarseness(&dataset);
        let at = datasets.iter().position(|other| coarseness(other) > own);
        datasets.insert(at.unwrap_or(datasets.len()), dataset);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_in_their_order_and_what_is_for_all_is_not_said_twice() {
        let dataset = |path: &str, scale: f64, translation: f64| {
            json!({"path": path, "coordinateTransformations": [
                {"type": "scale", "scale": [scale]},
                {"type": "translation", "translation": [translation]},
            ]})
        };
        let own = json!({"ome": {"version": "0.5", "multiscales": [{
            "datasets": [dataset("0", 1.0, 0.0), dataset("2", 4.0, 1.5)],
            "coordinateTransformations": [{"type": "scale", "scale": [0.5]}],
        }]}, "mine": 1});
        let new = json!({"ome": {"multiscales": [{"datasets": [
            dataset("0", 0.5, 0.0), dataset("1", 1.0, 0.25), dataset("2", 2.0, 0.75),
        ]}]}});
        let all = with_levels(own.as_object().unwrap(), new.as_object().unwrap(), &["1"]).unwrap();
        let datasets = &all["ome"]["multiscales"][0]["datasets"];
        assert_eq!(datasets[1], dataset("1", 2.0, 0.5));
        assert_eq!(datasets.as_array().unwrap().len(), 3);
        assert_eq!(all["mine"], 1);
        let nothing = json!({"multiscales": 3});
        assert_eq!(with_levels(nothing.as_object().unwrap(), new.as_object().unwrap(), &[]), None);
    }
}
