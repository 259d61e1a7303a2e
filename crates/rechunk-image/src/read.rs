//! An image out of the attributes of a group, of whichever dialect.

use serde_json::{Map, Value};

use crate::found::FoundImage;
use crate::read_geozarr::read_geozarr;
use crate::read_n5::read_n5;
use crate::read_ome::read_ome;

/// The first image that attributes of a group describe; `None` if they describe none.
///
/// Malformed parts are left out and told in [`FoundImage::problems`].
///
/// ```
/// use rechunk_image::{Dialect, read_image};
/// let attributes = serde_json::json!({"ome": {"version": "0.5", "multiscales": [{
///     "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
///     "datasets": [{"path": "s0", "coordinateTransformations": [
///         {"type": "scale", "scale": [0.5, 0.5]},
///     ]}],
/// }]}});
/// let image = read_image(attributes.as_object().unwrap()).unwrap();
/// assert_eq!(image.dialect, Dialect::OmeZarr05);
/// assert_eq!(image.base_scale, Some(vec![0.5, 0.5]));
/// ```
pub fn read_image(attributes: &Map<String, Value>) -> Option<FoundImage> {
    read_ome(attributes).or_else(|| read_geozarr(attributes)).or_else(|| read_n5(attributes))
}
