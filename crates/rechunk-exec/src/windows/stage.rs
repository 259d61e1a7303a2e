//! A stage of an apply: state that its tasks share.

use std::sync::Arc;

use rechunk_apply::Way;
use rechunk_grid::Endian;
use rechunk_kernel::wide;
use rechunk_plan::ApplyWork;
use tokio::runtime::Handle;

use super::window_op::Windows;
use crate::Fault;
use crate::cpu::CpuPool;
use crate::regions::stage::{Amounts, RegionStage, target_item_bytes};
use crate::stage::context::RunContext;

/// A stage of an apply that is run.
#[derive(Debug)]
pub(crate) struct WindowStage {
    pub shared: RegionStage,
    /// One element for voxels of the target without a value, in native byte order.
    pub fill: Vec<u8>,
    work: Arc<ApplyWork>,
    windows: Windows,
}

impl WindowStage {
    /// The stages of an apply that a run has tasks of; they share one pool.
    pub(crate) fn all_of(run: &Arc<RunContext>) -> Result<Vec<Arc<Self>>, Fault> {
        let plan = &run.execution.plan;
        let tasks_at_once = plan.stages.iter().map(|stage| stage.tasks_at_once);
        let cpu = CpuPool::new(plan.threads.min(tasks_at_once.fold(0, u32::saturating_add)))?;
        let stage = |number| Self::new(Arc::clone(run), number, cpu.clone()).map(Arc::new);
        run.execution.stages().map(stage).collect()
    }

    fn new(run: Arc<RunContext>, number: usize, cpu: CpuPool) -> Result<Self, Fault> {
        let execution = &run.execution;
        let missing = || Fault::Plan { reason: "it applies an operation, and has none".to_owned() };
        let work = Arc::new(*execution.plan.apply.clone().ok_or_else(missing)?);
        let windows = execution.windows.clone().ok_or_else(missing)?;
        let fill = execution.sink.array().layout().spec().fill_item(Endian::NATIVE);
        let windows_at_once = execution.plan.stages[number].tasks_at_once;
        // Blocks go to a store, which takes their memory.
        let spare_max = if work.job.way() == Way::Pull { 0 } else { windows_at_once };
        let kept = || u64::try_from(work.job.kept().elements()).unwrap_or(u64::MAX);
        let finished = work.job.deferred().map_or_else(kept, |left| left.elements);
        let finished_bytes = finished.saturating_mul(wide(target_item_bytes(&run)?));
        let amounts = Amounts { finished_bytes, windows_at_once, spare_max };
        let shared = RegionStage::new(run, number, cpu, amounts)?;
        Ok(Self { shared, fill, work, windows })
    }

    /// Waits on a thread of the pool for what a task reads in between.
    pub(crate) fn wait<T>(&self, runtime: &Handle, work: impl Future<Output = T>) -> T {
        if self.shared.works_in_place() {
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
}
