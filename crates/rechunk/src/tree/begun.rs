//! The copy of a group that has begun. Its arrays are copied one after the other, each with the
//! whole budget; small ones some at once where answers take long. Then come its other files and its
//! documents.

use std::sync::Arc;
use std::time::Instant;

use rechunk_exec::{Event, Observer};
use tokio_util::sync::CancellationToken;

use super::commit::TreeDocuments;
use super::done::{is_done, keeps_no_state};
use super::grown::GrownArrays;
use super::levels::AddedLevels;
use super::report::TreeReport;
use super::said::Said;
use super::state::{Start, TreePlace};
use super::together::{at_once, share_budget};
use super::{TreeArray, TreeJob};
use crate::Error;
use crate::archive::Archive;
use crate::archive_packing::{self, comment};
use crate::complete;
use crate::job::Job;
use crate::others::CopyOthers;
use crate::report::{Report, TaskReport};
use crate::request::{Existing, Running};
use crate::target::open_target;
use crate::undertaking::{Settings, Undertaking};
use crate::writer_lock::lost;

/// Most arrays of a group that is complete of which more than one chunk is compared.
const SAMPLED_WELL_MAX: usize = 32;

/// The copy of a group that holds its target.
pub(super) struct BegunTree {
    pub job: TreeJob,
    pub place: TreePlace,
    pub settings: Settings,
    pub report: TreeReport,
    pub said: Said,
    /// Documents to write when all arrays are there; known when the arrays are begun.
    pub publication: Publication,
}

/// Documents that make the copy of a group known.
#[derive(Debug)]
pub(super) enum Publication {
    /// Nothing: they are there, or not known yet.
    Nothing,
    /// Those of new groups.
    New(Box<TreeDocuments>),
    /// Those of arrays that have grown.
    Grown(GrownArrays),
    /// That of an image that has got levels.
    Added(AddedLevels),
}

impl Publication {
    fn of(job: &TreeJob, start: Start, keeps_temp: bool) -> Result<Self, Error> {
        if job.grows() {
            return Ok(Self::Grown(GrownArrays::of(job, keeps_temp)));
        }
        if job.adds.is_some() {
            let added = Self::Added(AddedLevels::of(job));
            return Ok(if start == Start::Done { Self::Nothing } else { added });
        }
        let documents = TreeDocuments::of(job)?;
        Ok(if start == Start::Done { Self::Nothing } else { Self::New(Box::new(documents)) })
    }
}

impl Undertaking for BegunTree {
    type Report = TreeReport;

    async fn work_on(&mut self) -> Result<(), Error> {
        let Self { job, place, settings: Settings { running, observer, cancel, .. }, .. } = self;
        self.publication = Publication::of(job, place.start, running.keep_temp)?;
        let start = place.start;
        let resumes = matches!(start, Start::Resume | Start::Done);
        let samples = if job.array_count() > SAMPLED_WELL_MAX { 1 } else { complete::SAMPLES };
        let is_written = job.is_written(&place.target, start).await?;
        // Each array starts, or goes on where it stopped.
        let existing = if place.work.is_some() { Existing::Resume } else { Existing::Refuse };
        let running = Running { existing, ..*running };
        let turns = job.turns(running.verify);
        let adds = job.adds.is_some();
        let is_late = job.is_late(&place.target, running);
        let written_bytes = job.figures().map(|figures| figures.written_bytes);
        let arrays = job.paths().map(str::to_owned).zip(written_bytes).collect();
        let mut events = announced(arrays);
        let (mut held, later) = (std::mem::take(&mut job.arrays).into_iter(), &job.later);
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
                    if job.keeps_no_state {
                        running.existing = Existing::Refuse;
                    }
                    if !is_done && is_late && keeps_no_state(&job, resumes).await? {
                        job.keeps_no_state = true;
                        running.existing = Existing::Refuse;
                    }
                    if start == Start::Done {
                        Box::pin(check_member(&job, is_done, samples, &cancel)).await?;
                        if adds {
                            Box::pin(job.check_levels()).await?;
                        }
                    }
                    run_array(job, is_done, running, observer, &cancel).await.map(Some)
                };
                (event, path, copy)
            });
            let taken_over = place.lost();
            let copied = tokio::select! {
                copied = at_once(copies, observer, cancel) => copied?,
                () = taken_over.cancelled() => return Err(lost(&job.request.target)),
            };
            for (path, done) in copied {
                if let Some(done) = done {
                    self.report.add(path, done, &mut self.said);
                }
            }
        }
        Ok(())
    }

    async fn end(mut self) -> Result<TreeReport, Error> {
        match self.publish().await {
            Ok(()) => Ok(self.report),
            Err(error) => {
                self.place.give_up().await;
                Err(error)
            }
        }
    }

    async fn leave_after(self, _error: &Error) {
        self.place.give_up().await;
    }
}

