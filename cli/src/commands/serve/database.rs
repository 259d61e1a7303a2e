//! The database of a datastore, and why it cannot be used, in the words of the command line.

use rechunk::Error;
use rechunk_serve::{Database, DatastoreError, RegisterError, Store};

use super::refused::unreadable;
use crate::args::StoreArgs;
use crate::request::{self, usage};

/// The place of the data sets: a directory, or a part of a bucket.
pub(crate) fn root(path: &str, stores: &StoreArgs) -> Result<Store, Error> {
    let stores = request::stores(stores)?;
    let root = stores.open(path).map_err(|error| unreadable(path, error.to_string()))?;
    if root.is_volatile() || root.read_only().is_some() || !root.can_list() {
        let message = format!("{path} is neither a directory nor in a bucket");
        return Err(usage(message, Some("data sets are kept in PATH, s3://, gs:// or az://")));
    }
    Ok(root)
}

/// The database that was named, or that of the root.
pub(crate) fn of(root: &Store, url: Option<&str>) -> Result<Database, Error> {
    match url {
        Some(url) => Database::parse(url)
            .map_err(|error| usage(error.to_string(), None).given_to("--database")),
        None => root.local_root().map(Database::in_root).ok_or_else(|| {
            let message = format!("--database: {} has no place for a file of SQLite", root.label());
            let hint = "for one server name a file on a disk of this machine, \
                        --database sqlite:/var/lib/images.sqlite; for several \
                        postgres://USER@HOST/NAME";
            usage(message, Some(hint))
        }),
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
