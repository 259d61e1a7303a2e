use rechunk_store::{Copied, Store, StoreError};

use super::objects::{is_empty, put};
use super::reading::{ABSENT, TEN};
use super::rule::{failed, holds};
use crate::Violation;

/// Keys that lead out of a store, or that it cannot hold.
const REFUSED_KEYS: [&str; 7] = ["", "/etc/passwd", "..", "a/../../x", "a//b", "a/", "./a"];

/// Checks that an empty store has nothing, and that to delete nothing is fine.
pub(super) async fn check_absent(store: &Store) -> Result<(), Violation> {
    holds(store, store.read_only().is_none(), "it can be written")?;
    holds(store, is_empty(store).await?, "it is empty before it is checked")?;
    let deleted = store.delete(ABSENT).await;
    deleted.map_err(|error| failed(store, "delete an absent object", &error))?;
    let deleted = store.delete_prefix("nothing/there").await;
    deleted.map_err(|error| failed(store, "delete below an absent prefix", &error))
}

/// Checks that an object takes the place of another, whole, under names that need care.
pub(super) async fn check_replaced(store: &Store) -> Result<(), Violation> {
    for text in ["a longer one", "short", ""] {
        put(store, "again", text.as_bytes()).await?;
        let found = store.get("again", 99).await;
        let is_it = found.is_ok_and(|found| found.is_some_and(|bytes| bytes == text));
        holds(store, is_it, "an object is replaced as a whole")?;
    }
    for key in ["a b", "a%20b", "ü/日本", "a+b"] {
        put(store, key, key.as_bytes()).await?;
    }
    for key in ["a b", "a%20b", "ü/日本", "a+b"] {
        let found = store.get(key, 99).await;
        let is_it = found.is_ok_and(|found| found.is_some_and(|bytes| bytes == key));
        holds(store, is_it, "a key with odd characters is one of its own")?;
        store.delete(key).await.map_err(|error| failed(store, "delete an object", &error))?;
    }
    let deleted = store.delete("again").await;
    deleted.map_err(|error| failed(store, "delete an object", &error))?;
    let synced = store.sync().await;
    synced.map_err(|error| failed(store, "make durable what was written", &error))?;
    let left = store.remove_staging().await;
    holds(store, matches!(left, Ok(0)), "finished writes leave nothing behind")
}

/// Checks that keys that lead out of the store are refused, whatever is to be done there.
pub(super) async fn check_refused_keys(store: &Store) -> Result<(), Violation> {
    for key in REFUSED_KEYS {
        let read = store.get(key, 9).await;
        let is_refused = matches!(read, Err(StoreError::InvalidKey { .. }));
        holds(store, is_refused, &format!("{key:?} is no key to read"))?;
        let is_refused = store.put(key, Vec::new()).await.is_err();
        holds(store, is_refused, &format!("{key:?} is no key to write"))?;
        let is_refused = store.delete(key).await.is_err();
        holds(store, is_refused, &format!("{key:?} is no key to delete"))?;
    }
    holds(store, store.child("..").is_err(), "no place in a store is outside it")
}

/// Checks that the store copies objects itself, or says that it does not.
pub(super) async fn check_copies(store: &Store) -> Result<(), Violation> {
    let copied = store.copy_from(store, TEN, "copied").await;
    let copied = copied.map_err(|error| failed(store, "copy an object", &error))?;
    if !store.can_copy_from(store) {
        let is_refused = matches!(copied, Copied::Refused(_));
        return holds(store, is_refused, "a copy is refused where the store makes none");
    }
    holds(store, matches!(copied, Copied::Done), "a copy is made where the store says so")?;
    let found = store.get("copied", 10).await;
    let is_it = found.is_ok_and(|found| found.is_some_and(|bytes| bytes == "0123456789"));
    holds(store, is_it, "a copy is what was copied")?;
    let missing = store.copy_from(store, ABSENT, "copied").await;
    holds(store, matches!(missing, Ok(Copied::Missing)), "there is no copy of an absent object")?;
    store.delete("copied").await.map_err(|error| failed(store, "delete an object", &error))
}
