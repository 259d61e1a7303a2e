//! Does one part of a stage.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rechunk_exec::{DoneSet, Journal, Observer, RunReport, TaskRange};
use rechunk_plan::{Divided, StageGeometry, share};
use rechunk_store::unique_name;
use rechunk_words::StagePart;
use tokio_util::sync::CancellationToken;

use super::begin::{Found, Open, find};
use super::ending::has_ended;
use super::marks::Busy;
use super::part_report::{MarkedTasks, PartReport, TasksDone};
use super::worker::Worker;
use crate::job::Job;
use crate::place::Place;
use crate::report::{DigestReport, MemoryReport};
use crate::request::{Existing, Running};
use crate::undertaking::Repairs;
use crate::wait::Wait;
use crate::{Error, Remedy};

/// Time between two looks for a journal that is written anew, and their number.
const LOOK: Duration = Duration::from_secs(1);
const LOOKS: u32 = 10;

impl Job {
    /// Does `part` of stage `stage`, a share or tasks by their numbers, but those of them that are
    /// done. The first part opens the job ([`Job::begin_parts`]).
    ///
    /// When a stage before is not complete, that is waited for, as long as `wait` allows; then it
    /// is an error of the class [`Class::NotYet`](crate::Class::NotYet). On any error what is done
    /// is kept, and the same part, or another that has some of these tasks, goes on from there.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let at = |name: &str| folder.path().join(name).display().to_string();
    /// # let (source, target) = (at("source.zarr"), at("target.zarr"));
    /// # std::fs::create_dir(&source)?;
    /// # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
    /// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
    /// #     "fill_value": 0, "order": "C"}"#)?;
    /// use std::sync::Arc;
    /// use std::time::{Duration, Instant};
    /// use rechunk::{
    ///     CancellationToken, CopyRequest, Existing, Job, NullObserver, Running, SavedJob, Stores,
    /// };
    ///
    /// let mut request = CopyRequest::new(&source, &target);
    /// request.chunks = "4,2".parse()?;
    /// let plan: SavedJob = Job::prepare(request, &Stores::default()).await?.saved();
    /// let running = Running::new(Existing::Refuse);
    /// let open = async || Job::from_saved(plan.clone(), None, &Stores::default()).await;
    /// for part in ["0/2", "1/2"] { // each in a process of its own
    ///     let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    ///     let done = open().await?
    ///         .run_part((0, part.parse()?), running, Duration::ZERO, observer, cancel).await?;
    ///     assert_eq!(done.tasks.marked, done.tasks.total);
    /// }
    /// let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    /// let report = open().await?.finish_parts(running, Duration::ZERO, observer, cancel).await?;
    /// assert!(report.tasks.is_some_and(|tasks| tasks.done == tasks.total));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_part(
        mut self,
        (stage, part): (usize, StagePart),
        running: Running,
        wait: Duration,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<PartReport, Error> {
        #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
        let started = Instant::now();
        let tasks = self.tasks_of(stage, part)?;
        let mut report =
            PartReport::begin((stage, part), MemoryReport::of_plan(&self.planned.plan));
        let told = (observer, cancel);
        let done = self.do_tasks(tasks, running, &mut Wait::of(wait), told).await?;
        report.add(done, &self.stores.meter().traffic());
        Ok(report.end(started))
    }

    /// Does `tasks`, but those that are done; opens the job if nobody has.
    pub(crate) async fn do_tasks(
        &mut self,
        tasks: TaskRange,
        running: Running,
        wait: &mut Wait,
        told: (Arc<dyn Observer>, CancellationToken),
    ) -> Result<TasksDone, Error> {
        if running.existing == Existing::Overwrite {
            return Err(overwrites());
        }
        if !running.durable {
            self.stores = self.stores.without_fsync();
        }
        let open = match Box::pin(find(self, running)).await? {
            Found::Open(open) => *open,
            Found::Complete => {
                let already = TasksDone::of(MarkedTasks::all(tasks.len(), tasks.len()));
                return Ok(TasksDone { already_complete: true, ..already });
            }
        };
        // This machine may have other disks than the one on which the job was begun.
        let mut warnings = self.room_warnings(Some(&tasks))?;
        let number = tasks.len();
        let share = match Box::pin(self.do_part(&open, tasks, running, wait, told)).await {
            // What it needs is removed when parts are closed.
            Err(error) if !is_not_yet(&error) && !open.marks.are_open().await.unwrap_or(true) => {
                tracing::info!(%error, "the parts were closed");
                if !Box::pin(has_ended(self, running, &open.work)).await {
                    return Err(closed(&self.request.target));
                }
                return Ok(TasksDone::of(MarkedTasks::all(number, number)));
            }
            share => share?,
        };
        let resumed = share.as_ref().map_or(number, |share| share.run.tasks_resumed);
        let done = TasksDone::of(MarkedTasks::all(number, resumed));
        let Some(ShareRun { run, warnings: repairs, .. }) = share else { return Ok(done) };
        warnings.extend(repairs);
        let digest = run.digest.as_ref().map(DigestReport::from);
        Ok(TasksDone { digest, warnings, ..done })
    }

