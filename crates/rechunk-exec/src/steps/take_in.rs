//! Which way an input comes in.

use std::sync::Arc;

use rechunk_plan::StageInput;

use crate::Fault;
use crate::memory::lane::{Lane, LaneDone};
use crate::stage::task::TaskRun;
use crate::ways_in::{by_slab, gather, passthrough, store_copies, whole_shards};

/// Takes one input in: a chunk, a piece or a shard.
pub(crate) async fn input(
    task: Arc<TaskRun>,
    mut lane: Lane,
    index: Vec<u64>,
) -> Result<LaneDone, Fault> {
    let stage = &task.stage;
    if stage.stage.passthrough {
        if store_copies::input(&task, &index).await? {
            return Ok(LaneDone { lane, finished: Vec::new(), sent: Vec::new() });
        }
        return passthrough::input(task, lane, index).await;
    }
    if let (StageInput::SourceShards, Some(format)) =
        (&stage.stage.input, stage.run.execution.source.layout().shards())
    {
        let format = format.clone();
        return whole_shards::input(task, lane, format, index).await;
    }
    if let Some(finished) = by_slab::input(&task, &mut lane, &index).await? {
        return Ok(LaneDone { lane, finished, sent: Vec::new() });
    }
    gather::input(task, lane, index).await
}
