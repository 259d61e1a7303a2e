//! One task: a tile, filled step by step.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::future::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use rechunk_grid::{IndexIter, Region};
use rechunk_kernel::Digest;
use rechunk_plan::StageInput;

use crate::Fault;
use crate::ahead::{Ahead, Step};
use crate::digest::DigestSum;
use crate::frame::wide;
use crate::gather::Fetched;
use crate::pieces::TileObject;
use crate::pool::BufferPool;
use crate::shards::{SourceIndexes, TargetShards};
use crate::stage_run::StageRun;
use crate::step_marks::StepMarks;
use crate::unit::{Finished, Units};
use crate::{commit, gather, in_place, passthrough, runs};

/// Most inputs that one job takes in because there is nothing to be taken: they are missing.
const GAPS_AT_ONCE: usize = 256;

/// What one lane keeps between two chunks: the memory a chunk goes through.
///
/// There are as many as the plan has lanes, and those for reading ahead; whoever handles a chunk
/// holds one: so never more chunks are in flight than memory was reserved for.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// The stored form of the chunk: fetched, or to be stored.
    pub encoded: Vec<u8>,
    /// Its elements, where a decoder needs a place for them (see [`crate::workers`]).
    pub scratch: Vec<u8>,
}

impl Lane {
    /// The stored form of its chunk, to be handed to a store.
    pub(crate) fn take_encoded(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.encoded))
    }

    /// Takes that buffer back, unless the store has kept it.
    pub(crate) fn recycle(&mut self, bytes: Bytes) {
        if bytes.is_unique() {
            self.encoded = Vec::from(bytes);
        }
    }

    /// Gives up buffers that would not fit beside what the next chunk needs: its stored form, room to
    /// decode in, and what else. A lane is paid for the way in or the way out, whichever holds more,
    /// and its buffers serve both. What is given up stays in `buffers` while those have room for it, and
    /// comes back from there: pages that are new take as long as decoding into them.
    pub(crate) fn make_room(&mut self, needs: LaneNeeds, lane_bytes: u64, buffers: &BufferPool) {
        let LaneNeeds { encoded_bytes, scratch_bytes, held_bytes } = needs;
        let holds = |lane: &Self| {
            let encoded = wide(lane.encoded.capacity()).max(encoded_bytes);
            let scratch = wide(lane.scratch.capacity()).max(scratch_bytes);
            encoded.saturating_add(scratch).saturating_add(held_bytes)
        };
        if holds(self) > lane_bytes && wide(self.scratch.capacity()) > scratch_bytes {
            buffers.keep(std::mem::take(&mut self.scratch));
        }
        if holds(self) > lane_bytes && wide(self.encoded.capacity()) > encoded_bytes {
            buffers.keep(std::mem::take(&mut self.encoded));
        }
        for (buffer, bytes) in
            [(&mut self.scratch, scratch_bytes), (&mut self.encoded, encoded_bytes)]
        {
            if wide(buffer.capacity()) < bytes {
                buffers.exchange(buffer, usize::try_from(bytes).unwrap_or(usize::MAX));
            }
        }
    }
}

/// What the next chunk of a lane needs at most, bytes.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "names carry their unit")]
pub(crate) struct LaneNeeds {
    /// Of its stored form.
    pub encoded_bytes: u64,
    /// To decode it.
    pub scratch_bytes: u64,
    /// Of all else.
    pub held_bytes: u64,
}

/// Lanes and buffers of one of the tasks that run at once; the next task goes on with them.
#[derive(Debug)]
pub(crate) struct Slot {
    lanes: Vec<Lane>,
    buffers: Arc<BufferPool>,
}

impl Slot {
    pub(crate) fn new(stage: &StageRun) -> Self {
        let lanes = stage.stage.lanes.saturating_add(stage.ahead_lanes);
        let lanes = (0..lanes).map(|_| Lane::default()).collect();
        let most_bytes = unit_bytes_max(stage);
        // What lanes pay for mostly covers buffers that lie idle; where threads pay, nothing does.
        let is_shared = stage.stage.worker_bytes > 0;
        let kept_bytes = if is_shared { stage.stage.resident_bytes } else { most_bytes };
        let buffers = if stage.stage.runs.is_some() {
            BufferPool::of_many_sizes(most_bytes, stage.run.execution.spare_bytes())
        } else {
            BufferPool::new(most_bytes, kept_bytes)
        };
        Self { lanes, buffers: Arc::new(buffers) }
    }
}

