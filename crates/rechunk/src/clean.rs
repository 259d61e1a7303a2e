//! Removes what an interrupted run has left: its state, its intermediate, and the chunks of a
//! target that never became an array. Nothing else: every key is one that the saved job says is its
//! own.

use rechunk_format::Layout;
use rechunk_grid::AxisEdges;
use rechunk_store::{Role, Store, StoreError, Stores};
use serde::Serialize;
use std::sync::Arc;

use crate::Error;
use crate::chunk_objects::remove_keys_of;
use crate::error::store_error;
use crate::formats::Documents;
use crate::growth::{Growth, describe_grown};
use crate::gzip_file::part_of;
use crate::intermediate::remove_outside_of;
use crate::member_location::member_location;
use crate::others::remove_begun as remove_begun_others;
use crate::parts::live_worker;
use crate::saved_job::SavedJob;
use crate::target::{is_array, open_target};
use crate::tree::{SavedTree, check_not_between, remove_begun};
use crate::work_dir::{Left, WorkDir};
use crate::writer_lock::{WriterLock, held_by};

/// Counts of removed things.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cleaned {
    /// The target.
    pub target: String,
    /// Work directories.
    pub work_directories: u64,
    /// Intermediates that lay elsewhere.
    pub intermediates: u64,
    /// Arrays that were to be replaced, and are at their places again.
    pub put_back: u64,
    /// Chunks, unfinished files and copies of other files of targets that were not complete.
    pub objects: u64,
}

/// Removes what a run has left at `target`. Refuses while one writes it.
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
/// use rechunk::{Stores, clean};
///
/// let cleaned = clean(&target, &Stores::default()).await?;
/// assert_eq!(cleaned.work_directories, 0);
/// # Ok(())
/// # }
/// ```
pub async fn clean(target: &str, stores: &Stores) -> Result<Cleaned, Error> {
    let work = WorkDir::of(target, stores)?;
    if let Some(writer) = work.writer().await? {
        return Err(held_by(target, writer));
    }
    let mut cleaned = Cleaned { target: target.to_owned(), ..Cleaned::default() };
    let tree = work.saved_tree().await?.map(|bytes| SavedTree::from_json(&bytes)).transpose()?;
    let left = if tree.is_some() { Left::Nothing } else { work.left().await? };
    if tree.is_none() && matches!(left, Left::Nothing) && !work.exists().await? {
        return Ok(cleaned);
    }
    if let Left::Unfinished(saved) = &left
        && let Some((holder, silent_seconds)) = live_worker(&work, saved).await?
    {
        return Err(held_by(target, (holder, Some(silent_seconds))));
    }
    let lock = work.lock(target).await?;
    let done = async {
        if let Left::Unfinished(saved) = &left
            && let Some(name) = &saved.parts
        {
            // Parts that nobody knows of stop when they look.
            work.save_job(&SavedJob { parts: None, ..saved.clone() }).await?;
            work.remove_parts(name).await?;
        }
        if let Some(tree) = &tree {
            check_not_between(target, tree, &work, stores).await?;
            // One array of a pyramid writes the chunks of all.
            if tree.is_given_up() || tree.request().pyramid.is_some() {
                // A kill has kept --overwrite from that: what looks complete there may not be.
                let begun = open_target(target, stores)?;
                let removed = Box::pin(remove_begun(target, tree, &begun, &work, stores));
                lock.while_held(target, removed).await?;
            }
            for path in tree.paths() {
                let location = member_location(target, path);
                Box::pin(clean_member(&location, stores, &mut cleaned)).await?;
            }
            let removed = clean_others(target, tree, stores);
            cleaned.objects += lock.while_held(target, removed).await?;
        }
        clean_array(target, (&work, &lock), &left, stores, &mut cleaned).await
    };
    match done.await {
        Ok(()) => {
            drop(lock); // what it was is removed
            Ok(cleaned)
        }
        Err(error) => {
            work.unlock(lock).await?;
            Err(error)
        }
    }
}

