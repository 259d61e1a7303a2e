//! One pass over the data, as data: its inputs, its outputs, its boxes and its memory.

use serde::{Deserialize, Serialize};

use crate::count::cells;
use crate::keep::Schedule;
use crate::{ArrayId, Kernel, Way, Window};

/// Part of an array that is read or written at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A chunk by itself. Where chunks lie in shards, a task that reads some of them reads the
    /// index of their shard once, and a chunk that is written is put into its shard.
    Chunk,
    /// A whole shard: taken apart chunk by chunk in memory, or written as it was fetched.
    Shard,
    /// A piece of an intermediate. The stage that writes it leaves one object per task, cut in the
    /// pieces that the boxes of the stage that reads it meet.
    Piece,
}

/// An array that a stage reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageInput {
    /// The array.
    pub array: ArrayId,
    /// Part of the array that is fetched at a time.
    pub unit: Unit,
    /// Region of the array that a tile reads.
    #[serde(default, skip_serializing_if = "Window::is_identity")]
    pub window: Window,
}

/// An array that a stage writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageOutput {
    /// The array.
    pub array: ArrayId,
    /// Part of the array that is filled and sent out at a time.
    pub unit: Unit,
    /// Region of the array that a tile writes.
    #[serde(default, skip_serializing_if = "Window::is_identity")]
    pub window: Window,
}

impl StageInput {
    /// Reads units of an array, each tile its own region.
    pub fn new(array: ArrayId, unit: Unit) -> Self {
        Self { array, unit, window: Window::default() }
    }
}

impl StageOutput {
    /// Writes units of an array, each tile its own region.
    pub fn new(array: ArrayId, unit: Unit) -> Self {
        Self { array, unit, window: Window::default() }
    }
}

/// One pass over the data. Its tasks are the tiles of a regular grid over its domain, numbered in
/// C order and computed on demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// `copy`, `push`, `pass` or `pull`.
    pub name: String,
    /// Work between inputs and outputs.
    pub kernel: Kernel,
    /// Arrays that are read.
    pub inputs: Vec<StageInput>,
    /// Arrays that are written.
    pub outputs: Vec<StageOutput>,
    /// Shape of the domain, the index space that the tiles cover, elements.
    pub shape: Vec<u64>,
    /// The region one task owns, elements: no output chunk or object has two writers.
    pub tile: Vec<u64>,
    /// Box of the tile that is filled at a time, elements, where that is less: a part of a large
    /// shard. Boxes divide the tile evenly, or it spans the axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub box_shape: Option<Vec<u64>>,
    /// Input chunks taken at once along each axis within a tile. Output chunks that a step leaves
    /// incomplete are carried in memory to the next.
    pub step_chunks: Vec<u64>,
    /// Axes of the loop over steps, slowest first.
    pub step_axes: Vec<usize>,
    /// Number of tiles.
    pub tasks: u64,
    /// Tasks that run at the same time.
    pub tasks_at_once: u32,
    /// Chunks in flight within a task: each lane fetches, decodes and copies one input chunk or
    /// encodes and stores one output chunk.
    pub lanes: u32,
    /// Output buffers of one task and what finds them, bytes.
    pub resident_bytes: u64,
    /// Indexes of the shards that one task reads and writes, and what of those it writes has not
    /// been sent, bytes.
    #[serde(default)]
    pub shard_state_bytes: u64,
    /// Of these, what is kept of one target shard, bytes: a lane that finishes one pays for it too.
    #[serde(default)]
    pub target_shard_bytes: u64,
    /// Bytes that one lane holds beside them.
    pub lane_bytes: u64,
    /// Bytes that each thread holds while it decodes or encodes a chunk; 0 where they are the
    /// lanes'.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub worker_bytes: u64,
    /// A task may take more than one step. Units are then sent out while the next step is taken
    /// in, and the lane that holds one pays for its buffer.
    pub is_stepped: bool,
    /// Bytes that one task reserves before it starts: `resident_bytes + shard_state_bytes + lanes *
    /// lane_bytes`.
    pub task_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// Steps may overlap where there are any, but not where shards are read or written: the memory of
/// their indexes is reserved step by step.
pub(crate) fn steps_overlap(is_stepped: bool, input: Unit, shard_state_bytes: u64) -> bool {
    is_stepped && input != Unit::Shard && shard_state_bytes == 0
}

