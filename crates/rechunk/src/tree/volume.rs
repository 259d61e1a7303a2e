//! Groups that are one image, whose document lists the levels: read as images of other formats, and
//! written as such.

use rechunk_image::{Dialect, FoundImage, Image, Level, documents, read_image};
use rechunk_zarr::GroupMetadata;

use super::TreeJob;
use crate::Error;
use crate::formats::{Fact, Format, volume_of};

/// Has the group say its image as readers of the target look for it, where the source lists its
/// levels. A sentence where that cannot be.
pub(super) fn carry(
    root: &mut GroupMetadata,
    (from, to): (Format, Format),
    location: &str,
) -> Option<String> {
    if !from.has(Fact::Levels) || to.has(Fact::Levels) {
        return None;
    }
    let found = read_image(&root.attributes)?;
    let dialect = match to.usual_dialect() {
        Dialect::BdvN5 => Dialect::N5Viewer, // setups have other paths
        dialect => dialect,
    };
    let name = location.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    match documents(&as_image(found, name), dialect) {
        Ok(described) => {
            root.attributes = described.group;
            None
        }
        Err(error) => Some(format!("the scales are no image in {}: {error}", to.name())),
    }
}

/// A found image as it is to be written. Factors are those of the sizes of its voxels.
fn as_image(found: FoundImage, name: &str) -> Image {
    let base = found.base_scale.clone().unwrap_or_default();
    let level = |level: rechunk_image::FoundLevel| {
        let scale = level.scale.unwrap_or_else(|| base.clone());
        let factors = scale.iter().zip(&base).map(|(scale, base)| {
            let factor = (scale / base).round().max(1.0);
            format!("{factor:.0}").parse().unwrap_or(1)
        });
        Level {
            path: level.path,
            factors: factors.collect(),
            translation: level.translation.unwrap_or_else(|| vec![0.0; scale.len()]),
            shape: vec![1; scale.len()],
            scale,
        }
    };
    let is_label = found.rest.get("type").is_some_and(|kind| kind == "segmentation");
    Image {
        name: found.name.unwrap_or_else(|| name.to_owned()),
        axes: found.axes,
        levels: found.levels.into_iter().map(level).collect(),
        is_label,
        carried: found.rest,
        ..Image::default()
    }
}

/// Refuses arrays that are no levels of one image, where the format has no other groups.
pub(super) fn check(job: &TreeJob) -> Result<(), Error> {
    if !job.format.has(Fact::Levels) {
        return Ok(());
    }
    let refuse = |message: String| {
        let hint = Some("take Zarr or N5, or copy its images one by one".into());
        Err(Error::Usage { message, hint })
    };
    let name = job.format.name();
    if let Some(path) = job.groups.keys().next() {
        return refuse(format!(
            "{path} is a group, and a group in {name} has the levels of an image"
        ));
    }
    if job.array_count() > job.arrays.len() {
        return refuse(format!(
            "{} arrays are more than an image in {name} has",
            job.array_count()
        ));
    }
    let arrays = job.arrays.iter().map(|array| (array.path.clone(), array.job.target.clone()));
    let described = volume_of(&arrays.collect::<Vec<_>>(), &job.root.attributes);
    described.map(drop).map_err(Error::target_metadata)
}