/// The other files that a run has copied into a group that is not complete.
async fn clean_others(target: &str, tree: &SavedTree, stores: &Stores) -> Result<u64, Error> {
    let store = open_target(target, stores)?;
    let control = store.with_role(Role::Control);
    let failed = |source| store_error("remove what was begun at", target, source);
    let documents = Documents::fetch(&control).await.map_err(failed)?;
    // What cannot be understood is there.
    if documents.node().map_or(true, |node| node.is_some()) {
        return Ok(0);
    }
    let removed = remove_begun_others(target, &store, tree.others()).await?;
    remove_if_empty(&control).await.map_err(failed)?;
    Ok(removed)
}

/// Removes what the run of a group has left of one of its arrays, but not the state of a run of
/// that array alone.
async fn clean_member(location: &str, stores: &Stores, cleaned: &mut Cleaned) -> Result<(), Error> {
    let work = WorkDir::of(location, stores)?;
    if !work.exists().await? {
        cleaned.objects += remove_unmade(location, stores).await?;
        return Ok(());
    }
    if let Some(writer) = work.writer().await? {
        return Err(held_by(location, writer));
    }
    work.left().await?; // before there is a lock: the place may be somebody else's
    let lock = work.lock(location).await?;
    let left = work.left().await?;
    if let Left::Unfinished(saved) | Left::Done(Some(saved)) = &left
        && !saved.in_tree
    {
        return work.unlock(lock).await;
    }
    clean_array(location, (&work, &lock), &left, stores, cleaned).await?;
    drop(lock);
    Ok(())
}

/// Removes the objects of a small array that the run of a group has begun at an object store. No
/// state of it is kept: nothing was there before, and nothing says that it is an array. Returns
/// their number.
async fn remove_unmade(location: &str, stores: &Stores) -> Result<u64, Error> {
    let store = open_target(location, stores)?;
    if store.local_root().is_some() {
        return Ok(0);
    }
    let failed = |source| store_error("remove what was begun at", location, source);
    let control = store.with_role(Role::Control);
    let documents = Documents::fetch(&control).await.map_err(failed)?;
    // What cannot be understood is there.
    if documents.node().map_or(true, |node| node.is_some()) {
        return Ok(0);
    }
    let found = control.list_first("", usize::MAX).await.map_err(failed)?;
    let removed = found.len() as u64;
    control.delete_keys(found.into_iter().map(|(key, _)| key)).await.map_err(failed)?;
    Ok(removed)
}

async fn clean_array(
    target: &str,
    (work, lock): (&WorkDir, &WriterLock),
    left: &Left,
    stores: &Stores,
    cleaned: &mut Cleaned,
) -> Result<(), Error> {
    lock.while_held(target, remove_elements(target, left, work, stores, cleaned)).await?;
    if work.exists().await? {
        if matches!(left, Left::Unfinished(_) | Left::Damaged(_)) {
            cleaned.put_back += u64::from(work.put_back(&open_target(target, stores)?).await?);
        }
        work.remove().await?;
        cleaned.work_directories += 1;
    }
    Ok(())
}

/// Removes what a run has written of the elements of an array. Before anything goes, what says that
/// it is written does: a kill meanwhile leaves a job that is to be begun again.
async fn remove_elements(
    target: &str,
    left: &Left,
    work: &WorkDir,
    stores: &Stores,
    cleaned: &mut Cleaned,
) -> Result<(), Error> {
    match left {
        Left::Unfinished(saved) => {
            match &saved.growth {
                Some(growth) => {
                    remove_grown(target, saved, (growth, false), work, stores, cleaned).await?;
                }
                None => remove_chunks(target, saved, work, stores, cleaned).await?,
            }
            cleaned.intermediates += u64::from(remove_outside_of(saved, stores).await?);
        }
        // It may have all its chunks and not be made known.
        Left::Done(Some(saved)) => {
            if let Some(growth) = &saved.growth {
                remove_grown(target, saved, (growth, true), work, stores, cleaned).await?;
            }
            cleaned.intermediates += u64::from(remove_outside_of(saved, stores).await?);
        }
        // Of one that cannot be read nobody knows which chunks are its own.
        Left::Nothing | Left::Done(None) | Left::Late | Left::Damaged(_) => {}
    }
    Ok(())
}

