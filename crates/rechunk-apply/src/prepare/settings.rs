//! Settings with an entry for each axis, within limits.

use rechunk_grid::RANK_MAX;

use crate::error::{ApplyError, ErrorCode};
use crate::spec::{ApplySpec, EXTENT_MAX, LEVELS_MAX, LevelSpec, SCALE_MAX, ScaleRatio};

/// Settings of a job with an entry for each axis; levels bottom first.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) rank: usize,
    /// Bottom first.
    pub(super) levels: Vec<LevelSpec>,
    pub(super) gap: Vec<u64>,
    pub(super) scale: Vec<ScaleRatio>,
}

fn axes_error(name: &str, found: usize, rank: usize) -> ApplyError {
    ApplyError::new(
        ErrorCode::Axes,
        format!("{name} has {found} axes, the work chunk of the bottom level {rank}"),
    )
}

/// Entries of `given`, or `default` along each axis.
fn filled<T: Copy>(given: &[T], default: T, rank: usize, name: &str) -> Result<Vec<T>, ApplyError> {
    match given.len() {
        0 => Ok(vec![default; rank]),
        found if found == rank => Ok(given.to_vec()),
        found => Err(axes_error(name, found, rank)),
    }
}

fn limited(given: &[u64], name: &str) -> Result<(), ApplyError> {
    let Some(extent) = given.iter().find(|&&extent| extent > EXTENT_MAX) else { return Ok(()) };
    Err(ApplyError::new(
        ErrorCode::TooLarge,
        format!("{name} has {extent} voxels along an axis, more than the {EXTENT_MAX} supported"),
    ))
}

fn nonzero(given: &[u64], name: &str) -> Result<(), ApplyError> {
    match given.iter().position(|&extent| extent == 0) {
        None => Ok(()),
        Some(axis) => {
            Err(ApplyError::new(ErrorCode::Zero, format!("{name} is 0 along axis {axis}")))
        }
    }
}

fn level(given: &LevelSpec, number: usize, rank: usize) -> Result<LevelSpec, ApplyError> {
    let name = |part: &str| format!("the {part} of level {number}");
    let (chunk_name, crop_name, blend_name) = (name("work chunk"), name("crop"), name("blend"));
    if given.chunk.len() != rank {
        return Err(axes_error(&chunk_name, given.chunk.len(), rank));
    }
    nonzero(&given.chunk, &chunk_name)?;
    let crop = filled(&given.crop, 0, rank, &crop_name)?;
    let blend = filled(&given.blend, 0, rank, &blend_name)?;
    for (extents, name) in [(&given.chunk, &chunk_name), (&crop, &crop_name), (&blend, &blend_name)]
    {
        limited(extents, name)?;
    }
    Ok(LevelSpec { chunk: given.chunk.clone(), crop, blend, mode: given.mode })
}

fn scales(given: &[ScaleRatio], rank: usize) -> Result<Vec<ScaleRatio>, ApplyError> {
    let scale = filled(given, ScaleRatio::ONE, rank, "the scale")?;
    for (axis, ratio) in scale.iter().enumerate() {
        let sides = [ratio.source, ratio.target];
        nonzero(&sides, &format!("the scale of axis {axis}"))?;
        if let Some(side) = sides.into_iter().find(|&side| side > SCALE_MAX) {
            return Err(ApplyError::new(
                ErrorCode::TooLarge,
                format!("the scale of axis {axis} has {side}, more than the {SCALE_MAX} supported"),
            ));
        }
    }
    Ok(scale)
}

pub(super) fn settings(spec: &ApplySpec) -> Result<Settings, ApplyError> {
    let count = spec.levels.len();
    let Some(bottom) = spec.levels.last().filter(|_| count <= LEVELS_MAX) else {
        let message =
            format!("a job has 1 to {LEVELS_MAX} levels of work chunks, here are {count}");
        return Err(ApplyError::new(ErrorCode::Levels, message));
    };
    let rank = bottom.chunk.len();
    if rank > RANK_MAX {
        let message = format!("{rank} axes are more than the {RANK_MAX} that are supported");
        return Err(ApplyError::new(ErrorCode::TooLarge, message));
    }
    let levels = spec.levels.iter().rev().enumerate();
    let levels: Result<_, _> = levels.map(|(number, given)| level(given, number, rank)).collect();
    if let Some(target) = &spec.target {
        for (extents, name) in
            [(&target.shape, "the target"), (&target.chunk, "the array chunk of the target")]
        {
            if extents.len() != rank {
                return Err(axes_error(name, extents.len(), rank));
            }
            limited(extents, name)?;
        }
        nonzero(&target.chunk, "the array chunk of the target")?;
    }
    for (extents, name) in
        [(&spec.domain, "the domain"), (&spec.reduce_max, "the largest reduction")]
    {
        let Some(extents) = extents else { continue };
        if extents.len() != rank {
            return Err(axes_error(name, extents.len(), rank));
        }
        limited(extents, name)?;
    }
    let gap = filled(&spec.gap, 0, rank, "the gap")?;
    limited(&gap, "the gap")?;
    Ok(Settings { rank, levels: levels?, gap, scale: scales(&spec.scale, rank)? })
}
