use rechunk_datastore::DatastoreError;
use thiserror::Error;

/// Why a datastore is not opened with a database. No text of it has a password.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The text is no URL of a database.
    #[error("{0}")]
    Url(String),
    /// The database cannot be used.
    #[error("cannot use the database {database}: {reason}")]
    Database {
        /// The database, without a password.
        database: String,
        /// The fault, and the way out of it.
        reason: String,
    },
    /// The place of the data sets cannot be used, or not with this database.
    #[error(transparent)]
    Datastore(#[from] DatastoreError),
}
