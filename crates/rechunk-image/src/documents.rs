//! Attributes that say an image in a dialect.

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;
use crate::documents_geozarr::geozarr_documents;
use crate::documents_n5::{bdv_documents, viewer_documents};
use crate::documents_ome::ome_group;
use crate::documents_precomputed::precomputed_group;
use crate::error::ImageError;
use crate::image::Image;

/// Documents of an image. Paths are relative to the image's group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Documents {
    /// Attributes of the image's group. For BigDataViewer that is the group of a setup; with
    /// channels, the same for each of them.
    pub group: Map<String, Value>,
    /// Attributes of the group of each time, between the image's and its levels. Only
    /// BigDataViewer has such groups.
    pub timepoint: Option<Map<String, Value>>,
    /// Attributes of the array of each level.
    pub levels: Vec<Map<String, Value>>,
}

fn check_levels(image: &Image) -> Result<(), ImageError> {
    let wrong = |reason: String| Err(ImageError::Levels { image: image.name.clone(), reason });
    if image.levels.is_empty() {
        return wrong("there are none; an image has at least one".to_owned());
    }
    let rank = image.axes.len();
    for level in &image.levels {
        let path = &level.path;
        let lengths = [
            ("factors", level.factors.len()),
            ("scale", level.scale.len()),
            ("translation", level.translation.len()),
            ("shape", level.shape.len()),
        ];
        if let Some((list, length)) = lengths.into_iter().find(|(_, length)| *length != rank) {
            return wrong(format!(
                "level {path:?} has a {list} of {length} axes instead of {rank}"
            ));
        }
        if level.factors.contains(&0) {
            return wrong(format!("level {path:?} has a factor of 0; factors begin at 1"));
        }
        let is_placed = level.scale.iter().all(|scale| scale.is_finite() && *scale != 0.0)
            && level.translation.iter().all(|offset| offset.is_finite());
        if !is_placed {
            return wrong(format!(
                "level {path:?} has a scale {:?} and a translation {:?}; they must be finite, and \
                 the scale not 0",
                level.scale, level.translation
            ));
        }
    }
    Ok(())
}

/// The documents of an image in a dialect.
///
/// Fails with [`ImageError::Axes`] if the dialect cannot say the axes, and with
/// [`ImageError::Levels`] if lists of a level do not fit the axes or are not finite.
///
/// ```
/// use rechunk_image::{Axis, Dialect, Image, Level, documents};
/// let level = Level {
///     path: "s0".to_owned(),
///     factors: vec![1, 1],
///     scale: vec![0.5, 0.5],
///     translation: vec![0.0, 0.0],
///     shape: vec![512, 512],
/// };
/// let image = Image {
///     name: "cells".to_owned(),
///     axes: vec![Axis::of_name("y"), Axis::of_name("x")],
///     levels: vec![level],
///     ..Image::default()
/// };
/// let documents = documents(&image, Dialect::OmeZarr05)?;
/// assert_eq!(documents.group["ome"]["version"], "0.5");
/// # Ok::<(), rechunk_image::ImageError>(())
/// ```
pub fn documents(image: &Image, dialect: Dialect) -> Result<Documents, ImageError> {
    check_levels(image)?;
    let empty = || vec![Map::new(); image.levels.len()];
    let (group, levels) = match dialect {
        Dialect::OmeZarr04 | Dialect::OmeZarr05 | Dialect::OmeZarr06 => {
            (ome_group(image, dialect)?, empty())
        }
        Dialect::BdvN5 => {
            let (group, timepoint, levels) = bdv_documents(image)?;
            return Ok(Documents { group, timepoint: Some(timepoint), levels });
        }
        Dialect::N5Viewer => viewer_documents(image),
        Dialect::GeoZarr => geozarr_documents(image)?,
        Dialect::Plain => (image.carried.clone(), empty()),
        Dialect::Precomputed => (precomputed_group(image)?, empty()),
    };
    Ok(Documents { group, timepoint: None, levels })
}

/// Attributes of a group `labels` that holds label images of these names; empty for dialects
/// other than OME-Zarr.
///
/// ```
/// use rechunk_image::{Dialect, labels_group};
/// let attributes = labels_group(&["cells".to_owned()], Dialect::OmeZarr05);
/// assert_eq!(attributes["ome"]["labels"][0], "cells");
/// ```
pub fn labels_group(names: &[String], dialect: Dialect) -> Map<String, Value> {
    let mut attributes = Map::new();
    match dialect {
        Dialect::OmeZarr04 => {
            attributes.insert("labels".to_owned(), json!(names));
        }
        Dialect::OmeZarr05 | Dialect::OmeZarr06 => {
            let version = dialect.ome_version();
            attributes.insert("ome".to_owned(), json!({"version": version, "labels": names}));
        }
        Dialect::BdvN5
        | Dialect::N5Viewer
        | Dialect::GeoZarr
        | Dialect::Plain
        | Dialect::Precomputed => {}
    }
    attributes
}
