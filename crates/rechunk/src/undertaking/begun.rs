//! The copy of an array that has begun: it holds its target, and does ranges of tasks.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rechunk_exec::{ArrayDigest, DoneSet, Event, Journal, Observer, RunReport, TaskRange};
use rechunk_store::Traffic;
use tokio_util::sync::CancellationToken;

use super::Undertaking;
use super::range_report::RangeReport;
use super::repair::{Repairs, continued};
use crate::job::Job;
use crate::missing_report::MissingReport;
use crate::place::Place;
use crate::report::{DigestReport, Report, TaskReport};
use crate::request::Running;
use crate::tasks_left::TasksLeft;
use crate::{Error, Remedy};

/// Time that a run that has failed may take to leave.
const LEAVING: Duration = Duration::from_secs(4);

/// A copy of an array that has begun, and holds its target until it is finished or left.
///
/// Made by [`Job::begin`]. Dropped, it leaves all that is done to a later run, as a kill does.
pub struct Begun {
    job: Job,
    state: State,
}

/// Options of a run, and who is told of it.
pub(crate) struct Settings {
    pub running: Running,
    pub observer: Arc<dyn Observer>,
    pub cancel: CancellationToken,
    pub started: Instant,
}

enum State {
    /// An earlier run has written all.
    Complete(Box<Report>),
    Open(Box<Open>),
}

/// A run that has begun.
struct Open {
    place: Place,
    settings: Settings,
    /// Open, until tasks are done for the first time. Nobody else writes it meanwhile.
    journal: Option<Journal>,
    /// Tasks that are done.
    done: DoneSet,
    /// Number of them that earlier runs have done.
    resumed: u64,
    /// The runs of this one so far, as one.
    run: Option<RunReport>,
    /// Tasks that were done again, as what they had written was damaged.
    repairs: Repairs,
}

impl fmt::Debug for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begun").field("job", &self.job).finish_non_exhaustive()
    }
}

impl Begun {
    /// A run that has found its work done.
    pub(crate) fn complete(job: Job, report: Report) -> Self {
        Self { job, state: State::Complete(Box::new(report)) }
    }

    /// A run that has its place, and now its journal.
    pub(crate) async fn open(job: Job, place: Place, settings: Settings) -> Result<Self, Error> {
        let (journal, done, run) = (None, DoneSet::default(), None);
        let repairs = Repairs::default();
        let mut open = Box::new(Open { place, settings, journal, done, resumed: 0, run, repairs });
        match open.start(&job).await {
            Ok(()) => Ok(Self { job, state: State::Open(open) }),
            Err(error) => {
                Box::pin(open.leave(&job, Some(&error))).await;
                Err(error)
            }
        }
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The tasks that are not done, as ranges, in the order of stages.
    ///
    /// Those of a stage may be done in any order, when all before it are done. After
    /// [`Begun::work`] has failed, some of them may be done all the same.
    pub fn left(&self) -> Vec<TaskRange> {
        match &self.state {
            State::Complete(_) => Vec::new(),
            State::Open(open) => open.left(&self.job),
        }
    }

    /// Does those of `tasks` that are not done; `None`: all that are left, stage after stage. On an
    /// error what is done stays done, and may be gone on with.
    ///
    /// Each call but the first reads the journal again: ranges of many tasks cost less than many.
    pub async fn work(&mut self, tasks: Option<TaskRange>) -> Result<RangeReport, Error> {
        match &mut self.state {
            State::Open(open) => Box::pin(open.work(&self.job, tasks)).await,
            State::Complete(_) => {
                let all = self.job.planned.plan.task_count();
                let total = tasks.map_or(all, |tasks| tasks.len());
                let (tasks, traffic) = (TaskReport::all_resumed(total), Traffic::default());
                Ok(RangeReport { tasks, digest: None, traffic })
            }
        }
    }

    /// Finishes the copy: verifies it if that was asked for, makes it known, and removes what is
    /// left of the run. Refused while tasks are not done. On an error the target is given up, what
    /// is done is kept, and a later run goes on from there.
    pub async fn finish(self) -> Result<Report, Error> {
        match self.state {
            State::Complete(report) => Ok(*report),
            State::Open(mut open) => {
                let outcome = Box::pin(open.publish(&self.job)).await;
                Box::pin(open.end(&self.job, outcome)).await
            }
        }
    }

    /// Gives the target up. What is done is kept, and a later run goes on from there.
    pub async fn leave(self) {
        if let State::Open(mut open) = self.state {
            Box::pin(open.leave(&self.job, None)).await;
        }
    }
}

impl Undertaking for Begun {
    type Report = Report;

    async fn work_on(&mut self) -> Result<(), Error> {
        self.work(None).await.map(drop)
    }

    async fn end(self) -> Result<Report, Error> {
        Box::pin(self.finish()).await
    }

