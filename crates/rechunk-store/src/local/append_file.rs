use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::files::{is_same, set_nonblocking, special_kind};
use super::moments::NO_MOMENT;
use super::tree;
use crate::error::NotAFile;
use crate::{Role, Store, StoreError};

/// A local file that only grows, for a journal. What is appended is durable after
/// [`AppendFile::sync_data`]; a crash in between can leave the beginning of the last append.
#[derive(Debug)]
pub struct AppendFile {
    file: Arc<File>,
    store: Store,
    key: String,
}

impl AppendFile {
    /// Opens the file at `key`, which is made (with its directories, durably) if it is not there.
    /// Only a local store has such files.
    pub async fn open(store: &Store, key: &str) -> Result<Self, StoreError> {
        let path = store.file_path(key, "append to a file")?;
        let fsyncs = store.fsyncs;
        let open = move || open_or_create(&path, fsyncs);
        let file = store.moment(key, "open", if fsyncs { NO_MOMENT } else { 0 }, open).await?;
        Ok(Self { file: Arc::new(file), store: store.clone(), key: key.to_owned() })
    }

    /// Takes the file for this process until it is dropped or the process ends, however it ends.
    /// False if another process has it (or if this one has it a second time), or if it is no longer
    /// the file at its key: then it locks nothing and has to be opened again.
    pub async fn try_lock(&self) -> Result<bool, StoreError> {
        let path = self.store.file_path(&self.key, "be locked")?;
        let file = Arc::clone(&self.file);
        let lock = move || match file.try_lock() {
            Ok(()) => is_at(&file, &path),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        };
        self.store.moment(&self.key, "lock", 0, lock).await
    }

    /// False if it is no longer the file at its key: somebody has removed it, or put another one
    /// there.
    pub async fn is_there(&self) -> Result<bool, StoreError> {
        let path = self.store.file_path(&self.key, "be looked at")?;
        let file = Arc::clone(&self.file);
        self.store.moment(&self.key, "look at", 0, move || is_at(&file, &path)).await
    }

    /// Adds `bytes` at the end. If that fails in the middle, the file is cut back to what it was
    /// as far as the system lets us.
    pub async fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let (file, bytes) = (Arc::clone(&self.file), bytes.to_owned());
        self.store.meter().count_put(Role::Control);
        self.store.blocking(&self.key, "append to", move || append(&file, &bytes)).await
    }

    /// Returns when everything appended so far would survive a power cut. After an error the file
    /// must not be trusted: the system may have dropped what it could not write.
    pub async fn sync_data(&self) -> Result<(), StoreError> {
        if !self.store.fsyncs {
            return Ok(());
        }
        let file = Arc::clone(&self.file);
        self.store.blocking(&self.key, "make durable", move || file.sync_data()).await
    }

    /// The whole file, if it has at most `limit_bytes`.
    pub async fn read_all(&self, limit_bytes: u64) -> Result<Bytes, StoreError> {
        let file = Arc::clone(&self.file);
        self.store.meter().count_get(Role::Control);
        let (size_bytes, bytes) =
            self.store.blocking(&self.key, "read", move || read_all(&file, limit_bytes)).await?;
        if size_bytes > limit_bytes {
            return Err(self.store.view.too_large(&self.key, size_bytes, limit_bytes));
        }
        Ok(bytes)
    }
}

fn open_or_create(path: &Path, fsyncs: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    set_nonblocking(&mut options);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().unwrap_or(path);
            tree::create_directories(parent, fsyncs)?;
            let file = options.create(true).open(path)?;
            if fsyncs {
                file.sync_all()?;
                tree::sync_directory(parent)?;
            }
            file
        }
        file => file?,
    };
    match special_kind(&file.metadata()?) {
        None => Ok(file),
        Some(what) => Err(io::Error::other(NotAFile { what })),
    }
}

/// Whether an open file is still the one at `path`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match path.metadata() {
        Ok(found) => Ok(is_same(&open, &found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn append(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    let length_bytes = file.metadata()?.len();
    let written = file.write_all(bytes);
    if written.is_err() {
        // Half a line may be left if this fails too; readers of a journal expect that anyway.
        let _ = file.set_len(length_bytes);
    }
    written
}

/// The size and, if it is within the limit, the bytes.
fn read_all(mut file: &File, limit_bytes: u64) -> io::Result<(u64, Bytes)> {
    let size_bytes = file.metadata()?.len();
    if size_bytes > limit_bytes {
        return Ok((size_bytes, Bytes::new()));
    }
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(size_bytes).read_to_end(&mut bytes)?;
    Ok((size_bytes, bytes.into()))
}
