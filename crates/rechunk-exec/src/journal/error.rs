//! Why a journal cannot be used.

use rechunk_store::StoreError;
use thiserror::Error;

use super::line::JOURNAL_VERSION;

/// Why a journal cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("the journal: {0}")]
    Store(#[from] StoreError),
    /// There is none.
    #[error("there is no journal in {location}: nothing was begun there")]
    Missing {
        /// Label of the work directory.
        location: String,
    },
    /// Its first line is damaged, so it is not known what it is the journal of.
    #[error("the journal in {location} is damaged in its first line; start the job anew")]
    Damaged {
        /// Label of the work directory.
        location: String,
    },
    /// It was written by another version.
    #[error(
        "the journal in {location} has version {found}, this program reads {JOURNAL_VERSION}; \
         use the version that began the job, or start it anew"
    )]
    Version {
        /// Label of the work directory.
        location: String,
        /// The version it has.
        found: u32,
    },
    /// Another run goes on with it.
    #[error("the journal in {location} was written to by another run: it has taken over")]
    Fenced {
        /// Label of the work directory.
        location: String,
    },
    /// The header does not become JSON.
    #[error("the journal's header cannot be written: {0}")]
    Header(#[from] serde_json::Error),
}
