//! Makes objects of an intermediate again that are damaged or lost.
//!
//! An object is of one task, and all that the task needs is there still: the source, or the
//! objects of the stage before. So its mark is taken back, durably, before anything is written, and
//! the task is run again. If an object that it reads is damaged too, that is made again first.

use std::collections::BTreeMap;
use std::sync::Arc;

use rechunk_exec::{Event, NullObserver, Observer, TaskRange, intermediate_key};
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::job::Job;
use crate::place::Place;
use crate::request::Running;

/// Most times that a run makes a task again: on a disk that damages everything it has to end.
const TIMES_MAX: u32 = 2;
/// Most tasks that warnings name.
const NAMED_MAX: usize = 5;

/// Tasks that a run has made again.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// Times that each was begun again, by stage and number.
    begun: BTreeMap<(usize, u64), u32>,
    /// Warnings about the first of them.
    said: Vec<String>,
    /// Number of the others.
    unsaid: u64,
}

impl Repairs {
    /// Makes the object again that `error` calls damaged. Then the tasks that have failed can be
    /// run again, with the journal as it is now: nobody holds it meanwhile.
    ///
    /// Returns an error if this is not to be done: `error` itself if it is another one, if its task
    /// was made again too often, or if the intermediate goes with the process; else the error that
    /// has come in between, with the numbers of tasks that `error` has.
    pub(crate) async fn make_again(
        &mut self,
        (job, place): (&Job, &Place),
        error: Error,
        running: Running,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let mut waiting = match self.next(place, &error).await {
            Some(task) => vec![task],
            None => return Err(error),
        };
        while let Some(&task) = waiting.last() {
            let done = Box::pin(self.run(job, place, task, running, cancel)).await;
            let Err(failed) = done else {
                waiting.pop();
                continue;
            };
            match self.next(place, &failed).await {
                Some(before) => waiting.push(before),
                None => return Err(counted_as(&error, failed)),
            }
        }
        Ok(())
    }

    /// Warnings about the tasks that were made again, which are given once.
    pub(crate) fn take_said(&mut self) -> Vec<String> {
        let mut said = std::mem::take(&mut self.said);
        let others = std::mem::take(&mut self.unsaid);
        if others > 0 {
            said.push(format!("and {others} more objects of the intermediate were made again"));
        }
        said
    }

    /// The task to make again after `error`, if it has come because of that.
    async fn next(&mut self, place: &Place, error: &Error) -> Option<TaskRange> {
        let task = damaged_task(error)?;
        if place.work.is_none() || place.is_volatile() || place.check_lock().await.is_err() {
            return None;
        }
        let times = self.begun.entry((task.stage, task.start)).or_default();
        if *times == TIMES_MAX {
            return None;
        }
        *times += 1;
        Some(task)
    }

    /// Forgets that `task` was done, and does it.
    async fn run(
        &mut self,
        job: &Job,
        place: &Place,
        task: TaskRange,
        running: Running,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let Some(work) = &place.work else { return Ok(()) };
        let mut journal = None;
        // Of parts each has a journal of its own. For them it stays done: whoever reads it finds it
        // damaged, or whole.
        if !place.is_shared() {
            let mut open = Box::pin(job.open_journal(work)).await?;
            if open.done().contains(task.stage, task.start) {
                open.forget(&task).await.map_err(|error| work.journal_error(error))?;
            }
            journal = Some(open);
        }
        // The stage that has failed is what is shown: this is no progress.
        let told = (Arc::new(NullObserver) as _, cancel.clone());
        Box::pin(job.execute((place, journal), Some(task), running, told)).await?;
        self.say(place, &task);
        Ok(())
    }

    fn say(&mut self, place: &Place, task: &TaskRange) {
        let TaskRange { stage, start, .. } = *task;
        tracing::warn!(stage, task = start, "made a damaged object of the intermediate again");
        if self.begun.get(&(stage, start)).is_some_and(|&times| times > 1) {
            return; // that was said when it was made again for the first time
        }
        let object = intermediate_key(stage, start);
        let store = place.intermediate.as_ref().map_or("", |store| store.label());
        let text = format!(
            "a piece of the intermediate, {object} in {store}, was damaged: task {start} of stage \
             {stage} has made it again"
        );
        if self.said.len() < NAMED_MAX {
            self.said.push(text);
        } else {
            self.unsaid += 1;
        }
    }
}

/// An observer of the run that goes on after `error`, without the events that were told already.
pub(super) fn continued(observer: &Arc<dyn Observer>, error: &Error) -> Arc<dyn Observer> {
    let inner = Arc::clone(observer);
    match damaged_task(error) {
        Some(task) => Arc::new(Continued { inner, stage: task.stage.saturating_add(1) }),
        None => inner,
    }
}

/// Passes on what happens from the middle of a stage on.
struct Continued {
    inner: Arc<dyn Observer>,
    stage: usize,
}

impl Observer for Continued {
    fn event(&self, event: &Event) {
        let is_told = match event {
            Event::RunStarted { .. } => true,
            Event::StageStarted { stage, .. } => *stage <= self.stage,
            Event::StageDone { stage } => *stage < self.stage,
            _ => false,
        };
        if !is_told {
            self.inner.event(event);
        }
    }
}

/// The task whose object `error` calls damaged.
fn damaged_task(error: &Error) -> Option<TaskRange> {
    let Error::Run { source, .. } = error else { return None };
    source.damaged_task()
}

/// The error of a task that was made again, as one of the run that `first` has ended.
fn counted_as(first: &Error, error: Error) -> Error {
    match (first, error) {
        (Error::Run { done, resumed, total, .. }, Error::Run { hint, source, .. }) => {
            let (done, resumed, total) = (*done, *resumed, *total);
            Error::Run { done, resumed, total, hint, source }
        }
        (_, error) => error,
    }
}
