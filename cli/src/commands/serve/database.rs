//! The database of a datastore, and why it cannot be used, in the words of the command line.

use std::path::PathBuf;

use rechunk::Error;
use rechunk_serve::{Database, DatastoreError, RegisterError, Store};

use super::refused::unreadable;
use crate::request::usage;

/// The directory of the data sets.
pub(crate) fn root(path: &str) -> Result<Store, Error> {
    let root = Store::open(path).map_err(|error| unreadable(path, error.to_string()))?;
    if root.local_root().is_none() {
        let message = format!("{path} is no directory: data sets are kept on a disk");
        return Err(usage(message, None));
    }
    Ok(root)
}

/// The database that was named, or that of the root.
pub(crate) fn of(root: &Store, url: Option<&str>) -> Result<Database, Error> {
    match url {
        Some(url) => Database::parse(url)
            .map_err(|error| usage(error.to_string(), None).given_to("--database")),
        None => Ok(Database::in_root(root.local_root().unwrap_or(&PathBuf::new()))),
    }
}

/// Why a datastore is not opened.
pub(crate) fn refused(error: RegisterError, root: &str, url: Option<&str>) -> Error {
    match error {
        RegisterError::Url(reason) => usage(reason, None).given_to("--database"),
        RegisterError::Datastore(DatastoreError::InUse(_)) => Error::Conflict {
            location: root.to_owned(),
            reason: "is written by another process, which has its database".to_owned(),
            hint: None,
        },
        RegisterError::Datastore(
            ref error @ (DatastoreError::Unregistered(_) | DatastoreError::OtherRegister(_)),
        ) => {
            // A URL may have a password.
            let database = if url.is_some() { " --database URL" } else { "" };
            let command = format!("rechunk serve import {root}{database}");
            unreadable(root, format!("{error}; `{command}` makes it the one of all that is there"))
        }
        other => unreadable(root, other.to_string()),
    }
}
