//! The OME-Zarr image that an array is a level of, as a group above it describes it.

use rechunk_format::json::text;
use rechunk_store::{Role, Store};
use serde_json::{Map, Value};

use crate::Error;
use crate::formats::Documents;

/// Most levels above an array that are looked at: writers put levels one or two groups down.
const LEVELS_MAX: usize = 3;

/// A level of an image.
pub(crate) struct ImageLevel<'a> {
    /// Its path below the group.
    pub path: &'a str,
    /// Its item of `datasets`.
    pub dataset: &'a Value,
    /// Its image, an item of `multiscales`.
    pub image: &'a Value,
}

/// The levels of the images that a group of these attributes describes.
pub(crate) fn image_levels(attributes: &Map<String, Value>) -> Vec<ImageLevel<'_>> {
    let images = attributes.get("ome").and_then(|ome| ome.get("multiscales"));
    let images = images.or_else(|| attributes.get("multiscales")).and_then(Value::as_array);
    let mut found = Vec::new();
    for image in images.into_iter().flatten() {
        let datasets = image.get("datasets").and_then(Value::as_array);
        found.extend(datasets.into_iter().flatten().filter_map(|dataset| {
            let path = text(dataset.get("path")?)?.trim_matches('/');
            Some(ImageLevel { path, dataset, image })
        }));
    }
    found
}

/// The axes of an image: of 0.6 those of its first coordinate system.
pub(crate) fn image_axes(image: &Value) -> Option<&Value> {
    let systems = image.get("coordinateSystems").and_then(Value::as_array);
    let of_system = systems.and_then(|systems| systems.first()?.get("axes"));
    image.get("axes").or(of_system)
}

/// Looks for the array at `store` among the levels of images of the groups above it. The nearest is
/// first; `read` says what is found there, or `None` to look on.
pub(crate) async fn look_above<T>(
    location: &str,
    store: &Store,
    read: impl Fn(&ImageLevel<'_>) -> Option<T>,
) -> Result<Option<T>, Error> {
    let (mut place, mut path) = (store.with_role(Role::Control), String::new());
    for _ in 0..LEVELS_MAX {
        let parent = place.parent().map_err(|source| Error::source_store(location, source))?;
        let Some((group, name)) = parent else { break };
        path = if path.is_empty() { name } else { format!("{name}/{path}") };
        let documents = match Documents::fetch(&group).await {
            Ok(documents) => documents,
            // Whoever may not look there has no image there.
            Err(error) if error.is_permission_denied() => break,
            Err(source) => return Err(Error::source_store(location, source)),
        };
        // A group that cannot be read says nothing.
        let attributes = documents.group().map(|group| group.attributes).unwrap_or_default();
        let mut levels = image_levels(&attributes).into_iter().filter(|level| level.path == path);
        if let Some(found) = levels.find_map(|level| read(&level)) {
            return Ok(Some(found));
        }
        place = group;
    }
    Ok(None)
}
