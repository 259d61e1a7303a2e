//! Reading objects: check the key, ask, accept the size before the body, try again, count once.

use std::io::{self, Read, Seek};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures::StreamExt;
use object_store::path::Path;
use object_store::{Attribute, GetOptions, GetRange, GetResult, GetResultPayload};

use crate::length::wide;
use crate::narrow::{Got, Narrow};
use crate::remote::{Body, Like, attempts_of, md5_of, read_like};
use crate::retry::Attempts;
use crate::store::Kind;
use crate::wanted::{End, Wanted};
use crate::{Store, StoreError};

/// Size and ETag of an object that was read.
struct Found {
    /// Of all of it.
    size_bytes: u64,
    /// Its ETag, if all of it was read.
    etag: Option<String>,
}

impl Store {
    /// The whole object, or `None` if there is none. One of more than `limit_bytes` is refused
    /// before its body is read.
    pub async fn get(&self, key: &str, limit_bytes: u64) -> Result<Option<Bytes>, StoreError> {
        let mut bytes = Vec::new();
        let found = self.read(key, Wanted::Whole { limit_bytes }, 0, &mut bytes).await?;
        Ok(found.map(|_| Bytes::from(bytes)))
    }

    /// [`Store::get`] into a buffer that is used again from object to object; what it held is
    /// lost. Its capacity grows to `limit_bytes` once and then stays, so that fetching many
    /// objects neither allocates nor leaves holes. False if there is no object.
    pub async fn get_into(
        &self,
        key: &str,
        limit_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, StoreError> {
        let wanted = Wanted::Whole { limit_bytes };
        Ok(self.read(key, wanted, limit_bytes, buffer).await?.is_some())
    }

    /// [`Store::get_into`] where not all may be needed. A part is read from a local directory only,
    /// and counts as one request and the bytes that were read. Elsewhere a second answer would be
    /// waited for, and what says whether all of an object came (its ETag) says nothing of parts.
    pub async fn get_part_into(
        &self,
        key: &str,
        limit_bytes: u64,
        narrow: &Narrow,
        buffer: &mut Vec<u8>,
    ) -> Result<Got, StoreError> {
        let wanted = if self.local_root().is_some() {
            Wanted::Part { limit_bytes, narrow }
        } else {
            Wanted::Whole { limit_bytes }
        };
        Ok(match self.read(key, wanted, limit_bytes, buffer).await? {
            None => Got::Missing,
            Some(size_bytes) if size_bytes == wide(buffer.len()) => Got::Whole,
            Some(_) => Got::Part,
        })
    }

    /// [`Store::get_range_of_into`] of an object that has to be there.
    pub async fn get_exact_into(
        &self,
        key: &str,
        size_bytes: u64,
        range: Range<u64>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let is_there = self.get_range_of_into(key, size_bytes, range, room_bytes, buffer).await?;
        is_there.then_some(()).ok_or_else(|| self.view.not_found(key))
    }

    /// Reads `range` of an object of exactly `size_bytes`, in which it lies, into a buffer that is
    /// used again. What the buffer held is lost, and where it has to grow it gets a capacity of
    /// `room_bytes`. An object of another size is an error. False if there is no object. (Of a part
    /// of an object the ETag, which says whether all came, says nothing.)
    pub async fn get_range_of_into(
        &self,
        key: &str,
        size_bytes: u64,
        range: Range<u64>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, StoreError> {
        let wanted = Wanted::of_size(size_bytes, &range);
        Ok(self.read(key, wanted, room_bytes, buffer).await?.is_some())
    }

    /// `length` bytes from `start` on. Fewer than that, or no object, is an error. Nothing is
    /// asked of the store for 0 bytes.
    pub async fn get_range(&self, key: &str, start: u64, length: u64) -> Result<Bytes, StoreError> {
        let mut bytes = Vec::new();
        self.get_range_into(key, start, length, length, &mut bytes).await?;
        Ok(Bytes::from(bytes))
    }

    /// [`Store::get_range`] into a buffer that is used again; what it held is lost. Where it has
    /// to grow it gets a capacity of `room_bytes` (at least `length`), so that it grows once.
    pub async fn get_range_into(
        &self,
        key: &str,
        start: u64,
        length: u64,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        buffer.clear();
        if length == 0 {
            return self.view.object_path(key).map(|_| ());
        }
        let wanted = Wanted::Range { start, length };
        let found = self.read(key, wanted, room_bytes, buffer).await?;
        found.map(|_| ()).ok_or_else(|| self.view.not_found(key))
    }

    /// `length` bytes at an end of an object (all it has, if it has fewer) and its size; `None` if
    /// there is no object.
    pub async fn get_end(
        &self,
        key: &str,
        end: End,
        length: u64,
    ) -> Result<Option<(Bytes, u64)>, StoreError> {
        let mut bytes = Vec::new();
        let found = self.read(key, Wanted::End { end, length }, 0, &mut bytes).await?;
        Ok(found.map(|size| (Bytes::from(bytes), size)))
    }

    /// Reads what is wanted into `buffer`, which gets room for `room_bytes` if it has to grow.
    /// The size of the object, or `None` if there is none. Counted as one request.
    pub(crate) async fn read(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<u64>, StoreError> {
        if let Kind::References(references) = &self.kind {
            return references.read(&self.view, key, wanted, room_bytes, buffer).await;
        }
        let path = self.view.object_path(key)?;
        let mut attempts = Attempts::new(self.patience, key);
        let mut differed = None;
        let result = loop {
            let permit = self.permit().await;
            let read = self.read_once(key, &path, wanted, room_bytes, buffer).await;
            drop(permit);
            let result = match read {
                Ok(Some(found)) => {
                    let body = self.check_body(found.etag.as_deref(), buffer, differed).await;
                    match body {
                        Body::Fine => Ok(Some(found.size_bytes)),
                        Body::Differs(sum) => {
                            differed = Some(sum);
                            Err(self.damaged(key))
                        }
                    }
                }
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
            match result {
                Err(error) if attempts.again(&error).await => {}
                result => break result,
            }
        };
        match &result {
            Ok(None) => self.meter().count_get_missing(self.role()),
            Ok(Some(_)) => {
                self.meter().count_get(self.role());
                self.meter().count_read(self.role(), buffer.len());
                self.moved(wide(buffer.len())).await;
            }
            Err(_) => self.meter().count_get(self.role()),
        }
        result
    }

    async fn read_once(
        &self,
        key: &str,
        path: &Path,
        wanted: Wanted<'_>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Found>, StoreError> {
        let like = Like::read(wanted.bytes_max());
        let response = match self.ask(path, self.range(key, wanted)?, like).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => match self.end_of_other(key, wanted, error).await? {
                Some(Wanted::Range { start, length }) if length > 0 => {
                    let range = GetRange::Bounded(start..start.saturating_add(length));
                    let asked = self.ask(path, Some(range), like).await;
                    asked.map_err(|error| self.view.failed(key, "read", error))?
                }
                found => {
                    buffer.clear();
                    return Ok(found.map(|_| Found { size_bytes: 0, etag: None }));
                }
            },
            Ok(response) => response,
        };
        let (response, length) = self.accepted(key, wanted, response)?;
        let size_bytes = response.meta.size;
        // Of a part of an object the ETag says nothing.
        let is_whole = matches!(wanted, Wanted::Whole { .. } | Wanted::Exactly { .. });
        let etag = response.meta.e_tag.clone().filter(|_| is_whole);
        self.body_into(key, wanted, response, (length, room_bytes.max(length)), buffer).await?;
        Ok(Some(Found { size_bytes, etag }))
    }

    /// An answer that is what was asked for, and how many bytes its body has.
    pub(crate) fn accepted(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        response: GetResult,
    ) -> Result<(GetResult, u64), StoreError> {
        let response = match wanted {
            Wanted::RangeOf { start, length, .. } if self.answers_with_all(wanted) => {
                let end = start.saturating_add(length).min(response.meta.size);
                GetResult { range: start.min(end)..end, ..response }
            }
            _ => response,
        };
        self.check_encoding(key, &response)?;
        self.view.check_unchanged(key, &response.meta)?;
        let length = self.accept(key, wanted, &response)?;
        Ok((response, length))
    }

    /// An error where a web server sends something else than what it has: compressed, though nobody
    /// asked for that. (What an object store says of an object is for browsers; it sends what was
    /// stored.)
    fn check_encoding(&self, key: &str, response: &GetResult) -> Result<(), StoreError> {
        let encoding = response.attributes.get(&Attribute::ContentEncoding);
        let encoding = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case("identity"));
        match encoding {
            Some(encoding) if matches!(self.kind, Kind::Http) => {
                let reason = format!(
                    "the server sends it compressed (Content-Encoding: {}), which it was not asked for",
                    encoding.as_ref()
                );
                Err(self.view.failed_io(key, "read", io::Error::other(reason)))
            }
            _ => Ok(()),
        }
    }

    /// Whether a whole body is what was stored, where the store says what that is.
    async fn check_body(
        &self,
        etag: Option<&str>,
        buffer: &mut Vec<u8>,
        before: Option<[u8; 16]>,
    ) -> Body {
        let Some(etags) = self.etags.as_ref().filter(|etags| !etags.are_other()) else {
            return Body::Fine;
        };
        let Some(etag) = etag.filter(|etag| md5_of(etag).is_some()).map(str::to_owned) else {
            return Body::Fine;
        };
        let (etags, bytes) = (Arc::clone(etags), std::mem::take(buffer));
        // Large bodies take a while: away from the async threads.
        let check = move || {
            let body = etags.check(Some(&etag), &bytes, before);
            (body, bytes)
        };
        match tokio::task::spawn_blocking(check).await {
            Ok((body, bytes)) => {
                *buffer = bytes;
                body
            }
            Err(_) => Body::Differs([0; 16]), // it was lost: read it again
        }
    }

    fn damaged(&self, key: &str) -> StoreError {
        StoreError::Damaged { location: self.label().to_owned(), key: key.to_owned() }
    }

    pub(crate) async fn ask(
        &self,
        path: &Path,
        range: Option<GetRange>,
        like: Like,
    ) -> Result<GetResult, object_store::Error> {
        let extensions = read_like(like, attempts_of(self.meter(), self.role()));
        let options = GetOptions { range, extensions, ..GetOptions::default() };
        self.inner.get_opts(path, options).await
    }

    /// True if a range is taken from the whole object. A file is opened whatever is read of it, and
    /// one that is shorter says how long it is; and an HTTP server may know no ranges.
    pub(crate) fn answers_with_all(&self, wanted: Wanted<'_>) -> bool {
        matches!(wanted, Wanted::RangeOf { .. })
            && matches!(self.kind, Kind::Directory(_) | Kind::Http | Kind::Versioned(_))
    }

    pub(crate) fn range(&self, key: &str, wanted: Wanted) -> Result<Option<GetRange>, StoreError> {
        Ok(match wanted {
            Wanted::Whole { .. } | Wanted::Part { .. } | Wanted::Exactly { .. } => None,
            Wanted::RangeOf { .. } if self.answers_with_all(wanted) => None,
            Wanted::RangeOf { start, length, .. }
            | Wanted::Range { start, length }
            | Wanted::Within { start, length } => {
                // A range beyond what can be counted is beyond the end of any object.
                let end =
                    start.checked_add(length).ok_or_else(|| self.view.short(key, length, 0))?;
                Some(GetRange::Bounded(start..end))
            }
            Wanted::End { end: End::First, length } => Some(GetRange::Bounded(0..length)),
            Wanted::End { end: End::Last, length } => Some(GetRange::Suffix(length)),
        })
    }

    /// Replaces a wanted end by a range, for a store that cannot say what is at the end of an
    /// object. The range has no bytes if the object has none; `None` if there is no object.
    async fn end_of_other(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        error: object_store::Error,
    ) -> Result<Option<Wanted<'static>>, StoreError> {
        let Wanted::End { end, length } = wanted else {
            return Err(self.why_refused(key, wanted, error).await);
        };
        let is_unsupported = matches!(error, object_store::Error::NotSupported { .. });
        match self.head(key).await? {
            None => Ok(None),
            // Some stores refuse any range of an object without bytes.
            Some(0) => Ok(Some(Wanted::Range { start: 0, length: 0 })),
            Some(size) if is_unsupported && end == End::Last => {
                let length = length.min(size);
                Ok(Some(Wanted::Range { start: size - length, length }))
            }
            Some(_) => Err(self.view.failed(key, "read", error)),
        }
    }

    /// Checks that an answer is the one that was asked for; returns the bytes of its body.
    fn accept(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        response: &GetResult,
    ) -> Result<u64, StoreError> {
        let size_bytes = response.meta.size;
        let got = response.range.end.saturating_sub(response.range.start);
        self.view.check_exact(key, wanted, size_bytes)?;
        let expected = match wanted {
            Wanted::Whole { limit_bytes } | Wanted::Part { limit_bytes, .. }
                if size_bytes > limit_bytes =>
            {
                return Err(self.view.too_large(key, size_bytes, limit_bytes));
            }
            Wanted::Whole { .. } | Wanted::Part { .. } | Wanted::Exactly { .. } => size_bytes,
            Wanted::Within { start, length } if size_bytes < start.saturating_add(length) => {
                let (location, key) = (self.label().to_owned(), key.to_owned());
                let expected_bytes = start.saturating_add(length);
                return Err(StoreError::WrongSize { location, key, size_bytes, expected_bytes });
            }
            Wanted::RangeOf { start, length, .. }
            | Wanted::Range { start, length }
            | Wanted::Within { start, length }
                if response.range.start == start =>
            {
                length
            }
            Wanted::RangeOf { length, .. }
            | Wanted::Range { length, .. }
            | Wanted::Within { length, .. } => return Err(self.view.short(key, length, 0)),
            Wanted::End { length, .. } => length.min(size_bytes),
        };
        if got == expected { Ok(got) } else { Err(self.view.short(key, expected, got)) }
    }

    /// Empties a buffer for `length` bytes of an object. Where it has to grow it gets room for
    /// `room` (at least `length`).
    pub(crate) fn make_room(
        &self,
        key: &str,
        length: usize,
        room: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        buffer.clear();
        if buffer.capacity() < length {
            *buffer = Vec::new(); // free the old one first
            let made = buffer.try_reserve_exact(length.max(room));
            made.map_err(|_| self.view.short(key, wide(length), 0))?;
        }
        Ok(())
    }

    /// Reads what is wanted of a body whose `size` has been accepted into `buffer`, making `room`
    /// for so many bytes.
    async fn body_into(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        response: GetResult,
        (size, room): (u64, u64),
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let mut bytes = std::mem::take(buffer);
        // A size that does not fit the address space does not fit memory either.
        let [length, room] = [size, room].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        self.make_room(key, length, room, &mut bytes)?;
        let start = response.range.start;
        let mut expected = size;
        bytes = match response.payload {
            GetResultPayload::File(mut file, _) => {
                let habits = Arc::clone(&self.habits);
                let narrow = match wanted {
                    Wanted::Part { narrow, .. } => Some(narrow.clone()),
                    _ => None,
                };
                (bytes, expected) = self
                    .moment(key, "read", size, move || {
                        let began = Instant::now();
                        if start > 0 {
                            file.seek(io::SeekFrom::Start(start))?;
                        }
                        let expected = match narrow {
                            Some(narrow) => narrow.read(&file, size, &mut bytes)?,
                            None => file.take(size).read_to_end(&mut bytes).map(|_| size)?,
                        };
                        habits.reading.took(began.elapsed(), expected);
                        Ok((bytes, expected))
                    })
                    .await?;
                bytes
            }
            GetResultPayload::Stream(mut stream) => {
                let most = usize::try_from(size).unwrap_or(usize::MAX);
                let takes_range = self.answers_with_all(wanted);
                let mut ahead =
                    if takes_range { usize::try_from(start).unwrap_or(usize::MAX) } else { 0 };
                while let Some(part) = stream.next().await {
                    let mut part = part.map_err(|error| self.view.failed(key, "read", error))?;
                    if takes_range {
                        let skipped = ahead.min(part.len());
                        ahead -= skipped;
                        part = part.slice(skipped..);
                        // What is behind the range is not waited for.
                        part.truncate(most - bytes.len());
                    }
                    // A server that sends more than it said does not get more memory.
                    if part.len() > most - bytes.len() {
                        return Err(self.view.short(key, size, wide(bytes.len() + part.len())));
                    }
                    bytes.extend_from_slice(&part);
                    if takes_range && bytes.len() == most {
                        break;
                    }
                }
                bytes
            }
        };
        let got = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if got != expected {
            return Err(self.view.short(key, expected, got));
        }
        *buffer = bytes;
        Ok(())
    }
}
