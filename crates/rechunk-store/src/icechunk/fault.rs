//! Faults of the files of a repository.

use std::io;

use thiserror::Error as ThisError;

use super::flat::Damaged;
use crate::StoreError;

/// Fault of a repository, or of a file of it.
#[derive(Debug, ThisError)]
pub(super) enum Fault {
    #[error("{key} is no file of Icechunk: it does not begin as one")]
    NotIcechunk { key: String },
    #[error(
        "{key} is of version {version} of the format, written by {writer}; versions 1 and 2 are read"
    )]
    Spec { key: String, version: u8, writer: String },
    #[error("{key} says that it is {found}, not {expected}")]
    Kind { key: String, found: String, expected: &'static str },
    #[error("{key} is compressed in a way that is not known (number {number})")]
    Compression { key: String, number: u8 },
    #[error("{key} is damaged: {reason}")]
    Damaged { key: String, reason: String },
    #[error("{key} is missing: the repository is incomplete")]
    Missing { key: String },
    #[error("{key} would unpack to more than {limit_bytes} bytes{advice}")]
    TooLarge { key: String, limit_bytes: u64, advice: &'static str },
    #[error("it has no {what}; it has {known}")]
    NoSuch { what: String, known: String },
    #[error("its tag {name:?} was deleted")]
    DeletedTag { name: String },
    #[error(
        "its snapshot {id} is not there any more: it was never in it, or it was expired and collected"
    )]
    NoSnapshot { id: String },
    #[error("it is offline{reason}")]
    Offline { reason: String },
    #[error("there is no repository: neither `repo` nor `refs/branch.main/ref.json` is there")]
    NoRepository,
    #[error("{0}")]
    Chunk(String),
}

impl Fault {
    /// A fault of the file `key`, in words.
    pub(super) fn damaged(key: &str, reason: &str) -> Self {
        Self::Damaged { key: key.to_owned(), reason: reason.to_owned() }
    }

    /// A place in the file `key` that leads outside of it.
    pub(super) fn flat(key: &str) -> impl Fn(Damaged) -> Self {
        move |damaged| Self::damaged(key, &damaged.to_string())
    }

    /// A file `key` that cannot be unpacked.
    pub(super) fn unpack(key: &str, error: &io::Error) -> Self {
        Self::damaged(key, &format!("it cannot be unpacked ({error})"))
    }

    /// Makes it an error of the repository at `location`.
    pub(super) fn of(self, location: &str) -> StoreError {
        StoreError::Repository { location: location.to_owned(), reason: self.to_string() }
    }
}
