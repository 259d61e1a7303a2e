//! Names of data sets.

use uuid::{Builder, Uuid};

use crate::DatastoreError;

/// Most bytes of a name: file systems take 255.
const BYTES_MAX: usize = 200;

/// Checks that `id` can be the name of a data set: a folder, and a part of a URL.
///
/// ```
/// use rechunk_datastore::check_dataset_id;
/// assert!(check_dataset_id("a3f2-em").is_ok());
/// assert!(check_dataset_id("..").is_err());
/// assert!(check_dataset_id("%2e%2e").is_err());
/// ```
pub fn check_dataset_id(id: &str) -> Result<(), DatastoreError> {
    let is_odd = |c: char| c.is_control() || "/\\%?#:*\"<>|".contains(c);
    // Names with a dot in front are our own.
    if id.is_empty() || id.len() > BYTES_MAX || id.starts_with('.') || id.contains(is_odd) {
        return Err(DatastoreError::Unknown("there is no data set of such a name".to_owned()));
    }
    Ok(())
}

/// Draws a new name: a UUID of version 4. Fails where the system gives no random numbers.
pub fn new_dataset_id() -> Result<String, DatastoreError> {
    random_uuid().map(|uuid| uuid.hyphenated().to_string())
}

/// A random UUID.
pub(crate) fn random_uuid() -> Result<Uuid, DatastoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        DatastoreError::Unacceptable(format!("the system gives no random numbers: {error}"))
    })?;
    Ok(Builder::from_random_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        for id in ["a", "3f1c0a52-8e0f-4c8e-9d43-0d5f35a2c3c1", "embryo 7", "é"] {
            check_dataset_id(id).unwrap();
        }
        let long = "x".repeat(201);
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "a\0", "%2e", ".datastore", "a#1", &long] {
            check_dataset_id(id).unwrap_err();
        }
        let drawn = new_dataset_id().unwrap();
        check_dataset_id(&drawn).unwrap();
        assert_eq!((drawn.len(), &drawn[14..15]), (36, "4"));
        assert_ne!(drawn, new_dataset_id().unwrap());
    }
}
