//! Combinations that exclude each other, refused before anything is computed.

use crate::error::{ApplyError, ErrorCode};
use crate::spec::{ApplySpec, BoxSpec, Expand, Mode};

use super::settings::Settings;

fn refuse(is_so: bool, code: ErrorCode, message: &str, proposal: &str) -> Result<(), ApplyError> {
    let proposal = (!proposal.is_empty()).then(|| proposal.to_owned());
    if is_so { Err(ApplyError::new(code, message).with_proposal(proposal)) } else { Ok(()) }
}

fn is_some(pads: &[u64]) -> bool {
    pads.iter().any(|&pad| pad > 0)
}

pub(super) fn check(spec: &ApplySpec, settings: &Settings) -> Result<(), ApplyError> {
    if spec.target.is_none() {
        without_target(spec, settings)?;
    }
    deferred(spec, settings)?;
    if spec.direct {
        direct(settings)?;
    }
    growth(spec)?;
    if is_some(&settings.gap) {
        gap(spec, settings)?;
    }
    Ok(())
}

/// A job that writes nothing, such as statistics.
fn without_target(spec: &ApplySpec, settings: &Settings) -> Result<(), ApplyError> {
    let is_blended = settings.levels.iter().any(|level| is_some(&level.blend));
    refuse(
        is_blended,
        ErrorCode::NoTargetNeedsDirect,
        "without a target nothing is combined: blends have to be 0",
        "",
    )?;
    refuse(
        spec.expand.to_array_chunks(),
        ErrorCode::NoTargetArrayChunk,
        "without a target there are no array chunks that the box could grow to",
        "work",
    )?;
    refuse(
        spec.reduce_max.is_some(),
        ErrorCode::NoTargetReduceMax,
        "without a target nothing is reduced, so that there is no largest reduction",
        "",
    )?;
    refuse(
        spec.domain.is_none() && spec.region == BoxSpec::Whole,
        ErrorCode::NoTargetWholeBox,
        "without a target the box has to be given",
        "",
    )?;
    refuse(
        is_deferred(spec, settings),
        ErrorCode::NoTargetDefer,
        "without a target no combination can be deferred",
        "",
    )
}

pub(super) fn is_deferred(spec: &ApplySpec, settings: &Settings) -> bool {
    spec.defer || settings.levels.last().is_some_and(|top| top.mode == Mode::Defer)
}

fn deferred(spec: &ApplySpec, settings: &Settings) -> Result<(), ApplyError> {
    let below = settings.levels.split_last().map_or(&[][..], |(_, below)| below);
    if let Some(number) = below.iter().position(|level| level.mode == Mode::Defer) {
        let message = format!(
            "level {number} is deferred; only the top level, {}, can be",
            settings.levels.len() - 1
        );
        return Err(ApplyError::new(ErrorCode::DeferNotTop, message));
    }
    refuse(
        is_deferred(spec, settings) && spec.direct,
        ErrorCode::DeferDirect,
        "a job that writes its target directly leaves no blocks to defer",
        "",
    )
}

fn direct(settings: &Settings) -> Result<(), ApplyError> {
    for (number, level) in settings.levels.iter().enumerate() {
        let message = format!("level {number} has a blend; direct writes combine nothing");
        refuse(is_some(&level.blend), ErrorCode::DirectBlend, &message, "")?;
        let message = format!(
            "level {number} has a crop; direct writes have one on the bottom level only, 0"
        );
        refuse(number > 0 && is_some(&level.crop), ErrorCode::DirectCrop, &message, "")?;
    }
    Ok(())
}

fn growth(spec: &ApplySpec) -> Result<(), ApplyError> {
    if spec.auto_divide {
        refuse(
            spec.shrink,
            ErrorCode::AutoDivideShrink,
            "work chunks cannot both be made to divide and shrink to the box",
            "",
        )?;
        refuse(
            spec.expand.to_array_chunks(),
            ErrorCode::AutoDivideArrayChunk,
            "work chunks that are made to divide exclude a box that grows to array chunks",
            "work",
        )?;
        refuse(
            !spec.expand.to_work_chunks(),
            ErrorCode::AutoDivideNoExpand,
            "work chunks that are made to divide need a box that may grow to whole ones",
            "work",
        )?;
    }
    refuse(
        spec.shrink && spec.expand.to_work_chunks(),
        ErrorCode::ShrinkExpand,
        "either work chunks shrink to the box, or the box grows to whole work chunks",
        "",
    )
}

fn gap(spec: &ApplySpec, settings: &Settings) -> Result<(), ApplyError> {
    let odd = settings.gap.iter().position(|gap| gap % 2 == 1);
    if let Some(axis) = odd {
        let gap = settings.gap[axis];
        let even: Vec<u64> = settings.gap.iter().map(|gap| gap + gap % 2).collect();
        let message = format!("the gap of axis {axis} is {gap}; gaps are even");
        let error = ApplyError::new(ErrorCode::GapOdd, message);
        return Err(error.with_proposal(Some(crate::error::commas(&even))));
    }
    let is_blended = settings.levels.last().is_some_and(|top| is_some(&top.blend));
    refuse(
        is_blended,
        ErrorCode::GapBlendTop,
        "work chunks of the top level either have a gap between them or a blend",
        "",
    )?;
    refuse(
        spec.auto_divide,
        ErrorCode::GapAutoDivide,
        "a gap excludes work chunks that are made to divide",
        "",
    )?;
    refuse(spec.shrink, ErrorCode::GapShrink, "a gap excludes work chunks that shrink", "")?;
    refuse(
        spec.expand.to_array_chunks(),
        ErrorCode::GapArrayChunk,
        "a gap excludes a box that grows to array chunks",
        "work",
    )?;
    refuse(
        spec.expand == Expand::Voxel,
        ErrorCode::GapVoxel,
        "a gap excludes a box that is rounded to voxels",
        "",
    )
}
