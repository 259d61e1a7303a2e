//! The memory formula: what a task holds at most, in one place.
//!
//! A task holds the output units that are being filled (`resident`) and, per lane, one chunk on its
//! way in or out. A unit's buffer exists from the step that brings its first piece to the step that
//! brings its last, so the bound follows the proof of the keep strategy's memory bound
//! (docs/concepts/planner.md) with whole units in place of pieces. Where they can be, units are
//! counted (`unit_counts.rs`).

use crate::count::{cells_touched_max, product};
use crate::{PlanRequest, Side};

/// Fixed memory of a run, bytes. Code and runtime are outside the budget (the promise is budget
/// plus 48 MiB); thread-local codec contexts and the journal's buffers are inside.
pub fn fixed_bytes(request: &PlanRequest) -> u64 {
    const BASE: u64 = 1 << 20;
    const PER_THREAD: u64 = 128 << 10;
    let intermediate = if request.intermediate_in_memory {
        product(request.shape.iter().copied()).saturating_mul(request.item_bytes)
    } else {
        0
    };
    (BASE + PER_THREAD * u64::from(request.budget.threads)).saturating_add(intermediate)
}

/// One axis of a tile that is filled in steps.
#[derive(Debug, Clone, Copy)]
pub struct SteppedAxis {
    /// Output units of the tile along the axis.
    pub units: u64,
    /// Output units one step touches at most.
    pub touched: u64,
    /// A unit may lie across the end of a step, so that it is carried to the next.
    pub carries: bool,
    /// A step spans the tile along the axis.
    pub is_whole: bool,
}

impl SteppedAxis {
    /// Extents along an axis: `tile` and `unit` are those of the tile and an output unit, `input`
    /// of an input chunk. `step_chunks` input chunks are in a step, `whole` says that the tile
    /// spans the axis.
    pub fn new(tile: u64, unit: u64, input: u64, step_chunks: u64, whole: bool) -> Self {
        let units = tile.div_ceil(unit);
        let window = input.saturating_mul(step_chunks);
        // Inputs a tile touches: one more than it has if it may start inside a chunk.
        let aligned = whole || tile.is_multiple_of(input);
        let inputs = tile.div_ceil(input) + u64::from(!aligned);
        if step_chunks >= inputs {
            return Self { units, touched: units, carries: false, is_whole: true };
        }
        let phase_is_fixed = whole || tile.is_multiple_of(window);
        let carries =
            !(input.is_multiple_of(unit) || phase_is_fixed && window.is_multiple_of(unit));
        let grain = if phase_is_fixed { window } else { input };
        let touched = cells_touched_max(window, grain, unit).min(units);
        Self { units, touched, carries, is_whole: false }
    }
}

/// Bound of the shards (or other cells of `cell`) that a task meets and needs at once. They are
/// counted from the step that touches one first to the step that touches it last. Cells need not
/// end where the tile does.
pub(crate) fn resident_cells(axes: impl Iterator<Item = CellAxis>) -> u64 {
    let mut resident = 1_u64;
    let mut faster = 1_u64;
    let axes: Vec<CellAxis> = axes.collect();
    for axis in axes.iter().rev() {
        let start_grain = if axis.is_whole { 0 } else { axis.start_grain };
        let cells = cells_touched_max(axis.tile, start_grain, axis.cell);
        let all = cells.saturating_mul(faster);
        let touched = cells_touched_max(axis.window, axis.grain, axis.cell).min(cells);
        resident = if axis.is_one_step {
            cells.saturating_mul(resident)
        } else {
            touched.saturating_mul(resident).saturating_add(faster)
        }
        .min(all);
        faster = all;
    }
    resident
}

/// One axis of [`resident_cells`], elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellAxis {
    /// Extent of the tile.
    pub tile: u64,
    /// The tile spans the axis.
    pub is_whole: bool,
    /// Tiles begin at multiples of it.
    pub start_grain: u64,
    /// Inputs begin at multiples of it.
    pub grain: u64,
    /// Extent of the inputs of one step, at most.
    pub window: u64,
    /// One step takes the whole tile.
    pub is_one_step: bool,
    /// Extent of a cell.
    pub cell: u64,
}

/// Bound of the units that are resident at once, for steps in the order of `axes` (slowest first).
/// On each axis, units carried across a step end can be spread over all units of the faster axes,
/// the rest only over the window of the step.
pub(crate) fn resident_units(axes: &[SteppedAxis]) -> u64 {
    let mut resident = 1_u64;
    let mut faster = 1_u64;
    for axis in axes.iter().rev() {
        let all = axis.units.saturating_mul(faster);
        let carried = if axis.carries { faster } else { 0 };
        resident = axis.touched.saturating_mul(resident).saturating_add(carried).min(all);
        faster = all;
    }
    resident
}

/// Bytes that keep track of `units` output units while they are filled, with the checksums of
/// pieces: more than their elements where chunks are tiny. What the first few hundred take is in
/// the fixed part.
pub fn units_state_bytes(units: u64, rank: usize) -> u64 {
    units.saturating_mul(unit_state_bytes(rank)).saturating_sub(STATE_IN_FIXED_BYTES)
}

/// Bytes that keep track of the first few hundred units.
const STATE_IN_FIXED_BYTES: u64 = 256 << 10;