/// What the buffers of units take at most: what is resident, and where steps overlap, one in each
/// lane.
fn unit_bytes_max(stage: &StageRun) -> u64 {
    let lanes = if stage.stage.is_stepped { u64::from(stage.stage.lanes) } else { 0 };
    let unit = stage.geometry.output_grid().chunk_elements() * wide(stage.item_bytes);
    stage.stage.resident_bytes.saturating_add(lanes.saturating_mul(unit))
}

/// A task being run.
#[derive(Debug)]
pub(crate) struct TaskRun {
    pub stage: Arc<StageRun>,
    /// Its number in the stage.
    pub number: u64,
    /// The region it owns, or the box of it that is filled now.
    pub tile: Region,
    pub units: Units,
    pub buffers: Arc<BufferPool>,
    pub indexes: SourceIndexes,
    /// The target's shards; boxes of one task share them.
    pub shards: Arc<TargetShards>,
    /// Steps an earlier run has done: the units they completed are not touched again.
    pub steps_done: u64,
    /// Digest of what those steps took from the source, if it is known.
    pub digest_before: Option<Digest>,
    /// Of what was taken from the source and is not counted by unit.
    pub digest: DigestSum,
}

/// What an earlier run has done of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    /// Steps that are done.
    pub steps: u64,
    /// Digest of what they took from the source, if it is known.
    pub digest: Option<Digest>,
}

/// What a lane has done, and the lane.
pub(crate) struct LaneDone {
    pub lane: Lane,
    /// Units that got their last input.
    pub finished: Vec<Finished>,
    /// Units that got it and were sent out at once, without their elements.
    pub sent: Vec<Finished>,
    /// The lane has sent a unit out that was completed in this step; `None` if it has taken an
    /// input in.
    pub sent_in: Option<u64>,
}

/// What has ended.
pub(crate) enum Ended {
    /// What a lane had to do.
    Done(LaneDone),
    /// Taking in what was held: nothing was asked of a store for it.
    Held(LaneDone),
    /// Fetching an input of that step, which may not have begun.
    Fetched(u64, Fetched),
}

/// Work of a lane.
pub(crate) type Work = BoxFuture<'static, Result<Ended, Fault>>;

pub(crate) fn done(result: Result<LaneDone, Fault>) -> Result<Ended, Fault> {
    result.map(Ended::Done)
}

/// Runs a task. `slot` is fit for use again only if this succeeds. Returns the digest of what the
/// whole task took from the source, if that is known and the stage takes one.
pub(crate) async fn run_task(
    stage: Arc<StageRun>,
    slot: &mut Slot,
    number: u64,
    begun: Begun,
) -> Result<Option<Digest>, Fault> {
    if stage.stage.runs.is_some() {
        runs::run_task(stage, Arc::clone(&slot.buffers), number, begun.steps).await?;
        return Ok(None);
    }
    let mut digest = stage.digest.method().map(|_| Digest::default());
    let shards = Arc::new(TargetShards::default());
    let owned = stage.geometry.tile(number);
    for tile in stage.geometry.boxes(&owned) {
        let task = Arc::new(TaskRun {
            number,
            tile,
            units: Units::default(),
            buffers: Arc::clone(&slot.buffers),
            indexes: SourceIndexes::default(),
            shards: Arc::clone(&shards),
            steps_done: begun.steps,
            digest_before: begun.digest,
            digest: DigestSum::default(),
            stage: Arc::clone(&stage),
        });
        let mut flow = Flow::new(&task)?;
        flow.run(&mut slot.lanes).await?;
        digest = digest.zip(flow.marks.digest()).map(|(sum, new)| sum + new + task.digest.get());
        flow.object.put(&task).await?;
    }
    Ok(digest)
}

/// What goes on in a task: inputs taken in step by step, units sent out as they are complete.
struct Flow<'a> {
    task: &'a Arc<TaskRun>,
    ahead: Ahead,
    /// Work that may have a request in flight, and the most of it.
    busy: u32,
    busy_max: u32,
    /// Position of the step that is taken in, counted from 0.
    position: u64,
    inputs: IndexIter,
    /// The one before those, if it was looked at and left.
    put_back: Option<Vec<u64>>,
    /// Inputs of the step on their way in; those that one job takes in count as one.
    taking: usize,
    /// Units that wait for a lane, all completed in this step.
    finished: VecDeque<Finished>,
    object: TileObject,
    marks: StepMarks<'a>,
    /// Inputs of a target shard are taken in together.
    goes_by_shard: bool,
}

