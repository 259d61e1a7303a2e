//! State of the copy of a group: saved in `TARGET.rechunk/`, and read there by a later run to
//! decide whether it may start.

use rechunk_store::{Role, Store};
use tokio_util::sync::CancellationToken;

use super::adding::Adding;
use super::commit::TreeDocuments;
use super::give_up::{remove_begun, there};
use super::grown::check_fresh;
use super::levels::check_removable;
use super::saved::SavedTree;
use super::{TreeArray, TreeJob};
use crate::archive::{Archive, building_place};
use crate::archive_packing::{check_replaced_zip, note_zip};
use crate::error::store_error;
use crate::formats::Documents;
use crate::may_start::{
    begun_before, ended_meanwhile, nothing_begun, other_job, overwrites, unfinished,
};
use crate::member_location::member_location;
use crate::request::{Existing, Running};
use crate::target::{check_absent, check_replaceable, holds_node, open_target};
use crate::work_dir::WorkDir;
use crate::writer_lock::WriterLock;
use crate::{Error, Remedy};

/// Leftovers of an earlier run.
#[derive(Debug)]
pub(crate) enum Left {
    /// Nothing that counts.
    Nothing,
    /// An empty work directory: the end of a run, or its beginning.
    Emptied,
    /// A copy of a group to go on with.
    Unfinished(Box<SavedTree>),
}

impl Left {
    /// Looks. What cannot be understood was torn by a power cut before anything was written, or is
    /// an error.
    pub(crate) async fn at(work: &WorkDir, target: &Store) -> Result<Self, Error> {
        let Some(bytes) = work.tree().await? else {
            return Ok(if work.is_emptied_tree().await? { Self::Emptied } else { Self::Nothing });
        };
        match SavedTree::from_json(&bytes) {
            Ok(saved) => Ok(Self::Unfinished(Box::new(saved))),
            Err(_) if check_absent(work.store.label(), target, false).await.is_ok() => {
                Ok(Self::Nothing)
            }
            Err(error) => Err(error),
        }
    }
}

/// Action of a run on what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// It starts where nothing is.
    Fresh,
    /// It removes what an interrupted run has written, and starts.
    Over,
    /// It goes on.
    Resume,
    /// All is there, and an empty directory is to be removed.
    Done,
}

/// Decides what a run does with what is at its target; refuses it otherwise. Changes nothing.
pub(crate) async fn start(
    job: &TreeJob,
    running: Running,
    target: &Store,
    left: &Left,
) -> Result<Start, Error> {
    let location = &job.request.target;
    if job.grows() {
        return start_growth(job, running, left).await;
    }
    if let Some(adding) = &job.adds {
        return start_added(job, adding, running, (target, left)).await;
    }
    let archive = Archive::whole(location);
    match (left, running.existing) {
        (Left::Unfinished(_), Existing::Refuse) => Err(unfinished(location)),
        (Left::Unfinished(saved), Existing::Resume) => {
            match saved.difference(&SavedTree::new(job)) {
                Some(difference) => Err(other_job(location, &difference)),
                None if saved.is_given_up() => Ok(Start::Over),
                None if archive.is_some_and(|archive| archive.is_packed()) => Ok(Start::Done),
                None => Ok(Start::Resume),
            }
        }
        (Left::Unfinished(_), Existing::Overwrite) => {
            // Complete, it may have been put to use; not before it is packed.
            let is_seen = archive.as_ref().is_none_or(Archive::is_packed);
            if is_seen && is_node(target).await? {
                return Err(there(location, "is complete", Remedy::ResumeToTidy));
            }
            if let Some(archive) = &archive {
                check_replaced_zip(archive, &job.stores).await?;
            }
            Ok(Start::Over)
        }
        (Left::Nothing | Left::Emptied, Existing::Resume)
            if (target.archive().is_none() || holds_node(target).await)
                && TreeDocuments::of(job)?.are_at(target).await? =>
        {
            Ok(Start::Done)
        }
        (Left::Nothing | Left::Emptied, Existing::Overwrite) if target.archive().is_some() => {
            check_replaceable(location, target, false).await.map(|()| Start::Fresh)
        }
        (Left::Nothing | Left::Emptied, _) => {
            absent(location, target).await?;
            Ok(Start::Fresh)
        }
    }
}

