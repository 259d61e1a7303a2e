//! What a store does. Each operation: check the key, count, do, translate the error.

use std::io::{self, Read, Seek};
use std::path::PathBuf;

use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, GetResultPayload, ObjectStoreExt, PutPayload};

use crate::{FileSize, Store, StoreError, key, local_tree};

/// An end of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its first bytes.
    First,
    /// Its last bytes.
    Last,
}

impl Store {
    /// The whole object, or `None` if there is none. One of more than `limit_bytes` is refused
    /// before its body is read.
    pub async fn get(&self, key: &str, limit_bytes: u64) -> Result<Option<Bytes>, StoreError> {
        let Some((response, size)) = self.response(key, limit_bytes).await? else {
            return Ok(None);
        };
        self.body(key, response, size).await.map(Some)
    }

    /// The answer to a request for a whole object, its body unread, and its accepted size.
    async fn response(
        &self,
        key: &str,
        limit_bytes: u64,
    ) -> Result<Option<(GetResult, u64)>, StoreError> {
        let path = self.object_path(key)?;
        let response = match self.inner.get_opts(&path, GetOptions::default()).await {
            Err(object_store::Error::NotFound { .. }) => {
                self.meter.count_get_missing(self.role);
                return Ok(None);
            }
            response => {
                self.meter.count_get(self.role);
                response.map_err(|error| self.failed(key, "read", error))?
            }
        };
        let size_bytes = response.meta.size;
        if size_bytes > limit_bytes {
            let (location, key) = (self.label().to_owned(), key.to_owned());
            return Err(StoreError::TooLarge { location, key, size_bytes, limit_bytes });
        }
        Ok(Some((response, size_bytes)))
    }

    /// `length` bytes from `start` on. Fewer than that, or no object, is an error. Nothing is
    /// asked of the store for 0 bytes.
    pub async fn get_range(&self, key: &str, start: u64, length: u64) -> Result<Bytes, StoreError> {
        if length == 0 {
            return self.object_path(key).map(|_| Bytes::new());
        }
        let response = self.range_response(key, start, length).await?;
        self.body(key, response, length).await
    }

    /// `length` bytes at an end of an object (all it has, if it has fewer) and its size; `None` if
    /// there is no object.
    pub async fn get_end(
        &self,
        key: &str,
        end: End,
        length: u64,
    ) -> Result<Option<(Bytes, u64)>, StoreError> {
        let path = self.object_path(key)?;
        let range = Some(match end {
            End::First => GetRange::Bounded(0..length),
            End::Last => GetRange::Suffix(length),
        });
        let options = GetOptions { range, ..GetOptions::default() };
        let response = match self.inner.get_opts(&path, options).await {
            Err(object_store::Error::NotFound { .. }) => {
                self.meter.count_get_missing(self.role);
                return Ok(None);
            }
            response => {
                self.meter.count_get(self.role);
                match response {
                    Ok(response) => response,
                    // Some stores refuse any range of an object without bytes.
                    Err(_) if self.head(key).await? == Some(0) => {
                        return Ok(Some((Bytes::new(), 0)));
                    }
                    Err(error) => return Err(self.failed(key, "read", error)),
                }
            }
        };
        let (got, size) = (response.range.end - response.range.start, response.meta.size);
        if got != length.min(size) {
            return Err(self.short(key, length, got));
        }
        let bytes = self.body(key, response, got).await?;
        Ok(Some((bytes, size)))
    }

    /// The answer to a request for a range, its body unread: exactly that range.
    async fn range_response(
        &self,
        key: &str,
        start: u64,
        length: u64,
    ) -> Result<GetResult, StoreError> {
        let path = self.object_path(key)?;
        // A range beyond what can be counted is beyond the end of any object.
        let end = start.checked_add(length).ok_or_else(|| self.short(key, length, 0))?;
        let range = Some(GetRange::Bounded(start..end));
        let options = GetOptions { range, ..GetOptions::default() };
        let result = self.inner.get_opts(&path, options).await;
        match &result {
            Err(object_store::Error::NotFound { .. }) => self.meter.count_get_missing(self.role),
            _ => self.meter.count_get(self.role),
        }
        let response = result.map_err(|error| self.failed(key, "read", error))?;
        let got = response.range.end.saturating_sub(response.range.start);
        if response.range.start != start || got != length {
            return Err(self.short(key, length, got));
        }
        Ok(response)
    }

    /// Reads a body whose size is known and has been accepted.
    async fn body(&self, key: &str, response: GetResult, size: u64) -> Result<Bytes, StoreError> {
        let bytes = response.bytes().await.map_err(|error| self.failed(key, "read", error))?;
        self.meter.count_read(self.role, bytes.len());
        match u64::try_from(bytes.len()) {
            Ok(got) if got == size => Ok(bytes),
            got => Err(self.short(key, size, got.unwrap_or(u64::MAX))),
        }
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
        let Some((response, size)) = self.response(key, limit_bytes).await? else {
            return Ok(false);
        };
        self.body_into(key, response, size, limit_bytes, buffer).await.map(|()| true)
    }

