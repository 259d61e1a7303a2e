//! State that the tasks of one stage share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rechunk_array::Array;
use rechunk_format::{Layout, Plain};
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_plan::{Stage, StageGeometry, shard_state_bytes};
use rechunk_store::Store;

use crate::cpu::CpuPool;
use crate::memory::workers::{Needs, Workers};
use crate::stage::busy_tasks::BusyTasks;
use crate::stage::context::RunContext;
use crate::stage::digest::StageDigest;
use crate::stage::in_place::InPlace;
use crate::stage::stage_op::StageOp;
use crate::stage::way_in::WayIn;
use crate::stage::way_out::WayOut;
use crate::task_range::TaskRange;
use crate::units::frame::{Frame, buffer_bytes};
use crate::variable::state::VariableState;
use crate::{Event, Fault};

/// A stage being run.
#[derive(Debug)]
pub(crate) struct StageRun {
    pub run: Arc<RunContext>,
    /// Its workers. They end with the stage: what the allocator keeps for a thread would stay
    /// beside the buffers of the next stage, which have other sizes.
    pub cpu: CpuPool,
    /// Memory of the workers.
    pub workers: Workers,
    /// Its number in the plan.
    pub number: usize,
    pub stage: Stage,
    /// Its tasks that are to be done.
    pub tasks: TaskRange,
    pub geometry: StageGeometry,
    pub item_bytes: usize,
    /// Bytes of an element that change places together between inputs and units; 1 if the two have
    /// the same byte order.
    pub swap_bytes: usize,
    /// Elements of a missing source chunk, in the byte order of the units.
    pub source_fill: Vec<u8>,
    /// Padding of a target chunk, in its byte order.
    pub target_fill: Vec<u8>,
    /// A target chunk that holds nothing but `target_fill` is left out, whether or not some of it
    /// is stored in the source.
    pub skips_stored: bool,
    /// It is left out if nothing of it is stored in the source.
    pub skips_absent: bool,
    /// And then its elements are not even filled in.
    pub leaves_absent_out: bool,
    /// Which tasks have something to do.
    pub busy: BusyTasks,
    /// Lanes of each task beside those of the plan, for inputs that are fetched before their step.
    pub ahead_lanes: u32,
    /// The elements that the source holds; `None` if that is all of the array.
    pub held: Option<Region>,
    /// Way of its inputs.
    pub way_in: WayIn,
    /// Operation on its finished units, before they go their way.
    pub op: Option<StageOp>,
    /// Way of its finished units.
    pub way_out: WayOut,
    /// The digest it takes of what it reads.
    pub digest: StageDigest,
    /// The store is asked to copy each object that is passed through: until it refuses.
    pub store_copies: AtomicBool,
    /// Work that is done on a thread of the pool from beginning to end.
    pub in_place: InPlace,
    /// Number of inputs of a task that are announced before they are read, where a disk is.
    pub announced_inputs: u64,
    /// State that its tasks share where elements differ in length.
    pub variable: Option<Arc<VariableState>>,
    /// Inputs of more bytes are taken in slab by slab; `None` if no input is.
    pub slab_bytes: Option<usize>,
}

impl StageRun {
    /// The array that is written or compared with.
    pub(crate) fn target(&self) -> &Array {
        self.run.execution.sink.array()
    }

    pub(crate) fn intermediate(&self) -> Result<&Store, Fault> {
        self.run.intermediate()
    }

    /// Bytes of a decoded source chunk.
    pub(crate) fn source_chunk_bytes(&self) -> Result<usize, Fault> {
        buffer_bytes(self.geometry.grain_grid().chunk_elements(), self.item_bytes)
    }

    /// Memory that decoding a source chunk takes beside its stored form.
    pub(crate) fn decoding(&self) -> Result<Needs, Fault> {
        let cost = self.run.execution.source.layout().codec_cost();
        let is_raw = cost.is_raw || self.way_in.plain().is_some();
        let scratch_bytes = if is_raw { 0 } else { wide(self.source_chunk_bytes()?) };
        Ok(Needs { scratch_bytes, workspace_bytes: cost.decode_workspace_bytes })
    }

    /// Memory that decoding the target's chunk takes beside its stored form. That is done before a
    /// unit is sent out if it is compared, or if some of the chunk is kept.
    pub(crate) fn decoding_target(&self) -> Needs {
        let cost = self.target().layout().codec_cost();
        let scratch_bytes = if cost.is_raw { 0 } else { self.target_chunk_bytes() };
        Needs { scratch_bytes, workspace_bytes: cost.decode_workspace_bytes }
    }

    /// Memory that encoding a target chunk takes beside its stored form.
    pub(crate) fn encoding(&self) -> Needs {
        let workspace_bytes = self.target().layout().codec_cost().encode_workspace_bytes;
        Needs { scratch_bytes: 0, workspace_bytes }
    }

    /// Bytes of the decoded target chunks of a box of indices, with their padding.
    pub(crate) fn target_bytes_of(&self, chunks: &Region) -> u64 {
        if chunks.is_empty() {
            return 0;
        }
        let grid = self.geometry.output_grid();
        let last: Vec<u64> = (0..chunks.rank()).map(|axis| chunks.end(axis) - 1).collect();
        let (first, last) = (grid.chunk(&chunks.start), grid.chunk(&last));
        let extents = (0..chunks.rank()).map(|axis| last.end(axis) - first.start[axis]);
        extents.fold(wide(self.item_bytes), u64::saturating_mul)
    }

