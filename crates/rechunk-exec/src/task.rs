//! One task: a tile, filled step by step.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use rechunk_grid::Region;

use crate::Fault;
use crate::frame::wide;
use crate::journal::Mark;
use crate::pieces::TileObject;
use crate::pool::BufferPool;
use crate::stage_run::StageRun;
use crate::unit::{Finished, Units};
use crate::{commit, gather, passthrough};

/// Shortest time between two step marks of a task.
const STEP_MARK_INTERVAL: Duration = Duration::from_millis(100);

/// What one lane keeps between two chunks: the memory a chunk is decoded into.
///
/// There are as many as the plan has lanes, and whoever handles a chunk holds one: so never more
/// chunks are in flight than memory was reserved for.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// The stored form of the chunk: fetched, or to be stored.
    pub encoded: Vec<u8>,
    /// Its elements, where a decoder needs a place for them.
    pub scratch: Vec<u8>,
}

impl Lane {
    /// Gives up buffers that would not fit beside what the next chunk needs. A lane is paid for
    /// the way in or the way out, whichever holds more, and its buffers serve both.
    pub(crate) fn make_room(
        &mut self,
        encoded_bytes: u64,
        scratch_bytes: u64,
        workspace_bytes: u64,
        lane_bytes: u64,
    ) {
        let holds = |lane: &Self| {
            let encoded = wide(lane.encoded.capacity()).max(encoded_bytes);
            let scratch = wide(lane.scratch.capacity()).max(scratch_bytes);
            encoded.saturating_add(scratch).saturating_add(workspace_bytes)
        };
        if holds(self) > lane_bytes && wide(self.scratch.capacity()) > scratch_bytes {
            self.scratch = Vec::new();
        }
        if holds(self) > lane_bytes && wide(self.encoded.capacity()) > encoded_bytes {
            self.encoded = Vec::new();
        }
    }
}

/// Lanes and buffers of one of the tasks that run at once; the next task goes on with them.
#[derive(Debug)]
pub(crate) struct Slot {
    lanes: Vec<Lane>,
    buffers: Arc<BufferPool>,
}

impl Slot {
    pub(crate) fn new(stage: &StageRun) -> Self {
        let lanes = (0..stage.stage.lanes).map(|_| Lane::default()).collect();
        Self { lanes, buffers: Arc::new(BufferPool::new(stage.stage.resident_bytes)) }
    }
}

/// A task being run.
#[derive(Debug)]
pub(crate) struct TaskRun {
    pub stage: Arc<StageRun>,
    /// Its number in the stage.
    pub number: u64,
    /// The region it owns.
    pub tile: Region,
    pub units: Units,
    pub buffers: Arc<BufferPool>,
    /// Steps an earlier run has done: the units they completed are not touched again.
    pub steps_done: u64,
}

/// What a lane has done, and the lane.
pub(crate) struct LaneDone {
    pub lane: Lane,
    /// Units that got their last input.
    pub finished: Vec<Finished>,
}

type Work = BoxFuture<'static, Result<LaneDone, Fault>>;

/// Runs a task. `slot` is fit for use again only if this succeeds.
pub(crate) async fn run_task(
    stage: Arc<StageRun>,
    slot: &mut Slot,
    number: u64,
    steps_done: u64,
) -> Result<(), Fault> {
    let tile = stage.geometry.tile(number);
    let task = Arc::new(TaskRun {
        number,
        tile,
        units: Units::default(),
        buffers: Arc::clone(&slot.buffers),
        steps_done,
        stage,
    });
    let stage = &task.stage;
    let mut object = TileObject::new();
    let mut marks = StepMarks::new(&task);
    for (position, step) in (0_u64..).zip(stage.geometry.steps(&task.tile)) {
        let finished = run_step(&task, &mut slot.lanes, &mut object, position, &step).await?;
        marks.step_done(position + 1, finished);
    }
    if stage.geometry.writes_pieces() {
        object.put(&task).await?;
    }
    Ok(())
}

/// Takes in the inputs of one step and sends out every unit they complete. Returns how many.
async fn run_step(
    task: &Arc<TaskRun>,
    lanes: &mut Vec<Lane>,
    object: &mut TileObject,
    position: u64,
    step: &Region,
) -> Result<u64, Fault> {
    let mut inputs = step.positions().filter(|index| task.wants(position, index));
    let mut finished: VecDeque<Finished> = VecDeque::new();
    let mut in_flight: FuturesUnordered<Work> = FuturesUnordered::new();
    let mut count = 0;
    loop {
        while let Some(lane) = lanes.pop() {
            // Finished units first: that frees memory and keeps the way out as busy as the way in.
            if let Some(unit) = finished.pop_front() {
                in_flight.push(Box::pin(commit::unit(Arc::clone(task), lane, unit)));
            } else if let Some(index) = inputs.next() {
                in_flight.push(take_in(Arc::clone(task), lane, index));
            } else {
                lanes.push(lane);
                break;
            }
        }
        let Some(done) = in_flight.next().await else { return Ok(count) };
        let done = done?;
        lanes.push(done.lane);
        count += wide(done.finished.len());
        if task.stage.geometry.writes_pieces() {
            done.finished.into_iter().for_each(|unit| object.add(task, unit));
        } else {
            finished.extend(done.finished);
        }
    }
}

fn take_in(task: Arc<TaskRun>, lane: Lane, index: Vec<u64>) -> Work {
    if task.stage.stage.passthrough {
        Box::pin(passthrough::chunk(task, lane, index))
    } else {
        Box::pin(gather::input(task, lane, index))
    }
}

impl TaskRun {
    /// The elements of unit `index` in this tile; `None` if the unit is not to be filled: it does
    /// not meet the tile, or an earlier run has finished it.
    pub(crate) fn open_unit(&self, index: &[u64]) -> Option<Region> {
        let geometry = &self.stage.geometry;
        let region = geometry.unit_region(index, &self.tile)?;
        let is_done =
            self.steps_done > 0 && geometry.last_step(&self.tile, &region) < self.steps_done;
        (!is_done).then_some(region)
    }

    /// The part of input chunk `index` in this tile.
    pub(crate) fn input_region(&self, index: &[u64]) -> Option<Region> {
        self.stage.geometry.input_grid().region(index).intersect(&self.tile)
    }

    /// An input is read if it meets a unit that is to be filled. All that later steps read do.
    fn wants(&self, position: u64, index: &[u64]) -> bool {
        if position >= self.steps_done {
            return true;
        }
        self.input_region(index).is_some_and(|region| {
            let units = self.stage.geometry.output_grid().covering(&region);
            units.positions().any(|unit| self.open_unit(&unit).is_some())
        })
    }
}

/// Marks the steps of a task in the journal, not too often.
struct StepMarks<'a> {
    task: &'a TaskRun,
    last: Instant,
    /// Units that have been finished since the last mark.
    units: u64,
}

impl<'a> StepMarks<'a> {
    fn new(task: &'a TaskRun) -> Self {
        Self { task, last: Instant::now(), units: 0 }
    }

    fn step_done(&mut self, steps: u64, units: u64) {
        self.units += units;
        // Pieces become durable all together, with the task.
        let is_new = steps > self.task.steps_done && self.units > 0;
        let waits = self.last.elapsed() < STEP_MARK_INTERVAL;
        if !is_new || waits || self.task.stage.geometry.writes_pieces() {
            return;
        }
        (self.last, self.units) = (Instant::now(), 0);
        let (stage, task) = (self.task.stage.number, self.task.number);
        self.task.stage.run.mark(Mark::steps(stage, task, steps));
    }
}
