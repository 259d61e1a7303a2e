//! Memory of one of the tasks that run at once.

use std::sync::Arc;

use crate::memory::lane::Lane;
use crate::memory::pool::BufferPool;
use crate::stage::stage_run::StageRun;
use crate::stage::way_in::WayIn;

/// Lanes and buffers of one of the tasks that run at once; the next task goes on with them.
#[derive(Debug)]
pub(crate) struct Slot {
    pub lanes: Vec<Lane>,
    pub buffers: Arc<BufferPool>,
}

impl Slot {
    pub(crate) fn new(stage: &StageRun) -> Self {
        let lanes = stage.stage.lanes.saturating_add(stage.ahead_lanes);
        let lanes = (0..lanes).map(|_| Lane::default()).collect();
        let most_bytes = unit_bytes_max(stage);
        // What lanes pay for mostly covers buffers that lie idle; where threads pay, nothing does.
        let is_shared = stage.stage.worker_bytes > 0;
        let kept_bytes = if is_shared { stage.stage.resident_bytes } else { most_bytes };
        let buffers = if matches!(stage.way_in, WayIn::Runs) {
            BufferPool::of_many_sizes(most_bytes, stage.run.execution.spare_bytes())
        } else {
            BufferPool::new(most_bytes, kept_bytes)
        };
        Self { lanes, buffers: Arc::new(buffers) }
    }
}

/// Most bytes of the buffers of units: all that are resident, and where steps overlap, one in each
/// lane.
fn unit_bytes_max(stage: &StageRun) -> u64 {
    let lanes = if stage.stage.is_stepped { u64::from(stage.stage.lanes) } else { 0 };
    stage.stage.resident_bytes.saturating_add(lanes.saturating_mul(stage.target_chunk_bytes()))
}
