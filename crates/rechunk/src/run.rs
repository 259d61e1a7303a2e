//! Runs a job: journal first, chunks, metadata last, leftovers removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rechunk_array::Array;
use rechunk_exec::{
    ArrayDigest, Event, Execution, Fault, Journal, JournalError, JournalHeader, Observer,
    RunReport, Sink, intermediate_keys, run,
};
use rechunk_format::FormatError;
use rechunk_plan::Plan;
use rechunk_store::{Role, Store, Stores, unique_name};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::error::SOURCE_CHANGED_HINT;
use crate::growth::set_shapes;
use crate::gzip_file::{pack, unpack};
use crate::job::{Job, array_at};
use crate::metadata::Metadata;
use crate::open::open_array;
use crate::place::{
    Place, check_place, left_of, may_grow, may_start, other_job, resume_job, work_dir,
};
use crate::report::{DigestReport, Report, TaskReport};
use crate::request::{Existing, Running};
use crate::target::{commit, is_array, open_target};
use crate::work_dir::{Left, REPORT_KEY, SavedJob, WorkDir, WriterLock, lost, store_error};
use crate::{Error, consolidated, system, verify};

/// How long a run that has failed may take to leave.
const LEAVING: Duration = Duration::from_secs(4);

impl Job {
    /// The job and its plan, to be saved and run later or elsewhere.
    pub fn saved(&self) -> SavedJob {
        SavedJob::new(
            self.request.clone(),
            self.source.identity.clone(),
            target_identity(self),
            self.planned.plan.clone(),
            self.begun_at,
            self.target.documents().into_iter().map(text_of).collect(),
        )
        .growing(self.growth.clone())
    }

    /// Opens the source and the target of a saved job and takes over its plan.
    pub async fn from_saved(saved: SavedJob, stores: &Stores) -> Result<Self, Error> {
        let mut job = Self::prepare(saved.request.clone(), stores).await?;
        let now = job.saved();
        if let Some(difference) = saved.difference(&now) {
            return Err(Error::Conflict {
                location: saved.request.target.clone(),
                reason: format!("cannot follow the saved plan: {difference}"),
                hint: Some("plan again".to_owned()),
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
                hint: Some(format!("give --max-mem {}", plan.memory.planned_peak_bytes)),
            });
        }
        self.planned.plan = plan;
        self.planned.candidates.clear();
        Ok(())
    }

    /// Checks, without writing anything, that [`Job::run`] may write its target, and takes over
    /// the plan it would resume: so that a refusal comes before anything else is said, and what is
    /// said is what will run.
    pub async fn check_target(&mut self, running: Running) -> Result<(), Error> {
        let location = self.request.target.clone();
        let (target, _) = check_place(self).await?;
        let work = work_dir(&location, &target, &self.stores)?;
        match left_of(work.as_ref()).await? {
            Left::Unfinished(saved) if running.existing == Existing::Resume => {
                resume_job(self, &saved)
            }
            // A finished job that only left its traces: the run ends with removing them.
            left @ Left::Done(_) if self.growth.is_some() => {
                may_grow(self, running, &left).map(drop)
            }
            Left::Done(_) if running.existing == Existing::Resume && is_array(&target).await? => {
                Ok(())
            }
            left => may_start(self, running, &target, &left).await.map(drop),
        }
    }