impl BegunTree {
    /// Copies the other files, makes all known, and removes the state.
    async fn publish(&mut self) -> Result<(), Error> {
        let Self { job, place, settings, .. } = self;
        let verifies = settings.running.verify;
        let resumed = copy_others(job, place, verifies, &settings.cancel).await?;
        self.report.add_others(resumed, verifies);
        place.check_lock().await?;
        match &self.publication {
            Publication::Nothing => {}
            Publication::New(documents) => documents.commit(&place.target).await?,
            Publication::Added(added) => {
                // From here on the image may name its new levels: they are not to be removed.
                if let Some(work) = &place.work {
                    work.set_written().await?;
                }
                added.commit(&place.target, &[]).await?;
            }
            Publication::Grown(grown) => {
                let (groups, work) = (&job.grown_groups, place.work.as_ref());
                grown.commit(&place.target, groups, work, &job.stores).await?;
            }
        }
        job.write_beside().await?;
        let tasks = self.report.tasks.map_or(0, |tasks| tasks.total);
        pack(job, place, settings, tasks).await?;
        if let Some(work) = &place.work {
            work.remove().await?;
        }
        self.report.already_complete = place.start == Start::Done;
        let archive = Archive::whole(&job.request.target);
        self.report.archive = archive.map(|archive| archive.report());
        self.report.end(settings.started, &job.stores.meter().traffic(), &self.said);
        Ok(())
    }
}

/// Packs a group that is to be a ZIP file, and says that it was.
async fn pack(
    job: &TreeJob,
    place: &TreePlace,
    settings: &Settings,
    tasks: u64,
) -> Result<(), Error> {
    let archive = Archive::whole(&job.request.target).filter(|_| place.start != Start::Done);
    let (Some(archive), Some(work)) = (archive, &place.work) else { return Ok(()) };
    let comment = comment(job.format, &job.root.attributes);
    let counts = (&settings.cancel, tasks);
    let (place, verify) = ((&place.target, work), settings.running.verify);
    archive_packing::pack(&archive, place, comment, verify, counts).await?;
    work.set_written().await
}

/// Events that announce arrays, each with its path, of their paths and the bytes to come of each.
pub(super) fn announced(
    arrays: Vec<(String, u64)>,
) -> impl Iterator<Item = (Event, String)> + use<> {
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
    job: &TreeJob,
    place: &TreePlace,
    verifies: bool,
    cancel: &CancellationToken,
) -> Result<u64, Error> {
    let source = &job.request.source;
    let others = CopyOthers::new(&job.others, source, &place.target, &job.stores)?;
    let resumed = match place.start {
        Start::Done => others.check_there().await?,
        start => others.run(start == Start::Resume, cancel).await?,
    };
    if verifies {
        others.verify().await?;
    }
    Ok(resumed)
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
        report.tasks = Some(TaskReport::all_resumed(job.planned.plan.task_count()));
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
