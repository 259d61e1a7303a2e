//! State of a run: is it going on, was it interrupted, how far had it come?

use rechunk_exec::DoneSet;
use rechunk_store::Stores;
use serde::Serialize;

use crate::Error;
use crate::member_location::member_location;
use crate::parts::{WorkerProgress, add_name, parts_status};
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
    /// Progress of parts; `None` where the job is not open to them.
    #[serde(flatten)]
    pub parts: Option<PartsStatus>,
}

/// Progress of a job that is open to parts; of a group, that of those of its arrays that are.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct PartsStatus {
    /// Number of shares that are done.
    pub parts: u64,
    /// Parts that are being done, or were stopped.
    pub workers: Vec<WorkerProgress>,
    /// Tasks that are marked, of all stages.
    pub marked: u64,
    /// Progress by stage.
    pub stages: Vec<StageStatus>,
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
    /// It is open to parts, of which none is being done that was heard of lately.
    Open,
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
    let (mut array, mut members, mut parts) = (None, Vec::new(), None);
    let left = match work.saved_tree().await? {
        Some(tree) => {
            for path in SavedTree::from_json(&tree)?.paths() {
                let member = WorkDir::of(&member_location(target, path), stores)?;
                let (array, of_parts) = match member.left().await? {
                    Left::Unfinished(saved) => {
                        let (array, parts) = with_parts(&member, &saved).await?;
                        (Some(array), parts)
                    }
                    Left::Nothing | Left::Done(_) | Left::Late | Left::Damaged(_) => (None, None),
                };
                if let Some(of_parts) = of_parts {
                    parts.get_or_insert_with(PartsStatus::default).add(path, of_parts);
                }
                members.push(MemberStatus { path: path.to_owned(), array });
            }
            parts.as_ref().map_or(RunState::Interrupted, |_| RunState::Open)
        }
        None => match work.left().await? {
            Left::Nothing => RunState::None,
            Left::Damaged(_) => RunState::Interrupted,
            Left::Done(_) | Left::Late => RunState::Finished,
            Left::Unfinished(saved) => {
                let (of_array, of_parts) = with_parts(&work, &saved).await?;
                (array, parts) = (Some(of_array), of_parts);
                parts.as_ref().map_or(RunState::Interrupted, |_| RunState::Open)
            }
        },
    };
    let is_worked_on = |parts: &PartsStatus| parts.workers.iter().any(|worker| worker.alive);
    let is_running = writer.is_some() || parts.as_ref().is_some_and(is_worked_on);
    let state = if is_running { RunState::Running } else { left };
    Ok(Status { target: target.to_owned(), state, writer, array, members, parts })
}

/// Progress of an array, and of its parts where it is open to them.
async fn with_parts(
    work: &WorkDir,
    saved: &SavedJob,
) -> Result<(ArrayStatus, Option<PartsStatus>), Error> {
    let mut done = work.journaled(&saved.plan.fingerprint).await?;
    let Some(name) = &saved.parts else { return Ok((of_done(saved, &done), None)) };
    let found = parts_status(work, saved, name).await?;
    done.join(&found.done);
    let array = of_done(saved, &done);
    let (parts, workers) = (found.shares_done, found.workers);
    let (marked, stages) = (array.tasks_done, array.stages.clone());
    Ok((array, Some(PartsStatus { parts, workers, marked, stages })))
}

impl PartsStatus {
    /// Adds the parts of an array of a group.
    fn add(&mut self, path: &str, array: Self) {
        self.parts += array.parts;
        let of_array = |worker| WorkerProgress { array: Some(path.to_owned()), ..worker };
        self.workers.extend(array.workers.into_iter().map(of_array));
        self.marked += array.marked;
        for (number, stage) in array.stages.into_iter().enumerate() {
            match self.stages.get_mut(number) {
                None => self.stages.push(stage),
                Some(all) => {
                    add_name(&mut all.name, &stage.name);
                    all.tasks = all.tasks.saturating_add(stage.tasks);
                    all.done = all.done.saturating_add(stage.done);
                }
            }
        }
    }
}

fn of_done(saved: &SavedJob, done: &DoneSet) -> ArrayStatus {
    let plan = &saved.plan;
    let stage = |(number, stage): (usize, &rechunk_plan::Stage)| StageStatus {
        name: stage.name.clone(),
        tasks: stage.tasks,
        done: done.count(number),
    };
    let stages: Vec<StageStatus> = plan.stages.iter().enumerate().map(stage).collect();
    ArrayStatus {
        source: saved.request.source.clone(),
        kind: plan.kind.to_string(),
        fingerprint: plan.fingerprint.clone(),
        tasks_total: plan.task_count(),
        tasks_done: stages.iter().map(|stage| stage.done).sum(),
        stages,
    }
}
