//! Ends a job that was done in parts: gathers what they have marked, and finishes it.

use std::sync::Arc;
use std::time::Duration;

use rechunk_exec::{DoneSet, Journal, JournalContents, Observer};
use rechunk_store::{Store, unique_name};
use tokio_util::sync::CancellationToken;

use super::kinds::{check_plan, shared_place};
use super::marks::Marks;
use super::part::{closed, wait_for_parts};
use crate::job::Job;
use crate::report::Report;
use crate::request::{Existing, Running};
use crate::resumption::resume_job;
use crate::saved_job::SavedJob;
use crate::target::is_array;
use crate::tasks_left::TasksLeft;
use crate::wait::Wait;
use crate::work_dir::{Left, WorkDir};
use crate::{Error, Remedy};

impl Job {
    /// Finishes a job that was done in parts: verifies it if asked to, makes the target known, and
    /// removes all else. Does nothing where that was done before.
    ///
    /// While tasks are not marked, that is waited for, as long as `wait` allows. Then it is an
    /// error of the class [`Class::NotYet`](crate::Class::NotYet), and nothing is changed. An
    /// example is at [`Job::run_part`].
    pub async fn finish_parts(
        mut self,
        running: Running,
        wait: Duration,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<Report, Error> {
        let place = shared_place(&self)?;
        let mut wait = Wait::of(wait);
        loop {
            let left = Box::pin(self.close_parts(&place)).await?;
            if left.is_empty() {
                break;
            }
            let not_yet = || not_written(&self.request.target, &self.all_in_words(&left));
            wait_for_parts(&mut wait, &self.request.target, &cancel, not_yet).await?;
        }
        let running = Running { existing: Existing::Resume, ..running };
        self.check_target(running).await?;
        Box::pin(self.run(running, observer, cancel)).await
    }

    /// The tasks that are left of each stage, if some are.
    pub(crate) async fn left_of_parts(
        &self,
        (target, work): &(Store, WorkDir),
    ) -> Result<Vec<TasksLeft>, Error> {
        Ok(match self.found_of_parts(target, work).await? {
            Some((_, done)) => self.left_after(&done).collect(),
            None => Vec::new(),
        })
    }

    /// Finds the job, and how far it has come. `None` if the target is complete, or the run of all
    /// of it says what is wrong.
    async fn found_of_parts(
        &self,
        target: &Store,
        work: &WorkDir,
    ) -> Result<Option<(Option<SavedJob>, DoneSet)>, Error> {
        loop {
            let saved = match work.left().await? {
                Left::Unfinished(saved) => saved,
                Left::Nothing | Left::Late if !is_array(target).await? => {
                    return Ok(Some((None, DoneSet::default()))); // nobody has begun
                }
                Left::Nothing | Left::Damaged(_) | Left::Done(_) | Left::Late => return Ok(None),
            };
            check_plan(self, &saved)?;
            if let Some(done) = self.done_of(work, &saved).await? {
                return Ok(Some((Some(saved), done)));
            }
        }
    }

    /// Reads how far the job has come that `saved` describes. `None` if another process has closed
    /// or ended it meanwhile: what was read may then be half of what it was.
    pub(super) async fn done_of(
        &self,
        work: &WorkDir,
        saved: &SavedJob,
    ) -> Result<Option<DoneSet>, Error> {
        let marks = saved.parts.as_ref().map(|name| Marks::of(work, name)).transpose()?;
        let read = async {
            let mut done = work.journaled(&saved.plan.fingerprint).await?;
            if let Some(marks) = &marks {
                done.join(&marks.done().await?);
            }
            Ok(done)
        };
        let done: Result<DoneSet, Error> = read.await;
        if done.as_ref().is_ok_and(|done| self.left_after(done).next().is_none()) {
            return done.map(Some);
        }
        let is_as_it_was = match &marks {
            // Whoever closes parts says so before their marks go, and no others have their name.
            Some(marks) => marks.are_open().await?,
            None => matches!(work.left().await?, Left::Unfinished(now) if now.parts.is_none()),
        };
        if is_as_it_was { done.map(Some) } else { Ok(None) }
    }

    /// Closes the parts, if all tasks are done: then it is an interrupted run that has done all.
    /// Returns the number of tasks that are left of each stage, if some are.
    pub(crate) async fn close_parts(
        &mut self,
        (target, work): &(Store, WorkDir),
    ) -> Result<Vec<TasksLeft>, Error> {
        let Some((saved, done)) = self.found_of_parts(target, work).await? else {
            return Ok(Vec::new());
        };
        let left: Vec<TasksLeft> = self.left_after(&done).collect();
        let Some((saved, name)) = saved.and_then(|saved| {
            let name = saved.parts.clone()?;
            Some((saved, name))
        }) else {
            return Ok(left);
        };
        let marks = Marks::of(work, &name)?;
        if !left.is_empty() {
            return Ok(left);
        }
        resume_job(self, &saved)?;
        let lock = work.lock(&self.request.target).await?;
        let closed = Box::pin(self.close_locked(work, (&name, &marks), saved));
        let left = lock.while_held(&self.request.target, closed).await;
        work.unlock(lock).await?;
        left
    }

    async fn close_locked(
        &self,
        work: &WorkDir,
        (name, marks): (&str, &Marks),
        saved: SavedJob,
    ) -> Result<Vec<TasksLeft>, Error> {
        if !marks.are_open().await? {
            return Err(closed(&self.request.target));
        }
        let header = self.journal_header();
        let mut done = work.journaled(&saved.plan.fingerprint).await?;
        // A mark that is damaged says nothing now.
        done.join(&marks.read(&header).await?);
        let left: Vec<TasksLeft> = self.left_after(&done).collect();
        if !left.is_empty() {
            // Or another process has closed them, while this one slept.
            return if marks.are_open().await? {
                Ok(left)
            } else {
                Err(closed(&self.request.target))
            };
        }
        let contents = JournalContents::new(header, done);
        let rewritten = Journal::rewrite(&work.store, contents, &unique_name()).await;
        rewritten.map_err(|error| work.journal_error(error))?;
        work.save_job(&SavedJob { parts: None, ..saved }).await?;
        work.remove_parts(name).await?;
        Ok(Vec::new())
    }

    /// `2 of 4 tasks of stage 0, push`, for each stage.
    pub(crate) fn all_in_words(&self, left: &[TasksLeft]) -> String {
        let missing: Vec<String> = left.iter().map(|&left| self.in_words(left)).collect();
        missing.join(" and ")
    }
}

/// Tasks are left: of `missing`, in words.
pub(crate) fn not_written(target: &str, missing: &str) -> Error {
    Error::NotYet {
        location: target.to_owned(),
        reason: format!("is not written: {missing} are not done"),
        hint: Some(Remedy::WaitForParts),
    }
}
