//! The box: as it was asked for, and as it grows.

use crate::error::{ApplyError, ErrorCode};
use crate::spec::{ApplySpec, BoxSpec, EXTENT_MAX, Expand, TargetGrid};
use crate::tiles::signed;
use crate::voxel_box::{Span, VoxelBox};

use super::settings::Settings;

/// The box in whole voxels, within the target.
pub(super) fn asked(spec: &ApplySpec, settings: &Settings) -> Result<VoxelBox, ApplyError> {
    let may_round = spec.expand != Expand::None && settings.gap.iter().all(|&gap| gap == 0);
    let whole = spec.target.as_ref().map(|target| &target.shape).or(spec.domain.as_ref());
    let asked = match &spec.region {
        BoxSpec::Whole => {
            let shape = whole.ok_or_else(|| {
                ApplyError::new(ErrorCode::BoxMissing, "there is neither a box nor an array")
            })?;
            VoxelBox::whole(shape)
        }
        BoxSpec::Voxels(voxels) => voxels.clone(),
        BoxSpec::Fractional(axes) => {
            let (covering, cut) = covering(axes)?;
            if let Some(cut) = cut.filter(|_| !may_round) {
                // Of a box that is not in the array, voxels are no way out.
                if let Some(target) = &spec.target {
                    within(&covering, target, " in voxels")?;
                }
                return Err(cut);
            }
            covering
        }
    };
    if asked.rank() != settings.rank {
        let message = format!("the box has {} axes, the job {}", asked.rank(), settings.rank);
        return Err(ApplyError::new(ErrorCode::Axes, message));
    }
    for (axis, span) in asked.axes.iter().enumerate() {
        let Span { start, end } = *span;
        if span.is_empty() {
            let message = format!("the box has no voxel along axis {axis}: {start} to {end}");
            return Err(ApplyError::new(ErrorCode::EmptyBox, message));
        }
        if start.unsigned_abs() > EXTENT_MAX || end.unsigned_abs() > EXTENT_MAX {
            let message =
                format!("the box of axis {axis}, {start} to {end}, is beyond {EXTENT_MAX}");
            return Err(ApplyError::new(ErrorCode::TooLarge, message));
        }
    }
    if let Some(target) = &spec.target {
        let is_fractional = matches!(spec.region, BoxSpec::Fractional(_));
        within(&asked, target, if is_fractional { " in voxels" } else { "" })?;
    }
    Ok(asked)
}

/// Refuses a box that reaches beyond the array, and proposes the part of it that is inside, in
/// numbers that are `counted` so.
fn within(asked: &VoxelBox, target: &TargetGrid, counted: &str) -> Result<(), ApplyError> {
    let array = VoxelBox::whole(&target.shape);
    if asked.rank() != array.rank() {
        return Ok(()); // said of the box and the job
    }
    let outside = asked.axes.iter().zip(&array.axes).position(|(span, all)| !all.contains(*span));
    let Some(axis) = outside else { return Ok(()) };
    let (span, extent) = (asked.axes[axis], target.shape[axis]);
    let message = format!(
        "the box of axis {axis}, {} to {}, reaches beyond the array, which has {extent}",
        span.start, span.end
    );
    let inside = asked.intersect(&array);
    let proposal = (!inside.is_empty()).then(|| {
        let axes = inside.axes.iter().map(|span| format!("{}:{}", span.start, span.end));
        axes.collect::<Vec<_>>().join(",") + counted
    });
    Err(ApplyError::new(ErrorCode::BoxOutside, message).with_proposal(proposal))
}

/// Whole number next to `position`, if it is one but for the rounding of a few operations.
fn integral(position: f64) -> Option<f64> {
    let (nearest, tolerance) = (position.round(), (8.0 * f64::EPSILON * position.abs()).max(1e-9));
    ((position - nearest).abs() <= tolerance).then_some(nearest)
}

/// The smallest box of whole voxels around `axes`, and the error of the first that cuts voxels.
fn covering(axes: &[(f64, f64)]) -> Result<(VoxelBox, Option<ApplyError>), ApplyError> {
    let (mut spans, mut cut) = (Vec::with_capacity(axes.len()), None);
    for (axis, &(start, end)) in axes.iter().enumerate() {
        if !start.is_finite() || !end.is_finite() {
            let message = format!("the box of axis {axis} goes from {start} to {end}");
            return Err(ApplyError::new(ErrorCode::TooLarge, message));
        }
        let (low, high) = (integral(start), integral(end));
        if cut.is_none() && (low.is_none() || high.is_none()) {
            let message = format!("the box of axis {axis}, {start} to {end}, cuts voxels");
            let proposal = Some("voxel".to_owned());
            let error = ApplyError::new(ErrorCode::BoxNotIntegral, message);
            cut = Some(error.with_proposal(proposal));
        }
        let bounds = (low.unwrap_or(start.floor()), high.unwrap_or(end.ceil()));
        spans.push(Span::new(whole(bounds.0, axis)?, whole(bounds.1, axis)?));
    }
    Ok((VoxelBox::new(spans), cut))
}

#[expect(clippy::cast_possible_truncation, reason = "the limit is far below 2^63")]
fn whole(position: f64, axis: usize) -> Result<i64, ApplyError> {
    if position.abs() <= EXTENT_MAX as f64 {
        return Ok(position as i64);
    }
    let message = format!("the box of axis {axis} has {position}, which is beyond {EXTENT_MAX}");
    Err(ApplyError::new(ErrorCode::TooLarge, message))
}

/// The box grown to whole array chunks.
pub(super) fn to_array_chunks(asked: &VoxelBox, chunk: &[u64]) -> VoxelBox {
    VoxelBox::new(asked.axes.iter().zip(chunk).map(|(span, &chunk)| {
        let chunk = signed(chunk);
        let start = span.start.div_euclid(chunk) * chunk;
        Span::new(start, -(-span.end).div_euclid(chunk) * chunk)
    }))
}

/// The box grown to whole work chunks of the top level: ends move, starts do not.
pub(super) fn to_work_chunks(region: &VoxelBox, chunk: &[u64], gap: &[u64]) -> VoxelBox {
    VoxelBox::new(region.axes.iter().zip(chunk.iter().zip(gap)).map(|(span, (&chunk, &gap))| {
        let missing = signed(chunk) - signed(span.length());
        Span::new(span.start, span.end + missing.rem_euclid(signed(chunk + gap)))
    }))
}
