//! Ends of a job that several processes bring about at once.

use std::time::Duration;

use super::begin::{Patience, State, is_complete, lacks_its_end};
use super::kinds::shared_place;
use crate::job::Job;
use crate::request::Running;
use crate::work_dir::{Left, WorkDir};
use crate::{Class, Error};

/// Looks at a job that another process may be ending, and the time between two.
const LOOKS: u32 = 5;
const LOOK: Duration = Duration::from_millis(200);

/// Place where the end of a job can be watched.
#[derive(Debug)]
pub(crate) struct Ending {
    work: WorkDir,
    /// It is the place of a group, whose state is told by its documents alone.
    is_group: bool,
}

impl Ending {
    /// That of an array.
    pub(crate) fn of(job: &Job) -> Result<Self, Error> {
        Ok(Self { work: shared_place(job)?.1, is_group: false })
    }

    /// That of a group with this work directory.
    pub(crate) fn of_group(work: WorkDir) -> Self {
        Self { work, is_group: true }
    }

    /// Waits a moment after `error`, while another process ends the job; else returns the error.
    /// So it does with errors that no other process can have brought about.
    pub(crate) async fn wait(&self, patience: &mut Patience, error: Error) -> Result<(), Error> {
        if !may_be_of_another(&error) {
            return Err(error);
        }
        let state = if self.is_group {
            match self.work.saved_tree().await {
                Ok(Some(_)) => State::Begun,
                Ok(None) => State::Ended,
                Err(_) => State::Nothing,
            }
        } else {
            match State::of(&self.work).await {
                State::Open(_) => State::Begun, // nobody waits for more parts
                state => state,
            }
        };
        patience.wait(&self.work, state, error).await
    }
}

/// Whether another process that ends the job may be why this one could not.
fn may_be_of_another(error: &Error) -> bool {
    let is_of_end =
        matches!(error, Error::State { .. } | Error::Finish { .. } | Error::Member { .. });
    error.class() == Class::Target || (is_of_end && error.class() == Class::Failed)
}

/// Whether a job of which the parts were closed has ended well, or is about to: all its tasks are
/// done then. It may have been given up instead.
pub(super) async fn has_ended(job: &mut Job, running: Running, work: &WorkDir) -> bool {
    for _ in 0..LOOKS {
        let found = async {
            let left = work.left().await?;
            match lacks_its_end(job, work, &left).await? {
                Some(false) if matches!(left, Left::Unfinished(_) | Left::Damaged(_)) => Ok(false),
                Some(false) => Box::pin(is_complete(job, running)).await,
                found => Ok::<_, Error>(found.unwrap_or(false)),
            }
        };
        if found.await.unwrap_or(false) {
            return true;
        }
        tokio::time::sleep(LOOK).await;
    }
    false
}
