//! Runs a job: journal first, chunks, metadata last, leftovers removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rechunk_exec::{
    Event, Execution, JOURNAL_KEY, Journal, JournalError, JournalHeader, Observer, RunReport, Sink,
    run,
};
use rechunk_plan::Plan;
use rechunk_store::{Meter, Role, Store};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::job::{Job, array_at, temp_is_memory};
use crate::report::{Report, TaskReport};
use crate::request::{Existing, Running};
use crate::target::{check_absent, check_apart, commit, groups_above, open_target};
use crate::work_dir::{REPORT_KEY, SavedJob, WorkDir, store_error};
use crate::{Error, system, verify};

impl Job {
    /// The job and its plan, to be saved and run later or elsewhere.
    pub fn saved(&self) -> SavedJob {
        SavedJob::new(
            self.request.clone(),
            self.source.identity.clone(),
            target_identity(self),
            self.planned.plan.clone(),
        )
    }

    /// Opens the source and the target of a saved job and takes over its plan.
    pub async fn from_saved(saved: SavedJob) -> Result<Self, Error> {
        let mut job = Self::prepare(saved.request.clone()).await?;
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
    fn adopt(&mut self, plan: Plan) -> Result<(), Error> {
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

    /// Runs the job. On an error what is done is kept, and a later run with
    /// [`Existing::Resume`] goes on from there.
    pub async fn run(
        mut self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<Report, Error> {
        let started = Instant::now();
        let place = Place::prepare(&mut self, running).await?;
        let outcome = self.execute(&place, running, observer, cancel).await;
        let outcome = match outcome {
            Ok(run_report) => {
                self.finish(&place, running).await.map(|verified| (run_report, verified))
            }
            Err(error) => Err(error),
        };
        let mut report = Report::of_plan(&self.planned, &self.warnings);
        report.traffic = Some(self.meter.traffic());
        report.memory.peak_rss_bytes = Some(system::peak_rss_bytes());
        report.elapsed_seconds = Some(started.elapsed().as_secs_f64());
        match outcome {
            Ok((run_report, verified)) => {
                report.verified = verified;
                report.tasks = Some(TaskReport {
                    total: run_report.tasks_total,
                    done: run_report.tasks_done,
                    resumed: run_report.tasks_resumed,
                });
                Ok(report)
            }
            Err(error) => {
                // The report of what was done helps; that it cannot be kept must not hide why.
                if let Some(work) = &place.work
                    && let Ok(bytes) = serde_json::to_vec_pretty(&report)
                {
                    let _ = work.put(REPORT_KEY, bytes).await;
                }
                Err(error)
            }
        }
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
            Some(work) => Some(self.journal(work, place.resumes).await?),
            None => None,
        };
        let execution = Execution {
            plan: plan.clone(),
            source: self.source.array.clone(),
            sink: Sink::Write(array_at(&self.target_layout, &place.chunks, Role::Target)),
            intermediate: place.intermediate.clone(),
            write_empty: self.request.write_empty,
            durable: running.durable,
        };
        let counting = Arc::new(CountTasks { inner: observer, done: AtomicU64::new(0) });
        let outcome = run(Arc::new(execution), journal, Arc::clone(&counting) as _, cancel).await;
        outcome.map_err(|source| Error::Run {
            done: counting.done.load(Ordering::Relaxed),
            total: plan.task_count(),
            hint: run_hint(&source, place.work.is_some()),
            source: Box::new(source),
        })
    }

    async fn journal(&self, work: &WorkDir, resumes: bool) -> Result<Journal, Error> {
        let state = |error: JournalError| Error::State {
            path: work.store.label().to_owned(),
            reason: error.to_string(),
        };
        // A run killed before its journal was begun has done nothing yet.
        let begun = work.store.exists(JOURNAL_KEY).await;
        if resumes && begun.map_err(|source| store_error("read", work.store.label(), source))? {
            let journal = Journal::open(&work.store).await.map_err(state)?;
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
        let job = serde_json::json!({
            "source": self.request.source,
            "target": self.request.target,
        });
        let header = JournalHeader::new(&self.planned.plan.fingerprint, job);
        Journal::create(&work.store, header).await.map_err(state)
    }

    /// After the last chunk: verify, make visible, take the old array's place, clean up.
    async fn finish(&self, place: &Place, running: Running) -> Result<Option<bool>, Error> {
        let verified = if running.verify {
            let written = array_at(&self.target_layout, &place.chunks, Role::Control);
            verify::compare(&self.source, &written, &self.request.planning).await?.into_result()?;
            Some(true)
        } else {
            None
        };
        let target = &self.request.target;
        commit(target, &place.chunks, &place.groups, &self.target, &self.meter).await?;
        if let Some(work) = &place.work {
            if place.replaces {
                replace(work, &place.chunks, &place.target).await?;
            }
            if !running.keep_temp {
                work.remove().await?;
            }
        }
        if let Some(temp) = &place.temp_to_remove
            && !running.keep_temp
        {
            let removed = temp.delete_prefix("").await;
            removed.map_err(|source| store_error("remove", temp.label(), source))?;
        }
        Ok(verified)
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

/// The new array takes the old one's place; a kill between the two renames is mended by a resume.
async fn replace(work: &WorkDir, built: &Store, target: &Store) -> Result<(), Error> {
    let failed = |source| store_error("replace", target.label(), source);
    let old = work.replaced()?;
    if target.local_root().is_some_and(std::path::Path::exists) {
        Store::rename(target, &old).await.map_err(failed)?;
    }
    Store::rename(built, target).await.map_err(failed)
}

/// Where a run reads, writes and keeps its state.
#[derive(Debug)]
struct Place {
    /// The target's own place.
    target: Store,
    /// Where chunks are written: the target, or where its replacement is built.
    chunks: Store,
    /// Groups to create above the target.
    groups: Vec<std::path::PathBuf>,
    /// Journal and saved job; `None` in memory.
    work: Option<WorkDir>,
    intermediate: Option<Store>,
    /// An intermediate outside the work directory.
    temp_to_remove: Option<Store>,
    replaces: bool,
    resumes: bool,
}

impl Place {
    /// Checks that the run may start and writes its first traces: the saved job, nothing else.
    async fn prepare(job: &mut Job, running: Running) -> Result<Self, Error> {
        let meter = Arc::clone(&job.meter);
        let location = job.request.target.clone();
        check_apart(&job.request.source, &location, "target")?;
        let target = open_target(&location, &meter)?;
        let groups = groups_above(&target, job.target.version)?;
        let work = match target.local_root() {
            Some(_) => Some(WorkDir::of(&location, &meter)?),
            None => None,
        };
        let saved = match &work {
            Some(work) => work.saved_job().await?,
            None => None,
        };
        let resumes = saved.is_some() && running.existing == Existing::Resume;
        let replaces = match saved {
            Some(saved) if resumes => {
                resume_job(job, &saved)?;
                saved.replaces
            }
            _ => start_over(job, running.existing, &target, work.as_ref(), saved.is_some()).await?,
        };
        let chunks = match &work {
            Some(work) if replaces => work.staging()?.with_role(Role::Target),
            _ => target.clone(),
        };
        let (intermediate, temp_to_remove) = intermediate(job, work.as_ref(), &meter)?;
        if let Some(work) = &work {
            if resumes {
                let swept = chunks.remove_staging().await;
                swept.map_err(|source| store_error("sweep", chunks.label(), source))?;
            } else {
                let mut saved = job.saved();
                saved.replaces = replaces;
                work.save_job(&saved).await?;
            }
        }
        Ok(Self { target, chunks, groups, work, intermediate, temp_to_remove, replaces, resumes })
    }
}

/// Goes on with the plan an interrupted run left, if it is the same job.
fn resume_job(job: &mut Job, saved: &SavedJob) -> Result<(), Error> {
    if let Some(difference) = saved.difference(&job.saved()) {
        return Err(Error::Conflict {
            location: job.request.target.clone(),
            reason: format!("holds an interrupted run of another job: {difference}"),
            hint: Some("resume with the same arguments, or start again with --overwrite".into()),
        });
    }
    job.request.temp.clone_from(&saved.request.temp);
    job.adopt(saved.plan.clone())
}

/// Decides whether a fresh run may start; returns whether it replaces an array.
async fn start_over(
    job: &Job,
    existing: Existing,
    target: &Store,
    work: Option<&WorkDir>,
    interrupted: bool,
) -> Result<bool, Error> {
    let location = &job.request.target;
    if interrupted && existing == Existing::Refuse {
        return Err(Error::Conflict {
            location: location.clone(),
            reason: "holds an interrupted (or running) job".to_owned(),
            hint: Some("--resume goes on where it stopped, --overwrite starts again".to_owned()),
        });
    }
    let absent = check_absent(location, target).await;
    if existing != Existing::Overwrite {
        return absent.map(|()| false);
    }
    let Some(work) = work else {
        // A store in memory has no rename: the old array goes first.
        let removed = target.with_role(Role::Control).delete_prefix("").await;
        return removed.map(|()| false).map_err(|source| store_error("remove", location, source));
    };
    if interrupted {
        work.remove().await?;
    }
    Ok(absent.is_err())
}

/// The place of the intermediate, where the plan has one; and that place again if it lies outside
/// the work directory and is to be removed by itself.
fn intermediate(
    job: &Job,
    work: Option<&WorkDir>,
    meter: &Arc<Meter>,
) -> Result<(Option<Store>, Option<Store>), Error> {
    if job.planned.plan.stages.len() < 2 {
        return Ok((None, None));
    }
    let name = format!("rechunk-{}", &job.planned.plan.fingerprint[..16]);
    let at = |location: &str| -> Result<Store, Error> {
        let opened = Store::open(location).map_err(|e| store_error("open", location, e))?;
        Ok(opened.with_meter(meter).with_role(Role::Intermediate))
    };
    let store = match (&job.request.temp, work) {
        (Some(temp), _) if !temp_is_memory(temp) => {
            check_apart(&job.request.source, temp, "place for the intermediate")?;
            let store = at(temp)?.child(&name).map_err(|e| store_error("open", temp, e))?;
            return Ok((Some(store.clone()), Some(store)));
        }
        (None, Some(work)) => work.intermediate()?.with_role(Role::Intermediate),
        _ => {
            let store = at(&format!("memory://{name}-{}", std::process::id()))?;
            return Ok((Some(store.clone()), Some(store)));
        }
    };
    Ok((Some(store), None))
}

fn run_hint(error: &rechunk_exec::ExecError, resumable: bool) -> Option<String> {
    if error.is_source_damage() {
        return Some("the source must be repaired first; what is done is kept".to_owned());
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
    crate::open::hex(&hash.finalize())
}
