//! Runs the copy of a group: arrays one after the other, each with the whole budget; small ones
//! some at once where answers take long.

use std::sync::Arc;
use std::time::Instant;

use rechunk_exec::{Event, Observer};
use rechunk_store::Store;
use tokio_util::sync::CancellationToken;

use super::commit::TreeDocuments;
use super::grown::{GrownArrays, is_written};
use super::plans::Figures;
use super::report::TreeReport;
use super::said::Said;
use super::state::{Left, Start, TreePlace, start};
use super::together::{at_once, share_budget};
use super::{TreeArray, TreeJob};
use crate::complete::{self, holds};
use crate::error::store_error;
use crate::intermediate::check_temp;
use crate::job::{Job, temp_is_memory};
use crate::others::CopyOthers;
use crate::place::work_dir;
use crate::report::{Report, TaskReport};
use crate::request::{Existing, Running};
use crate::target::{check_apart, groups_above, is_array, open_target};
use crate::work_dir::WorkDir;
use crate::writer_lock::lost;
use crate::{Error, Remedy, consolidated, verify};

/// Most arrays of a group that is complete of which more than one chunk is compared.
const SAMPLED_WELL_MAX: usize = 32;

impl TreeJob {
    /// Checks, without writing anything, that [`TreeJob::run`] may write its target, and takes over
    /// the plans it would resume.
    pub async fn check_target(&mut self, running: Running) -> Result<(), Error> {
        let target = self.open_target().await?;
        let left = match self.work_dir(&target)? {
            Some(work) => Left::at(&work, &target).await?,
            None => Left::Nothing,
        };
        let start = start(self, running, &target, &left).await?;
        self.check_missing().await?;
        let is_written = self.is_written(&target, start).await?;
        let is_late = self.is_late(&target, running);
        for array in &mut self.arrays {
            let job = &mut array.job;
            let checked = async {
                check_temp(job)?;
                match start {
                    Start::Done => return Ok(()),
                    Start::Resume if is_done(job, is_written).await? => return Ok(()),
                    Start::Resume if is_late && keeps_no_state(job, true).await? => {}
                    Start::Resume => Box::pin(job.check_target(running)).await?,
                    Start::Fresh | Start::Over => {}
                }
                if running.verify {
                    let planning = &job.request.planning;
                    verify::check_fits(&job.source, job.target_layout.as_ref(), planning).await?;
                }
                Ok(())
            };
            Box::pin(checked).await.map_err(|error: Error| error.of_member(&array.path))?;
        }
        Ok(())
    }

