//! Runs a job: journal first, then chunks; how it ends is in `finish.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rechunk_array::Array;
use rechunk_exec::{
    Event, Execution, Fault, Journal, JournalError, JournalHeader, Observer, RunReport, Sink, run,
};
use rechunk_format::FormatError;
use rechunk_plan::Plan;
use rechunk_store::{Role, Stores, unique_name};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::complete::is_result_of;
use crate::error::SOURCE_CHANGED_HINT;
use crate::gzip_file::unpack;
use crate::intermediate::remove_outside_of;
use crate::job::{Job, array_at, temp_is_memory};
use crate::metadata::Metadata;
use crate::missing_report::MissingReport;
use crate::place::{Around, Place, check_place, folder, may_grow, may_start, work_dir};
use crate::report::{DigestReport, Report, TaskReport};
use crate::request::{Existing, Running, takes_parts};
use crate::resumption::{other_job, resume_job};
use crate::saved_job::{JOB_VERSION, SavedJob};
use crate::target::{InTheWay, is_array, open_target};
use crate::work_dir::{Left, WorkDir};
use crate::writer_lock::{WriterLock, lost};
use crate::{Error, Remedy, system, verify};

/// When so many chunks of a source were missing, and no more were there, it is listed: a request or
/// two for many more.
pub(crate) const MISSING_BEFORE_LISTING: u64 = 64;
/// Time that a run that has failed may take to leave.
const LEAVING: Duration = Duration::from_secs(4);

impl Job {
    /// The job and its plan, to be saved and run later or elsewhere.
    pub fn saved(&self) -> SavedJob {
        SavedJob {
            version: JOB_VERSION,
            request: self.request.clone(),
            source_identity: self.source.identity.clone(),
            target_identity: target_identity(self),
            plan: self.planned.plan.clone(),
            planned_at: self.begun_at,
            checked_at: None,
            target_documents: self.target.documents().into_iter().map(text_of).collect(),
            replaces: false,
            growth: self.growth.clone(),
            makes_temp: self.makes_temp,
            in_tree: self.in_tree,
        }
    }

    /// Opens the source and the target of a saved job and takes over its plan; `temp` is where the
    /// intermediate goes instead.
    pub async fn from_saved(
        mut saved: SavedJob,
        temp: Option<&str>,
        stores: &Stores,
    ) -> Result<Self, Error> {
        if let Some(temp) = temp {
            let planned = saved.request.temp.as_deref().unwrap_or(&saved.request.target);
            let takes = |temp: &str| (temp_is_memory(temp), takes_parts(temp));
            if saved.plan.stages.len() > 1 && takes(temp) != takes(planned) {
                let reason =
                    "takes other memory than the saved plan, whose intermediate is of another kind";
                return Err(Error::Conflict {
                    location: temp.to_owned(),
                    reason: reason.to_owned(),
                    hint: Some("plan again with this --temp".into()),
                });
            }
            saved.request.temp = Some(temp.to_owned());
        }
        saved.request.planning.candidates = false; // the saved plan is taken, whatever others cost
        let mut job = Self::prepare(saved.request.clone(), stores).await?;
        let now = job.saved();
        if let Some(difference) = saved.difference(&now) {
            return Err(Error::Conflict {
                location: saved.request.target.clone(),
                reason: format!("cannot follow the saved plan: {difference}"),
                hint: Some("plan again".into()),
            });
        }
        job.adopt(saved.plan)?;
        Ok(job)
    }

    /// Takes over a plan made earlier, if its memory is allowed now.
    pub(crate) fn adopt(&mut self, plan: Plan) -> Result<(), Error> {
        let budget = self.planned.plan.memory.budget_bytes;
        let mut plan = plan;
        if !plan.fit_to(budget) {
            return Err(Error::Conflict {
                location: self.request.target.clone(),
                reason: format!(
                    "was begun with a plan that needs {} bytes of memory, more than the {budget} \
                     allowed now",
                    plan.memory.planned_peak_bytes
                ),
                hint: Some(Remedy::MemoryOf { bytes: plan.memory.planned_peak_bytes }),
            });
        }
        self.planned.plan = plan;
        self.planned.candidates.clear();
        Ok(())
    }