    /// The tasks of a part.
    fn tasks_of(&self, stage: usize, part: StagePart) -> Result<TaskRange, Error> {
        let plan = &self.planned.plan;
        let geometry = self.geometry_of(stage)?;
        let Some((found, geometry)) = plan.stages.get(stage).zip(geometry) else {
            return Err(no_stage(stage, plan.stages.len()));
        };
        let tasks = match part {
            StagePart::Share(part) => {
                let item_bytes = plan.source().item_bytes;
                let divided = [Divided { geometry: &geometry, tasks: found.tasks, item_bytes }];
                share(&divided, part.index, part.of).pop().unwrap_or_default()
            }
            StagePart::Tasks { start, end } if end <= found.tasks => start..end,
            other => {
                return Err(no_part(other, &format!("stage {stage} has {} tasks", found.tasks)));
            }
        };
        Ok(TaskRange::new(stage, tasks))
    }

    /// The geometry of a stage; `None` if the plan has no such.
    pub(crate) fn geometry_of(&self, stage: usize) -> Result<Option<StageGeometry>, Error> {
        let plan = &self.planned.plan;
        if stage >= plan.stages.len() {
            return Ok(None);
        }
        let geometry = plan.geometry(stage);
        geometry.map(Some).map_err(|error| Error::Usage { message: error.to_string(), hint: None })
    }

    /// Does the tasks that are not done, and marks all; `None` if there were none to do.
    async fn do_part(
        &mut self,
        open: &Open,
        tasks: TaskRange,
        running: Running,
        wait: &mut Wait,
        told: (Arc<dyn Observer>, CancellationToken),
    ) -> Result<Option<ShareRun>, Error> {
        let header = self.journal_header();
        let before = Box::pin(self.stages_before(open, &tasks, wait, &told.1)).await?;
        let Some(mut todo) = open.marks.todo(tasks, before, &header).await? else {
            return Ok(None); // other shares have it all
        };
        let run = if todo.left.is_empty() {
            self.check_open(open).await?; // it took time to read the journals of others
            None
        } else {
            let of = (tasks, &todo.known);
            let share = Box::pin(self.run_share(open, of, running, told)).await?;
            let digest = share.run.digest.as_ref().filter(|_| tasks.stage == 0);
            todo.did_all(digest.map(|of| of.value));
            Some(share)
        };
        todo.mark((&open.work, &open.marks), header).await?;
        if let Some(share) = &run {
            share.busy.remove().await?; // the mark says it all
        }
        Ok(run)
    }

    /// Refuses to go on where the parts were closed.
    async fn check_open(&self, open: &Open) -> Result<(), Error> {
        if open.marks.are_open().await? { Ok(()) } else { Err(closed(&self.request.target)) }
    }

    /// Reads how far all stages have come, when those before that of `tasks` are complete.
    async fn stages_before(
        &self,
        open: &Open,
        tasks: &TaskRange,
        wait: &mut Wait,
        cancel: &CancellationToken,
    ) -> Result<DoneSet, Error> {
        // Of a run that was interrupted before the job was opened.
        let mut done = self.done_before_parts(open).await?;
        loop {
            done.join(&open.marks.done().await?);
            // Whoever closes them removes their marks, which may have been half of those just read.
            self.check_open(open).await?;
            let left = self.left_after(&done).next().filter(|left| left.stage < tasks.stage);
            let Some(left) = left else { return Ok(done) };
            let not_yet = || Error::NotYet {
                location: self.request.target.clone(),
                reason: format!(
                    "is not ready for stage {}: {}, are not done",
                    tasks.stage,
                    self.in_words(left)
                ),
                hint: Some(Remedy::WaitForParts),
            };
            wait_for_parts(wait, &self.request.target, cancel, not_yet).await?;
        }
    }