/// The chunks behind the end of an array that was to grow, and has not: those wholly behind it.
/// Chunks that have an element of the array stay, and all of an array that has another shape.
async fn remove_grown(
    target: &str,
    saved: &SavedJob,
    (growth, is_written): (&Growth, bool),
    work: &WorkDir,
    stores: &Stores,
    cleaned: &mut Cleaned,
) -> Result<(), Error> {
    let store = open_target(target, stores)?;
    let failed = |source| store_error("remove what was begun at", target, source);
    cleaned.objects += store.remove_staging().await.map_err(failed)?;
    let control = store.with_role(Role::Control);
    let documents = Documents::fetch(&control).await.map_err(failed)?;
    let (Some(axis), Ok(Some(array))) = (growth.axis, documents.array(saved.request.axes)) else {
        return Ok(());
    };
    let (Ok(layout), spec) = (array.layout(), array.spec()) else { return Ok(()) };
    if array.spec().shape != growth.before {
        if is_written && array.spec().shape == growth.after && !saved.in_tree {
            // It may have been stopped before it had said that above the array.
            describe_grown(target, &store, &array).await?;
        }
        return Ok(());
    }
    let object = array.object_shape();
    let count = |shape: &[u64], axis: usize| {
        let listed = spec.edges.as_ref().and_then(|edges| edges.axis(axis));
        listed.map_or_else(|| shape[axis].div_ceil(object[axis].max(1)), AxisEdges::count)
    };
    // Objects along each axis when it is done, and those along the one that grows before.
    let mut ends: Vec<u64> = (0..object.len()).map(|axis| count(&growth.after, axis)).collect();
    if let Some(lengths) = &growth.lengths {
        ends[axis] = lengths.count();
    }
    let first = count(&growth.before, axis);
    let is_new = |index: &[u64]| {
        index[axis] >= first && index.iter().zip(&ends).all(|(position, end)| position < end)
    };
    work.take_back(saved, is_written).await?;
    cleaned.objects += remove_keys_of(&control, &layout, is_new).await.map_err(failed)?;
    Ok(())
}

/// The chunks of a target that is not complete; an array that was to be replaced stays.
async fn remove_chunks(
    target: &str,
    saved: &SavedJob,
    work: &WorkDir,
    stores: &Stores,
    cleaned: &mut Cleaned,
) -> Result<(), Error> {
    let store = open_target(target, stores)?;
    let failed = |source| store_error("remove what was begun at", target, source);
    if let Some(path) = store.local_root()
        && part_of(path).is_file()
        && let Some((folder, name)) = store.parent().map_err(failed)?
    {
        work.take_back(saved, false).await?;
        folder.with_role(Role::Control).delete(&format!("{name}.part")).await.map_err(failed)?;
        cleaned.objects += 1;
    }
    if saved.replaces || is_array(&store).await? {
        return Ok(());
    }
    work.take_back(saved, false).await?;
    cleaned.objects += store.remove_staging().await.map_err(failed)?;
    let Some(layout) = layout_of(saved) else { return Ok(()) };
    let control = store.with_role(Role::Control);
    cleaned.objects += remove_keys_of(&control, &layout, |_| true).await.map_err(failed)?;
    remove_if_empty(&control).await.map_err(failed)
}

/// Removes the directories of a local target in which nothing is left.
async fn remove_if_empty(target: &Store) -> Result<(), StoreError> {
    if target.local_root().is_some() && target.is_empty().await? {
        target.delete_prefix("").await?;
    }
    Ok(())
}

/// The layout of the target that a job writes.
fn layout_of(saved: &SavedJob) -> Option<Arc<dyn Layout>> {
    let documents = Documents::of_saved(&saved.target_documents);
    documents.array(saved.request.axes).ok()??.layout().ok()
}
