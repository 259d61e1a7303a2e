//! State that all lanes of a task of runs share.

use std::sync::Arc;

use rechunk_plan::keep::{Buffers, WriteBlock};

use super::side::Side;
use crate::Fault;
use crate::memory::pool::BufferPool;
use crate::stage::stage_run::StageRun;

/// Copies of so many bytes are made where they come up; to hand them over would take longer.
const COPIED_IN_PLACE_BYTES: usize = 16 << 10;

/// State that all lanes of a task share.
#[derive(Debug)]
pub(super) struct Pass {
    pub stage: Arc<StageRun>,
    pub buffers: Buffers,
    pub source: Side,
    pub target: Side,
    pub pool: Arc<BufferPool>,
    /// Buffers an earlier run is done with: the write blocks they completed are not touched again.
    pub buffers_done: u64,
}

impl Pass {
    /// Begins a task. Its buffers come out of `pool`, and the first `buffers_done` of its schedule
    /// were done by an earlier run.
    pub(super) fn new(
        stage: Arc<StageRun>,
        pool: Arc<BufferPool>,
        buffers_done: u64,
    ) -> Result<Self, Fault> {
        Ok(Self {
            buffers: buffers(&stage)?,
            source: Side::new(&stage.run.execution.source)?,
            target: Side::new(stage.target())?,
            pool,
            buffers_done,
            stage,
        })
    }

    /// An earlier run has not written the block.
    pub(super) fn is_left(&self, block: &WriteBlock) -> bool {
        self.buffers_done == 0 || self.buffers.last_buffer(block) >= self.buffers_done
    }

    pub(super) fn item_bytes(&self) -> usize {
        self.stage.item_bytes
    }

    /// Copies `bytes` bytes by `job`.
    pub(super) async fn copy<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        if bytes <= COPIED_IN_PLACE_BYTES { job() } else { self.stage.cpu.run(job).await }
    }
}

/// The schedule of a stage.
pub(super) fn buffers(stage: &StageRun) -> Result<Buffers, Fault> {
    let buffers = stage.run.execution.plan.buffers(stage.number);
    let buffers = buffers.map_err(|error| Fault::Plan { reason: error.to_string() })?;
    buffers.ok_or_else(|| Fault::Plan { reason: "it has no schedule for runs".to_owned() })
}
