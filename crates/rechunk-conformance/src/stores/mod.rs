//! The contract of a store: objects there and back, ranges, lists, deletions, conditions, copies,
//! and what is counted of them.

mod conditions;
mod counting;
mod listing;
mod objects;
mod reading;
mod rule;
mod writing;

use rechunk_store::Store;

use crate::Violation;
use objects::{is_empty, put};
use rule::{failed, holds};

pub use objects::OBJECTS;

/// Holds an empty store that can be written to the contract of [`Store`]. It is empty again
/// afterwards.
///
/// Checked: an absent object is `None`, or an error where it has to be there; an object is
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
