//! Reads a range of a file bit by bit, for callers that use each bit at once and need no buffer for
//! all. It counts as the request for an object that it is; a [`ReadFile`](crate::ReadFile), which
//! moves runs of raw files, counts opens and seeks.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::time::{Duration, Instant};

use object_store::GetResultPayload;

use crate::length::wide;
use crate::remote::Like;
use crate::wanted::Wanted;
use crate::{Store, StoreError};

/// A range of an object of a local directory. What is read waits for a disk where it is: for
/// threads that may.
#[derive(Debug)]
pub struct RangeReader {
    store: Store,
    key: String,
    file: File,
    /// Bytes read so far, and the time that they took.
    read_bytes: u64,
    took: Duration,
}

impl Store {
    /// `length` bytes from `start` on, to be read bit by bit: one request, as [`Store::get_range`].
    /// Fewer than that, or no object, is an error; so is a store that [does not work in
    /// place](Store::works_in_place).
    pub async fn open_range(
        &self,
        key: &str,
        start: u64,
        length: u64,
    ) -> Result<RangeReader, StoreError> {
        let opened = self.open_wanted(key, Wanted::Range { start, length }).await?;
        opened.ok_or_else(|| self.view.not_found(key))
    }

    /// `range` of an object of exactly `size_bytes`, in which it lies, to be read likewise: as
    /// [`Store::get_range_of_into`]. `None` if there is no object.
    pub async fn open_range_of(
        &self,
        key: &str,
        size_bytes: u64,
        range: Range<u64>,
    ) -> Result<Option<RangeReader>, StoreError> {
        self.open_wanted(key, Wanted::of_size(size_bytes, &range)).await
    }

    async fn open_wanted(
        &self,
        key: &str,
        wanted: Wanted<'_>,
    ) -> Result<Option<RangeReader>, StoreError> {
        let path = self.view.object_path(key)?;
        if !self.works_in_place() {
            return Err(self.view.failed_io(key, "read", io::ErrorKind::Unsupported.into()));
        }
        let response =
            self.ask(&path, self.range(key, wanted)?, Like::read(wanted.bytes_max())).await;
        if let Err(object_store::Error::NotFound { .. }) = response {
            self.meter().count_get_missing(self.role());
            return Ok(None);
        }
        self.meter().count_get(self.role());
        let response = match response {
            Ok(response) => response,
            Err(error) => return Err(self.why_refused(key, wanted, error).await),
        };
        let (response, _) = self.accepted(key, wanted, response)?;
        let GetResultPayload::File(mut file, _) = response.payload else {
            return Err(self.view.failed_io(key, "read", io::ErrorKind::Unsupported.into()));
        };
        let sought = file.seek(io::SeekFrom::Start(response.range.start));
        sought.map_err(|error| self.view.failed_io(key, "read", error))?;
        let (store, key) = (self.clone(), key.to_owned());
        Ok(Some(RangeReader { store, key, file, read_bytes: 0, took: Duration::ZERO }))
    }
}

impl RangeReader {
    /// The next `length` bytes, in place of what `buffer` held. Where it has to grow, it gets room
    /// for `room_bytes`, so that it grows once.
    pub fn read_into(
        &mut self,
        length: usize,
        room_bytes: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let (store, key) = (&self.store, &self.key);
        store.make_room(key, length, room_bytes, buffer)?;
        let began = Instant::now();
        let read = (&self.file).take(wide(length)).read_to_end(buffer);
        let got = read.map_err(|error| store.view.failed_io(key, "read", error))?;
        self.took += began.elapsed();
        self.read_bytes += wide(got);
        store.meter().count_read(store.role(), got);
        if got < length { Err(store.view.short(key, wide(length), wide(got))) } else { Ok(()) }
    }
}

impl Drop for RangeReader {
    /// Judges by the whole range whether a disk was waited for, as if it were read in one go: the
    /// first bytes wait.
    fn drop(&mut self) {
        self.store.habits.reading.took(self.took, self.read_bytes);
    }
}
