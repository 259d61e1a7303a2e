//! The tasks of an apply, some at a time.

use std::sync::Arc;

use rechunk_plan::Kernel;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::order::Order;
use super::stage::WindowStage;
use super::{pull, task};
use crate::ExecError;
use crate::journal::{DoneSet, Mark};
use crate::tasks::flatten;

/// Runs the tasks of stages that follow each other that are to be done and are not. If one fails,
/// or if this future is dropped, those that run are dropped too.
pub(crate) async fn run_tasks(
    stages: &[Arc<WindowStage>],
    done: &DoneSet,
) -> Result<(), ExecError> {
    let Some(first) = stages.first() else { return Ok(()) };
    let limits: Vec<_> = stages
        .iter()
        .map(|stage| (stage.shared.tasks, stage.shared.stage().tasks_at_once))
        .collect();
    let mut order = Order::new(first.work(), &limits, done);
    let mut running: JoinSet<Result<(usize, u64), ExecError>> = JoinSet::new();
    loop {
        while let Some((place, task)) = order.next() {
            let stage = Arc::clone(&stages[place]);
            let work = async move { one(stage, task).await.map(|()| (place, task)) };
            running.spawn(work.in_current_span());
        }
        let Some(ended) = running.join_next().await else { return Ok(()) };
        order.ended(flatten(ended)?);
    }
}

async fn one(stage: Arc<WindowStage>, task: u64) -> Result<(), ExecError> {
    let work = async {
        match stage.shared.stage().kernel {
            Kernel::Combine(_) => pull::run(&stage, task).await,
            Kernel::Op(_) | Kernel::Copy(_) | Kernel::Reduce(_) => task::run(&stage, task).await,
        }
    };
    let mark = |(): &()| Mark::task(stage.shared.number, task);
    stage
        .shared
        .run
        .do_task((stage.shared.number, task), stage.shared.stage().task_bytes, work, mark)
        .await
}
