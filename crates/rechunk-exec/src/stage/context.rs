//! State that all tasks of a run share.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rechunk_grid::Region;
use rechunk_kernel::Digest;
use rechunk_store::Store;

use crate::journal::{Mark, Marks};
use crate::memory::gate::Gate;
use crate::{Differences, Event, ExecError, Execution, Fault, Observer};

/// State that all tasks of a run share.
pub(crate) struct RunContext {
    pub execution: Arc<Execution>,
    pub gate: Gate,
    pub observer: Arc<dyn Observer>,
    /// Takes marks to the journal, if there is one.
    pub marks: Option<Marks>,
    differences: Mutex<Differences>,
    /// Of what the tasks that are done took from the source.
    digest: Mutex<Option<Digest>>,
}

impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext").field("execution", &self.execution).finish_non_exhaustive()
    }
}

impl RunContext {
    /// The context of a run that has not begun. `digest` is of what earlier runs took from the
    /// source, if that is known.
    pub(crate) fn new(
        execution: Arc<Execution>,
        gate: Gate,
        observer: Arc<dyn Observer>,
        marks: Option<Marks>,
        digest: Option<Digest>,
    ) -> Self {
        let (differences, digest) = (Mutex::default(), Mutex::new(digest));
        Self { execution, gate, observer, marks, differences, digest }
    }

    /// The store for pieces between stages.
    pub(crate) fn intermediate(&self) -> Result<&Store, Fault> {
        self.execution.intermediate.as_ref().ok_or(Fault::Plan {
            reason: "the plan has an intermediate but there is no store for it".to_owned(),
        })
    }

    /// Does task `task` of stage `stage` by `work`, which takes `task_bytes` of the gate before it
    /// begins. When it is done it is marked with what `mark` makes of it.
    pub(crate) async fn do_task<T>(
        &self,
        (stage, task): (usize, u64),
        task_bytes: u64,
        work: impl Future<Output = Result<T, Fault>>,
        mark: impl FnOnce(&T) -> Mark,
    ) -> Result<T, ExecError> {
        let permit = self.gate.acquire(task_bytes).await;
        self.observer.event(&Event::TaskStarted { stage, task });
        let result = work.await;
        drop(permit);
        let done = result.map_err(|fault| ExecError::Task { stage, task, fault })?;
        self.mark(mark(&done));
        self.observer.event(&Event::TaskDone { stage, task });
        Ok(done)
    }

    /// Hands a mark to the journal, if there is one.
    pub(crate) fn mark(&self, mark: Mark) {
        if let Some(marks) = &self.marks {
            marks.add(mark);
        }
    }

    /// Adds the digest of what a task took from the source; `None` if it is not known.
    pub(crate) fn add_digest(&self, digest: Option<Digest>) {
        let mut all = self.digest.lock().unwrap_or_else(PoisonError::into_inner);
        *all = all.zip(digest).map(|(sum, new)| sum + new);
    }

    /// Adds what a comparison found in `region`.
    pub(crate) fn add_differences(&self, region: &Region, found: &rechunk_kernel::Differences) {
        let mut all = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(region, found);
    }
    /// The digest of all that tasks took from the source, in this run and those before.
    pub(crate) fn digest(&self) -> Option<Digest> {
        *self.digest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that the comparison has found.
    pub(crate) fn differences(&self) -> Differences {
        self.differences.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
