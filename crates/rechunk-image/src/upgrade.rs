//! Attributes of one version of OME-Zarr as those of another.

use serde_json::{Map, Value, json};

use crate::conventions::OME_KEYS;
use crate::dialect::Dialect;
use crate::documents_ome::set_version;
use crate::error::ImageError;
use crate::upgrade_images::{image_from_04, image_from_06, image_to_06};
use crate::values::{tell, without};

/// Attributes of another version, and notes on what is not as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Upgraded {
    /// The attributes of the group.
    pub attributes: Map<String, Value>,
    /// The version that they had.
    pub from: Dialect,
    /// Sentences on values that were not kept, or are said otherwise.
    pub notes: Vec<String>,
}

/// Attributes of a group taken apart: those of OME-Zarr, and all others.
struct Parts {
    ome: Map<String, Value>,
    others: Map<String, Value>,
    from: Dialect,
}

fn is_06(ome: &Map<String, Value>) -> bool {
    let version = ome.get("version").and_then(Value::as_str).unwrap_or_default();
    let images = ome.get("multiscales").and_then(Value::as_array);
    version.starts_with("0.6")
        || images.into_iter().flatten().any(|image| image.get("coordinateSystems").is_some())
}

fn take_apart(attributes: &Map<String, Value>) -> Option<Parts> {
    if let Some(ome) = attributes.get("ome").and_then(Value::as_object) {
        let from = if is_06(ome) { Dialect::OmeZarr06 } else { Dialect::OmeZarr05 };
        let (ome, others) = (without(ome, &["version"]), without(attributes, &["ome"]));
        return Some(Parts { ome, others, from });
    }
    let known = attributes.iter().filter(|(key, _)| OME_KEYS.contains(&key.as_str()));
    let ome: Map<_, _> = known.map(|(key, value)| (key.clone(), value.clone())).collect();
    let others = without(attributes, &OME_KEYS);
    (!ome.is_empty()).then_some(Parts { ome, others, from: Dialect::OmeZarr04 })
}

/// Images of OME-Zarr, not those of other conventions with this key.
fn has_foreign_images(ome: &Map<String, Value>) -> bool {
    let Some(images) = ome.get("multiscales") else { return false };
    let Some(images) = images.as_array() else { return true };
    let datasets = images.iter().filter_map(|image| image.get("datasets")?.as_array()).flatten();
    datasets.into_iter().any(|dataset| dataset.get("transform").is_some())
}

/// Position of a version of OME-Zarr among those that are written.
fn step_of(dialect: Dialect) -> Option<u8> {
    match dialect {
        Dialect::OmeZarr04 => Some(4),
        Dialect::OmeZarr05 => Some(5),
        Dialect::OmeZarr06 => Some(6),
        Dialect::BdvN5
        | Dialect::N5Viewer
        | Dialect::GeoZarr
        | Dialect::Plain
        | Dialect::Precomputed => None,
    }
}

fn change_image(
    image: &mut Map<String, Value>,
    from: u8,
    to: u8,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    if from == 4 && to > 4 {
        image_from_04(image, notes);
    }
    if from < 6 && to == 6 {
        image_to_06(image, notes)?;
    }
    if from == 6 && to < 6 {
        image_from_06(image, notes)?;
    }
    if to == 4 {
        // In the place that writers of 0.4 give it: the first.
        image.shift_remove("version");
        image.shift_insert(0, "version".to_owned(), json!("0.4"));
    }
    Ok(())
}

/// The attributes of a group of OME-Zarr as those of the version `to`: of an image, a plate, a
/// well, or a group of labels.
///
/// Other attributes are kept. Versions before are upgraded, those after downgraded; the chunks and
/// the arrays' own metadata are another matter. Fails with [`ImageError::Upgrade`] if there is
/// nothing of OME-Zarr, if `to` is no version of it, or if an image cannot be said in it.
///
/// ```
/// use rechunk_image::{Dialect, upgrade};
/// let old = serde_json::json!({"labels": ["cells"], "own": 1});
/// let new = upgrade(old.as_object().unwrap(), Dialect::OmeZarr05)?;
/// assert_eq!(
///     serde_json::Value::Object(new.attributes),
///     serde_json::json!({"own": 1, "ome": {"version": "0.5", "labels": ["cells"]}})
/// );
/// # Ok::<(), rechunk_image::ImageError>(())
/// ```
pub fn upgrade(attributes: &Map<String, Value>, to: Dialect) -> Result<Upgraded, ImageError> {
    let wrong = |from: &str, reason: &str| ImageError::Upgrade {
        from: from.to_owned(),
        to: to.name(),
        reason: reason.to_owned(),
    };
    let hint = "only versions of OME-Zarr are made of each other; write the image anew";
    let parts = take_apart(attributes).ok_or_else(|| wrong("a group without OME-Zarr", hint))?;
    let Parts { mut ome, others, from } = parts;
    let (Some(first), Some(last)) = (step_of(from), step_of(to)) else {
        return Err(wrong(from.name(), hint));
    };
    if has_foreign_images(&ome) {
        return Err(wrong("`multiscales` of another convention", hint));
    }
    let mut notes = Vec::new();
    let images = ome.get_mut("multiscales").and_then(Value::as_array_mut);
    for image in images.into_iter().flatten().filter_map(Value::as_object_mut) {
        let changed = change_image(image, first, last, &mut notes);
        changed.map_err(|reason| wrong(from.name(), &reason))?;
    }
    if last < 6 && ome.shift_remove("scene").is_some() {
        tell(&mut notes, format!("`scene` is left out, {} has none", to.name()));
    }
    for (key, value) in &mut ome {
        set_version(key, value, to);
    }
    let mut attributes = others;
    if to == Dialect::OmeZarr04 {
        for (key, value) in ome {
            if let Some(before) = attributes.insert(key.clone(), value) {
                tell(&mut notes, format!("{key:?} was {before} beside `ome`, and is left out"));
            }
        }
    } else {
        let version = [("version".to_owned(), json!(to.ome_version()))];
        let ome = version.into_iter().chain(ome).collect();
        attributes.insert("ome".to_owned(), Value::Object(ome));
    }
    Ok(Upgraded { attributes, from, notes })
}
