//! One pass over the data, as data: its input, its output, its boxes and its memory.

use serde::{Deserialize, Serialize};

use crate::keep::Schedule;

/// Input of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum StageInput {
    /// Chunks of the source array, each by itself. Where they lie in shards, the index of a shard
    /// is read once by every task that needs it.
    SourceChunks,
    /// Whole shards of the source array, taken apart chunk by chunk in memory.
    SourceShards,
    /// Pieces of the intermediate the stage before left: one object per box of that stage.
    Pieces {
        /// Tile of the stage that wrote them, elements.
        written_in: Vec<u64>,
    },
}

impl StageInput {
    /// Shape of what is fetched at a time, elements: a source chunk or shard, or a box of the
    /// stage before.
    pub(crate) fn chunk<'a>(&'a self, chunk: &'a [u64], shard: Option<&'a [u64]>) -> &'a [u64] {
        match self {
            Self::SourceChunks => chunk,
            Self::SourceShards => shard.unwrap_or(chunk),
            Self::Pieces { written_in } => written_in,
        }
    }

    /// Shape of what is copied at a time, elements: of a shard, a chunk.
    pub(crate) fn grain<'a>(&'a self, chunk: &'a [u64]) -> &'a [u64] {
        match self {
            Self::SourceChunks | Self::SourceShards => chunk,
            Self::Pieces { written_in } => written_in,
        }
    }

    /// It is the source that is read.
    pub fn is_source(&self) -> bool {
        matches!(self, Self::SourceChunks | Self::SourceShards)
    }
}

/// Output of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "kebab-case")]
pub enum StageOutput {
    /// Chunks of the target array, each put into its shard where they lie in shards.
    TargetChunks,
    /// Whole shards of the target array, as they were fetched.
    TargetShards,
    /// One intermediate object per task, cut in the pieces the next stage reads.
    Pieces {
        /// Tile of the stage that reads them, elements.
        read_in: Vec<u64>,
    },
}

impl StageOutput {
    /// Shape of what is filled and sent out, elements: a target chunk or shard, or a box of the
    /// next stage.
    pub(crate) fn unit<'a>(&'a self, chunk: &'a [u64], shard: Option<&'a [u64]>) -> &'a [u64] {
        match self {
            Self::TargetChunks => chunk,
            Self::TargetShards => shard.unwrap_or(chunk),
            Self::Pieces { read_in } => read_in,
        }
    }

    /// Shape of what becomes visible at once, elements.
    pub(crate) fn commit<'a>(&'a self, chunk: &'a [u64], shard: Option<&'a [u64]>) -> &'a [u64] {
        match self {
            Self::TargetChunks | Self::TargetShards => shard.unwrap_or(chunk),
            Self::Pieces { read_in } => read_in,
        }
    }

    /// It is the target that is written.
    pub fn is_target(&self) -> bool {
        matches!(self, Self::TargetChunks | Self::TargetShards)
    }
}

/// One pass over the data. Its tasks are the tiles of a regular grid over the array, numbered in
/// C order and computed on demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// `copy`, `push`, `pass` or `pull`.
    pub name: String,
    /// Input of the stage.
    pub input: StageInput,
    /// Output of the stage.
    pub output: StageOutput,
    /// Encoded chunks are copied as they are.
    pub passthrough: bool,
    /// The store that holds source and target copies each of their objects itself. Where it turns
    /// out that it cannot, or what is copied has to be seen, they are read and written instead:
    /// lanes have the memory for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied_by_store: bool,
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
    /// Schedule by which the stage reads and writes runs of bytes of raw files, buffer by buffer
    /// ([`crate::Plan::buffers`]). Chunks and steps do not matter then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Schedule>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// Steps may overlap where there are any, but not where shards are read or written: the memory of
/// their indexes is reserved step by step.
pub(crate) fn steps_overlap(is_stepped: bool, input: &StageInput, shard_state_bytes: u64) -> bool {
    is_stepped && *input != StageInput::SourceShards && shard_state_bytes == 0
}

impl Stage {
    /// A step of a task may begin before those before it have ended, as far as
    /// [`Stage::resident_bytes`] has room for the units of both.
    pub fn steps_overlap(&self) -> bool {
        steps_overlap(self.is_stepped, &self.input, self.shard_state_bytes)
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
