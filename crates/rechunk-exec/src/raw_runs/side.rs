//! The raw files of one side.

use std::ops::Range;

use rechunk_array::Array;
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_plan::keep::Runs;
use rechunk_store::{AS_IN_PAGE_BYTES, Run, start_as_in_page};

use super::lanes::Bounce;
use crate::Fault;
use crate::units::frame::{Frame, buffer_bytes};
use crate::units::slabs::Slabs;

/// An array of raw files.
#[derive(Debug)]
pub(super) struct Side {
    pub array: Array,
    /// Axes as a file stores them, slowest first.
    order: Vec<usize>,
    /// Bytes of a file before its first element.
    offset_bytes: u64,
    item_bytes: usize,
}

/// Place in memory of the runs of a slab.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// In a piece, from there on.
    Piece(usize),
    /// In the lane, from its first byte on.
    Lane,
    /// In the lane, the first of them as it lies in the pages of its file, if there is room for
    /// that.
    LaneAsInFile,
}

impl Side {
    pub(super) fn new(array: &Array) -> Result<Self, Fault> {
        let no_runs = || format!("{} has no files of raw elements", array.location());
        let runs = array.layout().runs().ok_or_else(|| Fault::Plan { reason: no_runs() })?;
        let item_bytes = usize::try_from(array.layout().spec().item_bytes());
        Ok(Self {
            array: array.clone(),
            order: runs.axes.clone(),
            offset_bytes: runs.offset_bytes,
            item_bytes: item_bytes.map_err(|_| Fault::BufferTooLarge { elements: 1 })?,
        })
    }

    /// Positions of the elements of `region` when they lie packed in the order of a file.
    pub(super) fn frame(&self, region: &Region) -> Result<Frame, Fault> {
        Frame::of_region_in(region, &self.order, self.item_bytes)
    }

    /// Cuts `part` of a file, whose elements are `file`, into slabs as they lie in the file. Each
    /// goes through a lane of `lane_bytes` as a whole.
    pub(super) fn slabs(
        &self,
        file: &Region,
        part: &Region,
        lane_bytes: u64,
    ) -> Result<Slabs, Fault> {
        let run_bytes = self.runs_of(file, part).run_bytes();
        let elements = slab_bytes(lane_bytes, run_bytes) / wide(self.item_bytes);
        Slabs::new(part, &self.order, elements).map_err(Fault::Grid)
    }

    /// Makes a lane ready to move `slab` of a file whose elements are `file`. It gets the runs,
    /// which lie one behind the other in memory, and room for their bytes, if they go through it.
    /// Returns where these are.
    pub(super) fn put_runs(
        &self,
        (file, slab): (&Region, &Region),
        place: Place,
        bounce: &mut Bounce,
        lane_bytes: u64,
    ) -> Result<Range<usize>, Fault> {
        let mut runs = self.runs_of(file, slab);
        let too_large = |_| Fault::BufferTooLarge { elements: slab.elements() };
        let length = usize::try_from(runs.run_bytes()).map_err(too_large)?;
        let total = usize::try_from(runs.total()).map_err(too_large)?;
        let bytes = buffer_bytes(slab.elements(), self.item_bytes)?;
        let mut offsets =
            std::iter::from_fn(|| runs.next_offset().map(|at| self.offset_bytes + at)).peekable();
        let first = match place {
            Place::Piece(first) => {
                bounce.make_room(0, total, lane_bytes);
                first
            }
            Place::LaneAsInFile if Bounce::takes(bytes + AS_IN_PAGE_BYTES, total, lane_bytes) => {
                bounce.make_room(bytes + AS_IN_PAGE_BYTES, total, lane_bytes);
                start_as_in_page(&bounce.bytes, offsets.peek().copied().unwrap_or(0))
            }
            Place::Lane | Place::LaneAsInFile => {
                bounce.make_room(bytes, total, lane_bytes);
                0
            }
        };
        let mut start = first;
        for offset in offsets {
            bounce.runs.push(Run { offset, start, length });
            start += length;
        }
        Ok(first..first + bytes)
    }

    /// The bytes of a file, whose elements are `file`, that `part` of it lies in, if it has most of
    /// them.
    pub(super) fn range(&self, file: &Region, part: &Region) -> Option<Range<u64>> {
        let range = hull(file, part, &self.order, wide(self.item_bytes))?;
        Some(self.offset_bytes + range.start..self.offset_bytes + range.end)
    }

    fn runs_of(&self, file: &Region, part: &Region) -> Runs {
        Runs::new(file, part, &self.order, wide(self.item_bytes))
    }
}

/// Range from the first byte of `part` to the last, in a file of elements alone, which are `file`.
/// `None` if others have half of it or more.
fn hull(file: &Region, part: &Region, order: &[usize], item_bytes: u64) -> Option<Range<u64>> {
    if part.is_empty() {
        return None;
    }
    let last = (0..part.rank()).map(|axis| part.end(axis) - 1).collect();
    let last = Region::new(last, vec![1; part.rank()]);
    let offset = |of: &Region| Runs::new(file, of, order, item_bytes).next_offset();
    let range = offset(part)?..offset(&last)? + item_bytes;
    let bytes = part.elements().saturating_mul(item_bytes);
    ((range.end - range.start) / 2 < bytes).then_some(range)
}

/// Bytes that go through a lane of `lane_bytes` at a time, so that what says where their runs are
/// fits beside them.
fn slab_bytes(lane_bytes: u64, run_bytes: u64) -> u64 {
    let described_by = wide(size_of::<Run>());
    let described = lane_bytes.saturating_mul(described_by);
    let described = described.div_ceil(run_bytes.saturating_add(described_by));
    lane_bytes - described.min(lane_bytes)
}

#[cfg(test)]
mod tests {
    use rechunk_grid::Region;

    use super::{hull, slab_bytes};

    #[test]
    fn a_part_lies_between_its_first_and_its_last_byte() {
        let region = |start: [u64; 2], shape: [u64; 2]| Region::new(start.to_vec(), shape.to_vec());
        let file = region([10, 0], [6, 8]);
        let of = |part, order: [usize; 2]| hull(&file, &part, &order, 2);
        assert_eq!(of(file.clone(), [0, 1]), Some(0..96));
        assert_eq!(of(region([11, 0], [2, 8]), [0, 1]), Some(16..48));
        assert_eq!(
            of(region([11, 2], [2, 6]), [0, 1]),
            Some(20..48),
            "two runs, and 4 bytes between"
        );
        assert_eq!(of(region([11, 0], [3, 3]), [0, 1]), None, "more than half between three runs");
        assert_eq!(of(region([12, 3], [4, 2]), [1, 0]), Some(40..60), "the other way round");
        assert_eq!(of(region([12, 3], [0, 2]), [0, 1]), None);
    }

    #[test]
    fn runs_fit_beside_their_bytes() {
        assert_eq!(slab_bytes(1 << 20, u64::MAX), (1 << 20) - 1);
        assert_eq!(slab_bytes(1 << 20, 8), 1 << 18);
        for run_bytes in [1, 3, 100, 5000] {
            let bytes = slab_bytes(1 << 20, run_bytes);
            assert!(bytes + bytes / run_bytes * 24 <= 1 << 20);
        }
    }
}
