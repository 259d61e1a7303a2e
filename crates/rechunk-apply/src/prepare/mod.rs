//! From a job as it is asked for to a plan, in the order of zetta_utils.
//!
//! 1. Combinations that exclude each other are refused.
//! 2. `auto_divide` changes work chunks.
//! 3. The box becomes whole voxels, 4. and whole array chunks.
//! 5. Work chunks shrink to the box, or the box grows to work chunks.
//! 6. Levels that do not divide and blends above half a work chunk are refused.
//! 7. Crops go to the regions of the levels below.
//! 8. The way to the target and the arithmetic are chosen.
//!
//! Where the box does not grow and there is one level, its size is free: the last work chunks are
//! cut at the box. Their task boxes still reach a blend beyond it, ramps are as long as those of
//! whole work chunks, so that weights add up to 1. With several levels a cut work chunk would not
//! be divided by the level below, and the job is refused with `NOT_DIVISIBLE`.

mod arithmetic;
mod combinations;
mod divide;
mod region;
mod settings;
mod way;

use std::ops::Range;

use crate::error::{ApplyError, ErrorCode, commas};
use crate::plan::{ApplyPlan, Way};
use crate::reductions::AxisReductions;
use crate::spec::{ApplySpec, LevelSpec, Mode};
use crate::tiles::AxisTiles;
use crate::voxel_box::VoxelBox;

use settings::Settings;

/// Prepares a job: the grids of its tasks and of its reductions, and the arithmetic of each level.
/// Refuses, with a code and where possible a proposal, whatever could go wrong later.
///
/// ```
/// use rechunk_apply::{ApplySpec, ErrorCode, LevelSpec, prepare};
/// use rechunk_grid::DataType;
/// let levels = vec![LevelSpec::new([512]), LevelSpec::new([128])];
/// let spec = ApplySpec::new(&[1000], &[64], DataType::Uint8, levels);
/// let error = prepare(&spec).unwrap_err();
/// assert_eq!(error.code, ErrorCode::NotDivisible);
/// assert_eq!(error.proposal.as_deref(), Some("500"));
/// ```
pub fn prepare(spec: &ApplySpec) -> Result<ApplyPlan, ApplyError> {
    let mut settings = settings::settings(spec)?;
    combinations::check(spec, &settings)?;
    if spec.auto_divide {
        divide::auto_divide(&mut settings.levels)?;
    }
    let asked = region::asked(spec, &settings)?;
    let region = grown(spec, &mut settings, &asked);
    if settings.levels.len() > 1 || spec.expand.to_work_chunks() {
        divide::check_division(&settings.levels, &region, &settings.gap)?;
    }
    divide::check_blends(&settings.levels)?;
    divide::check_scale(&settings.levels[0], &settings.scale)?;
    placed(spec, settings, asked, region)
}

impl TryFrom<ApplySpec> for ApplyPlan {
    type Error = ApplyError;

    fn try_from(spec: ApplySpec) -> Result<Self, ApplyError> {
        prepare(&spec)
    }
}

/// The box as it grows, and work chunks that shrink to it.
fn grown(spec: &ApplySpec, settings: &mut Settings, asked: &VoxelBox) -> VoxelBox {
    let mut region = asked.clone();
    if let Some(target) = spec.target.as_ref().filter(|_| spec.expand.to_array_chunks()) {
        region = region::to_array_chunks(&region, &target.chunk);
    }
    if spec.shrink {
        divide::shrink(&mut settings.levels, &region);
    }
    let top = settings.levels.last().filter(|_| spec.expand.to_work_chunks());
    top.map_or_else(
        || region.clone(),
        |top| region::to_work_chunks(&region, &top.chunk, &settings.gap),
    )
}

/// Work chunks of each level along each axis, bottom first.
fn tile_counts(levels: &[LevelSpec], tiles: &[AxisTiles]) -> Vec<Vec<u64>> {
    let below = levels.windows(2).map(|pair| {
        let region =
            |axis: usize| pair[1].chunk[axis] + 2 * pair[1].crop[axis] + 2 * pair[1].blend[axis];
        (0..tiles.len()).map(|axis| region(axis).div_ceil(pair[0].chunk[axis])).collect()
    });
    below.chain([tiles.iter().map(AxisTiles::count).collect()]).collect()
}

