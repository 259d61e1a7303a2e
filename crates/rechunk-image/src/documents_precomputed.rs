//! Attributes of the group of a volume of Neuroglancer. Its scales say all else themselves.

use serde_json::{Map, Value};

use crate::axis::AxisKind;
use crate::dialect::Dialect;
use crate::error::ImageError;
use crate::image::Image;

/// Attributes of a group of scales; refuses axes that no volume has.
pub(crate) fn precomputed_group(image: &Image) -> Result<Map<String, Value>, ImageError> {
    let kinds: Vec<AxisKind> = image.axes.iter().map(|axis| axis.kind).collect();
    let is_space = |kinds: &[AxisKind]| kinds.iter().all(|kind| *kind == AxisKind::Space);
    let fits = match &kinds[..] {
        [channel, space @ ..] if space.len() == 3 => {
            *channel == AxisKind::Channel && is_space(space)
        }
        space => space.len() == 3 && is_space(space),
    };
    if !fits {
        let names: Vec<&str> = image.axes.iter().map(|axis| axis.name.as_str()).collect();
        return Err(ImageError::Axes {
            dialect: Dialect::Precomputed.name(),
            axes: names.join(", "),
            reason: "a volume has z, y and x, or channels before them".to_owned(),
            hint: "choose one time, or another dialect".to_owned(),
        });
    }
    Ok(image.carried.clone())
}
