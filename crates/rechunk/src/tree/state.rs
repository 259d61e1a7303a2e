//! State of the copy of a group: saved in `TARGET.rechunk/`, and read there by a later run to
//! decide whether it may start.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_store::{Role, Store, Stores, check_below};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::commit::TreeDocuments;
use super::grown::check_fresh;
use super::rules::Selection;
use super::{TreeArray, TreeJob};
use crate::consolidated::at_once;
use crate::documents::{Documents, METADATA_KEYS, Node, Wanted};
use crate::error::store_error;
use crate::growth::Growth;
use crate::member_location::member_location;
use crate::open::hex;
use crate::others::OtherFile;
use crate::place::{begun_before, ended_meanwhile, nothing_begun, overwrites, unfinished};
use crate::request::{CopyRequest, Existing, Running};
use crate::resumption::other_job;
use crate::target::check_absent;
use crate::walk::{DIRECTORIES_MAX, Visited, walk};
use crate::work_dir::WorkDir;
use crate::writer_lock::{WriterLock, held_by};
use crate::{Axes, Error, Remedy};

const TREE_VERSION: u32 = 1;

/// The copy of a group, as a run leaves it to be resumed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SavedTree {
    version: u32,
    request: CopyRequest,
    selection: Selection,
    /// SHA-256 of the groups with their attributes, hex.
    groups: String,
    arrays: Vec<SavedArray>,
    /// Files beside arrays and documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherFile>,
    /// It was given up: what it has written is being removed, and nothing of that is whole any
    /// more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_given_up: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SavedArray {
    path: String,
    /// SHA-256 of the source's metadata documents, hex.
    source_identity: String,
    /// SHA-256 of the target's metadata documents, hex.
    target_identity: String,
    /// Place of the source in an array that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    growth: Option<Growth>,
}

impl SavedTree {
    pub(crate) fn new(job: &TreeJob) -> Self {
        let array = |TreeArray { path, job }: &TreeArray| {
            let saved = job.saved();
            let (source_identity, target_identity) = (saved.source_identity, saved.target_identity);
            let growth = saved.growth;
            SavedArray { path: path.clone(), source_identity, target_identity, growth }
        };
        let later = |(path, source_identity, target_identity): (&str, String, String)| SavedArray {
            path: path.to_owned(),
            source_identity,
            target_identity,
            growth: None,
        };
        let later = job.later.identities().map(later);
        Self {
            version: TREE_VERSION,
            request: job.request.clone(),
            selection: job.selection.clone(),
            groups: groups_identity(job),
            arrays: job.arrays.iter().map(array).chain(later).collect(),
            others: job.others.files.clone(),
            is_given_up: false,
        }
    }

    fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec_pretty(self).map_err(|error| state(error.to_string()))
    }

    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self, Error> {
        let saved: Self =
            serde_json::from_slice(bytes).map_err(|error| state(error.to_string()))?;
        if saved.version != TREE_VERSION {
            return Err(state(format!("its version {} is not known", saved.version)));
        }
        for SavedArray { path, .. } in &saved.arrays {
            check_below(path).map_err(|reason| state(format!("its array {path:?}: {reason}")))?;
        }
        for OtherFile { path, .. } in &saved.others {
            check_below(path).map_err(|reason| state(format!("its file {path:?}: {reason}")))?;
        }
        let mut growths = saved.arrays.iter().filter_map(|array| array.growth.as_ref());
        growths.try_for_each(Growth::check).map_err(state)?;
        Ok(saved)
    }

    /// True if what it has written is being removed.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Paths of its arrays.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|array| array.path.as_str())
    }

    /// Paths of its other files.
    pub(crate) fn others(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(|file| file.path.as_str())
    }

    /// Order of axes that was asked for.
    pub(super) fn axes(&self) -> Option<Axes> {
        self.request.axes
    }

    /// Where each of its arrays goes in one that exists, by path.
    pub(super) fn growths(self) -> impl Iterator<Item = (String, Option<Growth>)> {
        self.arrays.into_iter().map(|array| (array.path, array.growth))
    }

    /// Difference between this copy and another, in words; `None` if they are the same.
    fn difference(&self, other: &Self) -> Option<String> {
        if self.request.source != other.request.source {
            return Some(format!("its source is {}", self.request.source));
        }
        let by_path = |tree: &'_ Self| -> BTreeMap<String, usize> {
            let paths = tree.arrays.iter().map(|array| array.path.clone());
            paths.zip(0..).collect()
        };
        let (mine, theirs) = (by_path(self), by_path(other));
        for array in &self.arrays {
            let (mine, path) = (array, &array.path);
            let theirs = theirs.get(path).and_then(|number| other.arrays.get(*number));
            let Some(theirs) = theirs else {
                return Some(format!("the array {path} is one of its arrays"));
            };
            if mine.source_identity != theirs.source_identity {
                return Some(format!("the metadata of the array {path} in the source has changed"));
            }
            if mine.growth != theirs.growth {
                let of = |array: &SavedArray| {
                    let growth = array.growth.as_ref();
                    growth.map_or_else(|| "is copied".to_owned(), |to| to.summary.clone())
                };
                return Some(format!("its array {path} {}, not {}", of(mine), of(theirs)));
            }
            if mine.target_identity != theirs.target_identity {
                return Some(format!(
                    "its array {path} has other chunks, codecs or another format"
                ));
            }
        }
        let is_new = |array: &&SavedArray| !mine.contains_key(&array.path);
        if let Some(theirs) = other.arrays.iter().find(is_new) {
            return Some(format!("the array {} is none of its arrays", theirs.path));
        }
        if let Some(difference) = self.difference_in_others(other) {
            return Some(difference);
        }
        if self.groups != other.groups {
            return Some("the groups of the source, their attributes or the format differ".into());
        }
        None
    }
}

