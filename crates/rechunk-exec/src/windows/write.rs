//! The way of finished elements to the target.

use rechunk_apply::VoxelBox;
use rechunk_array::RegionOptions;
use rechunk_grid::Region;
use rechunk_kernel::wide;

use super::stage::WindowStage;
use crate::regions::fault::region_fault;
use crate::units::frame::{self, Frame, buffer_bytes};
use crate::{Fault, Sink};

/// Options of reads and writes of the target.
fn options(stage: &WindowStage) -> RegionOptions {
    RegionOptions::default()
        .with_memory_bytes(stage.work().transfer_bytes)
        .with_write_empty(stage.shared.run.execution.write_empty)
        .with_durable(false)
}

/// The region of a box of the target.
pub(super) fn region_of(bounds: &VoxelBox) -> Result<Region, Fault> {
    let reason = || "a box of its apply begins before the target".to_owned();
    bounds.to_region().ok_or_else(|| Fault::Plan { reason: reason() })
}

/// Writes the elements of `bounds`, or compares them with those that are there. Of an object of the
/// target that the box cuts, the rest stays as it is.
pub(super) async fn out(
    stage: &WindowStage,
    bounds: &VoxelBox,
    elements: &[u8],
) -> Result<(), Fault> {
    let region = region_of(bounds)?;
    match &stage.shared.run.execution.sink {
        Sink::Write(target) => {
            let written = target.write_region(&region, elements, &options(stage)).await;
            written.map_err(region_fault(Fault::Target))?;
        }
        Sink::Compare(_) => {
            let there = before(stage, &region).await?;
            let own = Frame::of_region(&region, stage.shared.item_bytes)?;
            let found = frame::compare(stage.shared.item_bytes, &region, elements, &there, &own)?;
            stage.shared.run.add_differences(&region, &found);
        }
        Sink::Digest { .. } => {}
    }
    stage.shared.progress(wide(elements.len()));
    Ok(())
}

/// Writes nothing of `bounds`, for which nothing was given.
pub(super) fn leave_out(stage: &WindowStage, bounds: &VoxelBox) -> Result<(), Fault> {
    if let Sink::Write(target) = &stage.shared.run.execution.sink {
        let left_out = target.leave_out_region(&region_of(bounds)?);
        left_out.map_err(region_fault(Fault::Target))?;
    }
    Ok(())
}

/// Elements that the target has in `region`.
pub(super) async fn before(stage: &WindowStage, region: &Region) -> Result<Vec<u8>, Fault> {
    let target = stage.shared.run.execution.sink.array();
    let mut there = vec![0; buffer_bytes(region.elements(), stage.shared.item_bytes)?];
    let read = target.read_region_into(region, &mut there, &options(stage)).await;
    read.map_err(region_fault(Fault::Target))?;
    Ok(there)
}
