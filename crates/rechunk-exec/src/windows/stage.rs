//! A stage of an apply: state that its tasks share.

use std::sync::Arc;

use rechunk_grid::Endian;
use rechunk_kernel::wide;
use rechunk_plan::{ApplyWork, Stage};
use rechunk_store::Store;

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
}

impl WindowStage {
    /// Begins stage `number` of an apply.
    pub(crate) fn new(run: Arc<RunContext>, number: usize) -> Result<Self, Fault> {
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
        let cpu = CpuPool::new(execution.plan.threads)?;
        let tasks = execution.tasks_of(number);
        let work = Arc::new(*work);
        Ok(Self { run, cpu, number, tasks, item_bytes, fill, work, windows })
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

    /// The event of its beginning. Tasks that are done count by their number: those at the rim of
    /// the box are smaller than the others.
    pub(crate) fn started(&self, done: &DoneSet) -> Event {
        let (total, tasks) = (self.tasks.len(), done.count_in(&self.tasks));
        let kept = u64::try_from(self.work.job.kept().elements()).unwrap_or(u64::MAX);
        let all = self.stage().tasks.max(1);
        let kept_bytes = u128::from(kept.saturating_mul(wide(self.item_bytes)));
        let share = |tasks: u64| {
            u64::try_from(kept_bytes * u128::from(tasks) / u128::from(all)).unwrap_or(u64::MAX)
        };
        Event::StageStarted {
            stage: self.number,
            name: self.stage().name.clone(),
            tasks: total,
            tasks_done: tasks,
            bytes_total: share(total),
            bytes_done: share(tasks),
        }
    }
}
