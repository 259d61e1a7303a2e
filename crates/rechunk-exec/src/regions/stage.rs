//! A stage whose tasks read and write regions: state that its tasks share.

use std::sync::Arc;

use futures::future::BoxFuture;
use rechunk_array::Array;
use rechunk_plan::Stage;
use rechunk_store::Store;

use super::spare::Spare;
use crate::cpu::CpuPool;
use crate::journal::DoneSet;
use crate::stage::context::RunContext;
use crate::task_range::TaskRange;
use crate::{Event, Fault};

/// Bytes of freed buffers that a thread was seen to keep for some milliseconds, twice as many.
const KEPT_BYTES: u64 = 16 << 20;

/// Amounts of a stage that are not in its plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amounts {
    /// Bytes that all of its tasks finish, in this run or not.
    pub finished_bytes: u64,
    /// Windows that are read at once.
    pub windows_at_once: u32,
    /// Buffers of windows that are kept for those after them.
    pub spare_max: u32,
}

/// A stage that reads and writes regions.
#[derive(Debug)]
pub(crate) struct RegionStage {
    pub run: Arc<RunContext>,
    pub cpu: CpuPool,
    /// Its number in the plan.
    pub number: usize,
    /// Its tasks that are to be done.
    pub tasks: TaskRange,
    /// Bytes of an element of the target.
    pub item_bytes: usize,
    /// Bytes that all of its tasks finish, in this run or not.
    finished_bytes: u64,
    /// All stores work in place, and there are windows for all threads.
    is_in_place: bool,
    /// Buffers for what is read, where tasks keep none until others need them.
    pub spare: Spare,
}

impl RegionStage {
    /// Stage `number` of the plan of a run.
    pub(crate) fn new(
        run: Arc<RunContext>,
        number: usize,
        cpu: CpuPool,
        amounts: Amounts,
    ) -> Result<Self, Fault> {
        let execution = &run.execution;
        let item_bytes = target_item_bytes(&run)?;
        let is_in_place = cpu.has_threads()
            && amounts.windows_at_once >= execution.plan.threads
            && stores(&run).all(Store::works_in_place);
        let tasks = execution.tasks_of(number);
        let spare = Spare::new(usize::try_from(amounts.spare_max).unwrap_or(usize::MAX));
        let finished_bytes = amounts.finished_bytes;
        Ok(Self { run, cpu, number, tasks, item_bytes, finished_bytes, is_in_place, spare })
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.run.execution.plan.stages[self.number]
    }

    /// A thread of the pool does its tasks from beginning to end. Not while reading waits for a
    /// disk: then more threads than there are cores are to wait.
    pub(crate) fn works_in_place(&self) -> bool {
        self.is_in_place && !stores(&self.run).any(Store::reads_slowly)
    }

    /// Does a task, or a part of one: on one thread of the pool, where nothing of it waits.
    pub(crate) async fn drive<T: Send + 'static>(
        &self,
        work: BoxFuture<'static, Result<T, Fault>>,
    ) -> Result<T, Fault> {
        if self.works_in_place() { self.cpu.drive(work).await } else { work.await }
    }

    /// Tells that so many bytes are finished.
    pub(crate) fn progress(&self, decoded_bytes: u64) {
        self.run.observer.event(&Event::Progress { stage: self.number, decoded_bytes });
    }

    /// The event of the beginning of `stages`, which is told as that of one: their tasks run beside
    /// each other. Tasks that are done count by their number: those at the rim are smaller than the
    /// others.
    pub(crate) fn started(stages: &[&Self], done: &DoneSet) -> Event {
        let sum = |count: &dyn Fn(&Self) -> u64| {
            stages.iter().fold(0_u64, |sum, stage| sum.saturating_add(count(stage)))
        };
        let names: Vec<&str> = stages.iter().map(|stage| &*stage.stage().name).collect();
        Event::StageStarted {
            stage: stages.first().map_or(0, |stage| stage.number),
            name: names.join(" and "),
            tasks: sum(&|stage| stage.tasks.len()),
            tasks_done: sum(&|stage| done.count_in(&stage.tasks)),
            bytes_total: sum(&|stage| stage.share(stage.tasks.len())),
            bytes_done: sum(&|stage| stage.share(done.count_in(&stage.tasks))),
            may_keep_freed: stages.iter().any(|stage| stage.has_room()),
        }
    }

    /// The plan leaves room for what the allocator may keep of each thread.
    fn has_room(&self) -> bool {
        let plan = &self.run.execution.plan;
        let room = plan.memory.budget_bytes.saturating_sub(plan.memory.planned_peak_bytes);
        room >= KEPT_BYTES.saturating_mul(u64::from(plan.threads))
    }

    /// Bytes that so many of its tasks finish.
    fn share(&self, tasks: u64) -> u64 {
        let all = u128::from(self.stage().tasks.max(1));
        let bytes = u128::from(self.finished_bytes) * u128::from(tasks) / all;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// Bytes of an element of the target of a run.
pub(crate) fn target_item_bytes(run: &RunContext) -> Result<usize, Fault> {
    let item_bytes = run.execution.sink.array().layout().spec().data_type.item_bytes();
    usize::try_from(item_bytes).map_err(|_| Fault::BufferTooLarge { elements: 1 })
}

/// Stores that the tasks of a run read and write.
fn stores(run: &RunContext) -> impl Iterator<Item = &Store> {
    let execution = &run.execution;
    let others = execution.windows.iter().flat_map(|windows| &windows.others);
    let levels = execution.levels.iter().filter_map(|level| level.arrays.first());
    let arrays = others.chain(levels).chain([&execution.source, execution.sink.array()]);
    arrays.map(Array::store).chain(&execution.intermediate)
}
