//! Equal grids and codecs: an encoded chunk is copied as it is.

use std::sync::Arc;

use rechunk_store::Role;

use crate::Fault;
use crate::task::{Lane, LaneDone, TaskRun};

/// Copies one chunk. A missing one stays missing: the plan's check has made sure that both sides
/// read it the same way.
pub(crate) async fn chunk(
    task: Arc<TaskRun>,
    lane: Lane,
    index: Vec<u64>,
) -> Result<LaneDone, Fault> {
    let stage = &task.stage;
    let source = &stage.run.execution.source;
    let target = stage.target();
    match source.read_chunk(&index).await.map_err(Fault::Source)? {
        Some(encoded) => target.write_chunk(&index, encoded).await.map_err(Fault::Target)?,
        None => target.store().meter().add_put_skipped(Role::Target),
    }
    if let Some(region) = task.input_region(&index) {
        stage.progress(&region);
    }
    Ok(LaneDone { lane, finished: Vec::new(), sent_in: None })
}
