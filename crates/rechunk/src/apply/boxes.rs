//! Boxes of a call: as plain numbers, for operations that come from outside, and their elements.

use rechunk_apply::{BottomTile, VoxelBox};
use rechunk_grid::{DataType, buffer_bytes};

/// Start and end along each axis.
pub(super) fn spans(bounds: &VoxelBox) -> Vec<(i64, i64)> {
    bounds.axes.iter().map(|&span| span.into()).collect()
}

/// Elements of a call's window before and after those that are not cropped.
pub(super) fn pads(tile: &BottomTile) -> Vec<(u64, u64)> {
    let axes = tile.task_box.axes.iter().zip(&tile.padded.axes);
    axes.map(|(own, padded)| (own.start.abs_diff(padded.start), padded.end.abs_diff(own.end)))
        .collect()
}

/// Elements of a box; zeros.
pub(super) fn zeros(shape: &[u64], data_type: DataType) -> Result<Vec<u8>, String> {
    buffer_bytes(shape, data_type)
        .map(|bytes| vec![0; bytes])
        .ok_or_else(|| "a box is too large".to_owned())
}