    /// Runs the job. On an error what is done is kept, and a later run with
    /// [`Existing::Resume`] goes on from there.
    pub async fn run(
        mut self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<Report, Error> {
        let started = Instant::now();
        if running.existing == Existing::Resume
            && let Some(report) = Box::pin(self.done_before(started)).await?
        {
            return Ok(report);
        }
        if running.verify {
            let planning = &self.request.planning;
            verify::check_fits(&self.source, self.target_layout.as_ref(), planning).await?;
        }
        let mut place = Box::pin(Place::prepare(&mut self, running)).await?;
        if self.source.packed.is_some() {
            let Some(work) = &place.work else { return Err(no_room(&self.request.target)) };
            self.source = unpack(&self.source, &work.unpacked()?).await?;
        } else {
            self.source.array = self.watched_source();
        }
        // Boxed, as what waits for a job holds the job too.
        let outcome = Box::pin(self.execute(&place, running, Arc::clone(&observer), cancel)).await;
        let outcome = match outcome {
            Ok(run_report) => {
                let finished = self.finish(&place, running, run_report.digest.as_ref());
                let verified = Box::pin(finished).await;
                verified.map(|verified| (run_report, verified))
            }
            Err(error) => Err(error),
        };
        let mut report = self.report(started);
        for text in
            [self.missing_without_fill_value(), self.written_between()].into_iter().flatten()
        {
            observer.event(&Event::Warning { text: text.clone() });
            report.warnings.push(text);
        }
        match outcome {
            Ok((run_report, verified)) => {
                report.digest = run_report.digest.as_ref().map(DigestReport::from);
                report.verified = verified;
                report.tasks = Some(TaskReport {
                    total: run_report.tasks_total,
                    done: run_report.tasks_done,
                    resumed: run_report.tasks_resumed,
                });
                Ok(report)
            }
            Err(error) => {
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

    /// Ends a run that was killed between completing its target and removing its leftovers.
    async fn done_before(&self, started: Instant) -> Result<Option<Report>, Error> {
        let location = &self.request.target;
        let target = open_target(location, &self.stores)?;
        // Without a target, what is left is not what makes it complete.
        let Some(work) = work_dir(location, &target, &self.stores)? else { return Ok(None) };
        if !is_array(&target).await? {
            return Ok(None);
        }
        let Left::Done(saved) = work.left().await? else { return Ok(None) };
        if let Some(change) = &self.change
            && (saved.is_none() || !change.is_made(location, &target).await?)
        {
            return Ok(None); // what is there may be of any run, or is not known yet
        }
        if let Some(difference) = saved.and_then(|saved| saved.difference(&self.saved())) {
            return Err(other_job(location, &difference));
        }
        let _lock = work.lock(location).await?;
        work.remove().await?;
        let mut report = self.report(started);
        let total = self.planned.plan.task_count();
        report.tasks = Some(TaskReport { total, done: total, resumed: total });
        Ok(Some(report))
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

    /// The source, where reading what was written since the job was planned is an error.
    fn watched_source(&self) -> Array {
        let array = &self.source.array;
        Array::new(
            Arc::clone(array.layout()),
            array.store().watched(self.begun_at, self.planned_at),
        )
    }

    /// An error if the metadata of the source is not what was planned with.
    async fn check_source(&self) -> Result<(), Error> {
        if self.source.packed.is_some() || self.source.described_by.is_some() {
            return Ok(()); // what was unpacked is ours; what a group says is looked at by it
        }
        let (location, options) = (&self.request.source, self.request.open_options());
        let now = open_array(location, &options, &self.stores).await?;
        if now.identity == self.source.identity {
            return Ok(());
        }
        Err(Error::NotAnArray {
            location: location.clone(),
            reason: "its metadata has changed while it was copied".to_owned(),
            hint: Some(SOURCE_CHANGED_HINT.to_owned()),
        })
    }

    /// An error if objects that the store has copied by itself were written meanwhile: what it has copied
    /// was not seen, so all are looked at when it is done.
    async fn check_copied(&self) -> Result<(), Error> {
        if !self.planned.plan.stages.iter().any(|stage| stage.copied_by_store) {
            return Ok(());
        }
        let (array, grid) = (&self.source.array, self.source.object_grid()?);
        let is_of_array = |key: &str| {
            let index = array.layout().object_index(key);
            index.is_some_and(|index| grid.contains(&index))
        };
        let checked = array.store().check_unchanged_objects(is_of_array).await;
        checked.map_err(|error| Error::source_store(&self.request.source, error))
    }

    /// A warning where chunks were missing and the source does not say what they hold.
    fn missing_without_fill_value(&self) -> Option<String> {
        let missing = self.stores.meter().traffic().source.get_missing;
        let copies = self.planned.plan.stages.iter().any(|stage| stage.passthrough);
        (self.source.spec().fill_value.is_none() && missing > 0 && !copies).then(|| {
            format!(
                "{missing} chunks are missing and the fill value is null: they were read as zero"
            )
        })
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
            durable: running.durable,
            in_place: self.growth.is_some(),
        };
        let counting = Arc::new(CountTasks { inner: observer, done: AtomicU64::new(0) });
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
                total: plan.task_count(),
                hint: run_hint(&source, place.work.is_some()),
                source: Box::new(source),
            }
        })
    }

    async fn journal(&self, work: &WorkDir, place: &Place) -> Result<Journal, Error> {
        let resumes = place.resumes && !place.is_volatile();
        let state = |error: JournalError| work.journal_error(error);
        let writer = unique_name();
        // A run killed before its journal was begun has done nothing yet.
        if resumes && work.has_journal().await? {
            let journal = Journal::open(&work.store, &writer).await.map_err(state)?;
            let found = journal.header().fingerprint.clone();
            if found != self.planned.plan.fingerprint {
                return Err(Error::Conflict {
                    location: self.request.target.clone(),
                    reason: format!("was begun with another plan ({found})"),
                    hint: Some("--overwrite starts again".to_owned()),
                });
            }
            return Ok(journal);
        }
        if place.resumes {
            // Parts of one that was being removed, or one whose intermediate is gone.
            work.forget().await?;
        }
        let job = serde_json::json!({
            "source": self.request.source,
            "target": self.request.target,
        });
        let header = JournalHeader::new(&self.planned.plan.fingerprint, job);
        Journal::create(&work.store, header, &writer).await.map_err(state)
    }

    /// After the last chunk: verify, make visible, take the old array's place, tell the groups
    /// above, clean up.
    async fn finish(
        &self,
        place: &Place,
        running: Running,
        digest: Option<&ArrayDigest>,
    ) -> Result<Option<bool>, Error> {
        let is_replaced = place.is_replaced().await?;
        let chunks = if is_replaced { &place.target } else { &place.chunks };
        if !is_replaced {
            let written = array_at(&self.target_layout, chunks, Role::Target);
            written.finish_objects().await.map_err(|source| Error::Finish {
                location: self.request.target.clone(),
                source: Box::new(source),
            })?;
        }
        let verified = if running.verify {
            let written = array_at(&self.target_layout, chunks, Role::Control);
            let (location, planning) = (&self.request.target, &self.request.planning);
            verify::check_copy(&self.source, &written, digest, location, planning).await?;
            Some(true)
        } else {
            None
        };
        self.check_source().await?;
        if !running.verify {
            self.check_copied().await?;
        }
        place.check_lock().await?;
        if let Some(change) = &self.change {
            if self.in_tree {
                // Of a group all arrays are made known together.
                return self.leave_written(place, running).await.map(|()| verified);
            }
            change.commit(&self.request.target, &place.target).await?;
        } else if !is_replaced {
            let location = &self.request.target;
            let version = self.request.n5_version();
            commit(location, &place.chunks, &place.groups, &self.target, version).await?;
            place.replace().await?;
            if self.is_packed() {
                let name = self.target.file_name().unwrap_or_default();
                pack(&place.chunks, &name, &place.target).await?;
            }
        }
        // Before it is said that all is done, so that a resume does what a kill has cut off.
        if !self.in_tree {
            self.describe(place).await?;
        }
        if let Some(work) = &place.work {
            work.set_done(&self.saved()).await?;
            if !running.keep_temp {
                self.remove_pieces(place).await?;
                work.remove().await?;
            }
        }
        self.remove_temp(place, running).await?;
        Ok(verified)
    }

    /// Says in consolidated metadata above the target what it is now.
    async fn describe(&self, place: &Place) -> Result<(), Error> {
        let location = &self.request.target;
        if self.growth.is_none() {
            return consolidated::update(location, &place.target, &self.target).await;
        }
        let Some(version) = self.target.format().zarr_version() else { return Ok(()) };
        consolidated::update_with(location, &place.target, version, |document, path| {
            set_shapes(document, "", &[(path, &self.target)])
        })
        .await
    }

    /// Leaves all chunks written and nothing made known, as the state says then.
    async fn leave_written(&self, place: &Place, running: Running) -> Result<(), Error> {
        if let Some(work) = &place.work {
            work.set_done(&self.saved()).await?;
            if !running.keep_temp {
                self.remove_pieces(place).await?;
                work.remove_pieces().await?;
            }
        }
        self.remove_temp(place, running).await
    }

    /// Removes an intermediate outside of the work directory.
    async fn remove_temp(&self, place: &Place, running: Running) -> Result<(), Error> {
        let Some(temp) = place.temp_to_remove.as_ref().filter(|_| !running.keep_temp) else {
            return Ok(());
        };
        let removed = temp.delete_prefix("").await;
        removed.map_err(|source| store_error("remove", temp.label(), source))
    }

    /// Removes the pieces of the intermediate by their names, where a listing may be late.
    async fn remove_pieces(&self, place: &Place) -> Result<(), Error> {
        let listed = |store: &&Store| store.local_root().is_none() && !store.is_volatile();
        let Some(store) = place.intermediate.as_ref().filter(listed) else { return Ok(()) };
        let removed = store.delete_keys(intermediate_keys(&self.planned.plan)).await;
        removed.map_err(|source| store_error("remove", store.label(), source))
    }

    /// Keeps the report of a run that has failed, and gives the target up.
    async fn leave(&self, place: &mut Place, report: &Report) {
        // The report helps; that it cannot be kept must not hide why the run failed. Who has lost
        // the target writes nothing beside it: another run may have completed it.
        if let Some(work) = &place.work
            && place.check_lock().await.is_ok()
            && let Ok(bytes) = serde_json::to_vec_pretty(report)
        {
            let _ = work.put(REPORT_KEY, bytes).await;
        }
        place.give_up().await;
    }
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
        hint: Some("write to a local disk, or unpack it yourself".to_owned()),
    }
}