impl SavedTree {
    /// Difference between the other files of two copies, in words.
    fn difference_in_others(&self, now: &Self) -> Option<String> {
        let find = |files: &[OtherFile], path: &str| {
            files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok()
        };
        if self.others == now.others {
            return None;
        }
        let gone = self.others.iter().find(|file| !find(&now.others, &file.path));
        let new = now.others.iter().find(|file| !find(&self.others, &file.path));
        let mut both = self.others.iter().zip(&now.others);
        Some(match (gone, new, both.find(|(before, now)| before != now)) {
            (Some(file), ..) => format!("the file {} is one of its files", file.path),
            (_, Some(file), _) => format!("the file {} is none of its files", file.path),
            (.., changed) => {
                let path = changed.map_or("", |(file, _)| file.path.as_str());
                format!("the file {path} of the source was written since")
            }
        })
    }
}

fn state(reason: String) -> Error {
    Error::State { path: "tree.json".to_owned(), reason }
}

fn groups_identity(job: &TreeJob) -> String {
    let mut hash = Sha256::new();
    hash.update(job.format.name());
    for (path, group) in [(&String::new(), &job.root)].into_iter().chain(&job.groups) {
        let [attributes, extensions] = [&group.attributes, &group.extensions]
            .map(|map| serde_json::Value::Object(map.clone()).to_string());
        for text in [path, &attributes, &extensions] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    hex(&hash.finalize())
}

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
    match (left, running.existing) {
        (Left::Unfinished(_), Existing::Refuse) => Err(unfinished(location)),
        (Left::Unfinished(saved), Existing::Resume) => {
            match saved.difference(&SavedTree::new(job)) {
                Some(difference) => Err(other_job(location, &difference)),
                None if saved.is_given_up => Ok(Start::Over),
                None => Ok(Start::Resume),
            }
        }
        (Left::Unfinished(_), Existing::Overwrite) => {
            // Complete, it may have been put to use.
            if is_node(target).await? {
                return Err(there(location, "is complete", Remedy::ResumeToTidy));
            }
            Ok(Start::Over)
        }
        (Left::Nothing | Left::Emptied, Existing::Resume)
            if TreeDocuments::of(job)?.are_at(target).await? =>
        {
            Ok(Start::Done)
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

/// True if there is an array or a group.
async fn is_node(target: &Store) -> Result<bool, Error> {
    let documents = Documents::fetch(&target.with_role(Role::Control)).await;
    let documents = documents.map_err(|source| store_error("look at", target.label(), source))?;
    // What cannot be understood is there.
    Ok(documents.node().map_or(true, |node| node.is_some()))
}

/// Removes all that a run has written at `location`, which is given up. It is said before that
/// nothing of it is whole: a kill meanwhile leaves arrays that look complete. Refuses to remove
/// what that run has not written, and what is being written.
pub(crate) async fn remove_begun(
    location: &str,
    saved: &SavedTree,
    target: &Store,
    work: &WorkDir,
    stores: &Stores,
) -> Result<(), Error> {
    check_own(location, saved, target, stores).await?;
    if !saved.is_given_up {
        work.save_tree(SavedTree { is_given_up: true, ..saved.clone() }.to_json()?).await?;
    }
    let failed = |source| store_error("remove what was begun at", location, source);
    let target = target.with_role(Role::Control);
    // Nobody is to take for whole what is half removed.
    let places = saved.paths().filter(|path| is_below(&target, path));
    let keys = places.flat_map(|path| METADATA_KEYS.map(|key| format!("{path}/{key}")));
    // One by one: some stores take it for a fault if one of many is not there.
    let deleted = keys.map(|key| async { target.delete(&{ key }).await });
    let deleted = stream::iter(deleted).buffer_unordered(at_once(&target));
    deleted.try_collect::<()>().await.map_err(failed)?;
    target.delete_prefix("").await.map_err(failed)
}

/// False for what is not a directory of a local target itself: a link leads to what is somebody's.
fn is_below(target: &Store, path: &str) -> bool {
    let Some(root) = target.local_root() else { return true };
    let mut at = root.to_owned();
    path.split('/').all(|name| {
        at.push(name);
        at.symlink_metadata().is_ok_and(|found| found.is_dir())
    })
}

async fn check_own(
    location: &str,
    saved: &SavedTree,
    target: &Store,
    stores: &Stores,
) -> Result<(), Error> {
    for path in saved.paths() {
        let member = member_location(location, path);
        if let Some(writer) = WorkDir::of(&member, stores)?.writer().await? {
            return Err(held_by(&member, writer));
        }
    }
    let own: BTreeSet<&str> = saved.paths().collect();
    let mut other = None;
    let all = target.with_role(Role::Control);
    let cut = walk(&all, DIRECTORIES_MAX, Wanted::Newest, |path, visited| {
        let is_state_of_own = || path.strip_suffix(".rechunk").is_some_and(|of| own.contains(of));
        let what = match visited {
            Visited::Level(_) => return false,
            _ if own.contains(path) || other.is_some() => return false,
            Visited::State if is_state_of_own() => return false,
            Visited::State => "the state of a run, ",
            Visited::Documents(documents) => match documents.node() {
                Ok(None | Some(Node::Group(_))) => return true,
                Ok(Some(Node::Array(_))) | Err(_) => "the array ",
            },
        };
        other = Some(format!("{what}{path}"));
        false
    });
    let left_out = cut.await.map_err(|source| store_error("look through", location, source))?;
    let other = match other {
        None => match left_out {
            None => return Ok(()),
            Some(path) => format!("more than was looked through (not {path})"),
        },
        Some(other) => other,
    };
    let reason = format!("holds {other}, which the run that would be given up has not written");
    Err(there(location, &reason, Remedy::MoveOrResume))
}

/// Refuses a target where something is: a group is never replaced, nor an array by one.
async fn absent(location: &str, target: &Store) -> Result<(), Error> {
    match check_absent(location, target, false).await {
        Err(Error::Conflict { location, reason, .. }) => {
            let hint = "choose another target, or remove it yourself: a group is not put in the \
                        place of what is there";
            Err(there(&location, &reason, hint))
        }
        other => other,
    }
}

fn there(location: &str, reason: &str, hint: impl Into<Remedy>) -> Error {
    Error::Conflict {
        location: location.to_owned(),
        reason: reason.to_owned(),
        hint: Some(hint.into()),
    }
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
            return Ok(Self { target, work: None, start, lock: None });
        };
        // What is refused is refused before anything is written.
        start(job, running, &target, &Left::at(&work, &target).await?).await?;
        let lock = work.lock(&job.request.target).await?;
        let begun = Box::pin(Self::begin(job, running, &target, &work));
        match lock.while_held(&job.request.target, begun).await {
            Ok(start) => Ok(Self { target, work: Some(work), start, lock: Some(lock) }),
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
        if matches!(start, Start::Fresh | Start::Over) {
            work.save_tree(SavedTree::new(job).to_json()?).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Status, clean and a resume go where the arrays are said to be.
    #[test]
    fn arrays_are_below_their_group() {
        let saved = |path: &str| {
            let growth = None;
            let identity = String::new();
            let array = SavedArray {
                path: path.to_owned(),
                source_identity: identity.clone(),
                target_identity: identity.clone(),
                growth,
            };
            let tree = SavedTree {
                version: TREE_VERSION,
                request: CopyRequest::new("a.zarr", "b.zarr"),
                selection: Selection::default(),
                groups: identity,
                arrays: vec![array],
                others: Vec::new(),
                is_given_up: false,
            };
            let read = SavedTree::from_json(&tree.to_json().unwrap());
            read.map(|tree| tree.paths().map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(saved("a/b").unwrap(), ["a/b"]);
        for path in ["../c.zarr", "a/../../c", "/etc", "", "a//b", "%2E%2e/c", "a\u{1b}[2J"] {
            let error = saved(path).unwrap_err().to_string();
            assert!(error.contains("tree.json") && error.contains("its array"), "{error}");
        }
    }
}
