//! The plan: versioned data, a few hundred bytes for an array of any size.

use std::ops::RangeInclusive;

use rechunk_grid::{ChunkGrid, Edges, GridError, ITEM_BYTES_MAX};
use serde::{Deserialize, Serialize};

use crate::keep::{Buffers, EXACT_BUFFERS_MAX, KeepError, Model, Problem, Schedule};
use crate::memory::steps_overlap;
use crate::{Estimate, ProfileNames, RunsSide, StageGeometry, Strategy, Uploads};

/// Version of the plan's JSON form; a reader refuses versions it does not know.
pub const PLAN_VERSION: u32 = 2; // 2: pieces of an intermediate end with a checksum

/// Threads a plan may be made for.
pub(crate) const THREADS: RangeInclusive<u32> = 1..=4096;

/// Complete plan of a run: no I/O and no choice is left to the executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_VERSION`] of the writer.
    pub version: u32,
    /// The kind; never `Auto`.
    pub kind: Strategy,
    /// Shape of the array, elements.
    pub shape: Vec<u64>,
    /// Bytes of one element.
    pub item_bytes: u64,
    /// Shape of a source chunk, elements. Where chunks differ in length, the largest.
    pub source_chunk: Vec<u64>,
    /// Where source chunks end, on axes where they differ in length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_edges: Option<Edges>,
    /// Shape of a target chunk, elements.
    pub target_chunk: Vec<u64>,
    /// Shape of a source shard, elements, where chunks lie in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_shard: Option<Vec<u64>>,
    /// Shape of a target shard, elements, where chunks lie in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_shard: Option<Vec<u64>>,
    /// The raw files of the source, where a stage reads runs of their bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_runs: Option<RunsSide>,
    /// The raw files of the target, where a stage writes runs of their bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_runs: Option<RunsSide>,
    /// Intermediates say of each piece, for every target chunk it meets, whether the source stored
    /// any of that part. A byte for each lies behind the elements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_absence: bool,
    /// The passes, in order.
    pub stages: Vec<Stage>,
    /// Memory that the run may use and will use.
    pub memory: PlanMemory,
    /// CPU workers the memory was planned for. With 0, which no planner says, CPU work is done on
    /// the thread that asks for it: a simulation is then the same each time.
    pub threads: u32,
    /// Predicted requests, bytes and time.
    pub estimate: Estimate,
    /// The profiles the estimate is by; `None` in plans of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priced_by: Option<ProfileNames>,
    /// Form in which objects of the target are sent; `None`: always as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_uploads: Option<Uploads>,
    /// Form in which objects of an intermediate are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intermediate_uploads: Option<Uploads>,
    /// SHA-256, hex, of everything above but the estimate, its profiles, how objects are sent and
    /// who copies them. Two plans with the same fingerprint write the same objects in the same
    /// tasks.
    pub fingerprint: String,
}