fn placed(
    spec: &ApplySpec,
    settings: Settings,
    asked: VoxelBox,
    region: VoxelBox,
) -> Result<ApplyPlan, ApplyError> {
    let is_deferred = combinations::is_deferred(spec, &settings);
    let Settings { rank, levels, gap, scale } = settings;
    let top = &levels[levels.len() - 1];
    let axis_tiles = |axis: usize| {
        AxisTiles::new(region.axes[axis], top.chunk[axis], gap[axis], top.blend[axis])
    };
    let tiles: Vec<AxisTiles> = (0..rank).map(axis_tiles).collect();
    let within = if spec.clip { &asked } else { &region };
    let kept = match &spec.target {
        _ if is_deferred => region.grown(&top.blend),
        Some(target) => within.intersect(&VoxelBox::whole(&target.shape)),
        None => within.clone(),
    };
    let tasks: Vec<Range<u64>> =
        tiles.iter().zip(&kept.axes).map(|(tiles, &kept)| tiles.meeting(kept)).collect();
    let counts = tile_counts(&levels, &tiles);
    divide::check_calls(&counts)?;
    let overlaps = (0..rank).any(|axis| top.blend[axis] > 0 && tiles[axis].count() > 1);
    let array_chunk = spec.target.as_ref().map_or_else(|| vec![1; rank], |t| t.chunk.clone());
    let shared = spec.target.as_ref().and_then(|_| way::shared_chunk(&tiles, &tasks, &array_chunk));
    let way = match shared {
        _ if is_deferred => Way::Defer,
        Some(shared) if spec.direct => {
            return Err(way::refuse_shared(&tiles, &array_chunk, shared));
        }
        None if !overlaps => Way::Direct,
        _ => Way::Pull,
    };
    let reduce_max = reduce_max(spec, &top.chunk, &region)?;
    let last = if way == Way::Pull { levels.len() - 1 } else { levels.len().saturating_sub(2) };
    let (data_type, round, kind) = (spec.data_type, spec.round, spec.value_kind);
    let mut levels_given = levels.clone();
    if let Some(top) = levels_given.last_mut().filter(|_| is_deferred) {
        top.mode = Mode::Defer;
    }
    let given =
        arithmetic::Given { levels: &levels_given, counts: &counts, data_type, round, kind, last };
    let levels = arithmetic::levels(&given)?;
    let reductions: Vec<AxisReductions> = (0..rank)
        .map(|axis| AxisReductions::new(kept.axes[axis], array_chunk[axis], reduce_max[axis]))
        .collect();
    let task_count = product(tasks.iter().map(|tasks| tasks.end - tasks.start), "tasks")?;
    let reduction_count = match way {
        Way::Pull => product(reductions.iter().map(AxisReductions::count), "reductions")?,
        Way::Direct | Way::Defer => 0,
    };
    let spec = spec.clone();
    Ok(ApplyPlan {
        spec,
        asked,
        region,
        kept,
        levels,
        tiles,
        tasks,
        task_count,
        way,
        reductions,
        reduction_count,
        reduce_max,
        gap,
        scale,
    })
}

fn product(counts: impl Iterator<Item = u64>, name: &str) -> Result<u64, ApplyError> {
    let mut counts: Vec<u64> = counts.collect();
    // A zero makes the product zero whatever the others are.
    counts.sort_unstable();
    counts.iter().try_fold(1_u64, |product, &count| product.checked_mul(count)).ok_or_else(|| {
        let message = format!("the job has more {name} than fit 64 bits: {}", commas(&counts));
        ApplyError::new(ErrorCode::TooLarge, message)
    })
}

/// Largest reduction, checked; by default a work chunk or an array chunk, whichever is larger.
fn reduce_max(spec: &ApplySpec, chunk: &[u64], region: &VoxelBox) -> Result<Vec<u64>, ApplyError> {
    let Some(target) = &spec.target else { return Ok(chunk.to_vec()) };
    let larger: Vec<u64> =
        chunk.iter().zip(&target.chunk).map(|(&work, &array)| work.max(array)).collect();
    let Some(given) = &spec.reduce_max else { return Ok(larger) };
    let at_least = |least: &[u64], code, name: &str| {
        let below = given.iter().zip(least).position(|(given, least)| given < least);
        below.map_or(Ok(()), |axis| {
            let message = format!(
                "the largest reduction along axis {axis}, {}, is less than {name}, {}",
                given[axis], least[axis]
            );
            let fits = given.iter().zip(&larger).map(|(&given, &least)| given.max(least));
            let proposal = commas(&fits.collect::<Vec<_>>());
            Err(ApplyError::new(code, message).with_proposal(Some(proposal)))
        })
    };
    // Work chunks beyond the box, and array chunks beyond the array, end with them.
    let within = |chunk: &[u64], shape: &[u64]| -> Vec<u64> {
        chunk.iter().zip(shape).map(|(&chunk, &extent)| chunk.min(extent)).collect()
    };
    let work = within(chunk, &region.shape());
    at_least(&work, ErrorCode::ReduceMaxBelowChunk, "a work chunk of the top level")?;
    let array = within(&target.chunk, &target.shape);
    at_least(&array, ErrorCode::ReduceMaxBelowArrayChunk, "an array chunk")?;
    Ok(given.clone())
}
