use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::file_runs::{OpenSlot, write, write_all_at};
use super::files::special_kind;
use super::read_file::check_runs;
use super::runs::{Position, Run};
use super::tree;
use super::writing::Turns;
use crate::error::NotAFile;
use crate::{FileSize, Role, Store, StoreError};

/// End of the name of a file under way.
const PART_SUFFIX: &str = ".part";

/// Operation that a store without files refuses.
const OPERATION: &str = "be written to in runs of bytes";

/// A file under way, `KEY.part`, of a local store. Runs of it are written by any number of tasks,
/// each byte by one of them, and over several runs of the program: what an earlier one wrote stays.
/// [`Store::finish_part`] gives it its name. It holds one of
/// [`OPEN_FILES_MAX`](crate::OPEN_FILES_MAX) open files until it is dropped.
///
/// Durable after [`PartFile::sync`], and with all else after [`Store::sync`].
#[derive(Debug)]
pub struct PartFile {
    store: Store,
    key: String,
    file: Arc<(File, OpenSlot)>,
    turns: Turns,
    size_bytes: u64,
    position: Position,
}

/// A file under way that is whole, for [`Store::finish_parts`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartEnd {
    /// The name it is to have.
    pub key: String,
    /// Its bytes.
    pub size_bytes: u64,
}

impl Store {
    /// Opens the file under way for `key`, of `size_bytes` in the end; one that is not there is
    /// made, without taking room on the disk. Counts as one open.
    pub async fn part(&self, key: &str, size_bytes: u64) -> Result<PartFile, StoreError> {
        self.meter().count_open(self.role());
        self.open_part(key, size_bytes).await
    }

    async fn open_part(&self, key: &str, size_bytes: u64) -> Result<PartFile, StoreError> {
        self.view.object_path(key)?;
        let (key, path) = (part_of(key), self.file_path(&part_of(key), OPERATION)?);
        let opened = self.blocking(&key, "open", move || open(&path, size_bytes)).await;
        let (file, slot, found_bytes) = opened.map_err(|error| self.no_file(&key, error))?;
        self.view.check_size(&key, FileSize::Exactly(size_bytes), found_bytes)?;
        let (store, position) = (self.clone(), Position::default());
        let (file, turns) = (Arc::new((file, slot)), Turns::default());
        Ok(PartFile { store, key, file, turns, size_bytes, position })
    }

    /// Writes `bytes` at `offset` of the file under way for `key`, of `size_bytes` in the end. One
    /// request; who has many of them for one file opens it with [`Store::part`].
    pub async fn put_range(
        &self,
        key: &str,
        size_bytes: u64,
        offset: u64,
        bytes: Bytes,
    ) -> Result<(), StoreError> {
        let part = self.open_part(key, size_bytes).await?;
        let run = Run { offset, start: 0, length: bytes.len() };
        check_runs(self, &part.key, &[run], size_bytes)?;
        self.meter().count_put(self.role());
        part.uncounted(vec![run]).write(bytes).await.map(drop)
    }

    /// Gives the file under way for `key`, of `size_bytes`, its name, in place of any file there,
    /// after `header` has been written to its beginning. Durable when it returns. False if that has
    /// been done before: there is no file under way, and one of the right size under the name.
    pub async fn finish_part(
        &self,
        key: &str,
        size_bytes: u64,
        header: &[u8],
    ) -> Result<bool, StoreError> {
        let ends = [PartEnd { key: key.to_owned(), size_bytes }];
        Ok(self.finish(&ends, header, self.fsyncs).await? > 0)
    }

    /// [`Store::finish_part`] of several files, one after the other, away from the async threads.
    /// What was written to them has to be durable before, and their names are after: by
    /// [`Store::sync`]. Returns how many it was that had not been finished before.
    pub async fn finish_parts(&self, parts: &[PartEnd], header: &[u8]) -> Result<u64, StoreError> {
        self.finish(parts, header, self.puts_sync()).await
    }

