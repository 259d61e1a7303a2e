//! Opens a job to parts, or finds that it is open.

use std::time::Duration;

use rechunk_store::{Store, unique_name};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::kinds::{check_kind, check_plan, no_shared_target, shared_place};
use super::marks::Marks;
use super::part_report::{PartsReport, StageTasks};
use crate::job::Job;
use crate::may_start::other_job;
use crate::place::Place;
use crate::request::{Existing, Running};
use crate::resumption::{check_target_of, resume_job};
use crate::saved_job::SavedJob;
use crate::work_dir::{Left, WorkDir};
use crate::{Error, verify};

/// Time to wait for another process that opens it, and the time between two looks.
const OPENING: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(200);

/// State of the target where parts are to work.
pub(super) enum Found {
    /// The job is open to parts.
    Open(Box<Open>),
    /// The target is complete.
    Complete,
}

/// A job that is open to parts.
pub(super) struct Open {
    pub saved: SavedJob,
    pub target: Store,
    pub work: WorkDir,
    pub marks: Marks,
    /// This process has opened it.
    pub is_new: bool,
}

impl Job {
    /// Opens the job to parts, which any number of processes may then do. Does nothing where that
    /// was done before, also when the target is complete.
    ///
    /// A run of this plan that was interrupted is gone on with. [`Existing::Overwrite`] replaces an
    /// array that is there, [`Existing::Refuse`] does not.
    pub async fn begin_parts(mut self, running: Running) -> Result<PartsReport, Error> {
        if !running.durable {
            self.stores = self.stores.without_fsync();
        }
        let found = Box::pin(find(&mut self, running)).await?;
        let (is_new, is_complete) = match &found {
            Found::Open(open) => (open.is_new, false),
            Found::Complete => (false, true),
        };
        let plan = &self.planned.plan;
        Ok(PartsReport {
            target: self.request.target.clone(),
            fingerprint: plan.fingerprint.clone(),
            begun: is_new,
            complete: is_complete,
            stages: plan.stages.iter().enumerate().map(StageTasks::of).collect(),
            left_to_finish: Vec::new(),
            warnings: if is_new { self.room_warnings(None)? } else { Vec::new() },
        })
    }
}

/// Finds the job open to parts, or opens it; or finds the target complete.
pub(super) async fn find(job: &mut Job, running: Running) -> Result<Found, Error> {
    check_kind(job)?;
    let (target, work) = shared_place(job)?;
    let mut patience = Patience::new();
    loop {
        let error = match Box::pin(open_if_not(job, running, &work)).await {
            Ok(None) => return Ok(Found::Complete),
            Ok(Some((saved, is_new))) => {
                let open = join(job, *saved, (target, work), is_new).await?;
                return Ok(Found::Open(Box::new(open)));
            }
            Err(error) => error,
        };
        // What is in the way may be what another process writes to open it.
        let is_opening = work.writer().await?.is_some() || is_open(&work).await;
        patience.wait(is_opening, error).await?;
    }
}

/// Patience with a process that opens the same job.
pub(crate) struct Patience {
    started: Instant,
    /// One that was killed as it opened the job may have been in the way, and is no longer.
    again: bool,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), again: true }
    }

    /// Waits a moment after `error`, if another process is opening the job; else returns that.
    pub(crate) async fn wait(&mut self, is_opening: bool, error: Error) -> Result<(), Error> {
        if !is_opening && !std::mem::take(&mut self.again) || self.started.elapsed() > OPENING {
            return Err(error);
        }
        tokio::time::sleep(LOOK).await;
        Ok(())
    }
}

/// The job as it is open, and true if this process has opened it; `None` if its target is complete.
async fn open_if_not(
    job: &mut Job,
    running: Running,
    work: &WorkDir,
) -> Result<Option<(Box<SavedJob>, bool)>, Error> {
    match work.left().await? {
        Left::Unfinished(saved) if saved.parts.is_some() => Ok(Some((Box::new(saved), false))),
        left => {
            let opened = Box::pin(open(job, running, work, &left)).await?;
            Ok(opened.map(|saved| (Box::new(saved), true)))
        }
    }
}

/// True if another process has opened it meanwhile, and this one had not seen that.
async fn is_open(work: &WorkDir) -> bool {
    matches!(work.left().await, Ok(Left::Unfinished(saved)) if saved.parts.is_some())
}

/// Takes over the job as it was opened. Writes nothing.
async fn join(
    job: &mut Job,
    saved: SavedJob,
    (target, work): (Store, WorkDir),
    is_new: bool,
) -> Result<Open, Error> {
    check_plan(job, &saved)?;
    resume_job(job, &saved)?;
    check_target_of(job, &saved, &target, Some(&work)).await?;
    let marks = Marks::of(&work, saved.parts.as_deref().unwrap_or_default())?;
    Ok(Open { saved, target, work, marks, is_new })
}

/// Opens the job, of which `left` is there. `None`, and it is not opened, if its target is
/// complete, or all its tasks are done.
async fn open(
    job: &mut Job,
    running: Running,
    work: &WorkDir,
    left: &Left,
) -> Result<Option<SavedJob>, Error> {
    let is_interrupted = matches!(left, Left::Unfinished(_));
    if let Left::Unfinished(saved) = left
        && saved.plan.fingerprint == job.planned.plan.fingerprint
        && job.has_done_all(work).await?
    {
        return Ok(None); // it is being finished, or whoever did that was stopped
    }
    let resumed = Running { existing: Existing::Resume, verify: false, ..running };
    if running.existing != Existing::Overwrite && !is_interrupted {
        #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
        let started = std::time::Instant::now();
        job.check_target(resumed).await?;
        let cancel = CancellationToken::new();
        if Box::pin(job.done_before(resumed, started, &cancel)).await?.is_some() {
            return Ok(None);
        }
        job.around = None; // it may have removed some of that
    }
    if running.verify {
        let planning = &job.request.planning;
        let fits = verify::check_fits(&job.source, job.target_layout.as_ref(), planning);
        Box::pin(fits).await?;
    }
    Box::pin(job.check_missing()).await?;
    let running = if is_interrupted { resumed } else { running };
    let mut place = Box::pin(Place::prepare(job, running)).await?;
    let Some(lock) = place.lock.take() else {
        return Err(no_shared_target(&job.request.target));
    };
    let opened = async {
        drop(Box::pin(job.journal(work, &place)).await?);
        let Left::Unfinished(saved) = work.left().await? else {
            return Err(other_job(&job.request.target, "it was given up in this moment"));
        };
        let name = unique_name();
        Marks::of(work, &name)?.open().await?;
        let saved = SavedJob { parts: Some(name), ..saved };
        lock.check(&job.request.target).await?; // others may have ended the job while it slept
        work.save_job(&saved).await?;
        Ok(saved)
    };
    let opened = lock.while_held(&job.request.target, Box::pin(opened)).await;
    work.unlock(lock).await?;
    opened.map(Some)
}
