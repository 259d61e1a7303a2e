//! OME-Zarr images ("multiscales" metadata): arrays of a group that are one image in several
//! resolutions. Other chunks change nothing of what the group says of them; other things do.

use rechunk_format::json::text;
use rechunk_zarr::GroupMetadata;
use serde_json::Value;

use super::walk::in_words;
use crate::Format;

/// Warnings about the group at `path` if it is such an image, of which `arrays` are copied. A
/// region of each is copied if it `selects`. What the source does not have is told too.
pub(super) fn warnings(
    (path, group): (&str, &GroupMetadata),
    arrays: &[String],
    selects: bool,
    target: Format,
) -> Vec<String> {
    let own = group.attributes.get("multiscales");
    let ome = group.attributes.get("ome");
    let images = own.or_else(|| ome?.get("multiscales"));
    let Some(images) = images.and_then(Value::as_array) else { return Vec::new() };
    let place = in_words(path);
    let mut warnings = Vec::new();
    if selects {
        warnings.push(format!(
            "{place} is an OME image: the region is taken of each level by its own indices, and what \
             `multiscales` says of scales and origins is not changed"
        ));
    }
    let levels = images.iter().filter_map(|image| image.get("datasets")?.as_array()).flatten();
    let names = levels.filter_map(|level| text(level.get("path")?));
    let copied = |name: &str| {
        let location = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        arrays.contains(&location)
    };
    let missing: Vec<&str> = names.filter(|name| !copied(name)).collect();
    if !missing.is_empty() {
        warnings.push(format!(
            "{place} is an OME image, and its `multiscales` names levels that the source does not \
             have: {}",
            missing.join(", ")
        ));
    }
    // Up to 0.4 each image says its version, from 0.5 on `ome` does.
    let said = match own {
        Some(_) => images.iter().find_map(|image| text(image.get("version")?)),
        None => ome.and_then(|ome| text(ome.get("version")?)),
    };
    let wanted = if own.is_some() { Format::Zarr2 } else { Format::Zarr3 };
    if target != wanted {
        let version = said.map_or_else(String::new, |version| format!(" of version {version}"));
        warnings.push(format!(
            "{place} is an OME image{version}, which readers look for in {}: its attributes are \
             copied as they are",
            wanted.name()
        ));
    }
    warnings
}
