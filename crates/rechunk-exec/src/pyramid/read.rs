//! Reads the box of a step.

use rechunk_array::{Array, RegionOptions, RegionRead};
use rechunk_grid::Region;
use rechunk_plan::{MissingCells, PassInput};

use super::blocks;
use super::stage::PyramidStage;
use crate::Fault;
use crate::units::frame::{self, Frame, buffer_bytes};
use crate::windows::read::region_fault;

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
    /// A chunk of it is stored.
    pub is_found: bool,
}

/// Reads what `step` needs.
pub(super) async fn window(stage: &PyramidStage, step: Region) -> Result<Window, Fault> {
    let region = grown(stage, &step);
    let execution = &stage.run.execution;
    match stage.pass().input {
        PassInput::Source if stage.work().missing == MissingCells::Skip => {
            masked(stage, &execution.source, (step, region)).await
        }
        PassInput::Source => {
            let mut bytes = stage.spare.take(region.elements(), stage.item_bytes)?;
            let options = options(stage);
            let read = execution.source.read_region_counting(&region, &mut bytes, &options).await;
            let read = read.map_err(region_fault(Fault::Source))?;
            Ok(Window { step, region, bytes, mask: None, is_found: read.found > 0 })
        }
        PassInput::Level(level) => of_level(stage, level, (step, region)).await,
        PassInput::Blocks(level) => {
            let bytes = blocks::read(stage, level, &region).await?;
            // Blocks do not say whether anything was there: levels with nothing but the fill value
            // are left out by that.
            Ok(Window { step, region, bytes, mask: None, is_found: true })
        }
    }
}

fn options(stage: &PyramidStage) -> RegionOptions {
    RegionOptions::default().with_memory_bytes(stage.work().transfer_bytes)
}

/// The step with what the method looks at beside it, as far as there is any.
fn grown(stage: &PyramidStage, step: &Region) -> Region {
    let domain = &stage.stage().shape;
    let mut region = step.clone();
    for (axis, halo) in stage.work().halo(stage.number).into_iter().enumerate() {
        let start = step.start[axis].saturating_sub(halo);
        let end = step.end(axis).saturating_add(halo).min(domain[axis]);
        (region.start[axis], region.shape[axis]) = (start, end - start);
    }
    region
}

/// Reads chunk by chunk, and notes which elements are stored.
async fn masked(
    stage: &PyramidStage,
    source: &Array,
    (step, region): (Region, Region),
) -> Result<Window, Fault> {
    let item_bytes = stage.item_bytes;
    let mut bytes = stage.spare.take(region.elements(), item_bytes)?;
    let mut mask = vec![0; buffer_bytes(region.elements(), 1)?];
    let grid = source.layout().spec().grid().map_err(Fault::Grid)?;
    let (all, of_mask) = (Frame::of_region(&region, item_bytes)?, Frame::of_region(&region, 1)?);
    let mut sum = RegionRead::default();
    for index in grid.covering(&region).positions() {
        let Some(part) = grid.region(&index).intersect(&region) else { continue };
        let own = Frame::of_region(&part, item_bytes)?;
        let mut elements = vec![0; own.bytes];
        let read = source.read_region_counting(&part, &mut elements, &options(stage)).await;
        let read = read.map_err(region_fault(Fault::Source))?;
        frame::copy(item_bytes, &part, (&elements, &own), (&mut bytes, &all), 1)?;
        if read.missing == 0 {
            frame::fill(&[1], &part, (&mut mask, &of_mask))?;
        }
        (sum.found, sum.missing) = (sum.found + read.found, sum.missing + read.missing);
    }
    let mask = (sum.missing > 0).then_some(mask);
    Ok(Window { step, region, bytes, mask, is_found: sum.found > 0 })
}

/// Reads a level that an earlier pass has written.
async fn of_level(
    stage: &PyramidStage,
    level: usize,
    (step, region): (Region, Region),
) -> Result<Window, Fault> {
    let arrays = stage.arrays(level)?;
    let mut bytes = stage.spare.take(region.elements(), stage.item_bytes)?;
    let all = Frame::of_region(&region, stage.item_bytes)?;
    let split = arrays.split_axes;
    let shape = &stage.work().levels[level].shape;
    let mut is_found = false;
    let outer = Region::new(region.start[..split].to_vec(), region.shape[..split].to_vec());
    for index in outer.positions() {
        let mut part = region.clone();
        for (axis, &at) in index.iter().enumerate() {
            (part.start[axis], part.shape[axis]) = (at, 1);
        }
        let place = arrays.place(shape, &part.start);
        let Some((array, _)) = place else { return Err(no_array(level)) };
        let inner = Region::new(part.start[split..].to_vec(), part.shape[split..].to_vec());
        let own = Frame::of_region(&part, stage.item_bytes)?;
        let mut elements = vec![0; own.bytes];
        let read = array.read_region_counting(&inner, &mut elements, &options(stage)).await;
        let read = read.map_err(region_fault(Fault::Target))?;
        frame::copy(stage.item_bytes, &part, (&elements, &own), (&mut bytes, &all), 1)?;
        is_found |= read.found > 0;
    }
    Ok(Window { step, region, bytes, mask: None, is_found })
}

pub(super) fn no_array(level: usize) -> Fault {
    Fault::Plan { reason: format!("its level {level} has too few arrays") }
}
