//! Levels that are put into the description of an image that is there.

use serde_json::{Map, Value, json};

/// The images of OME-Zarr in attributes of a group, to be changed.
fn images(attributes: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    if attributes.get("ome").is_some_and(|ome| ome.get("multiscales").is_some()) {
        return attributes.get_mut("ome")?.get_mut("multiscales")?.as_array_mut();
    }
    attributes.get_mut("multiscales")?.as_array_mut()
}

fn numbers(list: &Value) -> Option<Vec<f64>> {
    list.as_array()?.iter().map(Value::as_f64).collect()
}

/// Scale and translation of transformations for all levels of an image, of `rank` axes.
fn of_all(image: &Value, rank: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut scale, mut translation) = (vec![1.0; rank], vec![0.0; rank]);
    let all = image.get("coordinateTransformations").and_then(Value::as_array);
    for one in all.into_iter().flatten() {
        let list = |key: &str| one.get(key).and_then(numbers).filter(|list| list.len() == rank);
        if let Some(list) = list("scale") {
            scale.iter_mut().zip(&list).for_each(|(own, by)| *own *= by);
            translation.iter_mut().zip(&list).for_each(|(own, by)| *own *= by);
        }
        if let Some(list) = list("translation") {
            translation.iter_mut().zip(&list).for_each(|(own, by)| *own += by);
        }
    }
    (scale, translation)
}

/// Takes what an image says of all levels out of the transformations of one.
fn without(dataset: &mut Value, (scale, translation): &(Vec<f64>, Vec<f64>)) {
    let own = dataset.get_mut("coordinateTransformations").and_then(Value::as_array_mut);
    let Some(own) = own else { return };
    for one in own.iter_mut() {
        let (Some(kind), place) = (one.get("type").and_then(Value::as_str), translation) else {
            continue;
        };
        let kind = kind.to_owned();
        let Some(list) = one.get(&kind).and_then(numbers) else { continue };
        let axes = list.iter().zip(scale).zip(place);
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
    let transformations = dataset.get("coordinateTransformations").and_then(Value::as_array);
    let scales = transformations.into_iter().flatten().filter_map(|one| {
        let nested = one.get("transformations").and_then(Value::as_array);
        let nested = nested.into_iter().flatten().find_map(|one| numbers(one.get("scale")?));
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
            without(&mut dataset, &for_all);
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