    /// Checks, without writing anything, that [`Job::run`] may write its target, and takes over the
    /// plan it would resume. So a refusal comes before anything else is said, and what is said is
    /// what will run.
    pub async fn check_target(&mut self, running: Running) -> Result<(), Error> {
        self.check_missing().await?;
        let (around, found) = check_place(self).await?;
        self.may_run(running, &around, found).await?;
        // What is local is looked at again when the run starts: nobody waits for that.
        self.around = around.target.answers_late().then(|| Box::new(around));
        Ok(())
    }

    async fn may_run(
        &mut self,
        running: Running,
        around: &Around,
        found: InTheWay,
    ) -> Result<(), Error> {
        let Around { target, left, .. } = around;
        match left {
            Left::Unfinished(saved) if running.existing == Existing::Resume => {
                resume_job(self, saved)
            }
            // A finished job that only left its traces: the run ends with removing them.
            left @ (Left::Done(_) | Left::Late) if self.growth.is_some() => {
                may_grow(self, running, left).map(drop)
            }
            Left::Done(_) | Left::Late
                if running.existing == Existing::Resume && is_array(target).await? =>
            {
                Ok(())
            }
            Left::Nothing if running.existing == Existing::Resume && is_array(target).await? => {
                let cancel = CancellationToken::new();
                let complete = is_result_of(self, target, running.verify, &cancel);
                self.is_complete = Box::pin(complete).await?;
                if self.is_complete {
                    return Ok(());
                }
                may_start(self, running, target, left, found).await.map(drop)
            }
            left => may_start(self, running, target, left, found).await.map(drop),
        }
    }

