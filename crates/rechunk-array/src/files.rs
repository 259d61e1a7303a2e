//! Chunks that are files of raw elements, or ranges of one.

use std::ops::Range;

use rechunk_format::{FormatError, RunFormat};
use rechunk_grid::GridError;
use rechunk_store::{FileSize, PartEnd, PartFile, ReadFile, StoreError};

use crate::array::Unit;
use crate::error::Cause;
use crate::{Array, ArrayError};

/// Files that are given their names in one go: enough that going is cheap, few enough to hold.
const FINISHED_AT_ONCE: usize = 256;

/// Place of a chunk in its object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) object_bytes: u64,
    /// The chunk is the object.
    pub(crate) is_whole: bool,
}

impl Array {
    /// Where chunk `index` is, if that is known without looking.
    pub(crate) fn place(&self, index: &[u64]) -> Result<Option<Place>, ArrayError> {
        let Some((offset, length)) = self.layout().chunk_range(index) else { return Ok(None) };
        let Some(runs) = self.layout().runs() else {
            let object_bytes = offset.saturating_add(length);
            return Ok(Some(Place { offset, length, object_bytes, is_whole: false }));
        };
        let file = runs.file_of(self.layout().spec(), index);
        let object_bytes = self.file_bytes(runs, &file)?;
        let is_whole = length == object_bytes && !runs.has_tail;
        Ok(Some(Place { offset, length, object_bytes, is_whole }))
    }

    /// Bytes of file `index`.
    fn file_bytes(&self, runs: &RunFormat, index: &[u64]) -> Result<u64, ArrayError> {
        let bytes = runs.file_bytes(self.layout().spec(), index);
        bytes.map_err(|error| self.grid_error(&error))
    }

    /// Reads `part` of a chunk that has to be there; a file of another size is an error.
    pub(crate) async fn read_place(
        &self,
        key: &str,
        place: Place,
        part: Range<u64>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let (store, Place { offset, length, is_whole, .. }) = (self.store(), place);
        if is_whole {
            return store.get_exact_into(key, length, part, room_bytes, buffer).await;
        }
        let bytes = part.end.saturating_sub(part.start);
        let start = offset.saturating_add(part.start);
        store.get_range_into(key, start, bytes, room_bytes, buffer).await
    }

    /// Opens file `index` of raw elements, to read runs of it. It has to be there, of its size.
    pub async fn open_file(&self, index: &[u64]) -> Result<ReadFile, ArrayError> {
        let runs = self.run_format(index)?;
        let bytes = self.file_bytes(runs, index)?;
        let size = if runs.has_tail { FileSize::AtLeast(bytes) } else { FileSize::Exactly(bytes) };
        let opened = self.store().open_file(&self.layout().object_key(index), size).await;
        opened.map_err(|error| self.file_error(index, error))
    }

    /// Announces that `range` of file `index` of raw elements will be read soon: see
    /// `Store::announce`.
    pub fn announce_file(&self, index: &[u64], range: Range<u64>) -> bool {
        self.store().announce(&self.layout().object_key(index), range)
    }

    /// Opens what file `index` of raw elements is until it is whole, to write runs of it; see
    /// [`Array::finish_objects`].
    pub async fn open_part(&self, index: &[u64]) -> Result<PartFile, ArrayError> {
        let bytes = self.file_bytes(self.run_format(index)?, index)?;
        let opened = self.store().part(&self.layout().object_key(index), bytes).await;
        opened.map_err(|error| self.file_error(index, error))
    }

    /// That runs of file `index` could not be read or written.
    pub fn file_error(&self, index: &[u64], error: StoreError) -> ArrayError {
        self.error(Unit::File(index), Cause::Store(error))
    }

    fn run_format(&self, index: &[u64]) -> Result<&RunFormat, ArrayError> {
        self.layout().runs().ok_or_else(|| {
            let key = "layout".to_owned();
            let reason = format!("{} has no files of raw elements", self.layout().format_name());
            self.error(Unit::File(index), Cause::Format(FormatError::Metadata { key, reason }))
        })
    }

    /// Gives the files of raw elements that were filled in ranges their names, with their header
    /// before the elements, and makes all durable. Called once everything has been written, and
    /// again after a crash: what is finished stays so. Does nothing where chunks are objects.
    pub async fn finish_objects(&self) -> Result<(), ArrayError> {
        let Some(runs) = self.layout().runs() else { return Ok(()) };
        if self.store().local_root().is_none() && !runs.is_single {
            return self.sync().await; // each chunk was put as an object
        }
        let spec = self.layout().spec();
        let files = runs.files(spec).map_err(|error| self.grid_error(&error))?;
        let mut files = files.peekable();
        if let Some(first) = files.peek().filter(|_| spec.shape.contains(&0)) {
            // Nothing has been written to it.
            let key = self.layout().object_key(first);
            let part = self.store().part(&key, self.file_bytes(runs, first)?).await;
            part.map_err(|error| self.files_error(error))?;
        }
        // What was written is durable before it is seen under its name.
        self.sync().await?;
        while files.peek().is_some() {
            let batch: Vec<Vec<u64>> = files.by_ref().take(FINISHED_AT_ONCE).collect();
            self.finish_batch(runs, &batch).await?;
        }
        self.sync().await
    }

    async fn finish_batch(&self, runs: &RunFormat, batch: &[Vec<u64>]) -> Result<(), ArrayError> {
        let end = |index: &Vec<u64>| {
            let size_bytes = self.file_bytes(runs, index)?;
            Ok(PartEnd { key: self.layout().object_key(index), size_bytes })
        };
        let ends = batch.iter().map(end).collect::<Result<Vec<_>, ArrayError>>()?;
        let finished = self.store().finish_parts(&ends, &runs.header).await;
        finished.map(drop).map_err(|error| self.files_error(error))
    }

    async fn sync(&self) -> Result<(), ArrayError> {
        self.store().sync().await.map_err(|error| self.files_error(error))
    }

    fn files_error(&self, error: StoreError) -> ArrayError {
        self.error(Unit::Files, Cause::Store(error))
    }

    fn grid_error(&self, error: &GridError) -> ArrayError {
        let (key, reason) = ("shape".to_owned(), error.to_string());
        self.error(Unit::Files, Cause::Format(FormatError::Metadata { key, reason }))
    }
}
