//! A stage of an apply: state that its tasks share.

use std::sync::Arc;

use futures::future::BoxFuture;
use rechunk_apply::Way;
use rechunk_array::Array;
use rechunk_grid::Endian;
use rechunk_kernel::wide;
use rechunk_plan::{ApplyWork, Stage};
use rechunk_store::Store;
use tokio::runtime::Handle;

use super::spare::Spare;
use super::window_op::Windows;
use crate::cpu::CpuPool;
use crate::journal::DoneSet;
use crate::stage::context::RunContext;
use crate::task_range::TaskRange;
use crate::{Event, Fault};

/// A stage of an apply that is run.
#[derive(Debug)]
pub(crate) struct WindowStage {
    pub run: Arc<RunContext>,
    pub cpu: CpuPool,
    /// Its number in the plan.
    pub number: usize,
    /// Its tasks that are to be done.
    pub tasks: TaskRange,
    /// Bytes of an element of the target.
    pub item_bytes: usize,
    /// One element for voxels of the target without a value, in native byte order.
    pub fill: Vec<u8>,
    work: Arc<ApplyWork>,
    windows: Windows,
    /// All stores work in place, and there are tasks for all threads.
    is_in_place: bool,
    /// Buffers for windows, where tasks keep none until others need them.
    pub(super) spare: Spare,
}

impl WindowStage {
    /// The stages of an apply that a run has tasks of; they share one pool.
    pub(crate) fn all_of(run: &Arc<RunContext>) -> Result<Vec<Arc<Self>>, Fault> {
        let cpu = CpuPool::new(run.execution.plan.threads)?;
        let stage = |number| Self::new(Arc::clone(run), number, cpu.clone()).map(Arc::new);
        run.execution.stages().map(stage).collect()
    }

    fn new(run: Arc<RunContext>, number: usize, cpu: CpuPool) -> Result<Self, Fault> {
        let execution = &run.execution;
        let missing = || Fault::Plan { reason: "it applies an operation, and has none".to_owned() };
        let work = execution.plan.apply.clone().ok_or_else(missing)?;
        let windows = execution.windows.clone().ok_or_else(missing)?;
        let spec = execution.sink.array().layout().spec();
        let data_type = spec.data_type;
        let item_bytes = usize::try_from(data_type.item_bytes())
            .map_err(|_| Fault::BufferTooLarge { elements: 1 })?;
        let fill = spec
            .fill_value
            .as_ref()
            .map_or_else(|| vec![0; item_bytes], |fill| fill.stored(data_type, Endian::NATIVE));
        let tasks = execution.tasks_of(number);
        let work = Arc::new(*work);
        let tasks_at_once = execution.plan.stages[number].tasks_at_once;
        let is_in_place = cpu.has_threads()
            && tasks_at_once >= execution.plan.threads
            && stores(&run, &windows).all(Store::works_in_place);
        // Blocks go to a store, which takes their memory.
        let kept = if work.job.way() == Way::Direct { tasks_at_once } else { 0 };
        let spare = Spare::new(usize::try_from(kept).unwrap_or(usize::MAX));
        Ok(Self { run, cpu, number, tasks, item_bytes, fill, work, windows, is_in_place, spare })
    }

    /// A thread of the pool does its tasks from beginning to end. Not while reading waits for a
    /// disk: then more threads than there are cores are to wait.
    fn works_in_place(&self) -> bool {
        self.is_in_place && !stores(&self.run, &self.windows).any(Store::reads_slowly)
    }

    /// Does a part of a task: on a thread of the pool, where nothing of it waits.
    pub(crate) async fn drive<T: Send + 'static>(
        &self,
        work: BoxFuture<'static, Result<T, Fault>>,
    ) -> Result<T, Fault> {
        if self.works_in_place() { self.cpu.drive(work).await } else { work.await }
    }

    /// Waits on a thread of the pool for what a task reads in between.
    pub(crate) fn wait<T>(&self, runtime: &Handle, work: impl Future<Output = T>) -> T {
        if self.works_in_place() {
            futures::executor::block_on(work)
        } else {
            runtime.block_on(work)
        }
    }

    pub(crate) fn work(&self) -> &Arc<ApplyWork> {
        &self.work
    }

    pub(crate) fn windows(&self) -> &Windows {
        &self.windows
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.run.execution.plan.stages[self.number]
    }

    pub(crate) fn intermediate(&self) -> Result<&Store, Fault> {
        self.run.intermediate()
    }

    /// Tells that so many bytes are finished.
    pub(crate) fn progress(&self, decoded_bytes: u64) {
        self.run.observer.event(&Event::Progress { stage: self.number, decoded_bytes });
    }

    /// The event of the beginning of `stages`, which is told as that of one: their tasks run beside
    /// each other. Tasks that are done count by their number: those at the rim of the box are
    /// smaller than the others.
    pub(crate) fn started(stages: &[Arc<Self>], done: &DoneSet) -> Event {
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
        }
    }

    /// Bytes of the target that so many of its tasks are for.
    fn share(&self, tasks: u64) -> u64 {
        let kept = u64::try_from(self.work.job.kept().elements()).unwrap_or(u64::MAX);
        let kept_bytes = u128::from(kept.saturating_mul(wide(self.item_bytes)));
        let all = u128::from(self.stage().tasks.max(1));
        u64::try_from(kept_bytes * u128::from(tasks) / all).unwrap_or(u64::MAX)
    }
}

/// Stores that the tasks of an apply read and write.
fn stores<'a>(run: &'a RunContext, windows: &'a Windows) -> impl Iterator<Item = &'a Store> {
    let execution = &run.execution;
    let arrays = windows.others.iter().chain([&execution.source, execution.sink.array()]);
    arrays.map(Array::store).chain(&execution.intermediate)
}
