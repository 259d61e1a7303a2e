//! The journal in a work directory.

use rechunk_exec::{DoneSet, Journal, JournalContents, JournalError, JournalHeader};
use rechunk_store::unique_name;

use crate::Error;
use crate::error::store_error;
use crate::work_dir::WorkDir;

/// Looks for a journal that cannot be read, after the first.
const LOOKS: u32 = 3;

impl WorkDir {
    /// Reads the journal of a plan. Its first line is known from the saved job, should it be
    /// damaged.
    pub(crate) async fn read_journal(&self, fingerprint: &str) -> Result<JournalContents, Error> {
        let header = JournalHeader::new(fingerprint, serde_json::Value::Null);
        let contents = Journal::read_known(&self.store, &header).await;
        contents.map_err(|error| self.journal_error(error))
    }

    /// Reads what the journal of a plan says is done; nothing if there is none. Another process may
    /// write it anew meanwhile, or remove it: one that was there and is not is looked for again.
    pub(crate) async fn journaled(&self, fingerprint: &str) -> Result<DoneSet, Error> {
        let mut looks = 0;
        while self.has_journal().await? {
            match self.read_journal(fingerprint).await {
                Ok(contents) => return Ok(contents.done),
                Err(error) if looks == LOOKS => return Err(error),
                Err(_) => looks += 1,
            }
        }
        Ok(DoneSet::default())
    }

    /// Has the tasks of a stage, and of those after it, be done again.
    pub(crate) async fn forget_stage(&self, fingerprint: &str, stage: usize) -> Result<(), Error> {
        let header = JournalHeader::new(fingerprint, serde_json::Value::Null);
        let forgotten = Journal::forget_stage(&self.store, &header, stage, &unique_name()).await;
        forgotten.map_err(|error| self.journal_error(error))
    }

    /// True if a run has begun a journal.
    pub(crate) async fn has_journal(&self) -> Result<bool, Error> {
        Journal::exists(&self.store).await.map_err(|error| self.journal_error(error))
    }

    /// An error of the journal.
    pub(crate) fn journal_error(&self, error: JournalError) -> Error {
        match error {
            JournalError::Store(source) => store_error("use", "the journal", source),
            other => {
                Error::State { path: self.store.label().to_owned(), reason: other.to_string() }
            }
        }
    }
}