    async fn finish(
        &self,
        parts: &[PartEnd],
        header: &[u8],
        sync: bool,
    ) -> Result<u64, StoreError> {
        let paths = |part: &PartEnd| {
            let part_path = self.file_path(&part_of(&part.key), OPERATION)?;
            Ok((part_path, self.file_path(&part.key, OPERATION)?, part.size_bytes))
        };
        let files = parts.iter().map(paths).collect::<Result<Vec<_>, StoreError>>()?;
        let (header, fsyncs) = (header.to_owned(), self.fsyncs);
        let work = move || {
            let finish = |(part, path, bytes): &(PathBuf, PathBuf, u64)| {
                let syncs_bytes = sync || fsyncs && !header.is_empty();
                finish((part, path), *bytes, &header, syncs_bytes, sync)
            };
            Ok(files.iter().map(finish).collect::<Vec<_>>())
        };
        let mut finished = 0;
        for (part, result) in parts.iter().zip(self.blocking("", "finish files", work).await?) {
            self.meter().count_put(Role::Control);
            finished += u64::from(self.finished(part, result)?);
        }
        Ok(finished)
    }

    /// Translates the outcome of finishing a file under way: true if it has just become visible.
    fn finished(&self, part: &PartEnd, result: io::Result<Finished>) -> Result<bool, StoreError> {
        let (location, key) = (self.label().to_owned(), part_of(&part.key));
        match result {
            Ok(Finished::Now) => {
                self.meter().count_object(self.role());
                Ok(true)
            }
            Ok(Finished::Before) => Ok(false),
            Ok(Finished::Missing) => Err(StoreError::NotFound { location, key }),
            Ok(Finished::OtherSize(size_bytes)) => {
                let expected_bytes = part.size_bytes;
                Err(StoreError::WrongSize { location, key, size_bytes, expected_bytes })
            }
            Err(error) => {
                let (action, source) = ("put in place", Box::new(error));
                let error = StoreError::Failed { location, key, action, source };
                Err(self.no_file(&part_of(&part.key), error))
            }
        }
    }
}

impl PartFile {
    /// Bytes it has in the end.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Writes what `runs` have in `buffer` to their places, in this order. All in one go away from
    /// the async threads; each run counts as a request. Gives the buffer back.
    pub async fn write_runs(&self, runs: &[Run], buffer: Bytes) -> Result<Bytes, StoreError> {
        let (_, buffer) = self.batch(runs.to_vec())?.write(buffer).await?;
        Ok(buffer)
    }

    /// `runs`, to be written later. They are counted now: of batches that are written at the same
    /// time, it is the order they were made in that counts.
    pub fn batch(&self, runs: Vec<Run>) -> Result<WriteBatch, StoreError> {
        check_runs(&self.store, &self.key, &runs, self.size_bytes)?;
        self.store.meter().count_write_runs(self.store.role(), self.position.count(&runs));
        Ok(self.uncounted(runs))
    }

    fn uncounted(&self, runs: Vec<Run>) -> WriteBatch {
        let (store, key) = (self.store.clone(), self.key.clone());
        let (file, turns) = (Arc::clone(&self.file), self.turns.clone());
        WriteBatch { store, key, file, turns, runs }
    }

    /// Writes `bytes` at `offset`. Gives them back, so that their buffer can be used again.
    pub async fn write_at(&self, offset: u64, bytes: Bytes) -> Result<Bytes, StoreError> {
        let run = Run { offset, start: 0, length: bytes.len() };
        self.write_runs(&[run], bytes).await
    }

    /// Returns when what has been written would survive a power cut.
    pub async fn sync(&self) -> Result<(), StoreError> {
        if !self.store.fsyncs {
            return Ok(());
        }
        let file = Arc::clone(&self.file);
        self.store.blocking(&self.key, "make durable", move || file.0.sync_data()).await
    }

    /// [`Store::finish_part`], for a file without a header. Nothing may be writing to it any more.
    pub async fn finish(self) -> Result<(), StoreError> {
        let Self { store, key, size_bytes, .. } = self;
        let key = key.strip_suffix(PART_SUFFIX).unwrap_or(&key);
        store.finish_part(key, size_bytes, &[]).await.map(drop)
    }
}

/// Runs of a file under way that wait to be written (see [`PartFile::batch`]).
#[derive(Debug)]
pub struct WriteBatch {
    store: Store,
    key: String,
    file: Arc<(File, OpenSlot)>,
    turns: Turns,
    runs: Vec<Run>,
}

