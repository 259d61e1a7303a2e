//! Opens a job to parts, or finds that it is open.

use std::time::Duration;

use rechunk_store::{Store, unique_name};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::kinds::{check_kind, check_plan, no_shared_target, shared_place};
use super::marks::Marks;
use super::part_report::{PartsReport, StageTasks};
use crate::Error;
use crate::job::Job;
use crate::may_start::other_job;
use crate::place::Place;
use crate::request::{Existing, Running};
use crate::resumption::{check_target_of, resume_job};
use crate::saved_job::SavedJob;
use crate::work_dir::{Left, WorkDir};

/// Time to wait for another process that opens it, and the time between two looks.
const OPENING: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(200);
/// Looks at a job that other processes are ending, before what is there is taken as it is.
const LOOKS: u32 = 5;

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
        // What is in the way may be what another process writes to open it, or to end it.
        let state = State::of(&work).await;
        patience.wait(&work, state, error).await?;
    }
}

/// State of a job, as far as it tells that another process has changed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none, or none that can be read.
    Nothing,
    /// It was begun, and is open to no parts.
    Begun,
    /// It is open to the parts of this name.
    Open(String),
    /// All of it is written.
    Ended,
}

impl State {
    pub(super) async fn of(work: &WorkDir) -> Self {
        match work.left().await {
            Ok(Left::Unfinished(saved)) => saved.parts.map_or(Self::Begun, Self::Open),
            Ok(Left::Done(_) | Left::Late) => Self::Ended,
            Ok(Left::Nothing | Left::Damaged(_)) | Err(_) => Self::Nothing,
        }
    }
}

/// Patience with a process that opens or ends the same job.
pub(crate) struct Patience {
    started: Instant,
    /// State when it failed for the last time. What was read before may be of another.
    seen: Option<State>,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), seen: None }
    }

    /// Waits a moment after `error`, while others open the job or its state changes; else returns
    /// the error.
    pub(crate) async fn wait(
        &mut self,
        work: &WorkDir,
        state: State,
        error: Error,
    ) -> Result<(), Error> {
        let is_open = matches!(state, State::Open(_)) || work.writer().await?.is_some();
        let is_other = self.seen.as_ref() != Some(&state);
        self.seen = Some(state);
        if !is_open && !is_other || self.started.elapsed() > OPENING {
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
    let mut left = work.left().await?;
    for _ in 0..LOOKS {
        match lacks_its_end(job, work, &left).await? {
            Some(true) => return Ok(None),
            Some(false) => break,
            None => left = work.left().await?,
        }
    }
    match left {
        Left::Unfinished(saved) if saved.parts.is_some() => Ok(Some((Box::new(saved), false))),
        left => {
            let opened = Box::pin(open(job, running, work, &left)).await?;
            Ok(opened.map(|saved| (Box::new(saved), true)))
        }
    }
}

/// True if a run of this plan has done all but its end: that is being done, or whoever did it was
/// stopped. `None` if another process has changed the state meanwhile.
pub(super) async fn lacks_its_end(
    job: &Job,
    work: &WorkDir,
    left: &Left,
) -> Result<Option<bool>, Error> {
    match left {
        Left::Unfinished(saved)
            if saved.parts.is_none() && saved.plan.fingerprint == job.planned.plan.fingerprint =>
        {
            let done = job.done_of(work, saved).await?;
            Ok(done.map(|done| job.left_after(&done).next().is_none()))
        }
        _ => Ok(Some(false)),
    }
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

/// Whether the target is the result of the job already. What a run has left of it is removed.
pub(super) async fn is_complete(job: &mut Job, running: Running) -> Result<bool, Error> {
    #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
    let started = std::time::Instant::now();
    let resumed = Running { existing: Existing::Resume, verify: false, ..running };
    job.check_target(resumed).await?;
    let cancel = CancellationToken::new();
    let done = Box::pin(job.done_before(resumed, started, &cancel)).await?;
    Ok(done.is_some())
}

/// Opens the job, of which `left` is there. `None`, and it is not opened, if its target is
/// complete.
async fn open(
    job: &mut Job,
    running: Running,
    work: &WorkDir,
    left: &Left,
) -> Result<Option<SavedJob>, Error> {
    let is_interrupted = matches!(left, Left::Unfinished(_));
    let resumed = Running { existing: Existing::Resume, verify: false, ..running };
    if running.existing != Existing::Overwrite && !is_interrupted {
        if is_complete(job, resumed).await? {
            return Ok(None);
        }
        job.around = None; // it may have removed some of that
    }
    if running.verify {
        Box::pin(job.check_verifiable()).await?;
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
            lock.check(&job.request.target).await?; // others have ended it while this one slept
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