    /// [`Store::get_into`] of an object that has to be there, of exactly `size_bytes`.
    pub async fn get_exact_into(
        &self,
        key: &str,
        size_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let Some((response, found)) = self.response(key, u64::MAX).await? else {
            let (location, key) = (self.label().to_owned(), key.to_owned());
            return Err(StoreError::NotFound { location, key });
        };
        self.check_size(key, FileSize::Exactly(size_bytes), found)?;
        self.body_into(key, response, found, found, buffer).await
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
            return self.object_path(key).map(|_| ());
        }
        let response = self.range_response(key, start, length).await?;
        self.body_into(key, response, length, room_bytes.max(length), buffer).await
    }

    /// Reads a body whose size has been accepted into `buffer`, making room for `room` bytes.
    async fn body_into(
        &self,
        key: &str,
        response: GetResult,
        size: u64,
        room: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let mut bytes = std::mem::take(buffer);
        bytes.clear();
        // A size that does not fit the address space does not fit memory either.
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if bytes.capacity() < usize::try_from(size).unwrap_or(usize::MAX) {
            bytes = Vec::new(); // free the old one first
            bytes.try_reserve_exact(room).map_err(|_| self.short(key, size, 0))?;
        }
        let start = response.range.start;
        bytes = match response.payload {
            GetResultPayload::File(mut file, _) => {
                self.blocking(key, "read", move || {
                    file.seek(io::SeekFrom::Start(start))?;
                    file.take(size).read_to_end(&mut bytes)?;
                    Ok(bytes)
                })
                .await?
            }
            GetResultPayload::Stream(mut stream) => {
                while let Some(part) = stream.next().await {
                    bytes
                        .extend_from_slice(&part.map_err(|error| self.failed(key, "read", error))?);
                }
                bytes
            }
        };
        self.meter.count_read(self.role, bytes.len());
        let got = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if got != size {
            return Err(self.short(key, size, got));
        }
        *buffer = bytes;
        Ok(())
    }

    /// Stores a whole object made of `parts`, in place of any that was there. Readers see the
    /// old one or the new one, never a part. Durable after [`Store::sync`].
    pub async fn put(&self, key: &str, parts: Vec<Bytes>) -> Result<(), StoreError> {
        let path = self.object_path(key)?;
        let payload: PutPayload = parts.into_iter().collect();
        let bytes = u64::try_from(payload.content_length()).unwrap_or(u64::MAX);
        self.meter.count_put(self.role);
        self.inner.put(&path, payload).await.map_err(|error| self.failed(key, "write", error))?;
        self.meter.count_written(self.role, bytes);
        Ok(())
    }

    /// [`Store::put`] of a small document that must not be there by halves even after a power
    /// cut: durable when it returns, and never under its name before.
    pub async fn put_durable(&self, key: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        if self.local_root().is_none() {
            return self.put(key, vec![Bytes::from(bytes)]).await;
        }
        let path = self.file_path(key, "be written to")?;
        self.meter.count_put(self.role);
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let write = move || local_tree::write_durable(&path, &bytes);
        self.blocking(key, "write", write).await?;
        self.meter.count_written(self.role, length);
        Ok(())
    }

    /// Deletes an object. None there is fine.
    pub async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let path = self.object_path(key)?;
        self.meter.count_delete();
        match self.inner.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(key, "delete", error)),
        }
    }

    /// Deletes everything below `prefix`, which is a whole path: `c` is `c/0` and not `cat`. With
    /// an empty `prefix`, everything in the store, and its directory if it is one.
    pub async fn delete_prefix(&self, prefix: &str) -> Result<(), StoreError> {
        let place = self.child(prefix)?;
        if let Some(root) = place.local_root() {
            if root.parent().is_none() {
                let reason = "the root of a file system is not deleted".to_owned();
                let (location, key) = (self.label().to_owned(), prefix.to_owned());
                return Err(StoreError::InvalidKey { location, key, reason });
            }
            self.meter.count_delete();
            let root = root.to_owned();
            return self.blocking(prefix, "delete", move || local_tree::remove(&root)).await;
        }
        self.meter.count_list();
        let listed = place.inner.list(place.list_prefix()).map_ok(|object| object.location);
        let mut deleted = place.inner.delete_stream(listed.boxed());
        while let Some(result) = deleted.next().await {
            self.meter.count_delete();
            match result {
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(self.failed(prefix, "delete", error)),
            }
        }
        Ok(())
    }

    /// The size of an object, or `None` if there is none.
    pub async fn head(&self, key: &str) -> Result<Option<u64>, StoreError> {
        let path = self.object_path(key)?;
        self.meter.count_head();
        match self.inner.head(&path).await {
            Ok(object) => Ok(Some(object.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(key, "look at", error)),
        }
    }

    /// Whether there is an object at `key`. (A directory there is an error.)
    pub async fn exists(&self, key: &str) -> Result<bool, StoreError> {
        self.head(key).await.map(|size| size.is_some())
    }

    /// Key and size in bytes of every object below `prefix` (all of them if it is empty), in no
    /// order, a few at a time however many there are. Unfinished writes are not among them.
    pub fn list(&self, prefix: &str) -> BoxStream<'static, Result<(String, u64), StoreError>> {
        let place = match self.child(prefix) {
            Ok(place) => place,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        self.meter.count_list();
        let (store, prefix) = (self.clone(), prefix.to_owned());
        let objects = place.inner.list(place.list_prefix()).map(move |object| {
            let object = object.map_err(|error| store.failed(&prefix, "list", error))?;
            let location = object.location.as_ref();
            let key = location.strip_prefix(store.prefix.as_ref()).unwrap_or(location);
            Ok((key.trim_start_matches('/').to_owned(), object.size))
        });
        objects.boxed()
    }

    /// Names of what has objects below it, directly below `prefix`: directories, in a local store
    /// also those that are empty.
    pub async fn list_directories(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let place = self.child(prefix)?;
        self.meter.count_list();
        let listed = place.inner.list_with_delimiter(place.list_prefix()).await;
        let listed = listed.map_err(|error| self.failed(prefix, "list", error))?;
        let name = |path: &Path| path.filename().map(ToOwned::to_owned);
        Ok(listed.common_prefixes.iter().filter_map(name).collect())
    }

    /// How many files killed (or running) writes have left in a local store, and the key of one.
    /// Nothing else lists them.
    pub async fn count_staging(&self) -> Result<(u64, Option<String>), StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else {
            return Ok((0, None));
        };
        self.meter.count_list();
        self.blocking("", "list", move || local_tree::count_staging(&root)).await
    }

    /// Whether the store holds no object.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.list("").try_next().await?.is_none())
    }

    /// Whether there is anything at the location: a directory, even an empty one, a file, a link;
    /// in a store without directories, an object.
    pub async fn exists_anything(&self) -> Result<bool, StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else {
            return self.is_empty().await.map(|is_empty| !is_empty);
        };
        self.meter.count_head();
        self.blocking("", "look at", move || match root.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            metadata => metadata.map(|_| true),
        })
        .await
    }

    /// Returns when everything put so far would survive a power cut. One call for many puts: on
    /// Linux it syncs the whole file system the directory is on (not others mounted below it).
    pub async fn sync(&self) -> Result<(), StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else {
            return Ok(()); // memory; a remote store is durable when it answers
        };
        self.blocking("", "make durable what was written to", move || local_tree::sync(&root)).await
    }

    /// Deletes what killed writes have left in a local store (nothing elsewhere). Only when no
    /// other process writes to it. Returns how many files.
    pub async fn remove_staging(&self) -> Result<u64, StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else {
            return Ok(0);
        };
        let removed =
            self.blocking("", "clean up", move || local_tree::remove_staging(&root)).await?;
        if removed > 0 {
            tracing::info!(location = self.label(), removed, "deleted unfinished writes");
        }
        Ok(removed)
    }

    /// Moves the directory `from` to `to`, where nothing or an empty directory may be, and makes
    /// the move durable. Local stores on one file system only.
    pub async fn rename(from: &Self, to: &Self) -> Result<(), StoreError> {
        let operation = "be renamed to put a whole array in place";
        let (source, target) = (from.require_local(operation)?, to.require_local(operation)?);
        let action = "put an array in place at";
        to.blocking("", action, move || local_tree::rename(&source, &target)).await
    }

    pub(crate) fn object_path(&self, key: &str) -> Result<Path, StoreError> {
        key::join_object(self.label(), &self.prefix, key)
    }

    /// The file behind `key`, if the store is a local directory.
    pub(crate) fn file_path(
        &self,
        key: &str,
        operation: &'static str,
    ) -> Result<PathBuf, StoreError> {
        self.object_path(key)?;
        Ok(self.require_local(operation)?.join(key))
    }

    fn list_prefix(&self) -> Option<&Path> {
        (!self.prefix.is_root()).then_some(&self.prefix)
    }

    fn failed(&self, key: &str, action: &'static str, error: object_store::Error) -> StoreError {
        StoreError::from_object_store(self.label(), key, action, error)
    }

    fn short(&self, key: &str, wanted_bytes: u64, got_bytes: u64) -> StoreError {
        let (location, key) = (self.label().to_owned(), key.to_owned());
        StoreError::Short { location, key, wanted_bytes, got_bytes }
    }

    /// Runs blocking work on files away from the async threads.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        key: &str,
        action: &'static str,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let result = match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) => Err(io::Error::other(error)),
        };
        result.map_err(|error| StoreError::Failed {
            location: self.label().to_owned(),
            key: key.to_owned(),
            action,
            source: Box::new(error),
        })
    }
}
