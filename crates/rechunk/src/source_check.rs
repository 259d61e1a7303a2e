//! Whether a source is still what was planned with, and still what an earlier run has read.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use rechunk_exec::DoneSet;
use rechunk_grid::{ChunkGrid, Region};
use rechunk_plan::{Plan, StageGeometry};
use rechunk_store::{Meter, Role, Store, StoreError};

use crate::formats::{Documents, Wanted};
use crate::is_copy::is_copy;
use crate::job::Job;
use crate::open::{OpenArray, Opened, open_array, open_node};
use crate::recount::counted_identity;
use crate::{Error, Remedy};

/// Refuses a source whose metadata is not that of the plan, or was written since, even if it says
/// the same. Who writes an array anew begins with its metadata, and what is missing then is no gap.
pub(crate) async fn check_metadata(job: &Job) -> Result<(), Error> {
    let source = &job.source;
    if source.described_by.is_some() {
        return Ok(()); // what is above an array may be written for others
    }
    let (location, options) = (&job.request.source, job.request.open_options());
    let changed = |reason: &str| Error::NotAnArray {
        location: location.clone(),
        reason: reason.to_owned(),
        hint: Some(Remedy::StartUnwritten),
    };
    let store = source.array.store();
    let now = if let Some(name) = source.metadata.file_name() {
        if store.local_root().is_some() {
            let unchanged = store.with_role(Role::Control).check_unchanged_object(&name).await;
            unchanged.map_err(|error| Error::source_store(location, error))?;
        }
        open_array(location, &options, &job.stores).await?
    } else if store.archive().is_some() {
        // What is open has its own list of what is in it.
        open_array(location, &options, &job.stores).await?
    } else {
        if !store.is_same_directory() {
            return Err(changed(
                "it was moved away while it was copied, or another directory has taken its place",
            ));
        }
        let control = store.with_role(Role::Control);
        let is_newest = matches!(source.wanted, Wanted::Newest);
        let now = if source.metadata.format().is_looked_for_first() || !is_newest {
            Documents::fetch_wanted(&control, source.wanted).await
        } else {
            Documents::fetch_at_once(&control).await
        };
        let now = now.map_err(|error| Error::source_store(location, error))?;
        if now.identity() == source.identity {
            return Ok(());
        }
        // What is there now says what has become of it.
        match open_node(location, &options, &control).await? {
            Opened::Array(array) => *array,
            Opened::Group(..) => return Err(changed("it was replaced by a group")),
        }
    };
    if counted_identity(now.identity, source.recount.as_deref()) == source.identity {
        return Ok(());
    }
    Err(changed("its metadata has changed while it was copied"))
}

/// Refuses objects that were written meanwhile and that nobody has seen being read. The store has
/// copied them by itself, they were not on its list when that was made, or their files were open.
/// All are looked at when all is done.
pub(crate) async fn check_unseen(job: &Job) -> Result<(), Error> {
    let source = &job.source;
    let checked =
        check_objects(source, source.object_grid()?, source.array.store(), |_| true).await;
    checked.map_err(|error| Error::source_store(&job.request.source, error))
}

/// Refuses a source on a local disk with missing chunks, if a directory of it has changed since the
/// job was planned. Then they may have been removed, and are no gaps. (Who appends to it writes its
/// metadata, too, which is refused elsewhere.) Elsewhere nothing says when something was removed.
pub(crate) async fn check_directories(job: &Job) -> Result<(), Error> {
    check_directories_since(job, job.planned_at).await
}

/// [`check_directories`] since another time.
pub(crate) async fn check_directories_since(job: &Job, since: SystemTime) -> Result<(), Error> {
    let source = &job.source;
    if source.metadata.file_name().is_some() || source.packed.is_some() {
        return Ok(());
    }
    let store = source.array.store().with_role(Role::Control);
    let depth = source.array.key_depth().saturating_sub(1);
    let changed = store.changed_directory(depth, since).await;
    match changed.map_err(|error| Error::source_store(&source.location, error))? {
        None => Ok(()),
        Some(directory) => Err(Error::SourceChunks {
            location: source.location.clone(),
            reason: format!(
                "chunks of it are missing, and {} has changed while it was copied: they may have been removed",
                directory.display()
            ),
            hint: Some(Remedy::StartUnwritten),
        }),
    }
}

/// Refuses to go on with a run that has read what was written after `since`: what it has copied of
/// that is of another state. What it has not read may have been repaired. True if all of it was
/// looked at; where the source cannot be listed, or not for little, only what is read once more is
/// noticed.
#[expect(clippy::disallowed_methods, reason = "times of the one file that the source is")]
pub(crate) async fn check_read(
    job: &Job,
    done: &DoneSet,
    since: SystemTime,
) -> Result<bool, Error> {
    let source = &job.source;
    let conflict = |what: String| Error::Conflict {
        location: job.request.target.clone(),
        reason: format!("holds an interrupted run that has read {what} since"),
        hint: Some(Remedy::StartUnwritten),
    };
    let plan = &job.planned.plan;
    let readings =
        Reading::of(plan, done).map_err(|error| Error::source_grid(&source.location, &error))?;
    if readings.is_empty() {
        return Ok(true);
    }
    let store = source.array.store();
    if let Some(file) = source.packed.as_deref().or(store.archive()) {
        let written = fs::metadata(file).and_then(|found| found.modified());
        // Times in the future say nothing.
        if written.is_ok_and(|written| written > since && written <= SystemTime::now()) {
            return Err(conflict(format!("{}, which was written", file.display())));
        }
        return Ok(true);
    }
    let store = store.watched(since, since);
    let grid = source.object_grid()?;
    let regions = grid.clone();
    let was_read = move |index: &[u64]| {
        let object = regions.region(index);
        readings.iter().any(|reading| reading.has(&object))
    };
    let checked = match check_documents(source, &store).await {
        Ok(()) => check_objects(source, grid, &store, was_read).await,
        error => error,
    };
    match checked {
        Ok(()) => Ok(source.metadata.file_name().is_some() || store.lists_for_little()),
        Err(StoreError::Changed { key, written, .. }) => {
            Err(conflict(format!("{key} of {}, which was written at {written}", source.location)))
        }
        // Not everybody who may read may list.
        Err(error) if error.is_permission_denied() => Ok(false),
        Err(error) => Err(Error::source_store(&job.request.source, error)),
    }
}

