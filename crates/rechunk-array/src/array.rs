use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use rechunk_format::{FormatError, Layout, Plain};
use rechunk_store::{Copied, Got, Narrow, RangeReader, Role, Store, StoreError};

use crate::ArrayError;
use crate::error::Cause;
use crate::gaps::Gaps;
use crate::presence::Presence;

/// A layout on a store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Array {
    layout: Arc<dyn Layout>,
    /// The array's own location: chunk keys begin here.
    store: Store,
    /// Known gaps of the array, where they are wanted.
    pub(crate) gaps: Option<Arc<Gaps>>,
    /// Objects that were there and that were missing, where they are counted.
    pub(crate) presence: Option<Arc<Presence>>,
}

impl Array {
    /// `layout` on `store`, the array's own location. Touches nothing.
    pub fn new(layout: Arc<dyn Layout>, store: Store) -> Self {
        Self { layout, store, gaps: None, presence: None }
    }

    /// Returns the array on another store of the same place: one that is watched, or counted as
    /// something else.
    #[must_use]
    pub fn with_store(&self, store: Store) -> Self {
        Self { store, ..self.clone() }
    }

    /// Layout of the chunks: their places, and the meaning of their bytes.
    pub fn layout(&self) -> &Arc<dyn Layout> {
        &self.layout
    }

    /// The array's own location.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Its location, for people.
    pub fn location(&self) -> &str {
        self.store.label()
    }

    /// The encoded bytes of chunk `index`, or `None` if there is no such chunk. One larger than
    /// the codecs can have made is refused before its body is read.
    pub async fn read_chunk(&self, index: &[u64]) -> Result<Option<Bytes>, ArrayError> {
        if self.layout.chunk_range(index).is_some() {
            let mut buffer = Vec::new();
            return self.read_chunk_into(index, &mut buffer).await.map(|_| Some(buffer.into()));
        }
        let key = self.layout.chunk_key(index);
        let limit_bytes = self.layout.codec_cost().encoded_bytes_max;
        self.store.get(&key, limit_bytes).await.map_err(|error| self.store_error(index, error))
    }

    /// [`Array::read_chunk`] into a buffer that is used again from chunk to chunk. False if there
    /// is no such chunk; where chunks are files of raw elements, or ranges of one, that is an
    /// error.
    pub async fn read_chunk_into(
        &self,
        index: &[u64],
        buffer: &mut Vec<u8>,
    ) -> Result<bool, ArrayError> {
        Ok(self.read_narrowed(index, None, buffer).await? != Got::Missing)
    }

    /// [`Array::read_chunk_into`] for [`Layout::decode_part`] of the bytes `wanted`: all of the
    /// chunk, or as much as that needs. A part may be refused there though the chunk is as it
    /// should be; then all of it has to be read. Not for chunks in shards.
    pub async fn read_chunk_part_into(
        &self,
        index: &[u64],
        wanted: Range<usize>,
        buffer: &mut Vec<u8>,
    ) -> Result<Got, ArrayError> {
        let narrow = self.layout.head_bytes().map(|head_bytes| {
            let (layout, at) = (Arc::clone(&self.layout), index.to_vec());
            Narrow::new(head_bytes, move |head, stored_bytes| {
                layout.narrow(&at, head, stored_bytes, wanted.clone())
            })
        });
        self.read_narrowed(index, narrow.as_ref(), buffer).await
    }

    /// Form of stored elements, where any of them can be read by themselves
    /// ([`Array::read_elements_into`]).
    pub fn plain(&self) -> Option<Plain> {
        self.layout.plain().filter(|_| self.store.reads_ranges())
    }

