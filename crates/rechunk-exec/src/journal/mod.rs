//! The journal: which tasks are done, so that a run that was killed can go on.
//!
//! A local file of lines. The first says which plan the tasks are numbered by, each of the others
//! marks tasks (or steps of a task) as done; every line ends with a checksum of itself. A mark is
//! written only after what it stands for is durable (see [`writer`]), so a line that can be read
//! can be believed, and whatever follows the first damaged line is not read: it is done again.

mod done;
mod line;
mod writer;

use rechunk_store::{AppendFile, Store, StoreError};
use thiserror::Error;

pub use done::DoneSet;
pub(crate) use line::Mark;
pub use line::{JOURNAL_VERSION, JournalHeader};
pub(crate) use writer::{Marks, Writer};

/// Key of the journal in the job's work directory.
pub const JOURNAL_KEY: &str = "journal";

/// Largest journal that is read, bytes: some ten million marks.
const JOURNAL_BYTES_MAX: u64 = 1 << 30;

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
    /// The header does not become JSON.
    #[error("the journal's header cannot be written: {0}")]
    Header(#[from] serde_json::Error),
}

/// What a journal says.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalContents {
    /// Its first line.
    pub header: JournalHeader,
    /// What is done.
    pub done: DoneSet,
    /// Bytes at the end that were not read because a line before them is damaged or torn: a kill
    /// in the middle of a write leaves a part of a line.
    pub damaged_bytes: u64,
}

/// A journal that can be added to.
#[derive(Debug)]
pub struct Journal {
    file: AppendFile,
    /// Its first line.
    header: JournalHeader,
    /// What was done when it was opened.
    done: DoneSet,
}

impl Journal {
    /// Begins a journal in the work directory `store`, durably, in place of any that is there.
    pub async fn create(store: &Store, header: JournalHeader) -> Result<Self, JournalError> {
        let contents = JournalContents { header, done: DoneSet::default(), damaged_bytes: 0 };
        Self::replace(store, contents).await
    }

    /// Reads the journal in `store` and changes nothing.
    pub async fn read(store: &Store) -> Result<JournalContents, JournalError> {
        let location = || store.label().to_owned();
        let bytes = store
            .get(JOURNAL_KEY, JOURNAL_BYTES_MAX)
            .await?
            .ok_or_else(|| JournalError::Missing { location: location() })?;
        parse(&bytes, &location)
    }

    /// Opens the journal in `store` to go on with it. One with a damaged end is written anew
    /// without that end, so that what is added later is not behind it.
    pub async fn open(store: &Store) -> Result<Self, JournalError> {
        let contents = Self::read(store).await?;
        if contents.damaged_bytes > 0 {
            return Self::replace(store, contents).await;
        }
        let file = AppendFile::open(store, JOURNAL_KEY).await?;
        Ok(Self { file, header: contents.header, done: contents.done })
    }

    async fn replace(store: &Store, contents: JournalContents) -> Result<Self, JournalError> {
        let JournalContents { header, done, .. } = contents;
        let mut text = line::encode(&header)?;
        for mark in done.marks() {
            text.push_str(&line::encode(&mark)?);
        }
        store.put_durable(JOURNAL_KEY, text.into_bytes()).await?;
        let file = AppendFile::open(store, JOURNAL_KEY).await?;
        Ok(Self { file, header, done })
    }

    /// Its first line.
    pub fn header(&self) -> &JournalHeader {
        &self.header
    }

    /// What was done when it was opened.
    pub fn done(&self) -> &DoneSet {
        &self.done
    }

    pub(crate) fn into_parts(self) -> (AppendFile, DoneSet) {
        (self.file, self.done)
    }
}

fn parse(bytes: &[u8], location: &dyn Fn() -> String) -> Result<JournalContents, JournalError> {
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let mut next = || lines.next().map(|line| (line.len(), line.strip_suffix(b"\n")));
    let damaged = || JournalError::Damaged { location: location() };
    let (mut read_bytes, first) = next().ok_or_else(damaged)?;
    let header: JournalHeader = first.and_then(line::decode).ok_or_else(damaged)?;
    if header.version != JOURNAL_VERSION {
        return Err(JournalError::Version { location: location(), found: header.version });
    }
    let mut done = DoneSet::default();
    while let Some((length, line)) = next() {
        let Some(mark) = line.and_then(line::decode::<Mark>) else { break };
        done.add_mark(mark);
        read_bytes += length;
    }
    let damaged_bytes = crate::frame::wide(bytes.len() - read_bytes);
    Ok(JournalContents { header, done, damaged_bytes })
}
