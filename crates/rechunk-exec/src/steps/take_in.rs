//! An input comes in by the way of its stage.

use std::sync::Arc;

use crate::Fault;
use crate::memory::lane::{Lane, LaneDone};
use crate::stage::task::TaskRun;
use crate::stage::way_in::WayIn;
use crate::ways_in::{by_slab, gather, passthrough, store_copies, whole_shards};

/// Takes one input in: a chunk, a piece or a shard.
pub(crate) async fn input(
    task: Arc<TaskRun>,
    mut lane: Lane,
    index: Vec<u64>,
) -> Result<LaneDone, Fault> {
    match &task.stage.way_in {
        WayIn::StoredChunks | WayIn::StoredShards(_) => {
            if store_copies::input(&task, &index).await? {
                return Ok(LaneDone { lane, finished: Vec::new(), sent: Vec::new() });
            }
            passthrough::input(task, lane, index).await
        }
        WayIn::Shards(format) => {
            let format = format.clone();
            whole_shards::input(task, lane, format, index).await
        }
        WayIn::Chunks | WayIn::Plain(_) | WayIn::Pieces => {
            if let Some(finished) = by_slab::input(&task, &mut lane, &index).await? {
                return Ok(LaneDone { lane, finished, sent: Vec::new() });
            }
            gather::input(task, lane, index).await
        }
        WayIn::Runs | WayIn::Variable => {
            Err(Fault::Plan { reason: "its inputs are not taken in by lanes".to_owned() })
        }
    }
}
