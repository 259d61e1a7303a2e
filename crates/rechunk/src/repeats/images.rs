//! Images of OME-Zarr: `multiscales` say where levels are, `omero` which channels there are.

use rechunk_image::{AxisCut, cut_levels};
use serde_json::{Map, Value};

use super::{AxisChange, Changes, in_words};
use crate::member_location::member_path;

/// Never: an image that grows begins where it did.
pub(super) fn is_in(_: &Map<String, Value>) -> bool {
    false
}

pub(super) fn follow(
    changes: &Changes,
    path: &str,
    attributes: &mut Map<String, Value>,
) -> Vec<String> {
    let cut =
        |axis: &AxisChange| AxisCut { before: axis.before, start: axis.start, after: axis.after };
    let cut_of = |level: &str| {
        let place = member_path(path, level);
        let array = changes.arrays.iter().find(|array| array.path == place)?;
        Some(array.axes.iter().map(cut).collect())
    };
    let notes = cut_levels(attributes, cut_of).into_iter();
    notes.map(|note| format!("{}: `multiscales`: {note}", in_words(path))).collect()
}
