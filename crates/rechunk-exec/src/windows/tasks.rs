//! The tasks of a stage of an apply, some at a time.

use std::sync::Arc;

use rechunk_plan::Kernel;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::stage::WindowStage;
use super::{pull, task};
use crate::journal::{DoneSet, Mark};
use crate::{Event, ExecError, Fault};

/// Runs the tasks of a stage that are to be done and are not. If one fails, or if this future is
/// dropped, those that run are dropped too.
pub(crate) async fn run_tasks(stage: &Arc<WindowStage>, done: &DoneSet) -> Result<(), ExecError> {
    let mut running: JoinSet<Result<(), ExecError>> = JoinSet::new();
    let at_once = usize::try_from(stage.stage().tasks_at_once).unwrap_or(usize::MAX);
    for task in done.left_in(&stage.tasks).into_iter().flat_map(|range| range.start..range.end) {
        if running.len() >= at_once
            && let Some(ended) = running.join_next().await
        {
            ended.unwrap_or_else(|error| lost(&error))?;
        }
        running.spawn(one(Arc::clone(stage), task).in_current_span());
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap_or_else(|error| lost(&error))?;
    }
    Ok(())
}

fn lost(error: &tokio::task::JoinError) -> Result<(), ExecError> {
    Err(ExecError::Run(Fault::Cpu { reason: format!("a task was lost: {error}") }))
}

async fn one(stage: Arc<WindowStage>, task: u64) -> Result<(), ExecError> {
    let permit = stage.run.gate.acquire(stage.stage().task_bytes).await;
    stage.run.observer.event(&Event::TaskStarted { stage: stage.number, task });
    let result = match stage.stage().kernel {
        Kernel::Combine(_) => pull::run(&stage, task).await,
        Kernel::Op(_) | Kernel::Copy(_) | Kernel::Reduce(_) => task::run(&stage, task).await,
    };
    drop(permit);
    result.map_err(|fault| ExecError::Task { stage: stage.number, task, fault })?;
    stage.run.mark(Mark::task(stage.number, task));
    stage.run.observer.event(&Event::TaskDone { stage: stage.number, task });
    Ok(())
}
