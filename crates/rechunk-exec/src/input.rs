//! The part of an input that a task takes, and the elements it brings.

use std::ops::Range;

use rechunk_format::Plain;
use rechunk_grid::Region;

use crate::Fault;
use crate::frame::{Frame, wide};
use crate::task::TaskRun;
use crate::unit::Unit;
use crate::workers::Needs;

/// An input chunk, or the piece of the intermediate that stands for it.
pub(crate) struct Input {
    /// Its part in the tile.
    pub region: Region,
    /// The part of `region` that it holds: not the gap beside it.
    pub held: Option<Region>,
    /// Bytes of all of it, decoded; of a plain chunk as it is stored.
    pub bytes: usize,
    /// Bytes of all of it, a source chunk with its padding.
    pub decoded_bytes: u64,
    /// Range from the first byte that the tile takes to the last. Of a chunk that lies in several
    /// tiles, each takes a part; none takes the gap beside it.
    pub wanted: Range<usize>,
    /// Positions of the elements in the array.
    frame: Frame,
}

impl Input {
    /// Positions of the elements that the tile takes.
    pub(crate) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Some of what it holds is in `unit`: `common`.
    pub(crate) fn meets(&self, unit: &Unit, common: &mut Region) -> bool {
        self.held.as_ref().is_some_and(|held| held.intersect_into(&unit.region, common))
    }

    /// The part of it that brings `region`, and its bytes among those that the tile takes.
    pub(crate) fn part(&self, region: Region, item_bytes: usize) -> (Self, Range<usize>) {
        let range = self.frame.bytes_of(&region, item_bytes);
        let (bytes, frame) = (range.len(), self.frame.clone().part(&range));
        let held = self.held.as_ref().and_then(|held| held.intersect(&region));
        let part =
            Self { held, bytes, decoded_bytes: wide(bytes), wanted: 0..bytes, frame, region };
        (part, range)
    }

    /// Chunk `index` (see [`rechunk_plan::StageGeometry::grain_grid`]), if it meets the tile.
    pub(crate) fn new(task: &TaskRun, index: &[u64]) -> Result<Option<Self>, Fault> {
        let grid = task.stage.geometry.grain_grid();
        let chunk = grid.region(index);
        let Some(region) = chunk.intersect(&task.tile) else { return Ok(None) };
        let frame = task.stage.input_frame(index, &region)?;
        let (held, bytes) = (task.stage.held_of(&region), frame.bytes);
        let (plain, item_bytes) = (task.stage.plain, task.stage.item_bytes);
        let wanted = match &held {
            Some(held) => {
                let is_all = plain.is_some_and(|plain| {
                    plain.with_padding
                        && wide(bytes) <= task.stage.workers.room_bytes(Needs::NONE, 0)
                        && *held == chunk
                });
                if is_all { 0..bytes } else { frame.bytes_of(held, item_bytes) }
            }
            // No more is asked than whether it is there.
            None if plain.is_some() => 0..item_bytes.min(bytes),
            None => 0..bytes,
        };
        let decoded_bytes = match plain.map(|plain| plain.stored) {
            Some(Plain::Clipped) => grid.chunk(index).elements().saturating_mul(wide(item_bytes)),
            Some(Plain::Padded) | None => wide(bytes),
        };
        let frame = frame.part(&wanted);
        Ok(Some(Self { region, held, bytes, decoded_bytes, wanted, frame }))
    }
}

/// Bytes that an input brings.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Brought<'a> {
    /// The elements of a source chunk, those that the tile takes.
    Chunk(&'a [u8]),
    /// The elements of a piece, and what it keeps of absence behind them.
    Piece(&'a [u8], &'a [u8]),
    /// A source chunk that is missing.
    Nothing,
}
