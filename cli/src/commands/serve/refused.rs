//! Errors of servers in the words of the command line.

use rechunk::{Error, StoreError};
use rechunk_serve::ServeError;

use crate::request::usage;

/// Why nothing is served.
pub(crate) fn refused(error: &ServeError) -> Error {
    match error {
        ServeError::Directory { path, source } => unreadable(path, source.to_string()),
        other => usage(other.to_string(), None),
    }
}

/// That what is to be served cannot be read.
pub(crate) fn unreadable(path: &str, reason: String) -> Error {
    let source = StoreError::Location { location: path.to_owned(), reason, source: None };
    Error::SourceStore { location: path.to_owned(), source: Box::new(source) }
}
