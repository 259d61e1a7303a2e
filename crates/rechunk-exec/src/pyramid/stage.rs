//! A stage of a pyramid: state that its tasks share.

use std::sync::Arc;

use futures::future::BoxFuture;
use rechunk_array::Array;
use rechunk_grid::{DataType, Endian};
use rechunk_kernel::wide;
use rechunk_plan::{PassInput, PyramidPass, PyramidWork, Stage, StageGeometry, StepLevel};
use rechunk_store::Store;

use super::levels::LevelArrays;
use crate::cpu::CpuPool;
use crate::journal::DoneSet;
use crate::stage::context::RunContext;
use crate::task_range::TaskRange;
use crate::windows::spare::Spare;
use crate::{Event, Fault};

/// A stage of a pyramid that is run.
#[derive(Debug)]
pub(crate) struct PyramidStage {
    pub run: Arc<RunContext>,
    pub cpu: CpuPool,
    /// Its number in the plan.
    pub number: usize,
    /// Its tasks that are to be done.
    pub tasks: TaskRange,
    pub geometry: StageGeometry,
    pub data_type: DataType,
    /// Bytes of an element of a level.
    pub item_bytes: usize,
    /// One element where no chunk of the source is, in native byte order.
    pub fill: Vec<u8>,
    /// Levels that it writes.
    pub levels: Vec<StepLevel>,
    /// Chunks of a task that are written at once.
    pub writes_at_once: usize,
    work: Arc<PyramidWork>,
    is_in_place: bool,
    /// Buffers for boxes that are read.
    pub(super) spare: Spare,
}

impl PyramidStage {
    pub(crate) fn new(run: Arc<RunContext>, number: usize, cpu: CpuPool) -> Result<Self, Fault> {
        let execution = &run.execution;
        let missing = || Fault::Plan { reason: "it writes levels, and has no pyramid".to_owned() };
        let work = Arc::new(*execution.plan.pyramid.clone().ok_or_else(missing)?);
        let geometry = execution.plan.geometry(number).map_err(Fault::Grid)?;
        let spec = execution.sink.array().layout().spec();
        let data_type = spec.data_type;
        let item_bytes = usize::try_from(data_type.item_bytes())
            .map_err(|_| Fault::BufferTooLarge { elements: 1 })?;
        let source = execution.source.layout().spec().fill_value.as_ref();
        let fill = source
            .map_or_else(|| vec![0; item_bytes], |fill| fill.stored(data_type, Endian::NATIVE));
        let levels = execution.plan.step_levels(number);
        let largest = levels.iter().map(|level| {
            level.chunk.iter().fold(level.item_bytes, |bytes, &extent| bytes.saturating_mul(extent))
        });
        // As the plan has reckoned: complete, in the order of the array, and encoded.
        let each = largest.max().unwrap_or(1).saturating_mul(3).max(1);
        let writes_at_once = usize::try_from(work.transfer_bytes / each).unwrap_or(1).clamp(1, 64);
        let tasks = execution.tasks_of(number);
        let tasks_at_once = execution.plan.stages[number].tasks_at_once;
        let is_in_place = cpu.has_threads()
            && tasks_at_once >= execution.plan.threads
            && stores(&run).all(Store::works_in_place);
        let windows = tasks_at_once * if work.passes[number].reads_ahead { 2 } else { 1 };
        let spare = Spare::new(usize::try_from(windows).unwrap_or(usize::MAX));
        Ok(Self {
            run,
            cpu,
            number,
            tasks,
            geometry,
            data_type,
            item_bytes,
            fill,
            levels,
            writes_at_once,
            work,
            is_in_place,
            spare,
        })
    }

    /// Does a task: on one thread of the pool from beginning to end, where nothing of it waits.
    pub(super) async fn drive<T: Send + 'static>(
        &self,
        work: BoxFuture<'static, Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let in_place = self.is_in_place && !stores(&self.run).any(Store::reads_slowly);
        if in_place { self.cpu.drive(work).await } else { work.await }
    }

    pub(super) fn work(&self) -> &Arc<PyramidWork> {
        &self.work
    }

    pub(super) fn pass(&self) -> &PyramidPass {
        &self.work.passes[self.number]
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.run.execution.plan.stages[self.number]
    }

    /// Arrays of level `level` of the pyramid.
    pub(super) fn arrays(&self, level: usize) -> Result<&LevelArrays, Fault> {
        let missing = || Fault::Plan { reason: format!("there is no array for its level {level}") };
        self.run.execution.levels.get(level).ok_or_else(missing)
    }

    /// Bytes of an element of blocks: of those that are read, or that are left.
    pub(super) fn block_item_bytes(&self) -> usize {
        if self.work.method.is_summed() {
            rechunk_kernel::narrow(rechunk_reduce::SumType::of(self.data_type).item_bytes())
        } else {
            self.item_bytes
        }
    }

    /// The input holds sums of elements, not elements.
    pub(super) fn reads_sums(&self) -> bool {
        matches!(self.pass().input, PassInput::Blocks(_)) && self.work.method.is_summed()
    }

    /// Tells that so many bytes are finished.
    pub(super) fn progress(&self, decoded_bytes: u64) {
        self.run.observer.event(&Event::Progress { stage: self.number, decoded_bytes });
    }

    /// The event of its beginning.
    pub(crate) fn started(&self, done: &DoneSet) -> Event {
        Event::StageStarted {
            stage: self.number,
            name: self.stage().name.clone(),
            tasks: self.tasks.len(),
            tasks_done: done.count_in(&self.tasks),
            bytes_total: self.share(self.tasks.len()),
            bytes_done: self.share(done.count_in(&self.tasks)),
        }
    }

    /// Bytes of the levels that so many of its tasks write.
    fn share(&self, tasks: u64) -> u64 {
        let of_level = |level: &StepLevel| {
            level.shape.iter().fold(wide(self.item_bytes), |bytes, &n| bytes.saturating_mul(n))
        };
        let bytes = self.levels.iter().map(of_level).fold(0_u64, u64::saturating_add);
        let all = u128::from(self.stage().tasks.max(1));
        u64::try_from(u128::from(bytes) * u128::from(tasks) / all).unwrap_or(u64::MAX)
    }
}

/// Stores that the tasks of a pyramid read and write.
fn stores(run: &RunContext) -> impl Iterator<Item = &Store> {
    let execution = &run.execution;
    let levels = execution.levels.iter().filter_map(|level| level.arrays.first());
    let arrays = levels.chain([&execution.source, execution.sink.array()]);
    arrays.map(Array::store).chain(&execution.intermediate)
}