impl WriteBatch {
    /// Writes what the runs have in `buffer` to their places, in their order, all in one go away
    /// from the async threads. Gives both back, to be used again.
    pub async fn write(self, buffer: Bytes) -> Result<(Vec<Run>, Bytes), StoreError> {
        let Self { store, key, file, turns, runs } = self;
        let lengths = runs.iter().map(|run| u64::try_from(run.length).unwrap_or(u64::MAX));
        let bytes: u64 = lengths.sum();
        if bytes == 0 {
            return Ok((runs, buffer));
        }
        let syncs = store.puts_sync();
        let count = runs.len();
        let work = move |way| {
            let turn = turns.wait(&way);
            write(&file.0, &runs, &buffer, way)?;
            drop(turn);
            if syncs {
                file.0.sync_data()?;
            }
            Ok((runs, buffer))
        };
        let written = store.write(&key, bytes, count, work).await?;
        store.meter().count_written_bytes(store.role(), bytes);
        store.moved(bytes).await;
        Ok(written)
    }
}

fn part_of(key: &str) -> String {
    format!("{key}{PART_SUFFIX}")
}

/// Opens or makes a file and gives it its length. One that is longer is left as it is, which the
/// returned size shows.
fn open(path: &Path, size_bytes: u64) -> io::Result<(File, OpenSlot, u64)> {
    let mut options = options();
    options.create(true).truncate(false);
    let (file, slot) = match open_with(&options, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            open_with(&options, path)?
        }
        opened => opened?,
    };
    let found_bytes = file.metadata()?.len();
    // A crash may have left it shorter, never longer: that is another array's file.
    if found_bytes < size_bytes {
        file.set_len(size_bytes)?;
    }
    Ok((file, slot, found_bytes.max(size_bytes)))
}

fn open_existing(path: &Path) -> io::Result<(File, OpenSlot)> {
    open_with(&options(), path)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    set_no_follow(&mut options);
    options
}

/// Opens a file and nothing else.
fn open_with(options: &OpenOptions, path: &Path) -> io::Result<(File, OpenSlot)> {
    let slot = OpenSlot::take()?;
    let opened = options.open(path);
    let file = opened.map_err(|error| special(path).map_or(error, io::Error::other))?;
    match special_kind(&file.metadata()?) {
        None => Ok((file, slot)),
        Some(what) => Err(io::Error::other(NotAFile { what })),
    }
}

/// Kind of the thing at `path`, if it does not let itself be opened.
fn special(path: &Path) -> Option<NotAFile> {
    let metadata = path.symlink_metadata().ok()?;
    let what = if metadata.is_symlink() { "a symbolic link" } else { special_kind(&metadata)? };
    Some(NotAFile { what })
}

/// Refuses a link in place of the file, which could lead anywhere, and does not wait for a pipe.
#[cfg(unix)]
fn set_no_follow(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed());
}

#[cfg(not(unix))]
fn set_no_follow(_: &mut OpenOptions) {}

/// Outcome of [`finish`].
#[derive(Debug)]
enum Finished {
    Now,
    Before,
    Missing,
    OtherSize(u64),
}

fn finish(
    (part, path): (&Path, &Path),
    size_bytes: u64,
    header: &[u8],
    syncs_bytes: bool,
    syncs_name: bool,
) -> io::Result<Finished> {
    let (file, _slot) = match open_existing(part) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let found = path.symlink_metadata();
            let is_done = found.is_ok_and(|found| found.is_file() && found.len() == size_bytes);
            return Ok(if is_done { Finished::Before } else { Finished::Missing });
        }
        opened => opened?,
    };
    let found_bytes = file.metadata()?.len();
    if found_bytes != size_bytes {
        return Ok(Finished::OtherSize(found_bytes));
    }
    write_all_at(&file, header, 0)?;
    if syncs_bytes {
        file.sync_all()?;
    }
    fs::rename(part, path)?;
    if syncs_name {
        tree::sync_directory(path.parent().unwrap_or(path))?;
    }
    Ok(Finished::Now)
}
