//! The contract of a store: objects there and back, ranges, lists, deletions, conditions, copies,
//! and what is counted of them.

mod conditions;
mod counting;
mod listing;
mod reading;
mod writing;

use bytes::Bytes;
use rechunk_store::{Store, StoreError};

use crate::Violation;
use crate::violation::ensure;

/// Objects that a store has when [`check_reading`] is called: one of ten bytes, one without any,
/// and a document.
pub const OBJECTS: [(&str, &[u8]); 3] =
    [("c/0/0", b"0123456789"), ("c/0/1", b""), ("zarr.json", b"{}")];

/// Holds an empty store that can be written to the contract of [`Store`]. It is empty again
/// afterwards.
///
/// What is checked: an absent object is `None`, or an error where it has to be there; an object is
/// whole, replaced whole, and may be empty; ranges and ends; keys that lead out are refused; lists,
/// directories and deletions keep to their prefix; conditional writes (in stores that others write
/// to at the same time: not in local directories); copies by the store itself, or their refusal;
/// requests and bytes are counted by role.
///
/// A store whose requests are tried again when they fail makes this take longer: open it without.
pub async fn check_store(store: &Store) -> Result<(), Violation> {
    writing::check_absent(store).await?;
    for (key, bytes) in OBJECTS {
        put(store, key, bytes).await?;
    }
    check_reading(store).await?;
    writing::check_replaced(store).await?;
    writing::check_refused_keys(store).await?;
    writing::check_copies(store).await?;
    listing::check_deletions(store).await?;
    conditions::check(store).await?;
    counting::check_writing(store).await?;
    let emptied = store.delete_prefix("").await;
    emptied.map_err(|error| failed(store, "delete all", &error))?;
    holds(store, store.can_list() && is_empty(store).await?, "is empty when all is deleted")
}

/// Holds a store that has [`OBJECTS`], and nothing else, to the part of the contract of [`Store`]
/// that is about reading.
pub async fn check_reading(store: &Store) -> Result<(), Violation> {
    reading::check(store).await?;
    reading::check_ranges(store).await?;
    reading::check_ends(store).await?;
    counting::check_reading(store).await?;
    if store.can_list() { listing::check(store).await } else { listing::check_refused(store).await }
}

async fn put(store: &Store, key: &str, bytes: &[u8]) -> Result<(), Violation> {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let parts = [first, second].map(Bytes::copy_from_slice).to_vec();
    store.put(key, parts).await.map_err(|error| failed(store, &format!("put {key}"), &error))
}

async fn is_empty(store: &Store) -> Result<bool, Violation> {
    store.is_empty().await.map_err(|error| failed(store, "be looked into", &error))
}

/// A violation where an operation fails that must not.
fn failed(store: &Store, action: &str, error: &StoreError) -> Violation {
    Violation::new(format!("{} cannot {action}: {error}", store.label()))
}

fn holds(store: &Store, is_so: bool, rule: &str) -> Result<(), Violation> {
    ensure(is_so, || format!("{}: this does not hold: {rule}", store.label()))
}
