use futures::TryStreamExt;
use rechunk_store::{Store, StoreError};

use super::objects::{OBJECTS, is_empty, put};
use super::rule::{failed, holds};
use crate::Violation;

/// Checks that lists have the objects of their prefix, with sizes, and the directories.
pub(super) async fn check(store: &Store) -> Result<(), Violation> {
    let all: Vec<_> =
        OBJECTS.iter().map(|(key, bytes)| ((*key).to_owned(), bytes.len() as u64)).collect();
    holds(store, list(store, "").await? == all, "a list has every object with its size")?;
    holds(store, list(store, "c").await? == all[..2], "a list keeps to its prefix")?;
    holds(store, list(store, "c/0").await?.len() == 2, "a prefix may have many names")?;
    let names = list(store, "zarr").await?;
    holds(store, names.is_empty(), "a prefix is a whole path, and no beginning of a name")?;
    let first = store.list_first("", 1).await;
    holds(store, first.is_ok_and(|first| first.len() == 1), "a list may be cut short")?;
    let directories = store.list_directories("").await;
    let is_it = directories.is_ok_and(|names| names == ["c"]);
    holds(store, is_it, "directories are those that have objects below them")?;
    let level = store.list_level("").await;
    let level = level.map_err(|error| failed(store, "list one level", &error))?;
    let files: Vec<_> = level.files.iter().map(|file| (file.name.as_str(), file.bytes)).collect();
    let is_it = level.directories == ["c"] && files == [("zarr.json", 2)];
    holds(store, is_it, "a level has its directories and its files")?;
    let child = store.child("c").map_err(|error| failed(store, "open a place in it", &error))?;
    let below = list(&child, "").await?;
    let names: Vec<_> = below.iter().map(|(key, _)| key.as_str()).collect();
    holds(store, names == ["0/0", "0/1"], "keys are relative to the place that is listed")
}

/// Checks that a store that cannot list says so.
pub(super) async fn check_refused(store: &Store) -> Result<(), Violation> {
    let listed = store.list("").try_next().await;
    let is_refused = matches!(listed, Err(StoreError::NoListing { .. }));
    holds(store, is_refused, "a store that cannot be listed says so")
}

/// Checks that deletions keep to what they name. Only [`OBJECTS`] are there, before and after.
pub(super) async fn check_deletions(store: &Store) -> Result<(), Violation> {
    for key in ["d/0", "d/1/0", "dog", "e/0", "e/1"] {
        put(store, key, key.as_bytes()).await?;
    }
    let deleted = store.delete_prefix("d").await;
    deleted.map_err(|error| failed(store, "delete below a prefix", &error))?;
    holds(store, list(store, "d").await?.is_empty(), "everything below a prefix is deleted")?;
    let dog = store.exists("dog").await;
    holds(store, matches!(dog, Ok(true)), "what only begins like a prefix stays")?;
    let keys = ["dog", "e/0", "e/1", "e/2"].map(str::to_owned);
    let deleted = store.delete_keys(keys).await;
    deleted.map_err(|error| failed(store, "delete objects by their keys", &error))?;
    let left = list(store, "").await?;
    holds(store, left.len() == OBJECTS.len(), "what is not named stays")?;
    holds(store, !is_empty(store).await?, "a store with objects is not empty")
}

async fn list(store: &Store, prefix: &str) -> Result<Vec<(String, u64)>, Violation> {
    let listed: Result<Vec<_>, _> = store.list(prefix).try_collect().await;
    let mut listed = listed.map_err(|error| failed(store, "list objects", &error))?;
    listed.sort();
    Ok(listed)
}
