//! Copies other files: in pieces of bounded size, each file visible when it is whole.

use std::ops::Range;

use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_exec::ExecError;
use rechunk_plan::{FILE_PIECE_BYTES, file_part_bytes, file_pieces};
use rechunk_store::{Meter, PartSizes, Role, Store, StoreError, Stores};
use tokio_util::sync::CancellationToken;

use super::{OtherFile, Others, first_difference};
use crate::error::store_error;
use crate::open::open_store;
use crate::{Error, Remedy};

/// Largest file that is copied beside others, bytes, and the most files at once.
const SMALL_BYTES: u64 = 1 << 20;
const AT_ONCE: usize = 16;

/// The copy of the other files of a group.
#[derive(Debug)]
pub(crate) struct CopyOthers<'a> {
    files: &'a [OtherFile],
    source: Store,
    target: Store,
}

impl<'a> CopyOthers<'a> {
    /// From the group at `source` to that at `target`.
    pub(crate) fn new(
        others: &'a Others,
        source: &str,
        target: &Store,
        stores: &Stores,
    ) -> Result<Self, Error> {
        let source = open_store(source, stores)?.with_role(Role::Source);
        // A file that is written meanwhile is an error, as a chunk is.
        let source = source.watched(others.listed_at, others.listed_at);
        Ok(Self { files: &others.files, source, target: target.with_role(Role::Target) })
    }

    /// Copies all files, durably; those that an earlier run has copied are left where it `resumes`.
    /// How many were.
    pub(crate) async fn run(
        &self,
        resumes: bool,
        cancel: &CancellationToken,
    ) -> Result<u64, Error> {
        if self.files.is_empty() {
            return Ok(0);
        }
        let is_small = |file: &&OtherFile| file.bytes <= SMALL_BYTES;
        let (small, large): (Vec<_>, Vec<_>) = self.files.iter().partition(is_small);
        let is_late = self.source.answers_late() || self.target.answers_late();
        let mut resumed = 0;
        for (files, at_once) in [(small, if is_late { AT_ONCE } else { 1 }), (large, 1)] {
            let copied = stream::iter(files).map(|file| self.copy(file, resumes, cancel));
            let mut copied = copied.buffer_unordered(at_once);
            while let Some(was_there) = copied.try_next().await? {
                resumed += u64::from(was_there);
            }
        }
        let location = self.target.label();
        let synced = self.target.with_role(Role::Control).sync().await;
        synced
            .map_err(|source| store_error("make durable what was written to", location, source))?;
        Ok(resumed)
    }

    /// Refuses a target that is complete if one of the files is not there, or has another size. How
    /// many there are.
    pub(crate) async fn check_there(&self) -> Result<u64, Error> {
        for file in self.files {
            let found = self.target.with_role(Role::Control).head(&file.path).await;
            if found.map_err(|source| self.write_error(file, source))? != Some(file.bytes) {
                return Err(Error::Conflict {
                    location: self.target.label().to_owned(),
                    reason: format!(
                        "is otherwise complete, but its file {} is missing or has another size",
                        file.path
                    ),
                    hint: Some("copy that file to its place, or the group to another".into()),
                });
            }
        }
        Ok(u64::try_from(self.files.len()).unwrap_or(u64::MAX))
    }

    /// Copies one file; true if it was there.
    async fn copy(
        &self,
        file: &OtherFile,
        resumes: bool,
        cancel: &CancellationToken,
    ) -> Result<bool, Error> {
        if cancel.is_cancelled() {
            return Err(self.cancelled());
        }
        let failed = |source| self.write_error(file, source);
        // What is there under its name is whole.
        if resumes && self.target.head(&file.path).await.map_err(failed)? == Some(file.bytes) {
            return Ok(true);
        }
        if file.bytes <= FILE_PIECE_BYTES {
            let bytes = self.read(file, 0..file.bytes, Vec::new()).await?;
            self.target.put(&file.path, vec![bytes.into()]).await.map_err(failed)?;
            return Ok(false);
        }
        let log_part_bytes = file_part_bytes(file.bytes);
        let sizes = PartSizes { log_part_bytes, ..PartSizes::DEFAULT };
        let writer = self.target.with_part_sizes(sizes).begin(&file.path, 0).map_err(failed)?;
        let mut buffer = Vec::new();
        for range in file_pieces(file.bytes) {
            if cancel.is_cancelled() {
                return Err(self.cancelled());
            }
            let start = range.start;
            let bytes = self.read(file, range, buffer).await?;
            let written = writer.write_at(start, bytes.into()).await.map_err(failed)?;
            buffer = Vec::from(written);
        }
        writer.finish(file.bytes).await.map_err(failed)?;
        Ok(false)
    }

    async fn read(
        &self,
        file: &OtherFile,
        range: Range<u64>,
        mut buffer: Vec<u8>,
    ) -> Result<Vec<u8>, Error> {
        buffer.clear();
        if range.is_empty() {
            return Ok(buffer);
        }
        let room = FILE_PIECE_BYTES.min(file.bytes);
        let read =
            self.source.get_exact_into(&file.path, file.bytes, range, room, &mut buffer).await;
        read.map(|()| buffer).map_err(|error| Error::source_store(self.source.label(), error))
    }

    fn write_error(&self, file: &OtherFile, source: StoreError) -> Error {
        store_error("copy the file", &format!("{}/{}", self.target.label(), file.path), source)
    }

    fn cancelled(&self) -> Error {
        Error::Run {
            done: 0,
            resumed: 0,
            total: u64::try_from(self.files.len()).unwrap_or(u64::MAX),
            hint: Some(Remedy::Resume),
            source: Box::new(ExecError::Cancelled),
        }
    }

    /// Compares every file with its copy, byte by byte. An error if one differs.
    pub(crate) async fn verify(&self) -> Result<(), Error> {
        // What it reads is no part of the copy that was predicted.
        let meter = Meter::new();
        let [a, b] = [&self.source, &self.target].map(|store| store.with_meter(&meter));
        for file in self.files {
            let (path, bytes) = (&file.path, file.bytes);
            if b.head(path).await.map_err(|source| self.write_error(file, source))? != Some(bytes) {
                return Err(differs(&a, &b, file, "they have not the same size"));
            }
            if let Some(at) = first_difference(&a, &b, path, bytes).await? {
                return Err(differs(&a, &b, file, &format!("first at byte {at}")));
            }
        }
        Ok(())
    }
}

fn differs(a: &Store, b: &Store, file: &OtherFile, difference: &str) -> Error {
    let at = |store: &Store| format!("{}/{}", store.label().trim_end_matches('/'), file.path);
    Error::Unlike { a: at(a), b: at(b), difference: difference.to_owned() }
}

/// Removes from a target that was given up the files at `paths`, and the directories that are empty
/// then. How many.
pub(crate) async fn remove_begun(
    location: &str,
    target: &Store,
    paths: impl Iterator<Item = &str>,
) -> Result<u64, Error> {
    let failed = |source| store_error("remove what was begun at", location, source);
    let control = target.with_role(Role::Control);
    let mut removed = 0;
    for path in paths {
        if control.head(path).await.map_err(failed)?.is_none() {
            continue;
        }
        control.delete(path).await.map_err(failed)?;
        removed += 1;
        for (end, _) in path.rmatch_indices('/') {
            let directory = control.child(&path[..end]).map_err(failed)?;
            directory.remove_empty().await.map_err(failed)?;
        }
    }
    if removed > 0 {
        control.remove_empty().await.map_err(failed)?;
    }
    Ok(removed)
}
