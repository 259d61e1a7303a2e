//! The tasks of a stage of a pyramid, some at a time.

use std::sync::Arc;

use futures::future::FutureExt;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::stage::PyramidStage;
use super::task;
use crate::ExecError;
use crate::journal::{DoneSet, Mark};
use crate::tasks::flatten;

/// Runs the tasks of a stage that are to be done and are not. If one fails, or if this future is
/// dropped, those that run are dropped too.
pub(crate) async fn run_tasks(stage: &Arc<PyramidStage>, done: &DoneSet) -> Result<(), ExecError> {
    let left = done.left_in(&stage.shared.tasks);
    let mut next = left.iter().flat_map(|range| range.start..range.end);
    let at_once = usize::try_from(stage.shared.stage().tasks_at_once).unwrap_or(usize::MAX);
    let mut running: JoinSet<Result<(), ExecError>> = JoinSet::new();
    loop {
        while running.len() < at_once
            && let Some(number) = next.next()
        {
            running.spawn(one(Arc::clone(stage), number).in_current_span());
        }
        let Some(ended) = running.join_next().await else { return Ok(()) };
        flatten(ended)?;
    }
}

async fn one(stage: Arc<PyramidStage>, number: u64) -> Result<(), ExecError> {
    let task = task::run(Arc::clone(&stage), number).boxed();
    let work = async {
        // Else its steps are driven.
        if stage.steps_at_once() == 1 { stage.shared.drive(task).await } else { task.await }
    };
    let mark = |(): &()| Mark::task(stage.shared.number, number);
    stage
        .shared
        .run
        .do_task((stage.shared.number, number), stage.shared.stage().task_bytes, work, mark)
        .await
}
