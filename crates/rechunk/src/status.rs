//! State of a run: is it going on, was it interrupted, how far had it come?

use rechunk_store::Stores;
use serde::Serialize;

use crate::Error;
use crate::member_location::member_location;
use crate::saved_job::SavedJob;
use crate::tree::SavedTree;
use crate::work_dir::{Left, WorkDir};

/// A run at a target.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The target.
    pub target: String,
    /// State of the run.
    pub state: RunState,
    /// Process that writes it, if one does.
    pub writer: Option<WriterStatus>,
    /// The array that is copied, or was; `None` for a group, and where nothing is left of a run.
    pub array: Option<ArrayStatus>,
    /// The arrays of a group, in the order they are copied; those that are complete have no run.
    pub members: Vec<MemberStatus>,
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// No run has left anything.
    None,
    /// A process writes it.
    Running,
    /// A run has stopped and can go on.
    Interrupted,
    /// The target is complete; what the run needed is still to be removed.
    Finished,
}

/// Process that writes a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WriterStatus {
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// Time since the process was heard of, seconds; `None` where the system keeps the lock.
    pub silent_seconds: Option<u64>,
}

/// Progress of the copy of an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ArrayStatus {
    /// The source.
    pub source: String,
    /// Kind of the plan.
    pub kind: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Tasks of all stages.
    pub tasks_total: u64,
    /// Those that are done.
    pub tasks_done: u64,
    /// Progress by stage.
    pub stages: Vec<StageStatus>,
}

/// Progress of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StageStatus {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: u64,
    /// Those that are done.
    pub done: u64,
}

/// An array of a group that is copied.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MemberStatus {
    /// Its path in the group.
    pub path: String,
    /// Progress of its copy; `None` before it is begun and when it is complete.
    pub array: Option<ArrayStatus>,
}

/// Looks at the run at `target`. Writes nothing.
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
/// use rechunk::{RunState, Stores, status};
///
/// let found = status(&target, &Stores::default()).await?;
/// assert_eq!(found.state, RunState::None);
/// # Ok(())
/// # }
/// ```
pub async fn status(target: &str, stores: &Stores) -> Result<Status, Error> {
    let work = WorkDir::of(target, stores)?;
    let writer = work.writer().await?.map(|(holder, silent_seconds)| WriterStatus {
        host: holder.host,
        pid: holder.pid,
        silent_seconds,
    });
    let (mut array, mut members) = (None, Vec::new());
    let left = match work.saved_tree().await? {
        Some(tree) => {
            for path in SavedTree::from_json(&tree)?.paths() {
                let member = WorkDir::of(&member_location(target, path), stores)?;
                let array = match member.left().await? {
                    Left::Unfinished(saved) => Some(array_status(&member, &saved).await?),
                    Left::Nothing | Left::Done(_) | Left::Late | Left::Damaged(_) => None,
                };
                members.push(MemberStatus { path: path.to_owned(), array });
            }
            RunState::Interrupted
        }
        None => match work.left().await? {
            Left::Nothing => RunState::None,
            Left::Damaged(_) => RunState::Interrupted,
            Left::Done(_) | Left::Late => RunState::Finished,
            Left::Unfinished(saved) => {
                array = Some(array_status(&work, &saved).await?);
                RunState::Interrupted
            }
        },
    };
    let state = if writer.is_some() { RunState::Running } else { left };
    Ok(Status { target: target.to_owned(), state, writer, array, members })
}

async fn array_status(work: &WorkDir, saved: &SavedJob) -> Result<ArrayStatus, Error> {
    let plan = &saved.plan;
    let done = if work.has_journal().await? {
        Some(work.read_journal(&plan.fingerprint).await?.done)
    } else {
        None
    };
    let stage = |(number, stage): (usize, &rechunk_plan::Stage)| StageStatus {
        name: stage.name.clone(),
        tasks: stage.tasks,
        done: done.as_ref().map_or(0, |done| done.count(number)),
    };
    let stages: Vec<StageStatus> = plan.stages.iter().enumerate().map(stage).collect();
    Ok(ArrayStatus {
        source: saved.request.source.clone(),
        kind: plan.kind.to_string(),
        fingerprint: plan.fingerprint.clone(),
        tasks_total: plan.task_count(),
        tasks_done: stages.iter().map(|stage| stage.done).sum(),
        stages,
    })
}
