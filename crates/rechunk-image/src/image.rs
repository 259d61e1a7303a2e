//! An image that is to be written.

use serde_json::{Map, Value};

use crate::axis::Axis;

/// One resolution of an image. Lists are in C order, one entry for each axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    /// Path of its array below the image's group.
    pub path: String,
    /// Elements of level 0 along an axis for each of its elements.
    pub factors: Vec<u64>,
    /// Distance of neighbours, in the units of the axes.
    pub scale: Vec<f64>,
    /// Place of element 0, in the units of the axes: the centre of the element.
    pub translation: Vec<f64>,
    /// Shape of its array, in elements.
    pub shape: Vec<u64>,
}

/// An image in several resolutions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Image {
    /// Its name.
    pub name: String,
    /// Its axes in C order: the slowest first.
    pub axes: Vec<Axis>,
    /// Its levels, the finest first.
    pub levels: Vec<Level>,
    /// True if its elements are labels of objects.
    pub is_label: bool,
    /// Name of the method that made the coarser levels: `mean`, `mode` …
    pub method: Option<String>,
    /// Settings of the method, to be told with it.
    pub settings: Map<String, Value>,
    /// Other attributes to keep: `omero`, `image-label`, `proj:code`, keys of people's own.
    pub carried: Map<String, Value>,
    /// Name of the data type, e.g. `uint16`.
    pub data_type: String,
    /// Affine of level 0 as the Zarr convention `spatial` has it, from corners of pixels.
    /// It says x = a·column + b·row + c, y = d·column + e·row + f.
    pub spatial_transform: Option<[f64; 6]>,
}

/// Scale and translation of a level, in the units of the axes. Elements of a block stand for its
/// middle if `is_block_method`, else for its first element.
///
/// Lists are as long as the shortest. An axis of factor 1 keeps both.
///
/// ```
/// use rechunk_image::level_transform;
/// let (scale, translation) = level_transform(&[4.0, 0.5], &[0.0, 10.0], &[1, 2], true);
/// assert_eq!((scale, translation), (vec![4.0, 1.0], vec![0.0, 10.25]));
/// ```
pub fn level_transform(
    base_scale: &[f64],
    base_translation: &[f64],
    factors: &[u64],
    is_block_method: bool,
) -> (Vec<f64>, Vec<f64>) {
    let axes = base_scale.iter().zip(base_translation).zip(factors);
    axes.map(|((&scale, &translation), &factor)| {
        let factor = factor as f64;
        let middle = if is_block_method { (factor - 1.0) / 2.0 * scale } else { 0.0 };
        (scale * factor, translation + middle)
    })
    .unzip()
}
