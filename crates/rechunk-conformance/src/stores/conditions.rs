use bytes::Bytes;
use rechunk_store::Store;

use super::rule::{failed, holds};
use crate::Violation;

const KEY: &str = "conditional";

/// Checks writes that happen only if nobody else was first. A local directory has locks instead.
pub(super) async fn check(store: &Store) -> Result<(), Violation> {
    if store.local_root().is_some() {
        return Ok(());
    }
    let absent = store.snapshot(KEY, 99).await;
    holds(store, matches!(absent, Ok(None)), "there is no state of an absent object")?;
    let created = store.create(KEY, Bytes::from_static(b"of the first")).await;
    let created = created.map_err(|error| failed(store, "create an object", &error))?;
    holds(store, created.is_some(), "an object is created where there is none")?;
    let other = store.create(KEY, Bytes::from_static(b"of the second")).await;
    holds(store, matches!(other, Ok(None)), "an object is not created where there is one")?;
    let seen = store.snapshot(KEY, 99).await;
    let seen = seen.map_err(|error| failed(store, "see the state of an object", &error))?;
    let Some(seen) = seen.filter(|seen| seen.bytes == "of the first") else {
        return holds(store, false, "the state of an object has its bytes");
    };
    let replaced = store.replace(KEY, Bytes::from_static(b"of the third"), &seen.seen).await;
    let replaced = replaced.map_err(|error| failed(store, "replace an object", &error))?;
    holds(store, replaced.is_some(), "an object is replaced in the state that was seen")?;
    let late = store.replace(KEY, Bytes::from_static(b"of the fourth"), &seen.seen).await;
    holds(store, matches!(late, Ok(None)), "an object is not replaced in another state")?;
    let found = store.get(KEY, 99).await;
    let is_it = found.is_ok_and(|found| found.is_some_and(|bytes| bytes == "of the third"));
    holds(store, is_it, "a write that is refused changes nothing")?;
    store.delete(KEY).await.map_err(|error| failed(store, "delete an object", &error))
}
