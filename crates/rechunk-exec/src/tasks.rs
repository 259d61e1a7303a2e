//! The tasks of a stage, in order, some at a time.

use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};
use tracing::Instrument;

use crate::journal::{DoneSet, Mark};
use crate::stage_run::StageRun;
use crate::task::{Begun, Slot, run_task};
use crate::{Event, ExecError, Fault};

type Ended = Result<Slot, ExecError>;

/// Runs the tasks of a stage that are not done. If one fails, or if this future is dropped, those
/// that run are dropped too.
pub(crate) async fn run_tasks(stage: &Arc<StageRun>, done: &DoneSet) -> Result<(), ExecError> {
    let mut running: JoinSet<Ended> = JoinSet::new();
    let mut slots: Vec<Slot> = Vec::new();
    let at_once = usize::try_from(stage.stage.tasks_at_once).unwrap_or(usize::MAX);
    for task in tasks_left(stage.stage.tasks, done, stage.number) {
        if running.len() >= at_once
            && let Some(ended) = running.join_next().await
        {
            slots.push(flatten(ended)?);
        }
        let slot = slots.pop().unwrap_or_else(|| Slot::new(stage));
        let begun = Begun {
            steps: done.steps(stage.number, task),
            digest: done.steps_digest(stage.number, task),
        };
        running.spawn(one(Arc::clone(stage), slot, task, begun).in_current_span());
    }
    while let Some(ended) = running.join_next().await {
        flatten(ended)?;
    }
    Ok(())
}

async fn one(stage: Arc<StageRun>, mut slot: Slot, task: u64, begun: Begun) -> Ended {
    let permit = stage.run.gate.acquire(stage.stage.task_bytes).await;
    stage.run.observer.event(&Event::TaskStarted { stage: stage.number, task });
    let result = run_task(Arc::clone(&stage), &mut slot, task, begun).await;
    drop(permit);
    let failed = |fault| ExecError::Task { stage: stage.number, task, fault };
    let digest = result.map_err(failed)?;
    if stage.digest.method().is_some() {
        stage.run.add_digest(digest);
    }
    stage.run.mark(Mark::task(stage.number, task).with_digest(digest));
    stage.run.observer.event(&Event::TaskDone { stage: stage.number, task });
    Ok(slot)
}

fn flatten(ended: Result<Ended, JoinError>) -> Ended {
    ended.unwrap_or_else(|error| {
        Err(ExecError::Run(Fault::Cpu { reason: format!("a task was lost: {error}") }))
    })
}

/// The tasks between the ranges that are done.
fn tasks_left(tasks: u64, done: &DoneSet, stage: usize) -> impl Iterator<Item = u64> {
    let mut ranges: Vec<(u64, u64)> = done.ranges(stage).collect();
    ranges.push((tasks, tasks));
    let mut start = 0;
    ranges.into_iter().flat_map(move |(done_from, done_to)| {
        let left = start..done_from;
        start = done_to;
        left
    })
}