    /// Reads the bytes `wanted`, and no others, of the stored form of chunk `index`, which has
    /// `stored_bytes`. The buffer is used again; where it has to grow it gets room for
    /// `room_bytes`. False if there is no such chunk. Only where [`Array::plain`] says how they
    /// lie.
    pub async fn read_elements_into(
        &self,
        index: &[u64],
        stored_bytes: u64,
        wanted: Range<u64>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, ArrayError> {
        let key = self.layout.chunk_key(index);
        if let Some(place) = self.place(index)? {
            let read = self.read_place(&key, place, wanted, room_bytes, buffer).await;
            return read.map(|()| true).map_err(|error| self.store_error(index, error));
        }
        if self.is_gap(index) {
            return Ok(false);
        }
        let read =
            self.store.get_range_of_into(&key, stored_bytes, wanted, room_bytes, buffer).await;
        let is_there = read.map_err(|error| self.store_error(index, error))?;
        self.note(index, is_there)?;
        Ok(is_there)
    }

    /// Opens the bytes of [`Array::read_elements_into`], to be read bit by bit; `None` if there is
    /// no such chunk. Of arrays whose chunks are [objects of their own](Array::has_whole_objects),
    /// in stores that [work in place](Store::works_in_place).
    pub async fn open_elements(
        &self,
        index: &[u64],
        stored_bytes: u64,
        wanted: Range<u64>,
    ) -> Result<Option<RangeReader>, ArrayError> {
        if self.is_gap(index) {
            return Ok(None);
        }
        let key = self.layout.chunk_key(index);
        let opened = self.store.open_range_of(&key, stored_bytes, wanted).await;
        let opened = opened.map_err(|error| self.store_error(index, error))?;
        self.note(index, opened.is_some())?;
        Ok(opened)
    }

    /// Announces that `range` of what chunk `index` is stored as will be read soon: see
    /// [`Store::announce`]. Not for chunks in shards.
    pub fn announce(&self, index: &[u64], range: Range<u64>) -> bool {
        let (start, length) = self.layout.chunk_range(index).unwrap_or((0, u64::MAX));
        let of_object = |at: u64| start.saturating_add(at.min(length));
        let range = of_object(range.start)..of_object(range.end);
        self.store.announce(&self.layout.chunk_key(index), range)
    }

    async fn read_narrowed(
        &self,
        index: &[u64],
        narrow: Option<&Narrow>,
        buffer: &mut Vec<u8>,
    ) -> Result<Got, ArrayError> {
        let key = self.layout.chunk_key(index);
        let limit_bytes = self.layout.codec_cost().encoded_bytes_max;
        let got = match (self.place(index)?, narrow) {
            (None, _) if self.is_gap(index) => return Ok(Got::Missing),
            (None, Some(narrow)) => {
                self.store.get_part_into(&key, limit_bytes, narrow, buffer).await
            }
            (None, None) => {
                let found = self.store.get_into(&key, limit_bytes, buffer).await;
                found.map(|is_there| if is_there { Got::Whole } else { Got::Missing })
            }
            (Some(place), _) => {
                let read = self.read_place(&key, place, 0..place.length, limit_bytes, buffer).await;
                return read.map(|()| Got::Whole).map_err(|error| self.store_error(index, error));
            }
        };
        let got = got.map_err(|error| self.store_error(index, error))?;
        self.note(index, got != Got::Missing)?;
        Ok(got)
    }

    /// Object `index` is known to be missing ([`Array::finding_gaps`]): it is counted and need not
    /// be asked for.
    pub(crate) fn is_gap(&self, index: &[u64]) -> bool {
        let is_gap = self.gaps.as_ref().is_some_and(|gaps| gaps.has(index));
        if is_gap {
            self.store.meter().add_gets_missing(self.store.role(), 1);
        }
        is_gap
    }

    /// Stores `encoded` as chunk `index`, whole, in place of any that was there. One that is a
    /// range of an object goes to the object under way, see [`Array::finish_objects`].
    pub async fn write_chunk(&self, index: &[u64], encoded: Bytes) -> Result<(), ArrayError> {
        let key = self.layout.chunk_key(index);
        let stored = match self.place(index)? {
            Some(place) if !place.is_whole => {
                self.store.put_range(&key, place.object_bytes, place.offset, encoded).await
            }
            _ => self.store.put(&key, vec![encoded]).await,
        };
        stored.map_err(|error| self.store_error(index, error))
    }

    /// Each chunk, or each shard of chunks, is an object, and nothing else is in it.
    pub fn has_whole_objects(&self) -> bool {
        let first = vec![0; self.layout.spec().shape.len()];
        self.layout.runs().is_none() && self.layout.chunk_range(&first).is_none()
    }

    /// Has the store copy object `index` of `source`, a chunk or a shard, to where that of this
    /// array is ([`Store::copy_from`]).
    pub async fn copy_object(&self, source: &Self, index: &[u64]) -> Result<Copied, ArrayError> {
        if source.is_gap(index) {
            return Ok(Copied::Missing);
        }
        let (from, to) = (source.layout.object_key(index), self.layout.object_key(index));
        let copied = self.store.copy_from(&source.store, &from, &to).await;
        match copied {
            Ok(Copied::Done) => source.note(index, true)?,
            Ok(Copied::Missing) => source.note(index, false)?,
            Ok(Copied::Refused(_)) | Err(_) => {}
        }
        let unit = if self.layout.shards().is_some() { Unit::Shard } else { Unit::Chunk };
        copied.map_err(|error| self.error(unit(index), Cause::Store(error)))
    }

    /// Removes object `index`, a chunk or a shard, if there is one. Counts as control.
    pub async fn remove_object(&self, index: &[u64]) -> Result<(), ArrayError> {
        let control = self.store.with_role(Role::Control);
        let removed = control.delete(&self.layout.object_key(index)).await;
        let unit = if self.layout.shards().is_some() { Unit::Shard } else { Unit::Chunk };
        removed.map_err(|error| self.error(unit(index), Cause::Store(error)))
    }

    /// Leaves object `index` out, a chunk or a shard of nothing but the fill value. Counts it as
    /// not written, and removes it where one `may_be_there`.
    pub async fn leave_out(&self, index: &[u64], may_be_there: bool) -> Result<(), ArrayError> {
        self.store.meter().add_puts_skipped(self.store.role(), 1);
        if may_be_there { self.remove_object(index).await } else { Ok(()) }
    }

    /// That object `index`, a chunk or a shard, was there before and is not any more.
    pub(crate) fn removed(&self, index: &[u64]) -> ArrayError {
        let unit = if self.layout.shards().is_some() { Unit::Shard } else { Unit::Chunk };
        let (location, key) = (self.location().to_owned(), self.layout.object_key(index));
        self.error(unit(index), Cause::Store(StoreError::Removed { location, key }))
    }

    /// That chunk `index` was read but does not decode.
    pub fn decode_error(&self, index: &[u64], error: FormatError) -> ArrayError {
        self.error(Unit::Chunk(index), Cause::Format(error))
    }

    /// That chunk `index` could not be read or written.
    pub fn store_error(&self, index: &[u64], error: StoreError) -> ArrayError {
        self.error(Unit::Chunk(index), Cause::Store(error))
    }

    pub(crate) fn error(&self, unit: Unit<'_>, cause: Cause) -> ArrayError {
        let (what, index, key) = match unit {
            Unit::Chunk(index) => ("chunk", index, self.layout.chunk_key(index)),
            Unit::Shard(index) => ("shard", index, self.layout.object_key(index)),
            Unit::File(index) => ("file", index, self.layout.object_key(index)),
            Unit::Files => ("", &[][..], String::new()),
        };
        ArrayError::new(what, self.location().to_owned(), index.to_vec(), key, cause)
    }
}

/// Subject of an error, by its index.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit<'a> {
    Chunk(&'a [u64]),
    Shard(&'a [u64]),
    File(&'a [u64]),
    /// The store says which one.
    Files,
}
