//! A stage of a pyramid: state that its tasks share.

use std::sync::Arc;

use rechunk_grid::{DataType, Endian, WriteEmpty};
use rechunk_plan::{PassInput, PyramidPass, PyramidWork, StageGeometry, StepLevel};

use super::levels::LevelArrays;
use crate::Fault;
use crate::cpu::CpuPool;
use crate::regions::stage::{Amounts, RegionStage};
use crate::stage::context::RunContext;

/// A stage of a pyramid that is run.
#[derive(Debug)]
pub(crate) struct PyramidStage {
    pub shared: RegionStage,
    pub geometry: StageGeometry,
    pub data_type: DataType,
    /// One element where no chunk of the source is, in native byte order.
    pub fill: Vec<u8>,
    /// For each level of the pyramid: a chunk that nothing is stored for is not written, since
    /// it reads the same.
    pub leaves_absent_out: Vec<bool>,
    /// Levels that it writes.
    pub levels: Vec<StepLevel>,
    /// Chunks of a task that are written at once.
    pub writes_at_once: usize,
    work: Arc<PyramidWork>,
}

impl PyramidStage {
    pub(crate) fn new(run: Arc<RunContext>, number: usize) -> Result<Self, Fault> {
        let execution = &run.execution;
        let missing = || Fault::Plan { reason: "it writes levels, and has no pyramid".to_owned() };
        let work = Arc::new(*execution.plan.pyramid.clone().ok_or_else(missing)?);
        let geometry = execution.plan.geometry(number).map_err(Fault::Grid)?;
        let source = execution.source.layout().spec();
        let (data_type, fill) = (source.data_type, source.fill_item(Endian::NATIVE));
        let leaves_absent_out = execution.levels.iter().map(|level| {
            let target = level.arrays.first().map(|array| array.layout().spec());
            let is_same = target.is_some_and(|target| target.fill_item(Endian::NATIVE) == fill);
            is_same && execution.write_empty != WriteEmpty::Always
        });
        let leaves_absent_out = leaves_absent_out.collect();
        let levels = execution.plan.step_levels(number);
        let box_bytes = |level: &StepLevel, shape: &[u64]| {
            shape.iter().fold(level.item_bytes, |bytes, &extent| bytes.saturating_mul(extent))
        };
        let largest = levels.iter().map(|level| box_bytes(level, &level.chunk)).max();
        // As the plan has reckoned: complete, in the order of the array, and encoded.
        let each = largest.unwrap_or(1).saturating_mul(3).max(1);
        let writes_at_once = usize::try_from(work.transfer_bytes / each).unwrap_or(1).clamp(1, 64);
        let written = levels.iter().map(|level| box_bytes(level, &level.shape));
        let finished_bytes = written.fold(0, u64::saturating_add);
        let tasks_at_once = execution.plan.stages[number].tasks_at_once;
        let steps_at_once = work.passes[number].steps_at_once.max(1);
        let windows_at_once = tasks_at_once.saturating_mul(steps_at_once);
        let cpu = CpuPool::new(execution.plan.threads.min(windows_at_once))?;
        let amounts = Amounts { finished_bytes, windows_at_once, spare_max: windows_at_once };
        let shared = RegionStage::new(run, number, cpu, amounts)?;
        Ok(Self {
            shared,
            geometry,
            data_type,
            fill,
            leaves_absent_out,
            levels,
            writes_at_once,
            work,
        })
    }

    pub(super) fn work(&self) -> &Arc<PyramidWork> {
        &self.work
    }

    pub(super) fn pass(&self) -> &PyramidPass {
        &self.work.passes[self.shared.number]
    }

    /// Steps of a task at once, at least one.
    pub(super) fn steps_at_once(&self) -> usize {
        usize::try_from(self.pass().steps_at_once).unwrap_or(usize::MAX).max(1)
    }

    /// Arrays of level `level` of the pyramid.
    pub(super) fn arrays(&self, level: usize) -> Result<&LevelArrays, Fault> {
        let missing = || Fault::Plan { reason: format!("there is no array for its level {level}") };
        self.shared.run.execution.levels.get(level).ok_or_else(missing)
    }

    /// Bytes of an element of blocks: of those that are read, or that are left.
    pub(super) fn block_item_bytes(&self) -> usize {
        rechunk_kernel::narrow(self.work.method.handed_on_bytes(self.data_type))
    }

    /// The input holds sums of elements, not elements.
    pub(super) fn reads_sums(&self) -> bool {
        matches!(self.pass().input, PassInput::Blocks(_)) && self.work.method.is_summed()
    }
}
