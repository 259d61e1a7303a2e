//! Reads the box of a step.

use std::ops::Range;

use rechunk_array::{Array, RegionOptions};
use rechunk_grid::Region;
use rechunk_plan::{MissingCells, PassInput};

use super::blocks;
use super::stage::PyramidStage;
use super::stored::Stored;
use crate::Fault;
use crate::regions::fault::region_fault;
use crate::units::frame::{self, Frame, buffer_bytes};

/// The elements of a step, and of the halo around it.
#[derive(Debug)]
pub(super) struct Window {
    /// The step.
    pub step: Region,
    /// The box that was read.
    pub region: Region,
    /// Its elements, or sums of elements.
    pub bytes: Vec<u8>,
    /// One byte for each element: 1 where it is stored. `None`: all of them count.
    pub mask: Option<Vec<u8>>,
    /// Parts of it that are stored.
    pub stored: Stored,
}

/// Reads what `step` needs.
pub(super) async fn window(stage: &PyramidStage, step: Region) -> Result<Window, Fault> {
    let region = grown(stage, &step);
    let execution = &stage.shared.run.execution;
    match stage.pass().input {
        PassInput::Source => of_source(stage, &execution.source, (step, region)).await,
        PassInput::Level(level) => {
            let mut bytes = stage.shared.spare.take(region.elements(), stage.shared.item_bytes)?;
            let missing = read_level(stage, level, &region, &mut bytes).await?;
            let stored = stored(stage, &region, missing);
            Ok(Window { step, region, bytes, mask: None, stored })
        }
        PassInput::Blocks(level) => {
            let bytes = blocks::read(stage, level, &region).await?;
            // Blocks do not say whether anything was there: levels with nothing but the fill value
            // are left out by that.
            let stored = stored(stage, &region, Vec::new());
            Ok(Window { step, region, bytes, mask: None, stored })
        }
    }
}

fn stored(stage: &PyramidStage, region: &Region, missing: Vec<Region>) -> Stored {
    Stored::without(region.clone(), stage.work().halo(stage.shared.number), missing)
}

fn options(stage: &PyramidStage) -> RegionOptions {
    RegionOptions::default().with_memory_bytes(stage.work().transfer_bytes)
}

/// The step with what the method looks at beside it, as far as there is any.
fn grown(stage: &PyramidStage, step: &Region) -> Region {
    let domain = &stage.shared.stage().shape;
    let mut region = step.clone();
    for (axis, halo) in stage.work().halo(stage.shared.number).into_iter().enumerate() {
        let start = step.start[axis].saturating_sub(halo);
        let end = step.end(axis).saturating_add(halo).min(domain[axis]);
        (region.start[axis], region.shape[axis]) = (start, end - start);
    }
    region
}

/// Reads elements of the source. Where cells skip what is missing, notes which are stored.
async fn of_source(
    stage: &PyramidStage,
    source: &Array,
    (step, region): (Region, Region),
) -> Result<Window, Fault> {
    let mut bytes = stage.shared.spare.take(region.elements(), stage.shared.item_bytes)?;
    let mut missing = Vec::new();
    let read = source.read_region_noting(&region, &mut bytes, &options(stage), &mut missing).await;
    read.map_err(region_fault(Fault::Source))?;
    let skips = stage.work().missing == MissingCells::Skip && !missing.is_empty();
    let mask = if skips { Some(mask_without(&region, &missing)?) } else { None };
    let stored = stored(stage, &region, missing);
    Ok(Window { step, region, bytes, mask, stored })
}

/// One byte for each element of `region`: 0 in the regions that are missing, else 1.
fn mask_without(region: &Region, missing: &[Region]) -> Result<Vec<u8>, Fault> {
    let frame = Frame::of_region(region, 1)?;
    let mut mask = vec![1; frame.bytes];
    for part in missing {
        frame::fill(&[0], part, (&mut mask, &frame))?;
    }
    Ok(mask)
}

/// Reads `region` of a level that is written into a buffer of its bytes. Returns the parts of it
/// that are not stored.
pub(super) async fn read_level(
    stage: &PyramidStage,
    level: usize,
    region: &Region,
    buffer: &mut [u8],
) -> Result<Vec<Region>, Fault> {
    let arrays = stage.arrays(level)?;
    let split = arrays.split_axes;
    let shape = &stage.work().levels[level].shape;
    let part = |axes: Range<usize>| {
        Region::new(region.start[axes.clone()].to_vec(), region.shape[axes].to_vec())
    };
    // Axes that are split off come first: the elements of an array lie together.
    let (outer, inner) = (part(0..split), part(split..region.rank()));
    let each = buffer_bytes(inner.elements(), stage.shared.item_bytes)?;
    let (mut missing, mut parts) = (Vec::new(), Vec::new());
    for (index, own) in outer.positions().zip(buffer.chunks_exact_mut(each.max(1))) {
        let place = arrays.place(shape, &index);
        let Some((array, _)) = place else { return Err(no_array(level)) };
        let read = array.read_region_noting(&inner, own, &options(stage), &mut parts).await;
        read.map_err(region_fault(Fault::Target))?;
        missing.extend(parts.drain(..).map(|part| {
            let ones = std::iter::repeat_n(1, split);
            let start = index.iter().copied().chain(part.start).collect();
            Region::new(start, ones.chain(part.shape).collect())
        }));
    }
    Ok(missing)
}

pub(super) fn no_array(level: usize) -> Fault {
    Fault::Plan { reason: format!("its level {level} has too few arrays") }
}
