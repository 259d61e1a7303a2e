//! Levels that divide each other, made to or refused.

use crate::error::{ApplyError, ErrorCode, commas};
use crate::spec::{AXIS_CALLS_MAX, LevelSpec, ScaleRatio};
use crate::voxel_box::VoxelBox;

/// Shrinks each level above the bottom so that the one below divides its region. The region has
/// the chunk that was asked for, the divisor is the chunk that was found below.
pub(super) fn auto_divide(levels: &mut [LevelSpec]) -> Result<(), ApplyError> {
    let Some(mut below) = levels.first().map(|bottom| bottom.chunk.clone()) else { return Ok(()) };
    for (number, level) in levels.iter_mut().enumerate().skip(1) {
        for (axis, chunk) in level.chunk.iter_mut().enumerate() {
            let pads = 2 * (level.crop[axis] + level.blend[axis]);
            let region = *chunk + pads;
            let found = (region / below[axis] * below[axis]).checked_sub(pads);
            *chunk = found.filter(|&found| found > 0).ok_or_else(|| {
                let message = format!(
                    "the work chunk of level {number} along axis {axis}, {chunk}, has to become a \
                     multiple of {} less pads of {pads}, and no voxel is left",
                    below[axis]
                );
                ApplyError::new(ErrorCode::AutoDivideEmpty, message)
            })?;
        }
        below.clone_from(&level.chunk);
    }
    Ok(())
}

/// Shrinks the top level to the box, and each lower level to the one above.
pub(super) fn shrink(levels: &mut [LevelSpec], region: &VoxelBox) {
    let mut above = region.shape();
    for level in levels.iter_mut().rev() {
        for (chunk, &above) in level.chunk.iter_mut().zip(&above) {
            *chunk = (*chunk).min(above);
        }
        above.clone_from(&level.chunk);
    }
}

/// Refuses blends of more than half a work chunk.
pub(super) fn check_blends(levels: &[LevelSpec]) -> Result<(), ApplyError> {
    for (number, level) in levels.iter().enumerate() {
        let above = (0..level.chunk.len()).find(|&axis| 2 * level.blend[axis] > level.chunk[axis]);
        let Some(axis) = above else { continue };
        let message = format!(
            "the blend of level {number}, axis {axis}, is {}, more than half its work chunk, {}",
            level.blend[axis], level.chunk[axis]
        );
        let halves: Vec<u64> = level
            .blend
            .iter()
            .zip(&level.chunk)
            .map(|(&blend, chunk)| blend.min(chunk / 2))
            .collect();
        let error = ApplyError::new(ErrorCode::BlendAboveHalf, message);
        return Err(error.with_proposal(Some(commas(&halves))));
    }
    Ok(())
}

/// The work chunk nearest to `chunk` that divides an axis of `region` voxels with gaps.
fn nearest(region: u64, chunk: u64, gap: u64) -> Option<u64> {
    let (all, stride) = (region + gap, chunk + gap);
    if all.is_multiple_of(stride) {
        return Some(chunk);
    }
    // Rounded half to even, as zetta_utils does.
    let (whole, rest) = (all / stride, all % stride);
    let is_up = 2 * rest > stride || 2 * rest == stride && whole % 2 == 1;
    let count = (whole + u64::from(is_up)).max(1);
    let found = (all / count).checked_sub(gap);
    found.filter(|&found| found > 0 && all.is_multiple_of(count))
}

/// Refuses regions that are no whole number of work chunks. A job of one level has none: its last
/// work chunks are cut at the box.
pub(super) fn check_division(
    levels: &[LevelSpec],
    region: &VoxelBox,
    gap: &[u64],
) -> Result<(), ApplyError> {
    let none = vec![0; gap.len()];
    for (number, level) in levels.iter().enumerate().rev() {
        let above = levels.get(number + 1);
        let (regions, gap): (Vec<u64>, &[u64]) = match above {
            None => (region.shape(), gap),
            Some(above) => (padded(above), &none),
        };
        let axes = 0..level.chunk.len();
        let found: Vec<_> =
            axes.clone().map(|axis| nearest(regions[axis], level.chunk[axis], gap[axis])).collect();
        let fault = axes.clone().find(|&axis| found[axis] != Some(level.chunk[axis]));
        let Some(axis) = fault else { continue };
        let source = if above.is_none() {
            "the box".to_owned()
        } else {
            format!("the padded work chunk of level {}", number + 1)
        };
        let with_gap =
            if gap[axis] > 0 { format!(" with gaps of {}", gap[axis]) } else { String::new() };
        let proposal: Option<Vec<u64>> = found.iter().copied().collect();
        let else_pads = if proposal.is_none() {
            "; no chunk near it divides either, so that pads have to change"
        } else {
            ""
        };
        let message = format!(
            "{source} has {} voxels along axis {axis}, which is no whole number of work chunks of \
             level {number}, {}{with_gap}{else_pads}",
            regions[axis], level.chunk[axis]
        );
        let error = ApplyError::new(ErrorCode::NotDivisible, message);
        return Err(error.with_proposal(proposal.map(|chunk| commas(&chunk))));
    }
    Ok(())
}

/// Refuses tasks of so many calls along an axis that they cannot be listed. `counts` has the work
/// chunks of each level along each axis, bottom first.
pub(super) fn check_calls(counts: &[Vec<u64>]) -> Result<(), ApplyError> {
    let Some((top, below)) = counts.split_last() else { return Ok(()) };
    for axis in 0..top.len() {
        let calls = below.iter().fold(1, |calls: u64, level| calls.saturating_mul(level[axis]));
        if calls > AXIS_CALLS_MAX {
            let message = format!(
                "a work chunk of the top level has {calls} work chunks of the bottom level along \
                 axis {axis}, more than the {AXIS_CALLS_MAX} that are supported"
            );
            return Err(ApplyError::new(ErrorCode::TooLarge, message));
        }
    }
    Ok(())
}

/// Region that a work chunk of `level` is for the level below.
fn padded(level: &LevelSpec) -> Vec<u64> {
    let axes = level.chunk.iter().zip(level.crop.iter().zip(&level.blend));
    axes.map(|(&chunk, (&crop, &blend))| chunk + 2 * crop + 2 * blend).collect()
}

/// Refuses crops of the bottom level that are no whole number of source voxels.
pub(super) fn check_scale(bottom: &LevelSpec, scale: &[ScaleRatio]) -> Result<(), ApplyError> {
    for (axis, (&crop, ratio)) in bottom.crop.iter().zip(scale).enumerate() {
        let source = crop * ratio.source;
        if source.is_multiple_of(ratio.target) {
            continue;
        }
        let message = format!(
            "the crop of axis {axis}, {crop} target voxels, is no whole number of source voxels, \
             of which {} are {} target voxels",
            ratio.source, ratio.target
        );
        return Err(ApplyError::new(ErrorCode::CropNotIntegral, message));
    }
    Ok(())
}
