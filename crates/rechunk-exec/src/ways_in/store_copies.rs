//! Equal grids and codecs in one store: it copies each object itself, and no byte passes through
//! here.

use std::sync::atomic::Ordering;

use rechunk_plan::Stage;
use rechunk_store::{Copied, StoreError};

use crate::stage::digest::StageDigest;
use crate::stage::task::TaskRun;
use crate::stage::way_out::WayOut;
use crate::{Event, Execution, Fault};

/// True if the store is to copy each object: that is planned, possible here, and nothing looks at
/// the bytes that are copied.
pub(crate) fn is_possible(
    stage: &Stage,
    way_out: WayOut,
    execution: &Execution,
    digest: &StageDigest,
) -> bool {
    let (source, target) = (&execution.source, execution.sink.array());
    stage.is_copied_by_store()
        && way_out == WayOut::Write
        && digest.method().is_none()
        && source.has_whole_objects()
        && target.has_whole_objects()
        && target.store().can_copy_from(source.store())
}

/// Has the store copy an input, a chunk or a whole shard. What is missing stays missing. False if
/// it is to be read and written instead.
pub(crate) async fn input(task: &TaskRun, index: &[u64]) -> Result<bool, Fault> {
    let stage = &task.stage;
    if !stage.store_copies.load(Ordering::Relaxed) {
        return Ok(false);
    }
    let (source, target) = (&stage.run.execution.source, stage.target());
    let copied = target.copy_object(source, index).await.map_err(|error| {
        // The store is asked for both at once; that the object was removed is of the source.
        match error.store_error() {
            Some(StoreError::Removed { .. }) => Fault::Source(error),
            _ => Fault::Target(error),
        }
    });
    match copied? {
        Copied::Done => {}
        Copied::Missing => stage.leave_out(index).await?,
        Copied::Refused(error) => {
            if stage.store_copies.swap(false, Ordering::Relaxed) {
                let text = format!(
                    "the store does not copy objects itself ({error}): what is left is read and \
                     written instead"
                );
                stage.run.observer.event(&Event::Warning { text });
            }
            return Ok(false);
        }
    }
    if let Some(region) = task.input_region(index) {
        stage.progress(&region);
    }
    Ok(true)
}