    /// Runs the copy. On an error what is done is kept, and a later run with [`Existing::Resume`]
    /// goes on from there: arrays that are complete are not copied again.
    pub async fn run(
        mut self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<TreeReport, Error> {
        #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
        let started = Instant::now();
        if !running.durable {
            self.stores = self.stores.without_fsync();
        }
        Box::pin(self.check_target(running)).await?;
        let place = Box::pin(TreePlace::prepare(&self, running)).await?;
        match Box::pin(self.run_at(&place, running, started, &observer, &cancel)).await {
            Ok(report) => Ok(report),
            Err(error) => {
                place.give_up().await;
                Err(error)
            }
        }
    }

    async fn run_at(
        &mut self,
        place: &TreePlace,
        running: Running,
        started: Instant,
        observer: &Arc<dyn Observer>,
        cancel: &CancellationToken,
    ) -> Result<TreeReport, Error> {
        let mut report = TreeReport::begin(self, running.verify);
        let documents = if self.grows() { None } else { Some(TreeDocuments::of(self)?) };
        let grown = self.grows().then(|| GrownArrays::of(self, running.keep_temp));
        let start = place.start;
        let resumes = matches!(start, Start::Resume | Start::Done);
        let samples = if self.array_count() > SAMPLED_WELL_MAX { 1 } else { complete::SAMPLES };
        let is_written = self.is_written(&place.target, place.start).await?;
        // Each array starts, or goes on where it stopped.
        let existing = if place.work.is_some() { Existing::Resume } else { Existing::Refuse };
        let running = Running { existing, ..running };
        let turns = self.turns(running.verify);
        let is_late = self.is_late(&place.target, running);
        let mut said = Said::default();
        let mut events = self.announced();
        let (mut held, later) = (std::mem::take(&mut self.arrays).into_iter(), &self.later);
        let held_count = held.len();
        for turn in turns {
            let is_beside_others = turn.len() > 1;
            let copies = turn.zip(events.by_ref()).map(|(number, (event, path))| {
                let held = held.next();
                let of_later = number.saturating_sub(held_count);
                let copy = async move |observer, cancel| {
                    let array = match held {
                        Some(array) => Some(array),
                        None => later.plan(of_later).await?,
                    };
                    let Some(TreeArray { mut job, .. }) = array else { return Ok(None) };
                    if is_beside_others {
                        share_budget(&mut job);
                    }
                    let is_done = resumes && is_done(&job, is_written).await?;
                    let mut running = running;
                    if !is_done && is_late && keeps_no_state(&job, resumes).await? {
                        job.keeps_no_state = true;
                        running.existing = Existing::Refuse;
                    }
                    if start == Start::Done {
                        check_member(&job, is_done, samples, &cancel).await?;
                    }
                    run_array(job, is_done, running, observer, &cancel).await.map(Some)
                };
                (event, path, copy)
            });
            let taken_over = place.lost();
            let copied = tokio::select! {
                copied = at_once(copies, observer, cancel) => copied?,
                () = taken_over.cancelled() => return Err(lost(&self.request.target)),
            };
            for (path, done) in copied {
                if let Some(done) = done {
                    report.add(path, done, &mut said);
                }
            }
        }
        let (resumed, verifies) = (self.copy_others(place, running, cancel).await?, running.verify);
        report.add_others(resumed, verifies);
        place.check_lock().await?;
        if let Some(grown) = &grown {
            let (groups, work) = (&self.grown_groups, place.work.as_ref());
            grown.commit(&place.target, groups, work, &self.stores).await?;
        } else if let Some(documents) = documents.filter(|_| start != Start::Done) {
            documents.commit(&place.target).await?;
        }
        if let Some(work) = &place.work {
            work.remove().await?;
        }
        report.already_complete = start == Start::Done;
        report.end(started, &self.stores.meter().traffic(), &said);
        Ok(report)
    }

    /// The state of each array would take more requests than the array.
    fn is_late(&self, target: &Store, running: Running) -> bool {
        target.answers_late() && !target.is_volatile() && !self.grows() && !running.keep_temp
    }

    /// Events that announce the arrays, each with its path.
    fn announced(&self) -> impl Iterator<Item = (Event, String)> + use<> {
        let written_bytes = |figures: Figures| figures.written_bytes;
        let arrays: Vec<(String, u64)> =
            self.paths().map(str::to_owned).zip(self.figures().map(written_bytes)).collect();
        let bytes_total = arrays.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes));
        let (count, mut before) = (arrays.len(), 0_u64);
        arrays.into_iter().enumerate().map(move |(position, (path, bytes))| {
            let event = Event::ArrayStarted {
                path: path.clone(),
                number: position + 1,
                arrays: count,
                bytes_total,
                bytes_before: before,
            };
            before = before.saturating_add(bytes);
            (event, path)
        })
    }

    /// Copies the files beside arrays and documents; how many an earlier run had copied.
    async fn copy_others(
        &self,
        place: &TreePlace,
        running: Running,
        cancel: &CancellationToken,
    ) -> Result<u64, Error> {
        let source = &self.request.source;
        let others = CopyOthers::new(&self.others, source, &place.target, &self.stores)?;
        let resumed = match place.start {
            Start::Done => others.check_there().await?,
            start => others.run(start == Start::Resume, cancel).await?,
        };
        if running.verify {
            others.verify().await?;
        }
        Ok(resumed)
    }

    /// Opens the target, and checks what is around it and in its way.
    pub(super) async fn open_target(&self) -> Result<Store, Error> {
        let (source, location) = (&self.request.source, &self.request.target);
        check_apart(source, location, "target")?;
        let has_intermediate = self.figures().any(|figures| figures.stages > 1);
        let temp = self.request.temp.as_deref().filter(|temp| !temp_is_memory(temp));
        if let Some(temp) = temp.filter(|_| has_intermediate) {
            check_apart(source, temp, "place for the intermediate")?;
        }
        let target = open_target(location, &self.stores)?;
        if let Some(work) = self.work_dir(&target)? {
            // What is there is removed at the end.
            check_apart(source, work.location(), "target")?;
        }
        if !self.grows() {
            groups_above(&target, self.format).await?;
        }
        consolidated::check(location, &target, self.format).await?;
        Ok(target)
    }

    /// True if the run that is gone on with has written all arrays, and has begun to make known
    /// that they have grown.
    async fn is_written(&self, target: &Store, start: Start) -> Result<bool, Error> {
        match self.work_dir(target)? {
            Some(work) if self.grows() && start == Start::Resume => work.is_written().await,
            _ => Ok(false),
        }
    }

    /// Opens the directory of the state of a run; `None` in memory.
    pub(super) fn work_dir(&self, target: &Store) -> Result<Option<WorkDir>, Error> {
        work_dir(&self.request.target, target, &self.stores)
    }
}

