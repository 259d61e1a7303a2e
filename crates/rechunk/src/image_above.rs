//! The groups above an array, and the OME-Zarr image that one of them describes it as a level of.

use rechunk_format::json::text;
use rechunk_store::{Role, Store};
use serde_json::{Map, Value};

use crate::Error;
use crate::formats::Documents;

/// Most groups above an array that are looked at: writers put levels one or two groups down.
const GROUPS_MAX: usize = 3;

/// A directory above an array: a group, if its documents say so.
pub(crate) struct Above {
    pub location: String,
    /// The store there.
    pub place: Store,
    pub documents: Documents,
    /// Path of the array in it.
    pub path: String,
}

/// Climbs from an array to what is above it.
pub(crate) struct Climb<'a> {
    /// Location of the array.
    of: &'a str,
    /// Location, store and path of the array of the place that was reached.
    location: String,
    place: Store,
    path: String,
    /// Number of groups that may still be looked at.
    left: usize,
}

impl<'a> Climb<'a> {
    /// Begins at the array at `location`, whose store is `store`.
    pub(crate) fn from(location: &'a str, store: &Store) -> Self {
        Self {
            of: location,
            location: location.to_owned(),
            place: store.with_role(Role::Control),
            path: String::new(),
            left: GROUPS_MAX,
        }
    }

    /// The next place above; `None` where there is none that is looked at.
    pub(crate) async fn next(&mut self) -> Result<Option<Above>, Error> {
        let failed = |source| Error::source_store(self.of, source);
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        let Some((place, name)) = self.place.parent().map_err(failed)? else { return Ok(None) };
        let documents = match Documents::fetch(&place).await {
            Ok(documents) => documents,
            // Whoever may not look there has no image there.
            Err(error) if error.is_permission_denied() => return Ok(None),
            Err(source) => return Err(failed(source)),
        };
        let location = location_above(&self.location, &place, &name);
        let path = if self.path.is_empty() { name } else { format!("{name}/{}", self.path) };
        (self.location, self.place, self.path) = (location.clone(), place.clone(), path.clone());
        self.left = left;
        Ok(Some(Above { location, place, documents, path }))
    }
}

/// Location above `location`, in its own words where these name what lies below; else where `place`
/// is.
fn location_above(location: &str, place: &Store, name: &str) -> String {
    let is_remote = place.local_root().is_none();
    match location.trim_end_matches('/').rsplit_once('/') {
        Some((above, last)) if !above.is_empty() && (is_remote || last == name) => above.to_owned(),
        _ => place.label().to_owned(),
    }
}

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
    let mut climb = Climb::from(location, store);
    while let Some(Above { documents, path, .. }) = climb.next().await? {
        // A group that cannot be read says nothing.
        let attributes = documents.group().map(|group| group.attributes).unwrap_or_default();
        let mut levels = image_levels(&attributes).into_iter().filter(|level| level.path == path);
        if let Some(found) = levels.find_map(|level| read(&level)) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