impl<'a> Flow<'a> {
    fn new(task: &'a Arc<TaskRun>) -> Result<Self, Fault> {
        Ok(Self {
            task,
            ahead: Ahead::new(task),
            busy: 0,
            busy_max: task.stage.stage.lanes,
            position: 0,
            inputs: Region::new(vec![0], vec![0]).positions(),
            put_back: None,
            taking: 0,
            finished: VecDeque::new(),
            object: TileObject::new(task)?,
            marks: StepMarks::new(task),
            goes_by_shard: task.stage.in_place.goes_by_shard(),
        })
    }

    /// Runs all steps. The next one begins when all inputs of this one are in and every unit they
    /// have completed is on its way out, in a lane that pays for its buffer: what is resident
    /// beside the lanes then is what the plan has reserved.
    async fn run(&mut self, lanes: &mut Vec<Lane>) -> Result<(), Fault> {
        let mut in_flight: FuturesUnordered<Work> = FuturesUnordered::new();
        self.next_step();
        loop {
            self.start(lanes, &mut in_flight);
            let Some(ended) = in_flight.next().await else { return Ok(()) };
            // What is known to be missing waits for nothing: others are to have their turn.
            tokio::task::consume_budget().await;
            let done = match ended? {
                Ended::Held(done) => done,
                Ended::Done(done) => {
                    self.busy -= 1;
                    done
                }
                Ended::Fetched(step, fetched) => {
                    self.busy -= 1;
                    self.ahead.hold(step, fetched);
                    continue;
                }
            };
            lanes.push(done.lane);
            match done.sent_in {
                Some(step) => self.marks.sent(step),
                None => self.taken(done.finished, &done.sent),
            }
        }
    }

    /// Starts all that there is to do and are lanes for.
    fn start(&mut self, lanes: &mut Vec<Lane>, in_flight: &mut FuturesUnordered<Work>) {
        loop {
            while let Some(fetched) = self.ahead.take(self.position) {
                let taken = gather::take(Arc::clone(self.task), fetched);
                in_flight.push(taken.map(|result| result.map(Ended::Held)).boxed());
            }
            if self.busy >= self.busy_max {
                return;
            }
            let Some(lane) = lanes.pop() else { return };
            match self.next_work(lane) {
                Ok(work) => {
                    self.busy += 1;
                    in_flight.push(work);
                }
                Err(idle) => {
                    lanes.push(idle);
                    if !self.ahead.holds(self.position) {
                        return;
                    }
                }
            }
        }
    }

    /// Something for a lane to do; the lane again if there is nothing now.
    fn next_work(&mut self, lane: Lane) -> Result<Work, Lane> {
        loop {
            // Finished units first: that frees memory and keeps the way out as busy as the way in.
            if let Some(unit) = self.finished.pop_front() {
                let (task, step) = (Arc::clone(self.task), self.position);
                if let TileObject::File(file) = &self.object {
                    self.taking += 1;
                    return Ok(in_place::piece(task, lane, Arc::clone(file), unit));
                }
                return Ok(if task.stage.in_place.writes {
                    in_place::unit(task, lane, unit, step)
                } else {
                    commit::unit(task, lane, unit, step).map(done).boxed()
                });
            }
            if let Some(index) = self.next_input() {
                self.taking += 1;
                let task = Arc::clone(self.task);
                let is_passed = task.stage.stage.passthrough || task.stage.in_place.reads();
                if !is_passed && self.is_gap(&index) {
                    let indices = self.with_more(index, 0);
                    return Ok(gather::gaps(task, lane, indices).map(done).boxed());
                }
                if task.stage.ahead_lanes > 0 {
                    return Ok(fetch(task, lane, self.position, index));
                }
                if self.goes_by_shard {
                    let indices = in_place::of_shard(&task, &index);
                    if indices.is_empty() {
                        self.taking -= 1; // it went with the first of its shard
                        continue;
                    }
                    return Ok(in_place::inputs(task, lane, indices, self.position));
                }
                if task.stage.in_place.reads() {
                    let indices = self.with_more(index, task.stage.in_place.inputs);
                    return Ok(in_place::inputs(task, lane, indices, self.position));
                }
                return Ok(take_in(task, lane, index));
            }
            if self.taking > 0 {
                let Some((step, index)) = self.ahead.next_input(self.task, self.position) else {
                    return Err(lane);
                };
                return Ok(fetch(Arc::clone(self.task), lane, step, index));
            }
            if !self.next_step() {
                return Err(lane);
            }
        }
    }

