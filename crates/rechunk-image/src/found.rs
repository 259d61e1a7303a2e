//! An image as attributes of a group describe it.

use serde_json::{Map, Value};

use crate::axis::Axis;
use crate::dialect::Dialect;
use crate::placement::Placement;

/// A resolution of a found image.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundLevel {
    /// Path of its array below the group.
    pub path: String,
    /// Distance of neighbours in the units of the axes, with transformations of the whole image.
    /// Factors, if the image says no sizes of elements.
    pub scale: Option<Vec<f64>>,
    /// Place of the centre of element 0 in the units of the axes.
    pub translation: Option<Vec<f64>>,
}

/// An image that attributes describe. Lists are in C order.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundImage {
    /// The dialect of the description.
    pub dialect: Dialect,
    /// Version that the description says.
    pub version: Option<String>,
    /// Name of the image.
    pub name: Option<String>,
    /// Its axes; empty if they are not said.
    pub axes: Vec<Axis>,
    /// Its levels in their order.
    pub levels: Vec<FoundLevel>,
    /// Scale of level 0, with transformations of the whole image.
    pub base_scale: Option<Vec<f64>>,
    /// Translation of level 0, with transformations of the whole image.
    pub base_translation: Option<Vec<f64>>,
    /// True if it is an image of labels.
    pub is_label: bool,
    /// Name of the method that made the coarser levels.
    pub method: Option<String>,
    /// Affine of level 0 as the Zarr convention `spatial` has it, from corners of pixels.
    pub spatial_transform: Option<[f64; 6]>,
    /// Other attributes of the group. Keys of OME-Zarr stand at the top, unknown ones of its
    /// object under `ome`.
    pub rest: Map<String, Value>,
    /// Faults of the description.
    pub problems: Vec<String>,
}

impl FoundImage {
    /// An image of a dialect, without anything else.
    pub(crate) fn empty(dialect: Dialect) -> Self {
        Self {
            dialect,
            version: None,
            name: None,
            axes: Vec::new(),
            levels: Vec::new(),
            base_scale: None,
            base_translation: None,
            is_label: false,
            method: None,
            spatial_transform: None,
            rest: Map::new(),
            problems: Vec::new(),
        }
    }

    /// Takes scale and translation of level 0 as those of the image.
    pub(crate) fn with_base(mut self) -> Self {
        let first = self.levels.first();
        self.base_scale = first.and_then(|level| level.scale.clone());
        self.base_translation = first.and_then(|level| level.translation.clone());
        self
    }
}

impl FoundLevel {
    /// A level at a place.
    pub(crate) fn at(path: String, placement: Placement) -> Self {
        let Placement { scale, translation } = placement;
        Self { path, scale: Some(scale), translation: Some(translation) }
    }
}
