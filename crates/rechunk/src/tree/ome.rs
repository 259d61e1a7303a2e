//! OME-Zarr images (NGFF 0.4 and 0.5, "multiscales" metadata): arrays of a group that are one image in
//! several resolutions. Other chunks change nothing of what the group says of them; other things do.

use rechunk_format::json::text;
use rechunk_zarr::GroupMetadata;
use serde_json::Value;

use super::walk::in_words;
use crate::Format;

/// What is to be said of the group at `path` if it is such an image, of which `arrays` are copied:
/// `selects` of a region each.
pub(super) fn warnings(
    (path, group): (&str, &GroupMetadata),
    arrays: &[String],
    selects: bool,
    target: Format,
) -> Vec<String> {
    let own = group.attributes.get("multiscales");
    let images = own.or_else(|| group.attributes.get("ome")?.get("multiscales"));
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
            "{place} is an OME image, and its `multiscales` names levels that are not copied: {}",
            missing.join(", ")
        ));
    }
    let (version, wanted) =
        if own.is_some() { ("0.4", Format::Zarr2) } else { ("0.5", Format::Zarr3) };
    if target != wanted {
        warnings.push(format!(
            "{place} is an OME image of version {version}, which readers look for in {}: its attributes \
             are copied as they are",
            wanted.name()
        ));
    }
    warnings
}
