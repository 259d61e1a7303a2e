//! Gives up the copy of a group: removes what a run has written, and nothing else.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_image::read_image;
use rechunk_store::{Role, Store, StoreError, Stores};

use super::saved::SavedTree;
use crate::consolidated::at_once;
use crate::error::store_error;
use crate::formats::{Documents, METADATA_KEYS, Node, Wanted};
use crate::member_location::member_location;
use crate::parts::live_worker;
use crate::walk::{DIRECTORIES_MAX, Visited, walk};
use crate::work_dir::{Left, WorkDir};
use crate::writer_lock::held_by;
use crate::{Error, Remedy};

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
    if !saved.is_given_up() {
        work.save_tree(saved.given_up().to_json()?).await?;
    }
    let failed = |source| store_error("remove what was begun at", location, source);
    let target = target.with_role(Role::Control);
    if saved.adds_levels() {
        // What the image names is not written anew yet.
        let named = Documents::fetch(&target).await.map_err(failed)?.group();
        let named = named.ok().and_then(|group| read_image(&group.attributes));
        let named: BTreeSet<String> =
            named.into_iter().flat_map(|image| image.levels).map(|level| level.path).collect();
        let begun: Vec<String> = saved.paths().map(str::to_owned).collect();
        let begun: Vec<String> = begun.into_iter().filter(|path| !named.contains(path)).collect();
        return remove_arrays(location, &begun, &target).await;
    }
    remove_documents(saved.paths(), &target).await.map_err(failed)?;
    target.delete_prefix("").await.map_err(failed)
}

/// Removes the documents of arrays: nobody is to take for whole what is half removed.
async fn remove_documents(
    paths: impl Iterator<Item = &str>,
    target: &Store,
) -> Result<(), StoreError> {
    let places = paths.filter(|path| is_below(target, path));
    let keys = places.flat_map(|path| METADATA_KEYS.map(|key| format!("{path}/{key}")));
    // One by one: some stores take it for a fault if one of many is not there.
    let deleted = keys.map(|key| async { target.delete(&{ key }).await });
    let deleted = stream::iter(deleted).buffer_unordered(at_once(target));
    deleted.try_collect::<()>().await
}

/// Removes arrays of the group at `target`, by their paths.
pub(super) async fn remove_arrays(
    location: &str,
    paths: &[String],
    target: &Store,
) -> Result<(), Error> {
    let failed = |source| store_error("remove arrays of", location, source);
    let target = target.with_role(Role::Control);
    remove_documents(paths.iter().map(String::as_str), &target).await.map_err(failed)?;
    for path in paths.iter().filter(|path| is_below(&target, path)) {
        target.delete_prefix(path).await.map_err(failed)?;
    }
    Ok(())
}

/// False for what is not a directory of a local target itself: a link leads to what is somebody's.
pub(super) fn is_below(target: &Store, path: &str) -> bool {
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
        let work = WorkDir::of(&member, stores)?;
        if let Some(writer) = work.writer().await? {
            return Err(held_by(&member, writer));
        }
        if let Left::Unfinished(array) = work.left().await?
            && let Some((holder, silent_seconds)) = live_worker(&work, &array).await?
        {
            return Err(held_by(&member, (holder, Some(silent_seconds))));
        }
    }
    if saved.adds_levels() {
        return Ok(()); // of an image no more than its new levels is removed
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

/// Something is at the target, and is not to be removed.
pub(super) fn there(location: &str, reason: &str, hint: impl Into<Remedy>) -> Error {
    Error::Conflict {
        location: location.to_owned(),
        reason: reason.to_owned(),
        hint: Some(hint.into()),
    }
}
