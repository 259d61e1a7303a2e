use bytes::Bytes;
use rechunk_store::{End, Store, StoreError};

use super::objects::OBJECTS;
use super::rule::{failed, holds};
use crate::Violation;

/// The object of [`OBJECTS`] that parts are read of, and a key where there is nothing.
pub(super) const TEN: &str = "c/0/0";
pub(super) const ABSENT: &str = "c/9/9";

/// Checks that objects are there as they were stored, and nothing else is.
pub(super) async fn check(store: &Store) -> Result<(), Violation> {
    for (key, bytes) in OBJECTS {
        let size = bytes.len() as u64;
        let found = store.get(key, size).await;
        let found = found.map_err(|error| failed(store, &format!("get {key}"), &error))?;
        holds(store, found.as_deref() == Some(bytes), "an object is what was stored")?;
        let head = store.head(key).await;
        let head = head.map_err(|error| failed(store, &format!("look at {key}"), &error))?;
        holds(store, head == Some(size), "a look at an object tells its size")?;
    }
    let absent = store.get(ABSENT, 9).await;
    holds(store, matches!(absent, Ok(None)), "an absent object is None when it is read")?;
    let absent = store.head(ABSENT).await;
    holds(store, matches!(absent, Ok(None)), "an absent object is None when it is looked at")?;
    let mut buffer = b"before".to_vec();
    let is_there = store.get_into(TEN, 10, &mut buffer).await;
    let is_it = matches!(is_there, Ok(true)) && buffer == OBJECTS[0].1;
    holds(store, is_it, "a buffer holds the object and nothing from before")?;
    let large = store.get(TEN, 9).await;
    let is_refused =
        matches!(large, Err(StoreError::TooLarge { size_bytes: 10, limit_bytes: 9, .. }));
    holds(store, is_refused, "an object above the limit is refused")
}

/// Checks that a range is all there, or an error.
pub(super) async fn check_ranges(store: &Store) -> Result<(), Violation> {
    for (start, length, expected) in
        [(3, 4, "3456"), (0, 10, "0123456789"), (9, 1, "9"), (3, 0, "")]
    {
        let range = store.get_range(TEN, start, length).await;
        let range = range.map_err(|error| failed(store, "get a range", &error))?;
        holds(store, range == expected, "a range has the bytes that lie there")?;
    }
    for (start, length) in [(8, 4), (10, 1), (u64::MAX, 2)] {
        let range = store.get_range(TEN, start, length).await;
        holds(store, range.is_err(), "a range that is not all there is an error")?;
    }
    let absent = store.get_range(ABSENT, 0, 1).await;
    let is_not_found = absent.is_err_and(|error| error.is_not_found());
    holds(store, is_not_found, "a range of an absent object is an error that says so")?;
    let mut buffer = b"before".to_vec();
    let part = store.get_range_of_into(TEN, 10, 3..7, 10, &mut buffer).await;
    let is_it = matches!(part, Ok(true)) && buffer == b"3456";
    holds(store, is_it, "a part of an object of a known size is read")?;
    let other = store.get_range_of_into(TEN, 11, 3..7, 10, &mut buffer).await;
    let is_refused = other.is_err_and(|error| error.is_wrong_size());
    holds(store, is_refused, "a part of an object of another size is refused")?;
    let absent = store.get_range_of_into(ABSENT, 10, 3..7, 10, &mut buffer).await;
    holds(store, matches!(absent, Ok(false)), "a part of an absent object is none")
}

/// Checks that the first and the last bytes come with the size.
pub(super) async fn check_ends(store: &Store) -> Result<(), Violation> {
    for (end, length, expected) in [
        (End::First, 3, "012"),
        (End::Last, 3, "789"),
        (End::First, 11, "0123456789"),
        (End::Last, 11, "0123456789"),
    ] {
        let found = store.get_end(TEN, end, length).await;
        let found = found.map_err(|error| failed(store, "get an end", &error))?;
        let is_it = found == Some((Bytes::from_static(expected.as_bytes()), 10));
        holds(store, is_it, "an end comes with the size of the object")?;
    }
    for end in [End::First, End::Last] {
        let empty = store.get_end(OBJECTS[1].0, end, 3).await;
        let is_it = matches!(empty, Ok(Some((bytes, 0))) if bytes.is_empty());
        holds(store, is_it, "an end of an empty object is empty")?;
        let absent = store.get_end(ABSENT, end, 3).await;
        holds(store, matches!(absent, Ok(None)), "an end of an absent object is None")?;
    }
    Ok(())
}
