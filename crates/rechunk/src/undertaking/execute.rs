//! Does tasks of a job, and keeps its journal.

use std::sync::Arc;
use std::time::SystemTime;

use rechunk_array::Array;
use rechunk_exec::{
    Execution, Fault, Journal, JournalError, JournalHeader, Observer, RunReport, Sink, TaskRange,
    run,
};
use rechunk_format::FormatError;
use rechunk_store::{Role, unique_name};
use tokio_util::sync::CancellationToken;

use crate::apply::Opened;
use crate::count_tasks::CountTasks;
use crate::job::Job;
use crate::place::Place;
use crate::plan_request::array_at;
use crate::request::Running;
use crate::work_dir::WorkDir;
use crate::writer_lock::{WriterLock, lost};
use crate::{Error, Remedy};

/// When so many chunks of a source were missing, and no more were there, it is listed: a request or
/// two for many more.
pub(crate) const MISSING_BEFORE_LISTING: u64 = 64;

impl Job {
    /// The source, where reading what was written since the job was planned (or, of an array that
    /// grows, begun) is an error.
    pub(crate) fn watched_source(&self) -> Array {
        self.source_since(self.read_since())
    }

    /// The time after which no source may be written. What is put into an array that exists cannot
    /// be started again: it is of one state, or refused.
    fn read_since(&self) -> SystemTime {
        if self.growth.is_some() { self.begun_at } else { self.planned_at }
    }

    /// The source, where reading what was written since then is an error.
    pub(crate) fn source_since(&self, since: SystemTime) -> Array {
        let array = &self.source.array;
        let counting = match array.missing() {
            Some(_) => array.clone(),
            None => array.clone().counting_missing(&self.sampled.found),
        };
        counting.with_store(array.store().watched(self.begun_at, since))
    }

    /// When the source is listed. Who wants to verify is to see what is there, not what a remote
    /// store lists, which may be late; and what grows is of one state of its source.
    fn list_after_missing(&self, verify: bool) -> Option<u64> {
        let is_local = self.source.array.store().local_root().is_some();
        let is_asked_for = verify && !is_local || self.growth.is_some() || !self.is_copy();
        (!is_asked_for).then_some(MISSING_BEFORE_LISTING)
    }

    /// All that a run needs, of all tasks, without an intermediate.
    pub(crate) fn execution(&self, sink: Sink) -> Execution {
        let windows = self.applied.as_ref().map(|applied| {
            applied.windows(|other| {
                let store = other.array.store().watched(self.begun_at, self.read_since());
                other.array.with_store(store)
            })
        });
        Execution {
            plan: self.planned.plan.clone(),
            tasks: None,
            source: self.source.array.clone(),
            sink,
            intermediate: None,
            write_empty: self.request.write_empty,
            takes_digest: false,
            in_place: self.growth.is_some(),
            list_after_missing: None,
            ops: Vec::new(),
            windows,
            levels: Vec::new(),
        }
    }

    /// Does the tasks of `tasks`, or of all stages, that `journal` has not marked.
    pub(crate) async fn execute(
        &self,
        (place, journal): (&Place, Option<Journal>),
        tasks: Option<TaskRange>,
        running: Running,
        (observer, cancel): (Arc<dyn Observer>, CancellationToken),
    ) -> Result<RunReport, Error> {
        let plan = &self.planned.plan;
        let target = array_at(&self.target_layout, &place.chunks, Role::Target);
        let levels = match &self.pyramid {
            Some(pyramid) => {
                if place.resumes {
                    pyramid.sweep(&self.stores).await?;
                }
                pyramid.arrays(&target, &self.stores, place.work.as_ref())?
            }
            None => Vec::new(),
        };
        let execution = Execution {
            tasks,
            levels,
            intermediate: place.intermediate.clone(),
            takes_digest: running.verify, // it costs too much where nobody asks
            list_after_missing: self.list_after_missing(running.verify),
            ..self.execution(Sink::Write(target))
        };
        let _programs = self.applied.as_ref().map(Opened::let_run);
        let counting = Arc::new(CountTasks::new(observer));
        let taken_over = place.lock.as_ref().map_or_else(CancellationToken::new, WriterLock::lost);
        let outcome = tokio::select! {
            outcome = run(Arc::new(execution), journal, Arc::clone(&counting) as _, cancel) => outcome,
            () = taken_over.cancelled() => return Err(lost(&self.request.target)),
        };
        outcome.map_err(|source| {
            if matches!(source.fault(), Some(Fault::Journal(JournalError::Fenced { .. }))) {
                return lost(&self.request.target);
            }
            Error::Run {
                done: counting.done(),
                resumed: counting.resumed(),
                total: tasks.map_or_else(|| plan.task_count(), |tasks| tasks.len()),
                hint: run_hint(&source, place),
                source: Box::new(source),
            }
        })
    }