    async fn leave_after(self, error: &Error) {
        if let State::Open(mut open) = self.state {
            Box::pin(open.leave(&self.job, Some(error))).await;
        }
    }
}

impl Open {
    /// Begins the journal, or opens that of the run that is gone on with.
    async fn start(&mut self, job: &Job) -> Result<(), Error> {
        let Some(work) = &self.place.work else { return Ok(()) };
        let journal = Box::pin(job.journal(work, &self.place)).await?;
        self.done = journal.done().clone();
        self.resumed = stages(job).map(|stage| self.done.count_in(&stage)).sum();
        self.journal = Some(journal);
        Ok(())
    }

    /// Opens the journal again, after a run has taken it.
    async fn open_journal(&mut self, job: &Job) -> Result<(), Error> {
        let Some(work) = &self.place.work else { return Ok(()) };
        let journal = Box::pin(job.open_journal(work)).await?;
        self.done = journal.done().clone();
        self.journal = Some(journal);
        Ok(())
    }

    fn left(&self, job: &Job) -> Vec<TaskRange> {
        stages(job).flat_map(|stage| self.done.left_in(&stage)).collect()
    }

    async fn work(&mut self, job: &Job, tasks: Option<TaskRange>) -> Result<RangeReport, Error> {
        let meter = job.meter();
        let before = meter.traffic();
        let (mut now, mut digest) = (0, None);
        for tasks in self.parts(job, tasks) {
            let run = Box::pin(self.run(job, tasks)).await?;
            now += run.tasks_total - run.tasks_resumed;
            digest = joined(digest, run.digest);
        }
        let total = tasks.map_or_else(|| job.planned.plan.task_count(), |tasks| tasks.len());
        Ok(RangeReport {
            tasks: TaskReport { total, done: total, resumed: total.saturating_sub(now) },
            digest: digest.as_ref().map(DigestReport::from),
            traffic: meter.traffic().since(&before),
        })
    }

    /// The ranges to run for `tasks`. In memory, where no journal is kept, only what is left.
    fn parts(&self, job: &Job, tasks: Option<TaskRange>) -> Vec<Option<TaskRange>> {
        if self.place.work.is_some() || self.done.is_empty() {
            return vec![tasks];
        }
        let left = tasks.map_or_else(|| self.left(job), |tasks| self.done.left_in(&tasks));
        left.into_iter().map(Some).collect()
    }

    async fn run(&mut self, job: &Job, tasks: Option<TaskRange>) -> Result<RunReport, Error> {
        if self.journal.is_none() {
            self.open_journal(job).await?;
        }
        let before = self.run.take(); // after a failure only the journal knows what is done
        let Settings { running, observer, cancel, .. } = &self.settings;
        let (running, cancel) = (*running, cancel.clone());
        let mut told = (Arc::clone(observer), cancel.clone());
        let mut resumed = None;
        // Boxed, as what waits for a job holds the job too.
        let run = loop {
            let journal = self.journal.take();
            let error =
                match Box::pin(job.execute((&self.place, journal), tasks, running, told)).await {
                    Ok(run) => break run,
                    Err(error) => with_resumed(error, &mut resumed),
                };
            told = (continued(&self.settings.observer, &error), cancel.clone());
            let what = (job, &self.place);
            Box::pin(self.repairs.make_again(what, error, running, &cancel)).await?;
            self.open_journal(job).await?;
        };
        let run = RunReport { tasks_resumed: resumed.unwrap_or(run.tasks_resumed), ..run };
        self.note(job, tasks, &run, before);
        Ok(run)
    }

    /// Adds a run to those before it.
    fn note(
        &mut self,
        job: &Job,
        tasks: Option<TaskRange>,
        run: &RunReport,
        before: Option<RunReport>,
    ) {
        let of_range = run.digest.as_ref().filter(|_| tasks.is_some());
        let digest = |stage: &TaskRange| of_range.filter(|_| stage.stage == 0).map(|of| of.value);
        match tasks {
            Some(tasks) => self.done.fill(&tasks, digest(&tasks)),
            None => stages(job).for_each(|stage| self.done.fill(&stage, None)),
        }
        let method = run.digest.as_ref().or(before.as_ref().and_then(|run| run.digest.as_ref()));
        let of_ranges = method.map(|digest| digest.method).zip(self.done.digest(0));
        let of_ranges = of_ranges.map(|(method, value)| ArrayDigest { method, value });
        self.run = Some(RunReport {
            was_listed: run.was_listed || before.is_some_and(|before| before.was_listed),
            digest: if tasks.is_some() { of_ranges } else { run.digest.clone() },
            tasks_total: job.planned.plan.task_count(),
            tasks_done: stages(job).map(|stage| self.done.count_in(&stage)).sum(),
            tasks_resumed: self.resumed,
            ..run.clone()
        });
    }