    /// Runs the job. On an error what is done is kept, and a later run with
    /// [`Existing::Resume`] goes on from there.
    pub async fn run(
        self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<Report, Error> {
        // Boxed: whoever waits for it need not hold all that it holds.
        Box::pin(self.run_to_the_end(running, observer, cancel)).await
    }

    async fn run_to_the_end(
        mut self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<Report, Error> {
        #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
        let started = Instant::now();
        if !running.durable {
            self.stores = self.stores.without_fsync();
        }
        if running.existing == Existing::Resume
            && let Some(report) = Box::pin(self.done_before(running, started, &cancel)).await?
        {
            return Ok(report);
        }
        if running.verify {
            let planning = &self.request.planning;
            let fits = verify::check_fits(&self.source, self.target_layout.as_ref(), planning);
            Box::pin(fits).await?;
        }
        Box::pin(self.check_missing()).await?;
        let mut place = Box::pin(Place::prepare(&mut self, running)).await?;
        if self.source.packed.is_some() {
            let Some(work) = &place.work else { return Err(no_room(&self.request.target)) };
            self.source = Box::pin(unpack(&self.source, &work.unpacked()?)).await?;
        } else {
            self.source.array = self.watched_source();
        }
        let mut outcome = self.attempt(&place, running, &observer, &cancel).await;
        if let Err(error) = &outcome {
            match Box::pin(self.take_back_damaged(&place, error)).await {
                Ok(None) => {}
                Ok(Some(text)) => {
                    place.warnings.push(text);
                    outcome = self.attempt(&place, running, &observer, &cancel).await;
                }
                Err(error) => outcome = Err(error),
            }
        }
        let mut report = self.report(started);
        let missing = outcome.as_ref().ok().and_then(|(run, _)| {
            let missing = run.missing.as_ref()?;
            Some(MissingReport::new(missing, run.tasks_resumed > 0))
        });
        let warnings = [
            missing.as_ref().and_then(|missing| self.missing_without_fill_value(missing)),
            missing.as_ref().and_then(found_nothing),
            self.written_between(),
        ];
        let found = std::mem::take(&mut place.warnings);
        for text in found.into_iter().chain(warnings.into_iter().flatten()) {
            observer.event(&Event::Warning { text: text.clone() });
            report.warnings.push(text);
        }
        match outcome {
            Ok((run_report, verified)) => {
                report.digest = run_report.digest.as_ref().map(DigestReport::from);
                // Of nothing there is nothing to be verified.
                let is_all = missing.as_ref().is_some_and(|missing| missing.is_all);
                report.verified = verified.filter(|_| !is_all);
                report.missing = missing;
                report.tasks = Some(TaskReport {
                    total: run_report.tasks_total,
                    done: run_report.tasks_done,
                    resumed: run_report.tasks_resumed,
                });
                if let (Some(work), true) = (&place.work, running.keep_temp) {
                    work.put_report(&report).await;
                }
                Ok(report)
            }
            Err(error) => {
                if let Error::Run { done, resumed, total, .. } = &error {
                    let (total, done, resumed) = (*total, *done, *resumed);
                    report.tasks = Some(TaskReport { total, done, resumed });
                }
                // A store that is gone must not be waited for again. Another run need not wait for
                // this one either, whose lease is then stale or that of a process that is gone.
                let leaving = self.leave(&mut place, &report);
                if tokio::time::timeout(LEAVING, leaving).await.is_err() {
                    tracing::info!("the store does not answer: the lease stays there");
                }
                Err(error)
            }
        }
    }

    /// Does the tasks that are not done, and ends the run.
    async fn attempt(
        &self,
        place: &Place,
        running: Running,
        observer: &Arc<dyn Observer>,
        cancel: &CancellationToken,
    ) -> Result<(RunReport, Option<bool>), Error> {
        // Boxed, as what waits for a job holds the job too.
        let execution = self.execute(place, running, Arc::clone(observer), cancel.clone());
        let run_report = Box::pin(execution).await?;
        let verified = Box::pin(self.finish(place, running, &run_report, cancel)).await?;
        Ok((run_report, verified))
    }

    /// Ends a run that was killed when all was written: what was to grow is made known, and
    /// leftovers are removed.
    async fn done_before(
        &self,
        running: Running,
        started: Instant,
        cancel: &CancellationToken,
    ) -> Result<Option<Report>, Error> {
        let location = &self.request.target;
        let target = open_target(location, &self.stores)?;
        // Without a target, what is left is not what makes it complete.
        let Some(work) = work_dir(location, &target, &self.stores)? else { return Ok(None) };
        if !is_array(&target).await? {
            return Ok(None);
        }
        let left = work.left().await?;
        if let Left::Unfinished(_) | Left::Damaged(_) = left {
            return Ok(None);
        }
        let has_traces = !matches!(left, Left::Nothing);
        let saved = if let Left::Done(saved) = left { saved } else { None };
        if self.change.is_some() && (saved.is_none() || self.in_tree) {
            return Ok(None); // what is there may be of any run; of a group all are made known together
        }
        // Nothing says whose it is then: it has to look like it.
        if saved.is_none()
            && !self.is_complete
            && !is_result_of(self, &target, running.verify, cancel).await?
        {
            return Ok(None);
        }
        let is_said = saved.is_some();
        if let Some(difference) = saved.as_ref().and_then(|saved| saved.difference(&self.saved())) {
            return Err(other_job(location, &difference));
        }
        if !has_traces {
            let verified = self.verified_before(running, cancel).await?;
            return Ok(Some(self.complete_report(started, verified)));
        }
        let lock = work.lock(location).await?;
        if is_said && !matches!(work.left_since().await?, Left::Done(_)) {
            work.unlock(lock).await?;
            return Ok(None); // another run has ended that meanwhile, and may have begun its own
        }
        let verified = self.verified_before(running, cancel).await?;
        if let Some(change) = &self.change {
            change.commit(location, &target).await?;
            self.describe(&target).await?;
        }
        match saved.filter(|_| !running.keep_temp) {
            Some(saved) => {
                let outside = async { remove_outside_of(&saved, &self.stores).await.map(drop) };
                work.remove_done(outside).await?;
            }
            None if is_said => work.unlock(lock).await?,
            None => work.remove().await?,
        }
        Ok(Some(self.complete_report(started, verified)))
    }

    /// The report of a run that has found its work done.
    fn complete_report(&self, started: Instant, verified: Option<bool>) -> Report {
        let mut report = self.report(started);
        report.verified = verified;
        report.already_complete = true;
        let total = self.planned.plan.task_count();
        report.tasks = Some(TaskReport { total, done: total, resumed: total });
        report
    }

    /// Verifies what an earlier run has written, if that is asked for.
    pub(crate) async fn verified_before(
        &self,
        running: Running,
        cancel: &CancellationToken,
    ) -> Result<Option<bool>, Error> {
        if !running.verify {
            return Ok(None);
        }
        let target = open_target(&self.request.target, &self.stores)?;
        let target = folder(&target, &self.target)?.map_or(target, |(folder, _)| folder);
        let written = array_at(&self.target_layout, &target, Role::Control);
        let (location, planning) = (&self.request.target, &self.request.planning);
        verify::check_copy(&self.source, &written, None, location, planning, cancel).await?;
        Ok(Some(true))
    }

    /// A warning where a job that was resumed has read what was written since it was begun.
    fn written_between(&self) -> Option<String> {
        let late = self.source.array.store().late_objects();
        (late > 0).then(|| {
            format!(
                "{late} reads or copies were of objects of the source that were written after the job was \
                 begun: what was copied before may be of another state"
            )
        })
    }

    /// The source, where reading what was written since the job was planned (or, of an array that
    /// grows, begun) is an error.
    fn watched_source(&self) -> Array {
        let array = &self.source.array;
        // What is put into an array that exists cannot be started again: it is of one state, or
        // refused.
        let since = if self.growth.is_some() { self.begun_at } else { self.planned_at };
        let counting = match array.missing() {
            Some(_) => array.clone(),
            None => array.clone().counting_missing(&self.found),
        };
        counting.with_store(array.store().watched(self.begun_at, since))
    }

    /// A warning where chunks were missing and the source does not say what they hold.
    fn missing_without_fill_value(&self, missing: &MissingReport) -> Option<String> {
        let copies = self.planned.plan.stages.iter().any(|stage| stage.passthrough);
        (self.source.spec().fill_value.is_none() && missing.chunks > 0 && !copies).then(|| {
            format!("{} and the fill value is null: they were read as zero", missing.sentence())
        })
    }

    /// When the source is listed. Who wants to verify is to see what is there, not what a remote
    /// store lists, which may be late; and what grows is of one state of its source.
    fn list_after_missing(&self, verify: bool) -> Option<u64> {
        let is_local = self.source.array.store().local_root().is_some();
        let is_asked_for = verify && !is_local || self.growth.is_some();
        (!is_asked_for).then_some(MISSING_BEFORE_LISTING)
    }

    /// The plan, and what this process has done so far.
    pub(crate) fn report(&self, started: Instant) -> Report {
        let mut report = self.plan_report();
        report.traffic = Some(self.stores.meter().traffic());
        report.memory.peak_rss_bytes = Some(system::peak_rss_bytes());
        report.elapsed_seconds = Some(started.elapsed().as_secs_f64());
        report
    }

    async fn execute(
        &self,
        place: &Place,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<RunReport, Error> {
        let plan = &self.planned.plan;
        let journal = match &place.work {
            Some(work) => Some(self.journal(work, place).await?),
            None => None,
        };
        let execution = Execution {
            plan: plan.clone(),
            source: self.source.array.clone(),
            sink: Sink::Write(array_at(&self.target_layout, &place.chunks, Role::Target)),
            intermediate: place.intermediate.clone(),
            write_empty: self.request.write_empty,
            takes_digest: running.verify, // it costs too much where nobody asks
            in_place: self.growth.is_some(),
            list_after_missing: self.list_after_missing(running.verify),
        };
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
                done: counting.done.load(Ordering::Relaxed),
                resumed: counting.resumed.load(Ordering::Relaxed),
                total: plan.task_count(),
                hint: run_hint(&source, place.work.is_some()),
                source: Box::new(source),
            }
        })
    }

