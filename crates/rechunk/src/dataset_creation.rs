//! Creation of a data set that takes an array, for whoever has named none that does.

use rechunk_grid::ArraySpec;
use rechunk_store::is_versioned;
use serde_json::json;

use crate::placement::Placement;
use crate::request::CopyRequest;
use crate::{Error, Remedy};

/// Adds to the error of a data set that does not take `source` how one is created that does.
pub(crate) fn with_creation(error: Error, request: &CopyRequest, source: &ArraySpec) -> Error {
    if !is_versioned(&request.target) {
        return error;
    }
    let hint = creation(&request.target, source);
    let is_whole = request.placement == Some(Placement::Whole) || request.is_update();
    match error {
        Error::Store { source, .. } if source.is_missing_dataset() => Error::Conflict {
            location: request.target.clone(),
            reason: "is of a data set that is not there".to_owned(),
            hint: hint.map(Into::into),
        },
        Error::Conflict { hint: Some(Remedy::CastToTarget), .. } => error,
        Error::Conflict { location, reason, hint: _ } if hint.is_some() && is_whole => {
            Error::Conflict { location, reason, hint: hint.map(Into::into) }
        }
        error => error,
    }
}

/// The command that creates a data set which takes an array; `None` if none does, or the level is
/// not the finest.
fn creation(target: &str, array: &ArraySpec) -> Option<String> {
    let (base, rest) = target.split_once("/datasets/")?;
    let is_finest = rest.split('/').skip(1).take(3).all(|factor| factor == "1");
    let (outer, &[z, y, x]) = array.shape.split_last_chunk::<3>()?;
    // As they are looked for: by their names, else in the order of OME-Zarr.
    let usual = ["a", "t", "c"];
    let first = usual.len().checked_sub(outer.len())?;
    let mut counts = [1_u64; 3];
    for (axis, count) in outer.iter().enumerate() {
        let name = array.dimension_name(axis).unwrap_or(usual[first + axis]);
        counts[usual.iter().position(|usual| *usual == name)?] = *count;
    }
    let [angles, timepoints, channels] = counts;
    let body = json!({
        "voxelType": array.data_type.name(), "dimensions": [x, y, z], "timepoints": timepoints,
        "channels": channels, "angles": angles, "compression": "gzip",
        "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [64, 64, 64]}],
    });
    let base = base.strip_prefix("datastore+")?;
    is_finest.then(|| {
        format!(
            "create one that takes the source: curl -X POST {base}/datasets -H 'Content-Type: \
             application/json' -d '{body}'"
        )
    })
}