    /// Begins the journal of a run, or opens that of the run it goes on with.
    pub(crate) async fn journal(&self, work: &WorkDir, place: &Place) -> Result<Journal, Error> {
        // What has taken the old array's place does not need its intermediate any longer.
        let is_kept = !place.is_volatile() || place.is_replaced().await?;
        let resumes = place.resumes && is_kept;
        // A run killed before its journal was begun has done nothing yet.
        if resumes && work.has_journal().await? {
            return self.open_journal(work).await;
        }
        if place.resumes {
            // Parts of one that was being removed, or one whose intermediate is gone.
            work.forget().await?;
        }
        let created = Journal::create(&work.store, self.journal_header(), &unique_name()).await;
        created.map_err(|error| work.journal_error(error))
    }

    /// Opens the journal that was begun.
    pub(crate) async fn open_journal(&self, work: &WorkDir) -> Result<Journal, Error> {
        let known = self.journal_header();
        let journal = Journal::open_known(&work.store, &unique_name(), &known).await;
        let journal = journal.map_err(|error| work.journal_error(error))?;
        let found = journal.header().fingerprint.clone();
        if found == known.fingerprint {
            return Ok(journal);
        }
        Err(Error::Conflict {
            location: self.request.target.clone(),
            reason: format!("was begun with another plan ({found})"),
            hint: Some(Remedy::StartAgain),
        })
    }

    /// First line of its journal.
    pub(crate) fn journal_header(&self) -> JournalHeader {
        let job = serde_json::json!({
            "source": self.request.source,
            "target": self.request.target,
        });
        JournalHeader::new(&self.planned.plan.fingerprint, job)
    }
}

/// An element does not fit the type that it was to be cast to.
fn is_cast_fault(error: &rechunk_exec::ExecError) -> bool {
    let Some(Fault::Source(error)) = error.fault() else { return false };
    matches!(error.format_error(), Some(FormatError::Cast { .. }))
}

fn run_hint(error: &rechunk_exec::ExecError, place: &Place) -> Option<Remedy> {
    if error.is_source_changed() {
        return Some(Remedy::StartUnwritten);
    }
    if let Some(bytes) = error.least_bytes() {
        return Some(Remedy::MoreMemory { bytes });
    }
    if is_cast_fault(error) {
        return Some(Remedy::CastAndOverwrite);
    }
    if error.is_source_fault() && !error.is_retryable() {
        return Some("the source must be repaired first; what is done is kept".into());
    }
    if error.is_intermediate_damage() && place.work.is_some() {
        // One that goes with the process cannot be mended; else a resume makes it again.
        let remedy = if place.is_volatile() { Remedy::ReadAgain } else { Remedy::ResumeToWrite };
        return Some(remedy);
    }
    match (error.is_no_space(), place.work.is_some()) {
        (true, true) => Some(Remedy::MakeRoomFromThere),
        (true, false) => Some("make room and start again".into()),
        (false, true) if place.is_shared() => Some(Remedy::PartAgain),
        (false, true) => Some(Remedy::ResumeFromThere),
        (false, false) => None,
    }
}