/// Memory of the whole run, bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanMemory {
    /// Bytes that were allowed.
    pub budget_bytes: u64,
    /// The most the run reserves at once: fixed part and all tasks of the largest stage.
    pub planned_peak_bytes: u64,
    /// The fixed part: threads, contexts, journal, an intermediate in memory.
    pub fixed_bytes: u64,
}

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
    fn grain<'a>(&'a self, chunk: &'a [u64]) -> &'a [u64] {
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
    fn commit<'a>(&'a self, chunk: &'a [u64], shard: Option<&'a [u64]>) -> &'a [u64] {
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
    /// ([`Plan::buffers`]). Chunks and steps do not matter then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Schedule>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl Plan {
    /// Returns where the tasks of stage `stage` are and what they read and write.
    pub fn geometry(&self, stage: usize) -> Result<StageGeometry, GridError> {
        StageGeometry::new(self, &self.stages[stage])
    }

    /// The buffers of stage `stage`, where it reads and writes runs of bytes of raw files.
    pub fn buffers(&self, stage: usize) -> Result<Option<Buffers>, KeepError> {
        let Some(schedule) = &self.stages[stage].runs else { return Ok(None) };
        Buffers::new(&self.problem()?, schedule).map(Some)
    }

    /// The fingerprint that its contents have; [`Plan::fingerprint`] is what it says.
    pub fn computed_fingerprint(&self) -> String {
        crate::fingerprint::of(self)
    }

    /// Checks a plan that was read from somewhere: that it is whole, and the one that was planned.
    pub fn check(&self) -> Result<(), String> {
        if self.fingerprint != self.computed_fingerprint() {
            return Err("its fingerprint is not that of its contents: it was edited".to_owned());
        }
        if !(1..=ITEM_BYTES_MAX).contains(&self.item_bytes) {
            return Err(format!("elements of {} bytes are not planned for", self.item_bytes));
        }
        // None is what a run has that is simulated.
        if self.threads > *THREADS.end() {
            return Err(format!("{} threads are not planned for", self.threads));
        }
        self.check_grids().map_err(|error| error.to_string())?;
        for (number, stage) in self.stages.iter().enumerate() {
            let rank = self.shape.len();
            let mut axes = stage.step_axes.clone();
            axes.sort_unstable();
            let shards = [&self.source_shard, &self.target_shard];
            let divides = |(axis, part): (usize, &u64)| {
                let (tile, extent) = (stage.tile[axis], self.shape[axis]);
                *part > 0 && (tile.is_multiple_of(*part) || tile >= extent)
            };
            let has_boxes =
                |shape: &Vec<u64>| shape.len() == rank && shape.iter().enumerate().all(divides);
            let is_whole = stage.tile.len() == rank
                && stage.box_shape.as_ref().is_none_or(has_boxes)
                && shards.into_iter().flatten().all(|shard| shard.len() == rank)
                && stage.step_chunks.len() == rank
                && !stage.step_chunks.contains(&0)
                && axes.iter().copied().eq(0..rank)
                && (1..=4096).contains(&stage.tasks_at_once)
                && (1..=65_536).contains(&stage.lanes);
            if !is_whole || !stage.memory_adds_up(self.memory.fixed_bytes, self.threads) {
                return Err(format!("stage {number} is not whole"));
            }
            self.check_copies(stage).map_err(|why| format!("stage {number}: {why}"))?;
            self.check_runs(stage).map_err(|why| format!("stage {number}: {why}"))?;
            let geometry = self.geometry(number).map_err(|error| error.to_string())?;
            if geometry.task_count() != stage.tasks {
                return Err(format!("stage {number} has another number of tasks than its tiles"));
            }
        }
        Ok(())
    }

    /// All chunks and shards are some of the array, also those that no stage looks at.
    fn check_grids(&self) -> Result<(), GridError> {
        ChunkGrid::with_edges(&self.shape, &self.source_chunk, self.source_edges.as_ref())?;
        let shards = [&self.source_shard, &self.target_shard].into_iter().flatten();
        shards.chain([&self.target_chunk]).try_for_each(|chunk| {
            ChunkGrid::new(&self.shape, chunk)?;
            Ok(())
        })
    }

    /// The model of the keep strategy for the plan's raw files: counts, carries and memory of a
    /// schedule.
    pub fn keep_model(&self) -> Result<Model, KeepError> {
        Model::new(&self.problem()?)
    }

    /// Checks that a schedule, if the stage has one, is of these files and within its memory.
    fn check_runs(&self, stage: &Stage) -> Result<(), String> {
        let Some(schedule) = &stage.runs else { return Ok(()) };
        let model = self.keep_model().map_err(|error| error.to_string())?;
        model.check(schedule).map_err(|error| error.to_string())?;
        let fits = |elements| model.bytes(elements) <= stage.resident_bytes;
        let is_within = fits(model.memory_bound(schedule))
            || model.memory_exact(schedule, EXACT_BUFFERS_MAX).is_some_and(fits);
        if is_within { Ok(()) } else { Err("it holds more than it reserves".to_owned()) }
    }

    /// Checks that what a store is to copy are whole objects on both sides.
    fn check_copies(&self, stage: &Stage) -> Result<(), &'static str> {
        let has_shards = self.source_shard.is_some() || self.target_shard.is_some();
        let is_whole = !has_shards || stage.output == StageOutput::TargetShards;
        if !stage.copied_by_store || stage.passthrough && stage.output.is_target() && is_whole {
            return Ok(());
        }
        Err("a store is to copy what are no whole objects")
    }

    /// The files that runs are moved between.
    fn problem(&self) -> Result<Problem, KeepError> {
        let why = "it reads and writes runs but its files are not known";
        let files = self.source_runs.as_ref().zip(self.target_runs.as_ref());
        let (source, target) = files.ok_or(KeepError::NotOfThisArray { why })?;
        let memory_bytes = self.item_bytes.max(self.memory.budget_bytes);
        let (shape, item_bytes) = (&self.shape, self.item_bytes);
        Ok(crate::runs::problem(shape, item_bytes, source, target, memory_bytes))
    }

    /// Makes the plan run within `memory_bytes`, if it can by running fewer tasks and chunks at the
    /// same time. Each task still writes the same. False if it cannot.
    pub fn fit_to(&mut self, memory_bytes: u64) -> bool {
        if self.memory.planned_peak_bytes <= memory_bytes {
            self.memory.budget_bytes = memory_bytes;
            return true;
        }
        let room = memory_bytes.saturating_sub(self.memory.fixed_bytes);
        let threads = self.threads;
        let mut stages = self.stages.clone();
        let mut peak = 0;
        for stage in &mut stages {
            let most = stage.lanes;
            stage.set_lanes(1);
            while stage.tasks_at_once > 1 && stage.peak_bytes(threads) > room {
                stage.tasks_at_once -= 1;
            }
            if stage.peak_bytes(threads) > room {
                return false;
            }
            while stage.lanes < most && stage.peak_bytes(threads) <= room {
                stage.set_lanes(stage.lanes + 1);
            }
            if stage.peak_bytes(threads) > room {
                stage.set_lanes(stage.lanes - 1);
            }
            peak = peak.max(stage.peak_bytes(threads));
        }
        self.stages = stages;
        self.memory.planned_peak_bytes = peak + self.memory.fixed_bytes;
        self.memory.budget_bytes = memory_bytes;
        true
    }

    /// Number of tasks of all stages.
    pub fn task_count(&self) -> u64 {
        self.stages.iter().fold(0, |count, stage| count.saturating_add(stage.tasks))
    }
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

    fn set_lanes(&mut self, lanes: u32) {
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

    /// Shape of what is fetched at a time, elements.
    pub fn fetch_shape<'a>(&'a self, plan: &'a Plan) -> &'a [u64] {
        self.input.chunk(&plan.source_chunk, plan.source_shard.as_deref())
    }

    /// Shape of what is copied at a time, elements.
    pub(crate) fn grain_shape<'a>(&'a self, plan: &'a Plan) -> &'a [u64] {
        self.input.grain(&plan.source_chunk)
    }

    /// Shape of what is filled and sent out, elements.
    pub fn unit_shape<'a>(&'a self, plan: &'a Plan) -> &'a [u64] {
        self.output.unit(&plan.target_chunk, plan.target_shard.as_deref())
    }

    /// Shape of what becomes visible at once, elements.
    pub(crate) fn commit_shape<'a>(&'a self, plan: &'a Plan) -> &'a [u64] {
        self.output.commit(&plan.target_chunk, plan.target_shard.as_deref())
    }

    /// True if a task is said to take what its parts take, and all of them can be counted.
    fn memory_adds_up(&self, fixed_bytes: u64, threads: u32) -> bool {
        let lanes_bytes = self.lane_bytes.checked_mul(u64::from(self.lanes));
        let task_bytes = lanes_bytes.and_then(|bytes| bytes.checked_add(self.held_bytes()));
        let workers_bytes = self.worker_bytes.checked_mul(self.workers(threads));
        let all_bytes = task_bytes
            .and_then(|bytes| bytes.checked_mul(u64::from(self.tasks_at_once)))
            .and_then(|bytes| bytes.checked_add(workers_bytes?))
            .and_then(|bytes| bytes.checked_add(fixed_bytes));
        task_bytes == Some(self.task_bytes) && all_bytes.is_some()
    }

    /// Shape of the elements that a task reads at once: the input chunks of one step, at most the
    /// tile; or a buffer.
    pub fn read_box(&self, plan: &Plan) -> Vec<u64> {
        if let Some(schedule) = &self.runs {
            return schedule.buffer.clone();
        }
        let input = self.fetch_shape(plan);
        (0..self.tile.len())
            .map(|axis| self.step_chunks[axis].saturating_mul(input[axis]).min(self.filled()[axis]))
            .collect()
    }
}