    /// Bytes of a decoded target chunk; of the largest, where they differ in length.
    pub(crate) fn target_chunk_bytes(&self) -> u64 {
        self.geometry.output_grid().chunk_elements().saturating_mul(wide(self.item_bytes))
    }

    /// Most bytes of the indexes of shards that a task has open. These are the bytes reserved for
    /// them, and the part of each lane for a shard that was completed in an earlier step.
    pub(crate) fn state_bytes(&self) -> u64 {
        let Some(shards) = self.target().layout().shards() else {
            return self.stage.shard_state_bytes;
        };
        let lanes = shards.index_bytes().saturating_mul(u64::from(self.stage.lanes));
        self.stage.shard_state_bytes.saturating_add(lanes)
    }

    /// Bytes of a lane for the index of a source shard that it holds as a whole.
    pub(crate) fn source_shard_state_bytes(&self) -> u64 {
        state_of_shard(self.run.execution.source.layout().as_ref())
    }

    /// Bytes of a lane for a target shard that it finishes.
    pub(crate) fn target_shard_state_bytes(&self) -> u64 {
        self.stage.target_shard_bytes
    }

    /// Bytes of a lane for a finished unit of `unit_bytes`: where steps overlap a lane pays for it,
    /// and for the shard that it finishes.
    pub(crate) fn sent_bytes(&self, unit_bytes: usize) -> u64 {
        if self.stage.is_stepped {
            wide(unit_bytes).saturating_add(self.target_shard_state_bytes())
        } else {
            0
        }
    }

    /// Positions of the elements of output unit `index`.
    pub(crate) fn unit_frame(&self, index: &[u64], region: &Region) -> Result<Frame, Fault> {
        if self.way_out == WayOut::Pieces {
            return Frame::of_region(region, self.item_bytes);
        }
        let order = self.target().layout().element_order();
        Frame::of_chunk(self.geometry.output_grid(), index, order, self.item_bytes)
    }

    /// Positions of the elements of chunk `index` of the grain grid; `region` is its part in the
    /// tile.
    pub(crate) fn input_frame(&self, index: &[u64], region: &Region) -> Result<Frame, Fault> {
        let grid = self.geometry.grain_grid();
        let order = self.run.execution.source.layout().element_order();
        match (&self.way_in, self.way_in.plain().map(|plain| plain.stored)) {
            (WayIn::Pieces, _) => Frame::of_region(region, self.item_bytes),
            (_, Some(Plain::Clipped)) => {
                // What the source holds, of the chunk without the gap that it stands for.
                let array = Region::whole(grid.array_shape());
                let in_array = grid.chunk(index).intersect(&array).unwrap_or(array);
                let stored = self.source_part(&in_array).unwrap_or(in_array);
                Frame::of_region_in(&stored, &order.axes, self.item_bytes)
            }
            (_, Some(Plain::Padded) | None) => Frame::of_chunk(grid, index, order, self.item_bytes),
        }
    }

    /// A unit has bytes that no input brings: outside of the array, or of what the source holds of
    /// it.
    pub(crate) fn is_padded(&self, index: &[u64], region: &Region) -> bool {
        self.held.as_ref().is_some_and(|held| !held.contains(region))
            || self.way_out != WayOut::Pieces && self.geometry.output_grid().is_clipped(index)
    }

    /// The part of `region`, which an input stands for, that it holds.
    pub(crate) fn held_of(&self, region: &Region) -> Option<Region> {
        if self.way_in.reads_source() { self.source_part(region) } else { Some(region.clone()) }
    }

    /// The part of `region` that the source holds.
    pub(crate) fn source_part(&self, region: &Region) -> Option<Region> {
        match &self.held {
            Some(held) => held.intersect(region),
            None => Some(region.clone()),
        }
    }

    /// Task `number` is among the last: whoever runs it will hardly have another.
    pub(crate) fn is_last(&self, number: u64) -> bool {
        number.saturating_add(self.stage.tasks_at_once.into()) >= self.tasks.end
    }

    /// Regions of `region`, in a target chunk, that the source does not hold: they stay as they
    /// are.
    pub(crate) fn kept(&self, region: &Region) -> Vec<Region> {
        self.held.as_ref().map_or_else(Vec::new, |held| region.without(held))
    }

    /// Leaves object `index` of the target out, a shard or a chunk: removes it where one may be.
    pub(crate) async fn leave_out(&self, index: &[u64]) -> Result<(), Fault> {
        let left_out = self.target().leave_out(index, self.run.execution.in_place).await;
        left_out.map_err(Fault::Target)
    }

    /// Tells that the elements of `region` are finished.
    pub(crate) fn progress(&self, region: &Region) {
        let decoded_bytes = region.elements().saturating_mul(wide(self.item_bytes));
        self.run.observer.event(&Event::Progress { stage: self.number, decoded_bytes });
    }
}

fn state_of_shard(layout: &dyn Layout) -> u64 {
    layout.shards().map_or(0, |shards| shard_state_bytes(shards.index_bytes()))
}