    async fn journal(&self, work: &WorkDir, place: &Place) -> Result<Journal, Error> {
        // What has taken the old array's place does not need its intermediate any longer.
        let is_kept = !place.is_volatile() || place.is_replaced().await?;
        let resumes = place.resumes && is_kept;
        let state = |error: JournalError| work.journal_error(error);
        let writer = unique_name();
        let job = serde_json::json!({
            "source": self.request.source,
            "target": self.request.target,
        });
        // A run killed before its journal was begun has done nothing yet.
        if resumes && work.has_journal().await? {
            let known = JournalHeader::new(&self.planned.plan.fingerprint, job);
            let journal = Journal::open_known(&work.store, &writer, &known).await.map_err(state)?;
            let found = journal.header().fingerprint.clone();
            if found != self.planned.plan.fingerprint {
                return Err(Error::Conflict {
                    location: self.request.target.clone(),
                    reason: format!("was begun with another plan ({found})"),
                    hint: Some(Remedy::StartAgain),
                });
            }
            return Ok(journal);
        }
        if place.resumes {
            // Parts of one that was being removed, or one whose intermediate is gone.
            work.forget().await?;
        }
        let header = JournalHeader::new(&self.planned.plan.fingerprint, job);
        Journal::create(&work.store, header, &writer).await.map_err(state)
    }
}