/// [`start`], where the arrays go into those that are there.
async fn start_growth(job: &TreeJob, running: Running, left: &Left) -> Result<Start, Error> {
    let location = &job.request.target;
    match (left, running.existing) {
        (_, Existing::Overwrite) => Err(overwrites()),
        (Left::Unfinished(_), Existing::Refuse) => Err(begun_before(location)),
        (Left::Unfinished(saved), Existing::Resume) => {
            match saved.difference(&SavedTree::new(job)) {
                Some(difference) => Err(other_job(location, &difference)),
                None => Ok(Start::Resume),
            }
        }
        (Left::Nothing | Left::Emptied, Existing::Resume) => Err(nothing_begun(location)),
        (Left::Nothing | Left::Emptied, Existing::Refuse)
            if job.arrays.iter().any(|array| array.job.is_begun) =>
        {
            Err(ended_meanwhile(location))
        }
        (Left::Nothing | Left::Emptied, Existing::Refuse) => {
            check_fresh(job).await.map(|()| Start::Fresh)
        }
    }
}

/// Decides what a run does that adds levels to an image.
async fn start_added(
    job: &TreeJob,
    adding: &Adding,
    running: Running,
    (target, left): (&Store, &Left),
) -> Result<Start, Error> {
    let location = &job.request.target;
    match (left, running.existing) {
        (Left::Unfinished(saved), Existing::Resume) => {
            match saved.difference(&SavedTree::new(job)) {
                Some(difference) => Err(other_job(location, &difference)),
                None if saved.is_given_up() => {
                    let hint = "`rechunk clean TARGET` ends that";
                    Err(there(location, "holds a run that is being given up", hint))
                }
                None => Ok(Start::Resume),
            }
        }
        (Left::Unfinished(_), Existing::Refuse | Existing::Overwrite) => {
            Err(begun_before(location))
        }
        (Left::Nothing | Left::Emptied, Existing::Resume) if job.has_levels(adding).await? => {
            Ok(Start::Done)
        }
        (Left::Nothing | Left::Emptied, existing) => {
            for TreeArray { path, .. } in &job.arrays {
                let place = member_location(location, path);
                let store = open_target(&place, &job.stores)?;
                match adding.factors_of(path) {
                    Some(_) if existing == Existing::Overwrite => {
                        check_removable(&place, (target, path), &job.stores).await?;
                    }
                    Some(factors) => return Err(is_there(&place, factors, existing)),
                    None => check_absent(&place, &store, false).await?,
                }
            }
            Ok(Start::Fresh)
        }
    }
}

/// A level that was asked for is one of the image.
fn is_there(location: &str, factors: &[u64], existing: Existing) -> Error {
    let but = match existing {
        Existing::Resume => {
            ", and not all levels that are asked for are there as this job makes them"
        }
        Existing::Refuse | Existing::Overwrite => "",
    };
    let reason = format!("is a level of factors {factors:?} already{but}");
    there(location, &reason, Remedy::MakeLevelAnew)
}

/// True if there is an array or a group.
async fn is_node(target: &Store) -> Result<bool, Error> {
    let documents = Documents::fetch(&target.with_role(Role::Control)).await;
    let documents = documents.map_err(|source| store_error("look at", target.label(), source))?;
    // What cannot be understood is there.
    Ok(documents.node().map_or(true, |node| node.is_some()))
}

/// Refuses a target where something is: a group is never replaced, nor an array by one.
async fn absent(location: &str, target: &Store) -> Result<(), Error> {
    match check_absent(location, target, false).await {
        Err(Error::Conflict { location, reason, .. }) if target.archive().is_none() => {
            let hint = "choose another target, or remove it yourself: a group is not put in the \
                        place of what is there";
            Err(there(&location, &reason, hint))
        }
        other => other,
    }
}

