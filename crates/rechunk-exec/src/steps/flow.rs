//! Flow of a task: inputs are taken in step by step, and units sent out as they are complete.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::future::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use rechunk_grid::{IndexIter, Region};
use rechunk_kernel::{Digest, wide};

use crate::Fault;
use crate::cpu::Driven;
use crate::memory::lane::{Lane, LaneDone};
use crate::stage::task::TaskRun;
use crate::steps::ahead::{Ahead, Step};
use crate::steps::announced::Announced;
use crate::steps::begun_steps::BegunSteps;
use crate::steps::loans::Loans;
use crate::steps::step_marks::StepMarks;
use crate::steps::{local_jobs, send_out, take_in};
use crate::units::unit::Finished;
use crate::ways_in::gather::{self, Fetched};
use crate::ways_in::missing;
use crate::ways_out::pieces::TileObject;

/// Fills the tile of a task, in these lanes, all of which are there again if this succeeds. Returns
/// the digest of the units, where it is counted by unit.
pub(crate) async fn run(
    task: &Arc<TaskRun>,
    lanes: &mut Vec<Lane>,
) -> Result<Option<Digest>, Fault> {
    let mut flow = Flow::new(task)?;
    flow.run(lanes).await?;
    let digest = flow.marks.digest();
    flow.object.put(task).await?;
    Ok(digest)
}

/// Most inputs that one job takes in because there is nothing to be taken: they are missing.
const GAPS_AT_ONCE: usize = 256;

