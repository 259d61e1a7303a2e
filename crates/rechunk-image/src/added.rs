//! Levels that are put into the description of an image that is there.

use serde_json::{Map, Value, json};

use crate::placement::Placement;
use crate::read_ome::list_at;

/// The images of OME-Zarr in attributes of a group, to be changed.
pub(crate) fn images(attributes: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
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
        let path = dataset.get("path").and_then(Value::as_str);
        path.is_some_and(|path| paths.contains(&path.trim_matches('/')))
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
    if let Some(described) = images(&mut new)?.first() {
        let is_added: Vec<bool> = list_at(described, "datasets").iter().map(is_added).collect();
        list_in_recipe(image, described, &is_added);
    }
    Some(all)
}

/// Start of the name of a method in recipes of ours.
const OURS: &str = "rechunk.";

/// Has a recipe of ours list the factors of those levels of an image that were made by it. Of
/// `new`, which describes all levels, those that are added are, if its recipe is alike.
fn list_in_recipe(image: &mut Value, new: &Value, is_added: &[bool]) {
    let Some(own) = image.get_mut("metadata") else { return };
    let method = |recipe: &Value| recipe.get("method").and_then(Value::as_str).map(str::to_owned);
    let settings = |recipe: &Value| {
        let mut settings = recipe.get("kwargs").and_then(Value::as_object).cloned()?;
        let factors = settings.shift_remove("factors")?;
        Some((settings, factors.as_array()?.clone()))
    };
    let Some((new, own_method)) = new.get("metadata").zip(method(own)) else { return };
    let (Some((own_settings, listed)), Some((new_settings, factors))) =
        (settings(own), settings(new))
    else {
        return;
    };
    if !own_method.starts_with(OURS) {
        return;
    }
    let is_alike = method(new) == Some(own_method) && new_settings == own_settings;
    let of_recipe = factors
        .into_iter()
        .zip(is_added)
        .filter(|(factors, is_added)| if **is_added { is_alike } else { listed.contains(factors) });
    let of_recipe: Vec<Value> = of_recipe.map(|(factors, _)| factors).collect();
    own["kwargs"]["factors"] = Value::Array(of_recipe);
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

    #[test]
    fn the_recipe_lists_the_levels_that_were_made_by_it() {
        let dataset = |path: &str| {
            json!({"path": path, "coordinateTransformations": [
            {"type": "scale", "scale": [path.parse::<f64>().unwrap()]}]})
        };
        let image = |method: &str, paths: &[&str], factors: Value| {
            let datasets: Vec<Value> = paths.iter().map(|path| dataset(path)).collect();
            json!({"multiscales": [{"datasets": datasets, "metadata": {
                "method": method, "kwargs": {"size": "floor", "factors": factors}}}]})
        };
        let with = |own: &Value, new: &Value, paths: &[&str]| {
            with_levels(own.as_object().unwrap(), new.as_object().unwrap(), paths).unwrap()
                ["multiscales"][0]["metadata"]["kwargs"]["factors"]
                .clone()
        };
        let own = image("rechunk.mean", &["1", "2"], json!([[1], [2]]));
        let all = |method: &str| image(method, &["1", "2", "4"], json!([[1], [2], [4]]));
        assert_eq!(with(&own, &all("rechunk.mean"), &["4"]), json!([[1], [2], [4]]));
        assert_eq!(with(&own, &all("rechunk.max"), &["4"]), json!([[1], [2]]));
        let without = image("rechunk.mean", &["1"], json!([[1]]));
        assert_eq!(with(&own, &without, &["2"]), json!([[1]]));
        assert_eq!(
            with(&own, &image("rechunk.max", &["1", "2"], json!([[1], [2]])), &["2"]),
            json!([[1]])
        );
        let others = image("skimage.rescale", &["1"], json!([[1]]));
        assert_eq!(with(&others, &all("rechunk.mean"), &["2", "4"]), json!([[1]]));
    }
}