impl Stage {
    /// A stage of one task at a time that takes one input chunk in a step. It holds no memory yet.
    pub fn new(
        name: &str,
        kernel: Kernel,
        (inputs, outputs): (Vec<StageInput>, Vec<StageOutput>),
        (shape, tile): (Vec<u64>, Vec<u64>),
    ) -> Self {
        Self {
            name: name.to_owned(),
            kernel,
            inputs,
            outputs,
            box_shape: None,
            step_chunks: vec![1; shape.len()],
            step_axes: (0..shape.len()).collect(),
            tasks: cells(&shape, &tile),
            tasks_at_once: 1,
            lanes: 1,
            resident_bytes: 0,
            shard_state_bytes: 0,
            target_shard_bytes: 0,
            lane_bytes: 0,
            worker_bytes: 0,
            is_stepped: false,
            task_bytes: 0,
            shape,
            tile,
        }
    }

    /// A step of a task may begin before those before it have ended, as far as
    /// [`Stage::resident_bytes`] has room for the units of both.
    pub fn steps_overlap(&self) -> bool {
        steps_overlap(self.is_stepped, self.input_unit(), self.shard_state_bytes)
    }

    /// Bytes that a task holds beside its lanes.
    fn held_bytes(&self) -> u64 {
        self.resident_bytes.saturating_add(self.shard_state_bytes)
    }

    pub(crate) fn set_lanes(&mut self, lanes: u32) {
        self.lanes = lanes;
        let lanes_bytes = self.lane_bytes.saturating_mul(u64::from(lanes));
        self.task_bytes = self.held_bytes().saturating_add(lanes_bytes);
    }

    /// Most bytes that its tasks hold together, and the threads of a pool of `threads`.
    pub fn peak_bytes(&self, threads: u32) -> u64 {
        let tasks = u64::from(self.tasks_at_once);
        let of_tasks = self.task_bytes.saturating_mul(tasks);
        of_tasks.saturating_add(self.worker_bytes.saturating_mul(self.workers(threads)))
    }

    /// Threads of a pool of `threads` that its lanes can keep busy. One where there is no pool.
    pub fn workers(&self, threads: u32) -> u64 {
        let lanes = u64::from(self.tasks_at_once).saturating_mul(u64::from(self.lanes));
        u64::from(threads).max(1).min(lanes)
    }

    /// Shape of what is filled at a time, elements.
    pub fn filled(&self) -> &[u64] {
        self.box_shape.as_ref().unwrap_or(&self.tile)
    }

    /// True if a task is said to take what its parts take, and all of them can be counted.
    pub(crate) fn memory_adds_up(&self, fixed_bytes: u64, threads: u32) -> bool {
        let lanes_bytes = self.lane_bytes.checked_mul(u64::from(self.lanes));
        let task_bytes = lanes_bytes.and_then(|bytes| bytes.checked_add(self.held_bytes()));
        let workers_bytes = self.worker_bytes.checked_mul(self.workers(threads));
        let all_bytes = task_bytes
            .and_then(|bytes| bytes.checked_mul(u64::from(self.tasks_at_once)))
            .and_then(|bytes| bytes.checked_add(workers_bytes?))
            .and_then(|bytes| bytes.checked_add(fixed_bytes));
        task_bytes == Some(self.task_bytes) && all_bytes.is_some()
    }
}

impl Stage {
    /// Part of its input that is fetched at a time.
    pub fn input_unit(&self) -> Unit {
        self.inputs.first().map_or(Unit::Chunk, |input| input.unit)
    }

    /// Part of its output that is filled and sent out at a time.
    pub fn output_unit(&self) -> Unit {
        self.outputs.first().map_or(Unit::Chunk, |output| output.unit)
    }

    /// It is a source that is read, not an intermediate.
    pub fn reads_source(&self) -> bool {
        self.input_unit() != Unit::Piece
    }

    /// It is a target that is written, not an intermediate.
    pub fn writes_target(&self) -> bool {
        self.output_unit() != Unit::Piece
    }

    /// Encoded chunks, or whole shards, are passed on as they are.
    pub fn passes_through(&self) -> bool {
        matches!(&self.kernel, Kernel::Copy(way) if way.is_encoded())
    }

    /// Elements differ in length: what it holds is counted while it runs.
    pub fn is_variable(&self) -> bool {
        self.kernel == Kernel::Copy(Way::Variable)
    }

    /// The store that holds both sides copies each object itself, if it can.
    pub fn is_copied_by_store(&self) -> bool {
        self.kernel == Kernel::Copy(Way::ByStore)
    }

    /// Schedule by which runs of bytes of raw files are moved, if they are.
    pub fn schedule(&self) -> Option<&Schedule> {
        if let Kernel::Copy(Way::Runs(schedule)) = &self.kernel { Some(schedule) } else { None }
    }
}
