//! Rows of a window in two boxes of elements in C order.

use crate::voxel_box::VoxelBox;

/// Elements that a box of elements has before the first of a window's row.
fn offset(bounds: &VoxelBox, position: &[i64]) -> usize {
    let axes = bounds.axes.iter().zip(position);
    axes.fold(0, |sum: usize, (span, &at)| {
        let within = at.saturating_sub(span.start).max(0).unsigned_abs();
        let extent = usize::try_from(span.length()).unwrap_or(usize::MAX);
        sum.saturating_mul(extent).saturating_add(usize::try_from(within).unwrap_or(usize::MAX))
    })
}

/// A row of a window: along the last axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// Elements before it in the first box.
    pub(super) one: usize,
    /// Elements before it in the second box.
    pub(super) two: usize,
    /// Elements.
    pub(super) length: usize,
    /// Position within the window along each axis but the last.
    pub(super) outer: &'a [usize],
}

/// Calls `each` for the rows of `window`, which lies in both boxes. Without axes there is one row
/// of one element.
pub(super) fn rows(
    window: &VoxelBox,
    one: &VoxelBox,
    two: &VoxelBox,
    mut each: impl FnMut(Row<'_>),
) {
    if window.is_empty() {
        return;
    }
    let Some((last, outer_axes)) = window.axes.split_last() else {
        each(Row { one: 0, two: 0, length: 1, outer: &[] });
        return;
    };
    let length = usize::try_from(last.length()).unwrap_or(usize::MAX);
    let mut outer = vec![0_usize; outer_axes.len()];
    let mut position: Vec<i64> = window.axes.iter().map(|span| span.start).collect();
    loop {
        let (at_one, at_two) = (offset(one, &position), offset(two, &position));
        each(Row { one: at_one, two: at_two, length, outer: &outer });
        let mut axis = outer_axes.len();
        loop {
            let Some(slower) = axis.checked_sub(1) else { return };
            axis = slower;
            outer[axis] += 1;
            position[axis] += 1;
            if position[axis] < outer_axes[axis].end {
                break;
            }
            outer[axis] = 0;
            position[axis] = outer_axes[axis].start;
        }
    }
}
