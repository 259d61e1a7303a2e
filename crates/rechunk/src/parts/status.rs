//! Progress of the parts of a job.

use rechunk_exec::{DoneSet, JournalHeader};
use serde::Serialize;

use super::marks::{Marks, done_of};
use crate::Error;
use crate::saved_job::SavedJob;
use crate::work_dir::WorkDir;

/// Traces that were found of the parts of a job.
pub(crate) struct FoundParts {
    /// Number of shares that are done.
    pub shares_done: u64,
    /// Parts that are being done, or were stopped.
    pub workers: Vec<WorkerProgress>,
    /// Tasks that are marked, of each stage.
    pub done: DoneSet,
}

/// A process that does a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WorkerProgress {
    /// Path of the array in its group; absent where one array is copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// Number of the stage.
    pub stage: usize,
    /// Number of the first task of its share.
    pub first: u64,
    /// Tasks of its share.
    pub tasks: u64,
    /// Those of them that are marked in its journal.
    pub done: u64,
    /// The machine; `None` where nothing says who it is or was.
    pub host: Option<String>,
    /// The process.
    pub pid: Option<u32>,
    /// Time since it was heard of, seconds.
    pub silent_seconds: Option<u64>,
    /// True if it was heard of lately, and is not known to be gone.
    pub alive: bool,
    /// Tasks that it does in a second; `None` before the first.
    pub tasks_per_second: Option<f64>,
}

/// Looks at the parts `name` of a job.
pub(crate) async fn parts_status(
    work: &WorkDir,
    saved: &SavedJob,
    name: &str,
) -> Result<FoundParts, Error> {
    let marks = Marks::of(work, name)?;
    let shares = marks.shares().await?;
    let mut done = done_of(&shares);
    let header = JournalHeader::new(&saved.plan.fingerprint, serde_json::Value::Null);
    let mut workers = Vec::new();
    for busy in marks.busy().await? {
        let marked = busy.done(&header).await;
        let note = busy.worker().await;
        workers.push(WorkerProgress {
            array: None,
            stage: busy.tasks.stage,
            first: busy.tasks.start,
            tasks: busy.tasks.len(),
            done: marked.count_in(&busy.tasks),
            host: note.as_ref().map(|(note, _)| note.holder.host.clone()),
            pid: note.as_ref().map(|(note, _)| note.holder.pid),
            silent_seconds: note.as_ref().map(|(_, silent)| *silent),
            alive: note.as_ref().is_some_and(|(note, silent)| note.holder.is_live(*silent)),
            tasks_per_second: note.as_ref().and_then(|(note, _)| {
                (note.done > 0 && note.seconds > 0.0).then(|| note.done as f64 / note.seconds)
            }),
        });
        done.join(&marked);
    }
    workers.sort_by_key(|worker| (worker.stage, worker.first));
    Ok(FoundParts { shares_done: rechunk_kernel::wide(shares.len()), workers, done })
}