/// A warning where not one chunk of the source was there.
fn found_nothing(missing: &MissingReport) -> Option<String> {
    missing.is_all.then(|| {
        format!(
            "no chunk of the source was found: {}{}; the copy holds nothing but the fill value",
            missing.sentence(),
            missing.examples()
        )
    })
}

/// A metadata document as it is saved.
fn text_of((key, bytes): (String, Vec<u8>)) -> (String, String) {
    (key, String::from_utf8_lossy(&bytes).into_owned())
}

/// There is no place to unpack the source in.
fn no_room(target: &str) -> Error {
    Error::Usage {
        message: format!(
            "a compressed file cannot be copied to {target}: it is unpacked beside it"
        ),
        hint: Some("write to a local disk, or unpack it yourself".into()),
    }
}

/// Passes events on and counts the tasks that are done, for the report of a run that fails.
struct CountTasks {
    inner: Arc<dyn Observer>,
    done: AtomicU64,
    resumed: AtomicU64,
}

impl CountTasks {
    fn new(inner: Arc<dyn Observer>) -> Self {
        Self { inner, done: AtomicU64::new(0), resumed: AtomicU64::new(0) }
    }
}

impl Observer for CountTasks {
    fn event(&self, event: &Event) {
        match event {
            Event::RunStarted { tasks_done, .. } => {
                self.done.store(*tasks_done, Ordering::Relaxed);
                self.resumed.store(*tasks_done, Ordering::Relaxed);
            }
            Event::TaskDone { .. } => {
                self.done.fetch_add(1, Ordering::Relaxed);
            }
            Event::TasksPassedOver { tasks, .. } => {
                self.done.fetch_add(*tasks, Ordering::Relaxed);
            }
            _ => {}
        }
        self.inner.event(event);
    }
}

/// An element does not fit the type that it was to be cast to.
fn is_cast_fault(error: &rechunk_exec::ExecError) -> bool {
    let Some(Fault::Source(error)) = error.fault() else { return false };
    matches!(error.format_error(), Some(FormatError::Cast { .. }))
}

fn run_hint(error: &rechunk_exec::ExecError, resumable: bool) -> Option<Remedy> {
    if error.is_source_changed() {
        return Some(SOURCE_CHANGED_HINT);
    }
    if is_cast_fault(error) {
        return Some(Remedy::CastAndOverwrite);
    }
    if error.is_source_fault() && !error.is_retryable() {
        return Some("the source must be repaired first; what is done is kept".into());
    }
    if error.is_intermediate_damage() && resumable {
        return Some(Remedy::ReadAgain);
    }
    match (error.is_no_space(), resumable) {
        (true, true) => Some(Remedy::MakeRoomFromThere),
        (true, false) => Some("make room and start again".into()),
        (false, true) => Some(Remedy::ResumeFromThere),
        (false, false) => None,
    }
}

/// SHA-256 over what will be written as the target's metadata.
fn target_identity(job: &Job) -> String {
    let mut hash = Sha256::new();
    for (key, bytes) in job.target.documents() {
        hash.update(key.as_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hash.update(job.target_layout.format_name().as_bytes());
    if job.source.is_carried {
        // A plan counts bytes of what is stored.
        hash.update(b"carried");
    }
    if let Metadata::Raw(metadata) = &job.target {
        // A file says in its header what others say in documents.
        hash.update(&metadata.runs().header);
        hash.update(format!("{:?} {:?}", metadata.spec, metadata.order));
    }
    crate::open::hex(&hash.finalize())
}