/// Work of a lane that has ended, and its step.
enum Ended {
    /// Inputs were taken in, or a piece was written.
    Taken(u64, LaneDone),
    /// Held inputs were taken in: without any request to a store.
    Held(u64, LaneDone),
    /// Inputs were taken in by a borrowed lane.
    Borrowed(u64, LaneDone),
    /// A unit that the step completed was sent out.
    Sent(u64, Lane),
    /// That goes on, and all that is left of it is to wait for its write.
    Writes(u64, BoxFuture<'static, Result<Lane, Fault>>),
    /// Waiting for that has ended.
    Written(u64, Lane),
    /// An input was fetched. Its step may not have begun.
    Fetched(u64, Box<Fetched>),
}

/// Work of a lane.
type Work = BoxFuture<'static, Result<Ended, Fault>>;

/// Work that takes inputs of `step` in.
fn taking(step: u64, work: impl Future<Output = Result<LaneDone, Fault>> + Send + 'static) -> Work {
    work.map(move |result| result.map(|done| Ended::Taken(step, done))).boxed()
}

/// Work that takes inputs of `step` in, in a borrowed lane.
fn borrowed(
    step: u64,
    work: impl Future<Output = Result<LaneDone, Fault>> + Send + 'static,
) -> Work {
    work.map(move |result| result.map(|done| Ended::Borrowed(step, done))).boxed()
}

/// Work that sends a unit out which `step` completed.
fn sending(step: u64, work: impl Future<Output = Result<Lane, Fault>> + Send + 'static) -> Work {
    work.map(move |result| result.map(|lane| Ended::Sent(step, lane))).boxed()
}

/// Work that sends a unit out where stores wait for nobody, up to where it waits for a write.
fn sending_in_place(
    step: u64,
    work: impl Future<Output = Result<Driven<Lane>, Fault>> + Send + 'static,
) -> Work {
    let ended = move |begun| match begun {
        Driven::Ended(lane) => Ended::Sent(step, lane),
        Driven::Waits(rest) => Ended::Writes(step, rest),
    };
    work.map(move |result| result.map(ended)).boxed()
}

/// Flow of a task: inputs are taken in step by step, units sent out as they are complete.
struct Flow<'a> {
    task: &'a Arc<TaskRun>,
    ahead: Ahead,
    announced: Announced,
    loans: Loans,
    /// Work that may have a request in flight, beside that of borrowed lanes, which read local
    /// files; and the most of it.
    busy: u32,
    busy_max: u32,
    begun: BegunSteps,
    /// Inputs of the step that began last.
    inputs: IndexIter,
    /// The one before those, if it was looked at and left.
    put_back: Option<Vec<u64>>,
    /// Units that wait for a lane.
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
            announced: Announced::new(task),
            loans: Loans::new(&task.stage),
            busy: 0,
            busy_max: task.stage.stage.lanes,
            begun: BegunSteps::new(task),
            inputs: Region::new(vec![0], vec![0]).positions(),
            put_back: None,
            finished: VecDeque::new(),
            object: TileObject::new(task)?,
            marks: StepMarks::new(task),
            goes_by_shard: task.stage.in_place.goes_by_shard(),
        })
    }

    /// Runs all steps. At the latest, the next one begins when all inputs of those before it are in
    /// and every unit they have completed is on its way out, in a lane that pays for its buffer:
    /// what is resident beside the lanes then is what the plan has reserved. It begins earlier
    /// where that has room for the units it brings.
    async fn run(&mut self, lanes: &mut Vec<Lane>) -> Result<(), Fault> {
        let mut in_flight: FuturesUnordered<Work> = FuturesUnordered::new();
        self.next_step();
        loop {
            self.start(lanes, &mut in_flight);
            let Some(ended) = in_flight.next().await else {
                debug_assert!(self.loans.are_over());
                return Ok(());
            };
            // What is known to be missing waits for nothing: others are to have their turn.
            tokio::task::consume_budget().await;
            self.task.stage.run.execution.source.wait_for_list().await;
            match ended? {
                Ended::Taken(step, done) => {
                    self.busy -= 1;
                    lanes.push(done.lane);
                    self.taken(step, done.finished, &done.sent);
                }
                Ended::Held(step, done) => {
                    lanes.push(done.lane);
                    self.taken(step, done.finished, &done.sent);
                }
                Ended::Borrowed(step, done) => {
                    lanes.extend(self.loans.returned(done.lane, &self.task.buffers));
                    self.taken(step, done.finished, &done.sent);
                }
                Ended::Sent(step, lane) => {
                    self.busy -= 1;
                    lanes.push(lane);
                    self.marks.sent(step);
                }
                Ended::Writes(step, rest) => {
                    self.loans.lend();
                    let written = move |lane| Ended::Written(step, lane);
                    in_flight.push(rest.map(move |result| result.map(written)).boxed());
                }
                Ended::Written(step, lane) => {
                    self.busy -= 1;
                    lanes.extend(self.loans.written(lane, &self.task.buffers));
                    self.marks.sent(step);
                }
                Ended::Fetched(step, fetched) => {
                    self.busy -= 1;
                    self.ahead.hold(step, *fetched);
                }
            }
        }
    }

    /// Starts all that there is to do and are lanes for.
    fn start(&mut self, lanes: &mut Vec<Lane>, in_flight: &mut FuturesUnordered<Work>) {
        loop {
            while let Some((step, fetched)) = self.ahead.take(self.begun.last()) {
                let taken = gather::take(Arc::clone(self.task), fetched);
                let held = move |done| Ended::Held(step, done);
                in_flight.push(taken.map(move |result| result.map(held)).boxed());
            }
            if self.busy < self.busy_max
                && let Some(lane) = lanes.pop()
            {
                match self.next_work(lane) {
                    Ok(work) => {
                        self.busy += 1;
                        in_flight.push(work);
                        continue;
                    }
                    Err(idle) => lanes.push(idle),
                }
                if self.ahead.holds(self.begun.last()) {
                    continue;
                }
                return;
            }
            let Some(work) = self.next_borrowed() else { return };
            in_flight.push(work);
        }
    }

    /// Something for a lane to do; the lane again if there is nothing now.
    fn next_work(&mut self, lane: Lane) -> Result<Work, Lane> {
        // Finished units first: that frees memory and keeps the way out as busy as the way in.
        if let Some(unit) = self.finished.pop_front() {
            let task = Arc::clone(self.task);
            if let TileObject::File(file) = &self.object {
                let step = self.begun.take_in();
                return Ok(taking(step, local_jobs::piece(task, lane, Arc::clone(file), unit)));
            }
            self.begun.leaves();
            let step = unit.step;
            return Ok(if task.stage.in_place.writes {
                sending_in_place(step, local_jobs::unit(task, lane, unit))
            } else {
                sending(step, send_out::unit(task, lane, unit))
            });
        }
        loop {
            if let Some(index) = self.next_input() {
                let step = self.begun.take_in();
                let task = Arc::clone(self.task);
                let is_passed = task.stage.way_in.passes_through() || task.stage.in_place.reads();
                if !is_passed && self.is_gap(&index) {
                    let indices = self.with_more(index, 0);
                    self.announced.begins(indices.len());
                    return Ok(taking(step, missing::inputs(task, lane, indices)));
                }
                if task.stage.ahead_lanes > 0 {
                    return Ok(fetch(task, lane, step, index));
                }
                if self.goes_by_shard {
                    let indices = local_jobs::of_shard(&task, &index);
                    if indices.is_empty() {
                        self.begun.taken(step); // it went with the first of its shard
                        continue;
                    }
                    let announced = Vec::new(); // they come in another order, and gain nothing
                    return Ok(taking(step, local_jobs::inputs(task, lane, indices, announced)));
                }
                if task.stage.in_place.reads() {
                    let indices = self.with_more(index, task.stage.in_place.inputs);
                    let announced = self.announced.before(&task, &indices);
                    return Ok(taking(step, local_jobs::inputs(task, lane, indices, announced)));
                }
                self.announced.begins(1);
                return Ok(taking(step, take_in::input(task, lane, index)));
            }
            if self.begun.any_taken_in() && !self.has_room_for_next_step() {
                let Some((step, index)) = self.ahead.next_input(self.task, self.begun.last())
                else {
                    return Err(lane);
                };
                return Ok(fetch(Arc::clone(self.task), lane, step, index));
            }
            if !self.next_step() {
                return Err(lane);
            }
        }
    }

    /// Something for a borrowed lane to do: an input to take in, if there is one now and somebody
    /// lends.
    fn next_borrowed(&mut self) -> Option<Work> {
        if !self.loans.may_borrow() || !self.task.stage.in_place.reads() {
            return None;
        }
        loop {
            if let Some(index) = self.next_input() {
                let Some(lane) = self.loans.borrow(&self.task.buffers) else {
                    self.put_back = Some(index);
                    return None;
                };
                let step = self.begun.take_in();
                let indices = self.with_more(index, self.task.stage.in_place.inputs);
                let announced = self.announced.before(self.task, &indices);
                let inputs = local_jobs::inputs(Arc::clone(self.task), lane, indices, announced);
                return Some(borrowed(step, inputs));
            }
            // Units that wait for a lane are not paid for.
            let waits = self.begun.any_taken_in() || !self.finished.is_empty();
            if waits && !self.has_room_for_next_step() || !self.next_step() {
                return None;
            }
        }
    }

    /// Whether the next step may begin though inputs of those before it are not in; false if there
    /// is none.
    fn has_room_for_next_step(&mut self) -> bool {
        self.begun.may_overlap()
            && self.ahead.peek().is_some_and(|step| self.begun.has_room_for(self.task, step))
    }

    /// The next input of the step that is to be read.
    fn next_input(&mut self) -> Option<Vec<u64>> {
        let (task, step) = (self.task, self.begun.last());
        let next = || self.inputs.find(|index| task.wants(step, index));
        self.put_back.take().or_else(next)
    }

    /// An input is a source chunk that is known to be missing.
    fn is_gap(&self, index: &[u64]) -> bool {
        let stage = &self.task.stage;
        stage.way_in.takes_chunks() && stage.run.execution.source.is_in_gap(index)
    }

    /// Returns `first` and the inputs of the step behind it, `count` in all if there are as many.
    /// Inputs between them and behind them that are known to be missing come with them.
    fn with_more(&mut self, first: Vec<u64>, count: usize) -> Vec<Vec<u64>> {
        let mut brought = usize::from(!self.is_gap(&first));
        let mut indices = vec![first];
        let stage = &self.task.stage;
        // Where its place has to be filled, what is missing is as much work as what is not.
        let is_free = stage.leaves_absent_out || stage.way_in.passes_through();
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
        let Some(Step { region, inputs, asked }) = self.ahead.begin() else { return false };
        self.begun.begin(self.task, &region, asked, self.finished.len());
        self.marks.begin();
        self.marks.taken(self.begun.first());
        self.task.indexes.keep_from(self.begun.first());
        self.inputs = inputs;
        true
    }

    /// All that the task reads is in its units.
    fn is_all_taken(&mut self) -> bool {
        if self.begun.any_taken_in() || self.ahead.peek().is_some() {
            return false;
        }
        self.put_back = self.next_input();
        self.put_back.is_none()
    }

    fn taken(&mut self, step: u64, finished: Vec<Finished>, sent: &[Finished]) {
        self.begun.taken(step);
        self.marks.sending(sent);
        for unit in sent {
            self.begun.leaves();
            self.marks.sent(unit.step);
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
        self.marks.taken(self.begun.first());
        if self.task.is_last && self.is_all_taken() {
            self.task.buffers.set_open(false);
        }
        debug_assert!(self.begun.counts(self.task.units.count() + wide(self.finished.len())));
    }
}

/// Fetches an input of a step, of this one or a later one.
fn fetch(task: Arc<TaskRun>, lane: Lane, step: u64, index: Vec<u64>) -> Work {
    async move {
        let fetched = gather::fetch(&task, lane, index).await?;
        Ok(Ended::Fetched(step, Box::new(fetched)))
    }
    .boxed()
}