/// True for an array that is sooner begun again than its state is kept. It is small, nothing of it
/// is left elsewhere, and its objects are each sent at once. One that an earlier run has left the
/// state of keeps it.
async fn keeps_no_state(job: &Job, resumes: bool) -> Result<bool, Error> {
    let plan = &job.planned.plan;
    let may = Figures::of(plan).is_small()
        && plan.stages.len() == 1
        && plan.estimate.target.part_requests == 0
        && job.source.packed.is_none()
        && job.target.file_name().is_none();
    if !may || !resumes {
        return Ok(may);
    }
    let target = open_target(&job.request.target, &job.stores)?;
    Ok(!target.is_volatile() && !has_state(job, &target).await?)
}

/// True if an earlier run has left the state of an array beside its target; false in memory.
async fn has_state(job: &Job, target: &Store) -> Result<bool, Error> {
    let location = &job.request.target;
    let Some(work) = work_dir(location, target, &job.stores)? else { return Ok(false) };
    let there = work.store.exists_anything().await;
    there.map_err(|source| store_error("look at", location, source))
}

/// Copies one array, unless an earlier run has done it.
async fn run_array(
    job: Job,
    is_done: bool,
    running: Running,
    observer: Arc<dyn Observer>,
    cancel: &CancellationToken,
) -> Result<Report, Error> {
    if is_done {
        let verified = job.verified_before(running, cancel).await?;
        #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
        let mut report = job.report(Instant::now());
        report.verified = verified;
        let total = job.planned.plan.task_count();
        report.tasks = Some(TaskReport { total, done: total, resumed: total });
        return Ok(report);
    }
    Box::pin(job.run(running, observer, cancel.clone())).await
}

/// Refuses an array of a group that is there already, if it is not the result of its copy. An array
/// written by a run that has left its state is not refused.
async fn check_member(
    job: &Job,
    is_there: bool,
    samples: usize,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let location = &job.request.target;
    if !is_there {
        return Err(Error::Conflict {
            location: location.clone(),
            reason: "is missing in a group that is otherwise complete".to_owned(),
            hint: Some("copy this array alone to its place, or the group to another".into()),
        });
    }
    complete::check_elements(job, &open_target(location, &job.stores)?, samples, cancel).await
}

/// True if an earlier run has done all there is to do for an array, but for what is done for all.
async fn is_done(job: &Job, group_is_written: bool) -> Result<bool, Error> {
    if job.growth.is_some() {
        is_written(job, group_is_written).await
    } else {
        is_complete(job).await
    }
}

/// True if an earlier run has completed the array: its metadata is there, and its work directory,
/// which is removed after that, is not.
async fn is_complete(job: &Job) -> Result<bool, Error> {
    let location = &job.request.target;
    let target = open_target(location, &job.stores)?;
    if target.is_volatile() || !is_array(&target).await? || has_state(job, &target).await? {
        return Ok(false);
    }
    if holds(&target, &job.target.documents()).await? {
        return Ok(true);
    }
    Err(Error::Conflict {
        location: location.clone(),
        reason: "is another array than the interrupted run writes".to_owned(),
        hint: Some(Remedy::RemoveOrOverwrite),
    })
}
