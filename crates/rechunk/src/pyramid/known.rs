//! Levels that an image has before others are added to it.

use rechunk_image::{Level, true_factors};
use rechunk_store::Stores;

use super::image::{ImageGroup, SourceImage};
use crate::Error;
use crate::member_location::member_location;
use crate::open::{OpenOptions, open_array};
use crate::request::CopyRequest;
use crate::tree::SavedTree;
use crate::work_dir::WorkDir;

/// Paths of levels that an interrupted run was to add to the image at the target.
pub(super) async fn begun_levels(target: &str, stores: &Stores) -> Result<Vec<String>, Error> {
    let bytes = WorkDir::of(target, stores)?.saved_tree().await?;
    let saved = bytes.map(|bytes| SavedTree::from_json(&bytes)).transpose()?;
    let saved = saved.filter(SavedTree::adds_levels);
    Ok(saved.iter().flat_map(SavedTree::paths).map(str::to_owned).collect())
}

/// The levels that the image at the target has, without those that were `begun`.
pub(super) async fn known_levels(
    group: &ImageGroup,
    begun: &[String],
    request: &CopyRequest,
    image: &SourceImage,
    stores: &Stores,
) -> Result<Vec<Level>, Error> {
    let mut known = Vec::new();
    let rank = image.axes.len();
    let mut shapes = Vec::new();
    for found in group.found.levels.iter().filter(|level| !begun.contains(&level.path)) {
        let location = member_location(&group.location, &found.path);
        let options = OpenOptions {
            select: None,
            cast: None,
            reached_as: Some(group.format),
            ..request.open_options()
        };
        let array = open_array(&location, &options, stores).await?;
        // GeoZarr says those of the last axes.
        let list = |list: &Option<Vec<f64>>, of_image: &[f64]| {
            let mut all = of_image.to_vec();
            let said = list.iter().flatten().rev();
            all.iter_mut().rev().zip(said).for_each(|(own, said)| *own = *said);
            all
        };
        let scale = list(&found.scale, &image.scale);
        let translation = list(&found.translation, &image.translation);
        let shape = array.spec().shape.clone();
        shapes.push(shape.clone());
        let (path, factors) = (found.path.clone(), vec![1; rank]);
        known.push(Level { path, factors, scale, translation, shape });
    }
    // By the shapes: scales may be ratios of sizes.
    for (known, factors) in known.iter_mut().zip(true_factors(&group.found, &shapes)) {
        let factors = factors.into_iter().flatten();
        for (own, factor) in known.factors.iter_mut().rev().zip(factors.rev()) {
            *own = whole(factor);
        }
    }
    Ok(known)
}

/// The nearest whole factor.
fn whole(factor: f64) -> u64 {
    let factor = factor.round().clamp(1.0, 1e15);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number")]
    let factor = factor as u64;
    factor
}