/// Passes events on and counts the tasks that are done, for the report of a run that fails.
struct CountTasks {
    inner: Arc<dyn Observer>,
    done: AtomicU64,
}

impl Observer for CountTasks {
    fn event(&self, event: &Event) {
        match event {
            Event::RunStarted { tasks_done, .. } => {
                self.done.store(*tasks_done, Ordering::Relaxed);
            }
            Event::TaskDone { .. } => {
                self.done.fetch_add(1, Ordering::Relaxed);
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

fn run_hint(error: &rechunk_exec::ExecError, resumable: bool) -> Option<String> {
    if error.is_source_changed() {
        return Some(SOURCE_CHANGED_HINT.to_owned());
    }
    if is_cast_fault(error) {
        let hint = "cast to a type that holds it, with --overwrite, or leave --cast out";
        return Some(hint.to_owned());
    }
    if error.is_source_fault() && !error.is_retryable() {
        return Some("the source must be repaired first; what is done is kept".to_owned());
    }
    if error.is_intermediate_damage() && resumable {
        return Some("--overwrite starts again, and reads the source again".to_owned());
    }
    let resume = "run the same command with --resume to go on from there";
    match (error.is_no_space(), resumable) {
        (true, true) => Some(format!("make room, then {resume}")),
        (true, false) => Some("make room and start again".to_owned()),
        (false, true) => Some(resume.to_owned()),
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
    if let Metadata::Raw(metadata) = &job.target {
        // A file says in its header what others say in documents.
        hash.update(&metadata.runs().header);
        hash.update(format!("{:?} {:?}", metadata.spec, metadata.order));
    }
    crate::open::hex(&hash.finalize())
}
