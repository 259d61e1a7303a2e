//! The tasks of a stage, in order, some at a time.

use std::sync::Arc;

use rechunk_kernel::Digest;
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument;

use crate::gaps::{Left, Next};
use crate::journal::{DoneSet, Mark};
use crate::stage::stage_run::StageRun;
use crate::stage::task::Begun;
use crate::steps::slot::Slot;
use crate::{ExecError, Fault, begin, gaps};

type Ended = Result<Slot, ExecError>;

/// Runs the tasks of a stage that are to be done and are not. If one fails, or if this future is
/// dropped, those that run are dropped too.
pub(crate) async fn run_tasks(stage: &Arc<StageRun>, done: &DoneSet) -> Result<(), ExecError> {
    let mut running: JoinSet<Ended> = JoinSet::new();
    let mut slots: Vec<Slot> = Vec::new();
    let at_once = usize::try_from(stage.stage.tasks_at_once).unwrap_or(usize::MAX);
    let _finding = gaps::begin(stage).await;
    let mut left = Left::new(&stage.tasks, done);
    let at_once_passed = gaps::passed_at_once(stage);
    while let Some(next) = left.next(stage.busy.known(), at_once_passed) {
        let task = match next {
            Next::Task(task) => task,
            Next::Nothing(start, end) => {
                gaps::pass_over(stage, start, end).map_err(ExecError::Run)?;
                tokio::task::yield_now().await;
                continue;
            }
        };
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
    let work = begin::task(Arc::clone(&stage), &mut slot, task, begun);
    let mark = |digest: &Option<Digest>| {
        if stage.digest.method().is_some() {
            stage.run.add_digest(*digest);
        }
        Mark::task(stage.number, task).with_digest(*digest)
    };
    stage.run.do_task((stage.number, task), stage.stage.task_bytes, work, mark).await?;
    Ok(slot)
}

/// The end of a task, whose result may be lost.
pub(crate) fn flatten<T>(ended: Result<Result<T, ExecError>, JoinError>) -> Result<T, ExecError> {
    ended.unwrap_or_else(|error| Err(ExecError::Run(lost(&error))))
}

/// The fault of work that did not end.
pub(crate) fn lost(error: &JoinError) -> Fault {
    Fault::Cpu { reason: format!("a task was lost: {error}") }
}