    /// Makes the target known; true if it was verified. What an interrupted run has written of it,
    /// and is found to be damaged, is written once more.
    async fn publish(&mut self, job: &Job) -> Result<Option<bool>, Error> {
        let outcome = self.publish_once(job).await;
        let Err(error) = &outcome else { return outcome };
        let Some(text) = Box::pin(job.take_back_damaged(&self.place, error)).await? else {
            return outcome;
        };
        self.place.warnings.push(text);
        (self.run, self.journal) = (None, None);
        self.start(job).await?;
        self.work(job, None).await?;
        self.publish_once(job).await
    }

    async fn publish_once(&mut self, job: &Job) -> Result<Option<bool>, Error> {
        if self.journal.is_none() && job.left_after(&self.done).next().is_some() {
            self.open_journal(job).await?; // a run that failed has done more than is known here
        }
        if let Some(left) = job.left_after(&self.done).next() {
            return Err(Self::too_early(job, left));
        }
        if self.run.is_none() {
            self.work(job, None).await?; // an earlier run has done all: what is to be known of it
        }
        let Some(run) = &self.run else { return Ok(None) };
        let Settings { running, cancel, .. } = &self.settings;
        Box::pin(job.finish(&self.place, *running, run, cancel)).await
    }

    /// Tasks are left, of a stage and perhaps of those after it.
    fn too_early(job: &Job, left: TasksLeft) -> Error {
        Error::Conflict {
            location: job.request.target.clone(),
            reason: format!("is not written: {}, are not done", job.in_words(left)),
            hint: Some(Remedy::from("do them first; what is done is kept")),
        }
    }

    /// Ends the run: its report, or its error when the target is given up.
    async fn end(
        &mut self,
        job: &Job,
        outcome: Result<Option<bool>, Error>,
    ) -> Result<Report, Error> {
        let verified = match outcome {
            Ok(verified) => verified,
            Err(error) => {
                Box::pin(self.leave(job, Some(&error))).await;
                return Err(error);
            }
        };
        let run = self.run.take();
        let missing = run.as_ref().and_then(|run| {
            let missing = run.missing.as_ref()?;
            Some(MissingReport::new(missing, run.tasks_resumed > 0))
        });
        let mut report = self.report(job, missing.as_ref());
        let digest = run.as_ref().and_then(|run| run.digest.as_ref());
        report.digest = digest.map(DigestReport::from);
        // Of nothing there is nothing to be verified.
        let is_all = missing.as_ref().is_some_and(|missing| missing.is_all);
        report.verified = verified.filter(|_| !is_all);
        report.missing = missing;
        report.archive = job.archive().map(|archive| archive.report());
        report.tasks = run.map(|run| TaskReport {
            total: run.tasks_total,
            done: run.tasks_done,
            resumed: run.tasks_resumed,
        });
        if let (Some(work), true) = (&self.place.work, self.settings.running.keep_temp) {
            work.put_report(&report).await;
        }
        Ok(report)
    }

    /// Gives the target up, after a failure if there was one, and keeps what is said of the run.
    async fn leave(&mut self, job: &Job, error: Option<&Error>) {
        let mut report = self.report(job, None);
        if let Some(Error::Run { done, resumed, total, .. }) = error {
            let (total, done, resumed) = (*total, *done, *resumed);
            report.tasks = Some(TaskReport { total, done, resumed });
        }
        // A store that is gone must not be waited for again. Another run need not wait for
        // this one either, whose lease is then stale or that of a process that is gone.
        let leaving = job.leave(&mut self.place, &report);
        if tokio::time::timeout(LEAVING, leaving).await.is_err() {
            tracing::info!("the store does not answer: the lease stays there");
        }
    }

    /// The report of what this process has done, with warnings that are told now.
    fn report(&mut self, job: &Job, missing: Option<&MissingReport>) -> Report {
        let mut report = job.report(self.settings.started);
        let found = std::mem::take(&mut self.place.warnings);
        let found = found.into_iter().chain(self.repairs.take_said());
        for text in found.chain(job.said_of_run(missing)) {
            self.settings.observer.event(&Event::Warning { text: text.clone() });
            report.warnings.push(text);
        }
        report
    }
}

/// All tasks of each stage.
fn stages(job: &Job) -> impl Iterator<Item = TaskRange> + '_ {
    let stages = job.planned.plan.stages.iter().enumerate();
    stages.map(|(number, stage)| TaskRange::new(number, 0..stage.tasks))
}

/// The error of a run that has failed, with the number of tasks that were `resumed` when it failed
/// for the first time.
fn with_resumed(error: Error, resumed: &mut Option<u64>) -> Error {
    match error {
        Error::Run { done, resumed: before, total, hint, source } => {
            let resumed = *resumed.get_or_insert(before);
            Error::Run { done, resumed, total, hint, source }
        }
        error => error,
    }
}

/// The digest of two runs of ranges as one.
fn joined(first: Option<ArrayDigest>, second: Option<ArrayDigest>) -> Option<ArrayDigest> {
    match (first, second) {
        (Some(a), Some(b)) if a.method == b.method => {
            Some(ArrayDigest { method: a.method, value: a.value + b.value })
        }
        (a, b) => a.or(b),
    }
}