    /// Reads what was done before the job was opened. Whoever closes the parts writes that journal
    /// anew: while it is not there, it is looked for again. One who was killed just then has left
    /// none, and what it said is done again.
    async fn done_before_parts(&self, open: &Open) -> Result<DoneSet, Error> {
        let fingerprint = &self.planned.plan.fingerprint;
        let mut looks = 0;
        loop {
            match open.work.read_journal(fingerprint).await {
                Ok(contents) => return Ok(contents.done),
                Err(error) if !open.marks.are_open().await? => return Err(error),
                Err(_) if looks == LOOKS => return open.work.journaled(fingerprint).await,
                Err(_) => tokio::time::sleep(LOOK).await,
            }
            looks += 1;
        }
    }

    /// Does what is left of a share, with a journal of its own.
    async fn run_share(
        &mut self,
        open: &Open,
        (tasks, known): (TaskRange, &DoneSet),
        running: Running,
        (observer, cancel): (Arc<dyn Observer>, CancellationToken),
    ) -> Result<ShareRun, Error> {
        // Other parts have read it since it was opened.
        self.source.array = self.source_since(self.begun_at);
        let writer = unique_name();
        let busy = open.marks.begin(&tasks, &writer)?;
        let (work, hold) = (open.work.of_part(&writer), open.marks.hold());
        let mut place = Place::join(self, &open.saved, open.target.clone(), work, hold)?;
        let journal = Journal::create(&busy.store, self.journal_header(), &writer).await;
        let mut journal = journal.map_err(|error| open.work.journal_error(error))?;
        let worker = Worker::begin(&busy, observer);
        let mut repairs = Repairs::default();
        let run = loop {
            let told = (worker.observer(), cancel.clone());
            let at = (&place, Some(journal.knowing(known)));
            let error = match Box::pin(self.execute(at, Some(tasks), running, told)).await {
                Ok(run) => break place.check_lock().await.map(|()| run),
                Err(error) => error,
            };
            let mended = repairs.make_again((self, &place), error, running, &cancel);
            if let Err(error) = Box::pin(mended).await {
                break Err(error);
            }
            let known = self.journal_header();
            match Journal::open_known(&busy.store, &writer, &known).await {
                Ok(opened) => journal = opened,
                Err(error) => break Err(open.work.journal_error(error)),
            }
        };
        worker.end().await;
        place.give_up().await;
        match run {
            Ok(run) => Ok(ShareRun { run, busy, warnings: repairs.take_said() }),
            Err(error) => {
                if !open.marks.are_open().await.unwrap_or(true) {
                    busy.remove().await?; // nobody looks there any more
                }
                Err(error)
            }
        }
    }
}

/// Waits until it is time to look at other parts again; when that time is over, `not_yet`.
pub(crate) async fn wait_for_parts(
    wait: &mut Wait,
    target: &str,
    cancel: &CancellationToken,
    not_yet: impl FnOnce() -> Error,
) -> Result<(), Error> {
    if wait.again(cancel).await {
        return Ok(());
    }
    if cancel.is_cancelled() {
        return Err(Error::Interrupted { doing: format!("waiting for other parts of {target}") });
    }
    Err(not_yet())
}

/// Refuses a part that there is not.
pub(crate) fn no_part(part: StagePart, reason: &str) -> Error {
    Error::Usage { message: format!("there is no part {part}: {reason}"), hint: None }
}

/// Refuses a stage that a plan of so many does not have.
pub(crate) fn no_stage(stage: usize, stages: usize) -> Error {
    let last = stages.saturating_sub(1);
    let message = format!("the plan has no stage {stage}: the last is stage {last}");
    Error::Usage { message, hint: None }
}

/// Results of the work of this process on a share.
struct ShareRun {
    run: RunReport,
    /// Its journal.
    busy: Busy,
    warnings: Vec<String>,
}

/// Other parts have not done what this one needs, or nobody waits for them any longer.
fn is_not_yet(error: &Error) -> bool {
    matches!(error, Error::NotYet { .. } | Error::Interrupted { .. })
}

/// The parts were closed while this one worked.
pub(crate) fn closed(target: &str) -> Error {
    Error::Conflict {
        location: target.to_owned(),
        reason: "is no longer open to parts: it was finished, or given up, while this one worked"
            .to_owned(),
        hint: Some("look at it with `rechunk status TARGET`".into()),
    }
}

/// A part would remove what other parts have done.
pub(crate) fn overwrites() -> Error {
    Error::Usage {
        message: "a part cannot replace an array: it may come when others have begun".to_owned(),
        hint: Some(Remedy::BeginAndOverwrite),
    }
}
