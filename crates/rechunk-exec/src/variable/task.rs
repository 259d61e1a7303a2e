//! A task: it fills its tile, or where that does not fit, one half after the other.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use rechunk_grid::Region;
use rechunk_kernel::Digest;

use super::account::Account;
use super::filling::Filling;
use super::read::Reader;
use super::send::Sender;
use super::state::VariableState;
use super::work::{Input, Lack, Outcome, Unit, Work};
use crate::stage::shards::SourceIndexes;
use crate::stage::task::TaskRun;
use crate::{Event, Fault};

/// Fills the tile of a task. Returns no digest of its own: it adds to that of the task.
pub(crate) async fn run(task: &Arc<TaskRun>) -> Result<Option<Digest>, Fault> {
    let no_state = || Fault::Plan { reason: "its elements do not differ in length".to_owned() };
    let state = task.stage.variable.clone().ok_or_else(no_state)?;
    let account = state.account();
    let mut done = HashSet::new();
    // The next one is the last.
    let mut boxes = vec![task.tile.clone()];
    while let Some(region) = boxes.pop() {
        let course = Course::new(task, &state, &account, region.clone());
        let Some(lack) = Box::pin(course.run(&mut done)).await? else { continue };
        let Some([first, second]) = halves(task, &region) else {
            return Err(no_room(task, &region, lack));
        };
        if !state.has_split.swap(true, Ordering::AcqRel) {
            let text = "chunks hold more than those that were looked at: tasks take smaller steps, \
                        which read some chunks again";
            task.stage.run.observer.event(&Event::Warning { text: text.to_owned() });
        }
        boxes.extend([second, first]);
    }
    Ok(task.stage.digest.method().map(|_| Digest::default()))
}

/// The fault of a target chunk for which there is no room.
fn no_room(task: &TaskRun, region: &Region, lack: Lack) -> Fault {
    let stage = &task.stage;
    let budget_bytes = stage.run.execution.plan.memory.budget_bytes;
    Fault::NoRoom {
        array: stage.target().location().to_owned(),
        chunk: stage.geometry.units(region).start,
        budget_bytes,
        least_bytes: budget_bytes.saturating_add(lack.bytes),
    }
}

/// The box in halves along its longest axis, in target chunks. `None` if it is one chunk.
fn halves(task: &TaskRun, region: &Region) -> Option<[Region; 2]> {
    let geometry = &task.stage.geometry;
    let units = geometry.units(region);
    let axis = (0..units.rank()).max_by_key(|&axis| units.shape[axis])?;
    if units.shape[axis] < 2 {
        return None;
    }
    let (mut first, mut second) = (units.clone(), units.clone());
    first.shape[axis] = units.shape[axis] / 2;
    second.start[axis] += first.shape[axis];
    second.shape[axis] -= first.shape[axis];
    let elements = |units: &Region| geometry.output_grid().region_of(units).intersect(region);
    Some([elements(&first)?, elements(&second)?])
}

/// The course of a box.
struct Course {
    task: Arc<TaskRun>,
    reader: Reader,
    sender: Sender,
    filling: Filling,
    region: Region,
    /// Complete target chunks.
    ready: VecDeque<Unit>,
    /// Work that has found no room beside other work.
    late: VecDeque<Work>,
}

/// Work that runs, and whether nothing else does.
type Running = FuturesUnordered<BoxFuture<'static, Result<(Outcome, bool), Fault>>>;

impl Course {
    fn new(
        task: &Arc<TaskRun>,
        state: &Arc<VariableState>,
        account: &Arc<Account>,
        region: Region,
    ) -> Self {
        let reader = Reader {
            stage: Arc::clone(&task.stage),
            state: Arc::clone(state),
            account: Arc::clone(account),
            indexes: Arc::new(SourceIndexes::default()),
            region: region.clone(),
        };
        let sender = Sender {
            task: Arc::clone(task),
            state: Arc::clone(state),
            account: Arc::clone(account),
        };
        let filling = Filling::new(region.clone());
        let (ready, late) = (VecDeque::new(), VecDeque::new());
        Self { task: Arc::clone(task), reader, sender, filling, region, ready, late }
    }

    /// Fills the target chunks of the box that are not `done`, and adds them. Returns the memory
    /// that there was not, if there was none; nothing is under way then.
    async fn run(mut self, done: &mut HashSet<Vec<u64>>) -> Result<Option<Lack>, Fault> {
        let stage = Arc::clone(&self.task.stage);
        let lanes = usize::try_from(stage.stage.lanes).unwrap_or(usize::MAX).max(1);
        let steps = stage.geometry.steps(&self.region);
        let mut steps = (0..).zip(steps);
        let mut inputs: VecDeque<Vec<u64>> = VecDeque::new();
        let mut running = Running::new();
        let mut is_exclusive = false;
        loop {
            while !is_exclusive && running.len() < lanes {
                let (work, is_alone) = if let Some(unit) = self.ready.pop_front() {
                    (Work::Send(unit), false)
                } else if !self.late.is_empty() {
                    if !running.is_empty() {
                        break;
                    }
                    let Some(work) = self.late.pop_front() else { break };
                    (work, true)
                } else if let Some(index) = inputs.pop_front() {
                    let wanted = self.filling.wanting(&stage, &index, done);
                    if wanted.is_empty() {
                        continue;
                    }
                    (Work::Read(Input { index, wanted: Arc::new(wanted), fetched: None }), false)
                } else if running.is_empty() {
                    // Of the next step; indexes that only earlier ones have read are not needed.
                    let Some((number, step)) = steps.next() else { break };
                    self.reader.indexes.keep_from(number);
                    inputs.extend(step.positions());
                    continue;
                } else {
                    break;
                };
                is_exclusive = is_alone;
                running.push(self.begin(work, is_alone));
            }
            let Some(ended) = running.next().await else { return Ok(None) };
            let (outcome, was_alone) = ended?;
            is_exclusive = false;
            match outcome {
                Outcome::Parts(parts) => {
                    for (index, part) in parts {
                        self.ready.extend(self.filling.add(&stage, &index, part));
                    }
                }
                Outcome::Sent(index) => drop(done.insert(index)),
                Outcome::NoRoom(work, lack) => {
                    if was_alone && !self.forget_fetched() {
                        return Ok(Some(lack));
                    }
                    match work {
                        // It gives memory back.
                        Work::Send(_) => self.late.push_front(work),
                        Work::Read(_) if was_alone => self.late.push_front(work),
                        Work::Read(_) => self.late.push_back(work),
                    }
                }
            }
        }
    }

    fn begin(
        &self,
        work: Work,
        is_alone: bool,
    ) -> BoxFuture<'static, Result<(Outcome, bool), Fault>> {
        match work {
            Work::Read(input) => {
                let reading = self.reader.clone().read(input, is_alone);
                reading.map(move |outcome| Ok((outcome?, is_alone))).boxed()
            }
            Work::Send(unit) => {
                let sending = self.sender.clone().send(unit, is_alone);
                sending.map(move |outcome| Ok((outcome?, is_alone))).boxed()
            }
        }
    }

    /// Gives up what was fetched of chunks that wait for room; false if there is nothing.
    fn forget_fetched(&mut self) -> bool {
        let mut is_less = false;
        for work in &mut self.late {
            if let Work::Read(input) = work {
                is_less |= input.fetched.take().is_some();
            }
        }
        is_less
    }
}
