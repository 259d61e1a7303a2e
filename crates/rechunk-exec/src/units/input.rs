//! The part of an input that a task takes, and the elements it brings.

use std::ops::Range;

use rechunk_grid::Region;
use rechunk_kernel::wide;

use crate::units::frame::Frame;

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
    /// Positions of the elements that the tile takes.
    pub frame: Frame,
}

impl Input {
    /// Some of what it holds is in `unit`, the region of a unit: `common`.
    pub(crate) fn meets(&self, unit: &Region, common: &mut Region) -> bool {
        self.held.as_ref().is_some_and(|held| held.intersect_into(unit, common))
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