/// Bytes that keep track of one unit.
fn unit_state_bytes(rank: usize) -> u64 {
    /// Measured with a million units on two axes: 450 bytes each, in all.
    const PER_UNIT: u64 = 400;
    /// Its index, its box (two) and where that is in its buffer (two): five numbers, and what the
    /// allocator rounds up.
    const PER_AXIS: u64 = 48;
    let axes = u64::try_from(rank).unwrap_or(u64::MAX);
    PER_AXIS.saturating_mul(axes).saturating_add(PER_UNIT)
}

/// The most output units of `unit_bytes` bytes each, on `rank` axes, that `resident_bytes` of a
/// stage have been reserved for (see [`crate::Stage::resident_bytes`]).
pub fn units_within(resident_bytes: u64, unit_bytes: u64, rank: usize) -> u64 {
    let each_bytes = unit_bytes.saturating_add(unit_state_bytes(rank));
    let with_state = resident_bytes.saturating_add(STATE_IN_FIXED_BYTES) / each_bytes;
    with_state.min(resident_bytes / unit_bytes.max(1))
}

/// Bytes of chunks on their way in or out, beside the units. Decoding and encoding take more than a
/// chunk's stored form, and can be paid for in two ways: by each lane, or by each thread. Lanes
/// that wait for a store need none of it, so threads are fewer where many chunks are in flight; but
/// a lane needs either the way in or the way out, and pays for the larger alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LaneBytes {
    /// A lane that pays for all.
    pub alone: u64,
    /// A lane where threads pay for what decoding and encoding take.
    pub shared: u64,
    /// A thread then.
    pub worker: u64,
}

impl LaneBytes {
    /// A lane that nothing is decoded in.
    pub(crate) fn passing(bytes: u64) -> Self {
        Self { alone: bytes, shared: bytes, worker: 0 }
    }

    /// A lane that takes a source chunk in; `fetched_bytes` is the bound of what it fetches: the
    /// chunk, or the whole shard.
    pub(crate) fn decoding(side: &Side, fetched_bytes: u64, chunk_bytes: u64) -> Self {
        if side.plain_order().is_some() {
            return Self::passing(fetched_bytes);
        }
        let decoded = if side.is_raw { 0 } else { chunk_bytes };
        Self::of(fetched_bytes, decoded.saturating_add(side.decode_workspace_bytes))
    }

    /// A lane that sends a target chunk out. `unit_bytes` is the unit's own buffer where the lane
    /// has to pay for it: in a tile that is taken in steps, units are sent out while the next step
    /// already fills others.
    pub(crate) fn encoding(side: &Side, unit_bytes: u64) -> Self {
        let encoded = if side.is_raw { 0 } else { side.encoded_bytes_max };
        Self::of(encoded.saturating_add(unit_bytes), side.encode_workspace_bytes)
    }

    fn of(lane: u64, worker: u64) -> Self {
        Self { alone: lane.saturating_add(worker), shared: lane, worker }
    }

    /// A lane that does one or the other at a time. A thread keeps what its encoder has set up
    /// while it decodes, and the other way round.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        /// The most that threads keep: larger contexts go when a chunk is done (`zstd_frames.rs`).
        const KEPT_BYTES_MAX: u64 = 8 << 20;
        let (most, least) = (self.worker.max(other.worker), self.worker.min(other.worker));
        Self {
            alone: self.alone.max(other.alone),
            shared: self.shared.max(other.shared),
            worker: most.saturating_add(least.min(KEPT_BYTES_MAX)),
        }
    }

    /// A lane that holds `bytes` more.
    #[must_use]
    pub(crate) fn and(self, bytes: u64) -> Self {
        let more = |of: u64| of.saturating_add(bytes);
        Self { alone: more(self.alone), shared: more(self.shared), ..self }
    }

    /// Bytes of a lane and of a thread where `lanes` lanes are served by `workers` threads, in the
    /// way that takes less.
    pub fn divided(self, lanes: u64, workers: u64) -> (u64, u64) {
        let alone = self.alone.saturating_mul(lanes);
        let shared = self.shared.saturating_mul(lanes);
        if shared.saturating_add(self.worker.saturating_mul(workers)) < alone {
            (self.shared, self.worker)
        } else {
            (self.alone, 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_units_fit_as_were_reserved_for() {
        for unit_bytes in [1, 8, 543, 5000, 1 << 22] {
            for units in [0, 1, 2, 481, 482, 483, 1000, 1 << 20] {
                let bytes = |units: u64| units * unit_bytes + units_state_bytes(units, 3);
                assert_eq!(units_within(bytes(units), unit_bytes, 3), units, "{unit_bytes}");
                assert_eq!(units_within(bytes(units + 1) - 1, unit_bytes, 3), units);
            }
        }
    }

    #[test]
    fn what_takes_less_is_taken() {
        let side = Side { encoded_bytes_max: 20, decode_workspace_bytes: 60, ..Side::raw(&[4], 5) };
        let side = Side { is_raw: false, ..side };
        let lane = LaneBytes::decoding(&side, 20, 20).or(LaneBytes::encoding(&side, 30));
        assert_eq!(lane, LaneBytes { alone: 100, shared: 50, worker: 80 });
        assert_eq!(lane.or(lane).worker, 160);
        assert_eq!(lane.divided(4, 4), (100, 0));
        assert_eq!(lane.divided(4, 2), (50, 80));
        assert_eq!(lane.and(7), LaneBytes { alone: 107, shared: 57, worker: 80 });
        assert_eq!(LaneBytes::passing(9).divided(64, 1), (9, 0));
    }
}