    /// The next input of the step that is to be read.
    fn next_input(&mut self) -> Option<Vec<u64>> {
        let (task, position) = (self.task, self.position);
        let next = || self.inputs.find(|index| task.wants(position, index));
        self.put_back.take().or_else(next)
    }

    /// An input is a source chunk that is known to be missing.
    fn is_gap(&self, index: &[u64]) -> bool {
        let stage = &self.task.stage;
        stage.stage.input == StageInput::SourceChunks && stage.run.execution.source.is_in_gap(index)
    }

    /// `first` and the inputs of the step behind it, `count` in all if there are as many; and those
    /// between them and behind them that are known to be missing.
    fn with_more(&mut self, first: Vec<u64>, count: usize) -> Vec<Vec<u64>> {
        let mut brought = usize::from(!self.is_gap(&first));
        let mut indices = vec![first];
        let stage = &self.task.stage;
        // Where its place has to be filled, what is missing is as much work as what is not.
        let is_free = stage.leaves_absent_out || stage.stage.passthrough;
        let most = if is_free { GAPS_AT_ONCE } else { stage.in_place.inputs };
        while indices.len() < count.max(most) {
            let Some(next) = self.next_input() else { break };
            let brings = usize::from(!self.is_gap(&next));
            if brought + brings > count {
                self.put_back = Some(next); // it is the next job's
                break;
            }
            brought += brings;
            indices.push(next);
        }
        indices
    }

    /// Goes to the next step; false if there is none.
    fn next_step(&mut self) -> bool {
        let Some(Step { inputs, asked }) = self.ahead.begin() else { return false };
        if self.marks.is_begun() {
            self.position += 1;
        }
        self.marks.begin(self.position);
        self.task.indexes.keep_from(self.position);
        (self.inputs, self.taking) = (inputs, asked);
        true
    }

    fn taken(&mut self, finished: Vec<Finished>, sent: &[Finished]) {
        self.taking -= 1;
        self.marks.sending(sent);
        for _ in sent {
            self.marks.sent(self.position);
        }
        match &mut self.object {
            object @ TileObject::Held { .. } => {
                for unit in finished {
                    object.add(self.task, unit);
                }
            }
            TileObject::File(_) => self.finished.extend(finished),
            TileObject::None => {
                self.marks.sending(&finished);
                self.finished.extend(finished);
            }
        }
    }
}

fn take_in(task: Arc<TaskRun>, lane: Lane, index: Vec<u64>) -> Work {
    if task.stage.stage.passthrough {
        passthrough::input(task, lane, index).map(done).boxed()
    } else {
        gather::input(task, lane, index).map(done).boxed()
    }
}

/// Fetches an input of a step, of this one or a later one.
fn fetch(task: Arc<TaskRun>, lane: Lane, step: u64, index: Vec<u64>) -> Work {
    async move {
        let fetched = gather::fetch(&task, lane, index).await?;
        Ok(Ended::Fetched(step, fetched))
    }
    .boxed()
}

impl TaskRun {
    /// The elements of unit `index` in this tile; `None` if the unit is not to be filled: it does
    /// not meet the tile, or an earlier run has finished it, or the shard it is in.
    pub(crate) fn open_unit(&self, index: &[u64]) -> Option<Region> {
        let geometry = &self.stage.geometry;
        let region = geometry.unit_region(index, &self.tile)?;
        if self.steps_done > 0 {
            let commit = geometry.commit_region(index, &self.tile)?;
            if geometry.last_step(&self.tile, &commit) < self.steps_done {
                return None;
            }
        }
        Some(region)
    }

    /// The part of input chunk `index` in this tile.
    pub(crate) fn input_region(&self, index: &[u64]) -> Option<Region> {
        self.stage.geometry.input_grid().region(index).intersect(&self.tile)
    }

    /// An input is read if it meets a unit that is to be filled. All that later steps read do.
    pub(crate) fn wants(&self, position: u64, index: &[u64]) -> bool {
        if position >= self.steps_done {
            return true;
        }
        self.input_region(index).is_some_and(|region| {
            let units = self.stage.geometry.output_grid().covering(&region);
            units.positions().any(|unit| self.open_unit(&unit).is_some())
        })
    }
}
