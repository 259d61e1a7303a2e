//! Blocks: results of a level that are not rounded, one object for each task, for the next pass.
//!
//! A block ends with the CRC32C of its place and its bytes, as pieces of a copy do.

use bytes::Bytes;
use rechunk_grid::{ChunkGrid, Region};
use rechunk_kernel::wide;
use rechunk_plan::{PIECE_CHECKSUM_BYTES, cells_of};
use rechunk_store::Role;

use super::stage::PyramidStage;
use crate::Fault;
use crate::fill::piece_checksum::Sum;
use crate::stage::piece_place::{PiecePlace, intermediate_key};
use crate::units::frame::{self, Frame};

/// The block of a task, which its steps fill.
#[derive(Debug)]
pub(super) struct BlockUnderWay {
    region: Region,
    frame: Frame,
    bytes: Vec<u8>,
    item_bytes: usize,
}

impl BlockUnderWay {
    /// The block that a task with `tile` leaves, if its pass leaves some.
    pub(super) fn of_task(stage: &PyramidStage, tile: &Region) -> Result<Option<Self>, Fault> {
        let Some(last) = stage.levels.last().filter(|_| stage.pass().leaves_blocks) else {
            return Ok(None);
        };
        let region = cells_of(tile, &last.factors);
        let item_bytes = stage.block_item_bytes();
        let frame = Frame::of_region(&region, item_bytes)?;
        let bytes = vec![0; frame.bytes];
        Ok(Some(Self { region, frame, bytes, item_bytes }))
    }

    /// Adds results of a step, which are not rounded, in the cells that it has.
    pub(super) fn add(&mut self, cells: &Region, results: &[u8]) -> Result<(), Fault> {
        let Some(common) = cells.intersect(&self.region) else { return Ok(()) };
        let own = Frame::of_region(cells, self.item_bytes)?;
        let target = (&mut *self.bytes, &self.frame);
        frame::copy(self.item_bytes, &common, (results, &own), target, 1)
    }

    /// Stores it, as what task `number` leaves.
    pub(super) async fn put(self, stage: &PyramidStage, number: u64) -> Result<(), Fault> {
        let store = stage.shared.run.intermediate()?;
        let mut sum =
            Sum::of(&stage.shared.run.execution.plan, stage.shared.number, &self.region.start);
        sum.add(&self.bytes);
        let (tail, bytes) = (Bytes::copy_from_slice(&sum.to_bytes()), wide(self.bytes.len()));
        let parts = vec![Bytes::from(self.bytes), tail];
        let key = intermediate_key(stage.shared.number, number);
        store.put(&key, parts).await.map_err(Fault::Intermediate)?;
        store.meter().add_decoded_written(Role::Intermediate, bytes);
        Ok(())
    }
}

/// Reads `region` of the blocks of level `level`.
pub(super) async fn read(
    stage: &PyramidStage,
    level: usize,
    region: &Region,
) -> Result<Vec<u8>, Fault> {
    let item_bytes = stage.block_item_bytes();
    let store = stage.shared.run.intermediate()?;
    let plan = &stage.shared.run.execution.plan;
    let before = stage.shared.number.saturating_sub(1);
    let block = &stage.shared.stage().input(plan).chunk;
    let cells = stage.work().cells(level);
    let grid = ChunkGrid::new(&cells, block).map_err(Fault::Grid)?;
    let mut bytes = stage.shared.spare.take(region.elements(), item_bytes)?;
    let all = Frame::of_region(region, item_bytes)?;
    let mut stored = Vec::new();
    for index in grid.covering(region).positions() {
        let own = grid.region(&index);
        let Some(common) = own.intersect(region) else { continue };
        let frame = Frame::of_region(&own, item_bytes)?;
        let length = wide(frame.bytes).saturating_add(PIECE_CHECKSUM_BYTES);
        let task = grid.indices().ordinal(&index);
        let place = PiecePlace::of_task(before, task, (0, length));
        let read = store.get_range_into(&place.key, 0, length, length, &mut stored).await;
        if let Err(error) = read {
            return Err(place.unread(error));
        }
        let Some(elements) = Sum::of(plan, before, &own.start).check(&stored) else {
            return Err(place.damaged(store));
        };
        store.meter().add_decoded_read(Role::Intermediate, wide(elements.len()));
        frame::copy(item_bytes, &common, (elements, &frame), (&mut bytes, &all), 1)?;
    }
    Ok(bytes)
}
