use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::file_runs::{OpenSlot, read};
use super::files::{self, special_kind};
use super::runs::{Position, Run};
use crate::error::NotAFile;
use crate::{FileSize, Store, StoreError};

/// An open file of a local store that is read in runs. It holds one of
/// [`OPEN_FILES_MAX`](crate::OPEN_FILES_MAX) open files until it is dropped.
#[derive(Debug)]
pub struct ReadFile {
    store: Store,
    key: String,
    file: Arc<(File, OpenSlot)>,
    bytes: u64,
    position: Position,
}

impl Store {
    /// Opens the file at `key`, which has to be there and of that size. Counts as one open.
    pub async fn open_file(&self, key: &str, size: FileSize) -> Result<ReadFile, StoreError> {
        let path = self.file_path(key, "give files of raw elements")?;
        self.meter().count_open(self.role());
        let opened = self.blocking(key, "open", move || open(&path)).await;
        let (file, slot, metadata) = opened.map_err(|error| self.no_file(key, error))?;
        self.view.check_size(key, size, metadata.len())?;
        self.check_unchanged_file(key, &metadata)?;
        Ok(ReadFile {
            store: self.clone(),
            key: key.to_owned(),
            file: Arc::new((file, slot)),
            bytes: size.bytes(),
            position: Position::default(),
        })
    }

    /// Says of an error of the system that there is no file, or what there is instead, if that is
    /// what it says.
    pub(crate) fn no_file(&self, key: &str, error: StoreError) -> StoreError {
        let (location, key) = (self.label().to_owned(), key.to_owned());
        match error.not_a_file() {
            Some(what) => StoreError::NotAnObject { location, key, what },
            None if error.is_not_found() => StoreError::NotFound { location, key },
            None => error,
        }
    }
}

impl ReadFile {
    /// Bytes of it that may be read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads `runs`, in this order, into their places in `buffer`, which has to have them. All in
    /// one go away from the async threads; each run counts as a request. If this fails, or is not
    /// waited for, what `buffer` held may be lost, and it may be empty.
    pub async fn read_runs(&self, runs: &[Run], buffer: &mut Vec<u8>) -> Result<(), StoreError> {
        let batch = self.batch(runs.to_vec())?;
        (_, *buffer) = batch.read(std::mem::take(buffer)).await?;
        Ok(())
    }

    /// `runs`, to be read later. They are counted now: of batches that are read at the same time,
    /// it is the order they were made in that counts.
    pub fn batch(&self, runs: Vec<Run>) -> Result<ReadBatch, StoreError> {
        check_runs(&self.store, &self.key, &runs, self.bytes)?;
        let counts = self.position.count(&runs);
        self.store.meter().count_read_runs(self.store.role(), counts);
        let (store, key, file) = (self.store.clone(), self.key.clone(), Arc::clone(&self.file));
        Ok(ReadBatch { store, key, file, runs, bytes: counts.bytes })
    }

    /// Reads `length` bytes from `offset` on into `buffer`, whose contents are lost.
    pub async fn read_at(
        &self,
        offset: u64,
        length: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let run = Run { offset, start: 0, length };
        // Before anything is sized by it.
        check_runs(&self.store, &self.key, &[run], self.bytes)?;
        buffer.resize(length, 0);
        self.read_runs(&[run], buffer).await
    }
}

/// Runs of a file that wait to be read (see [`ReadFile::batch`]).
#[derive(Debug)]
pub struct ReadBatch {
    store: Store,
    key: String,
    file: Arc<(File, OpenSlot)>,
    runs: Vec<Run>,
    bytes: u64,
}

impl ReadBatch {
    /// Reads the runs, in their order, into their places in `buffer`, all in one go away from the
    /// async threads. Gives both back, to be used again.
    pub async fn read(self, mut buffer: Vec<u8>) -> Result<(Vec<Run>, Vec<u8>), StoreError> {
        let Self { store, key, file, runs, bytes } = self;
        if bytes == 0 {
            return Ok((runs, buffer));
        }
        let work = move || {
            read(&file.0, &runs, &mut buffer)?;
            Ok((runs, buffer))
        };
        let read = store.blocking(&key, "read", work).await?;
        store.meter().count_read_bytes(store.role(), bytes);
        store.moved(bytes).await;
        Ok(read)
    }
}

/// Refuses a run that reaches over the end of a file.
pub(crate) fn check_runs(
    store: &Store,
    key: &str,
    runs: &[Run],
    file_bytes: u64,
) -> Result<(), StoreError> {
    let outside = |run: &&Run| run.end().is_none_or(|end| end > file_bytes);
    let Some(run) = runs.iter().find(outside) else { return Ok(()) };
    Err(StoreError::Short {
        location: store.label().to_owned(),
        key: key.to_owned(),
        wanted_bytes: run.end().unwrap_or(u64::MAX),
        got_bytes: file_bytes,
    })
}

fn open(path: &Path) -> io::Result<(File, OpenSlot, Metadata)> {
    let slot = OpenSlot::take()?;
    let (file, metadata) = files::open(path)?;
    match special_kind(&metadata) {
        None => Ok((file, slot, metadata)),
        Some(what) => Err(io::Error::other(NotAFile { what })),
    }
}