/// Notes whether a ZIP file that is there is to be replaced in the end.
async fn note_replaced(
    job: &TreeJob,
    running: Running,
    start: Start,
    work: &WorkDir,
) -> Result<(), Error> {
    let Some(archive) = Archive::whole(&job.request.target) else { return Ok(()) };
    let overwrites = running.existing == Existing::Overwrite;
    if !overwrites && start == Start::Over {
        return Ok(()); // as the run has noted that is gone on with
    }
    note_zip(&archive, overwrites, work).await
}

/// The place of a run that may write.
#[derive(Debug)]
pub(crate) struct TreePlace {
    pub target: Store,
    /// `None` in memory.
    pub work: Option<WorkDir>,
    pub start: Start,
    /// Held until the run ends, so that no other process writes the same target.
    lock: Option<WriterLock>,
}

impl TreePlace {
    /// Takes the target and leaves the first traces: the lock and the saved copy.
    pub(crate) async fn prepare(job: &TreeJob, running: Running) -> Result<Self, Error> {
        let target = job.open_target().await?;
        let Some(work) = job.work_dir(&target)? else {
            let start = start(job, running, &target, &Left::Nothing).await?;
            if let (Start::Fresh, Some(adding)) = (start, &job.adds) {
                job.remove_levels(adding, &adding.paths_anew(), &target).await?;
            }
            return Ok(Self { target, work: None, start, lock: None });
        };
        // What is refused is refused before anything is written.
        start(job, running, &target, &Left::at(&work, &target).await?).await?;
        let lock = work.lock(&job.request.target).await?;
        let begun = Box::pin(Self::begin(job, running, &target, &work));
        match lock.while_held(&job.request.target, begun).await {
            Ok(start) => {
                let target = match start {
                    Start::Done => target,
                    Start::Fresh | Start::Over | Start::Resume => {
                        building_place(&job.request.target, target, &job.stores)?
                    }
                };
                Ok(Self { target, work: Some(work), start, lock: Some(lock) })
            }
            Err(error) => {
                // That it was refused is what is to be said.
                let _ = work.unlock(lock).await;
                Err(error)
            }
        }
    }

    /// The rest, when no other run writes the target: one that did may have ended since.
    async fn begin(
        job: &TreeJob,
        running: Running,
        target: &Store,
        work: &WorkDir,
    ) -> Result<Start, Error> {
        let location = &job.request.target;
        let left = Left::at(work, target).await?;
        let start = start(job, running, target, &left).await?;
        if let (Start::Over, Left::Unfinished(saved)) = (start, &left) {
            remove_begun(location, saved, target, work, &job.stores).await?;
        }
        let saved = match left {
            Left::Unfinished(saved) if start == Start::Resume => *saved,
            _ => SavedTree::new(job),
        };
        if matches!(start, Start::Fresh | Start::Over) {
            note_replaced(job, running, start, work).await?;
            work.save_tree(saved.to_json()?).await?;
        }
        if let (false, Some(adding)) = (saved.to_remove().is_empty(), &job.adds) {
            if start == Start::Done {
                return Ok(start); // these levels are what was asked for
            }
            job.remove_levels(adding, saved.to_remove(), target).await?;
            work.save_tree(saved.with_room().to_json()?).await?;
        }
        Ok(start)
    }

    /// Cancelled when another run takes the target from this one.
    pub(crate) fn lost(&self) -> CancellationToken {
        self.lock.as_ref().map_or_else(CancellationToken::new, WriterLock::lost)
    }

    /// An error if another run has taken the target from this one.
    pub(crate) async fn check_lock(&self) -> Result<(), Error> {
        match &self.lock {
            Some(lock) => lock.check(self.target.label()).await,
            None => Ok(()),
        }
    }

    /// Ends a run that has failed: another one need not wait until nothing is heard of this one.
    pub(crate) async fn give_up(self) {
        if let (Some(work), Some(lock)) = (&self.work, self.lock)
            && let Err(error) = work.unlock(lock).await
        {
            tracing::warn!(%error, "the target could not be given up");
        }
    }
}
