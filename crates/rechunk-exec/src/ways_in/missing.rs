//! The way in of source chunks that are known to be missing: many at a time, without a request.

use std::sync::Arc;

use rechunk_store::Role;

use crate::Fault;
use crate::fill::spread::spread;
use crate::memory::lane::{Lane, LaneDone};
use crate::stage::task::TaskRun;
use crate::units::input::Brought;
use crate::ways_in::source::fetch_chunk;

/// Takes in source chunks that are known to be missing, all in one job.
pub(crate) async fn inputs(
    task: Arc<TaskRun>,
    mut lane: Lane,
    indices: Vec<Vec<u64>>,
) -> Result<LaneDone, Fault> {
    let source = &task.stage.run.execution.source;
    let mut inputs = Vec::with_capacity(indices.len());
    for index in indices {
        let Some(input) = task.input(&index)? else { continue };
        // Counted; nothing is asked for.
        if fetch_chunk(&task, &index, &mut lane.encoded).await.map_err(Fault::Source)? {
            let reason = "the source has a chunk that its store does not list: with --verify each \
                          is asked for";
            return Err(Fault::Plan { reason: reason.to_owned() });
        }
        source.store().meter().add_decoded_read(Role::Source, input.decoded_bytes);
        inputs.push(input);
    }
    let cpu = task.stage.cpu.clone();
    cpu.run(move || {
        let mut finished = Vec::new();
        for input in inputs {
            finished.extend(spread(&task, &input, Brought::Nothing)?);
        }
        Ok(LaneDone { lane, finished, sent: Vec::new() })
    })
    .await
}
