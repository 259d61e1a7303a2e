//! Contents of a journal, which are read as a whole and written anew as a whole.

use super::done::DoneSet;
use super::error::JournalError;
use super::line::{self, JournalHeader};

/// Contents of a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalContents {
    /// Its first line.
    pub header: JournalHeader,
    /// Tasks and steps that are done.
    pub done: DoneSet,
    /// Bytes of lines that are damaged, or torn: a kill in the middle of a write leaves a part of a
    /// line.
    pub damaged_bytes: u64,
    /// Whole lines that are damaged, which a kill leaves none of.
    pub damaged_lines: u64,
}

impl JournalContents {
    /// The contents of a journal of which nothing is damaged.
    pub fn new(header: JournalHeader, done: DoneSet) -> Self {
        Self { header, done, damaged_bytes: 0, damaged_lines: 0 }
    }

    /// All lines of the journal.
    pub fn text(&self) -> Result<String, JournalError> {
        let mut text = line::encode(&self.header)?;
        for mark in self.done.marks() {
            text.push_str(&line::encode(&mark)?);
        }
        Ok(text)
    }
}