/// The first object of the source that was written after `since`, in words; `None` if there is
/// none, or nobody can tell.
#[expect(clippy::disallowed_methods, reason = "times of the one file that the source is")]
pub(crate) async fn check_unwritten_since(
    source: &OpenArray,
    since: SystemTime,
) -> Result<Option<String>, Error> {
    let location = &source.location;
    if let Some(file) = source.packed.as_deref().or(source.array.store().archive()) {
        let written = fs::metadata(file).and_then(|found| found.modified());
        let is_late = written.is_ok_and(|at| at > since && at <= SystemTime::now());
        return Ok(is_late.then(|| file.display().to_string()));
    }
    let store = source.array.store().with_meter(&Meter::new()).watched(since, since);
    let checked = match check_documents(source, &store).await {
        Ok(()) => check_objects(source, source.object_grid()?, &store, |_| true).await,
        error => error,
    };
    match checked {
        Ok(()) => Ok(None),
        Err(StoreError::Changed { key, written, .. }) => {
            Ok(Some(format!("{key} of {location}, at {written}")))
        }
        Err(error) if error.is_permission_denied() => Ok(None),
        Err(error) => Err(Error::source_store(location, error)),
    }
}

/// Looks at the documents of `source` in `store`, a watched one: chunks that were removed have no
/// time.
async fn check_documents(source: &OpenArray, store: &Store) -> Result<(), StoreError> {
    if source.metadata.file_name().is_some() || source.described_by.is_some() {
        return Ok(());
    }
    Documents::fetch_wanted(&store.with_role(Role::Control), source.wanted).await.map(drop)
}

/// Checks the objects of `source` in `store`, a watched one, whose index in `grid` is wanted. An
/// array that is one file is checked as a whole.
async fn check_objects(
    source: &OpenArray,
    grid: ChunkGrid,
    store: &Store,
    is_wanted: impl Fn(&[u64]) -> bool + Send + 'static,
) -> Result<(), StoreError> {
    let store = store.with_role(Role::Control);
    if let Some(name) = source.metadata.file_name() {
        return match store.local_root() {
            Some(_) => store.check_unchanged_object(&name).await,
            None => Ok(()),
        };
    }
    if !store.lists_for_little() {
        return Ok(());
    }
    let layout = Arc::clone(source.array.layout());
    let is_of_array = move |key: &str| {
        let index = layout.object_index(key).filter(|index| grid.contains(index));
        index.is_some_and(|index| is_wanted(&index))
    };
    store.check_unchanged_objects(source.array.key_depth(), is_of_array).await
}

/// Reads of the source that a stage has done.
struct Reading {
    stage: usize,
    geometry: StageGeometry,
    done: DoneSet,
    /// Steps that are done are those of [`StageGeometry::steps`] of whole tiles.
    has_plain_steps: bool,
    /// Its tasks read what they own, and no more.
    is_copy: bool,
}

impl Reading {
    /// Those of the stages of `plan` that have read some.
    fn of(plan: &Plan, done: &DoneSet) -> Result<Vec<Self>, rechunk_grid::GridError> {
        let begun = |stage: &usize| done.largest().any(|(begun, _)| begun == *stage);
        let reads = |stage: &usize| plan.stages[*stage].reads_source();
        let stages = (0..plan.stages.len()).filter(|stage| reads(stage) && begun(stage));
        stages
            .map(|stage| {
                let geometry = plan.geometry(stage)?;
                let of = &plan.stages[stage];
                let has_plain_steps = of.schedule().is_none() && of.box_shape.is_none();
                let (done, is_copy) = (done.clone(), is_copy(plan));
                Ok(Self { stage, geometry, done, has_plain_steps, is_copy })
            })
            .collect()
    }

    /// True if a task has read some of the object with these elements.
    fn has(&self, object: &Region) -> bool {
        if !self.is_copy {
            return true; // windows and cells reach far: whatever was written since counts
        }
        self.geometry.tasks_meeting(object).any(|task| {
            let steps = self.done.steps(self.stage, task);
            if steps == 0 || !self.has_plain_steps {
                return steps > 0 || self.done.contains(self.stage, task);
            }
            let tile = self.geometry.tile(task);
            let part = object.intersect(&tile);
            part.is_some_and(|part| self.geometry.first_step(&tile, &part) < steps)
        })
    }
}
