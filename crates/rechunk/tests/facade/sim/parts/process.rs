//! A process that does a step of a plan.

use std::sync::Arc;
use std::time::Duration;

use rechunk::{CancellationToken, Error, Existing, Job, PartReport, Running, SavedJob, Share};
use rechunk_testkit::SimClient;

use super::ledger::{Ledger, Seen};
use crate::sim::process::stores;

/// A step of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Begin,
    Part(usize, Share),
    Finish,
}

/// Report of a step that ended well.
#[derive(Debug)]
pub(super) enum Done {
    Begun,
    Part(Box<PartReport>),
    Finished,
}

/// Does a step in a process of its own, to which all is new.
pub(super) async fn take(
    (client, plan): (&SimClient, &SavedJob),
    step: Step,
    wait: Duration,
    (ledger, seen): (&Ledger, &Seen),
) -> Result<Done, Error> {
    let job = Job::from_saved(plan.clone(), None, &stores(client)).await?;
    let running = Running::new(Existing::Refuse);
    let (observer, cancel) = (Arc::new(ledger.observer(seen)), CancellationToken::new());
    Ok(match step {
        Step::Begin => {
            job.begin_parts(running).await?;
            Done::Begun
        }
        Step::Part(stage, part) => {
            let done = job.run_part((stage, part.into()), running, wait, observer, cancel).await?;
            Done::Part(Box::new(done))
        }
        Step::Finish => {
            Box::pin(job.finish_parts(running, wait, observer, cancel)).await?;
            Done::Finished
        }
    })
}
