//! The tasks of a stage of an apply, some at a time.

use std::sync::Arc;

use rechunk_plan::Kernel;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::stage::WindowStage;
use super::{pull, task};
use crate::ExecError;
use crate::journal::{DoneSet, Mark};
use crate::tasks::flatten;

/// Runs the tasks of a stage that are to be done and are not. If one fails, or if this future is
/// dropped, those that run are dropped too.
pub(crate) async fn run_tasks(stage: &Arc<WindowStage>, done: &DoneSet) -> Result<(), ExecError> {
    let mut running: JoinSet<Result<(), ExecError>> = JoinSet::new();
    let at_once = usize::try_from(stage.stage().tasks_at_once).unwrap_or(usize::MAX);
    for task in done.left_in(&stage.tasks).into_iter().flat_map(|range| range.start..range.end) {
        if running.len() >= at_once
            && let Some(ended) = running.join_next().await
        {
            flatten(ended)?;
        }
        running.spawn(one(Arc::clone(stage), task).in_current_span());
    }
    while let Some(ended) = running.join_next().await {
        flatten(ended)?;
    }
    Ok(())
}

async fn one(stage: Arc<WindowStage>, task: u64) -> Result<(), ExecError> {
    let work = async {
        match stage.stage().kernel {
            Kernel::Combine(_) => pull::run(&stage, task).await,
            Kernel::Op(_) | Kernel::Copy(_) | Kernel::Reduce(_) => task::run(&stage, task).await,
        }
    };
    let mark = |(): &()| Mark::task(stage.number, task);
    stage.run.do_task((stage.number, task), stage.stage().task_bytes, work, mark).await
}
