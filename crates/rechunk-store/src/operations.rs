//! Operations of a store beside reading. Each operation: check the key, count, do, try again,
//! translate the error.

use std::io;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use futures::future;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Extensions, GetOptions, ObjectMeta, ObjectStoreExt, PutOptions, PutPayload};

use crate::length::wide;
use crate::local::moments::NO_MOMENT;
use crate::local::tree;
use crate::remote::{Like, attempts_of, read_like};
use crate::store::Kind;
use crate::{Store, StoreError};

/// Objects deleted in one request, if the store takes more than one: as many as S3 does.
const DELETED_AT_ONCE: usize = 1000;

impl Store {
    /// Stores a whole object made of `parts`, in place of any that was there. Readers see the
    /// old one or the new one, never a part. Durable after [`Store::sync`]. A large one is sent in
    /// parts where the store takes some, a few at a time, each tried again by itself.
    pub async fn put(&self, key: &str, parts: Vec<Bytes>) -> Result<(), StoreError> {
        let bytes = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(wide(part.len())));
        if let Some(multipart) = &self.multipart
            && let Some(part_bytes) = multipart.sizes.part_of(bytes)
        {
            return self.put_in_parts(multipart, key, parts, part_bytes).await;
        }
        self.put_whole(key, parts.into_iter().collect()).await
    }

    /// [`Store::put`] in one request.
    pub(crate) async fn put_whole(&self, key: &str, payload: PutPayload) -> Result<(), StoreError> {
        let path = self.view.object_path(key)?;
        let bytes = wide(payload.content_length());
        self.meter().count_put(self.role());
        self.persist(key, || async {
            let _permit = self.permit().await;
            let extensions = attempts_of(self.meter(), self.role());
            let options = PutOptions { extensions, ..PutOptions::default() };
            let put = self.inner.put_opts(&path, payload.clone(), options).await;
            put.map_err(|error| self.view.failed(key, "write", error))
        })
        .await?;
        self.meter().count_written(self.role(), bytes);
        self.moved(bytes).await;
        Ok(())
    }

    /// [`Store::put`] of a small document that must not be there by halves even after a power cut.
    /// It is durable when this returns, and never under its name before (see
    /// `Stores::without_fsync`).
    pub async fn put_durable(&self, key: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        if self.local_root().is_none() {
            return self.put(key, vec![Bytes::from(bytes)]).await;
        }
        let path = self.file_path(key, "be written to")?;
        self.meter().count_put(self.role());
        let (length, fsyncs) = (wide(bytes.len()), self.fsyncs);
        // What is replaced was durable perhaps, and so is what replaces it, anyway.
        let there = path.clone();
        let fsyncs = fsyncs || self.moment(key, "write", 0, move || Ok(there.exists())).await?;
        let write = move || tree::write_whole(&path, &bytes, fsyncs);
        self.moment(key, "write", if fsyncs { NO_MOMENT } else { length }, write).await?;
        self.meter().count_written(self.role(), length);
        Ok(())
    }

    /// Deletes an object. None there is fine.
    pub async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let path = self.view.object_path(key)?;
        self.meter().count_delete();
        self.persist(key, || async {
            let _permit = self.permit().await;
            match self.inner.delete(&path).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(self.view.failed(key, "delete", error)),
            }
        })
        .await
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
            self.meter().count_delete();
            let root = root.to_owned();
            return self.blocking(prefix, "delete", move || tree::remove(&root)).await;
        }
        self.persist(prefix, || self.delete_listed(&place, prefix)).await
    }

    /// Deletes everything in a remote store that is listed, but what is at `kept` or below.
    pub async fn delete_all_but(&self, kept: &[&str]) -> Result<(), StoreError> {
        let kept =
            kept.iter().map(|key| self.view.object_path(key)).collect::<Result<Vec<_>, _>>()?;
        self.persist("", || {
            let kept = kept.clone();
            self.meter().count_list();
            let listed = self.listed_below();
            let is_other = move |path: &Path| {
                future::ready(!kept.iter().any(|kept| path.prefix_matches(kept)))
            };
            self.delete_stream("", listed.try_filter(is_other).boxed())
        })
        .await
    }

    /// Removes the directory of a local store, if there is nothing in it; elsewhere there is none.
    pub async fn remove_empty(&self) -> Result<(), StoreError> {
        let Some(root) = self.local_root().map(std::path::Path::to_owned) else { return Ok(()) };
        self.meter().count_delete();
        self.moment("", "delete", 0, move || tree::remove_empty(&root)).await
    }

    /// Deletes the objects at `keys`, many in a request where the store can. None there is fine.
    /// Nothing is listed: a listing may be late and leave some.
    pub async fn delete_keys(
        &self,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<(), StoreError> {
        let mut paths = keys.into_iter().map(|key| self.view.object_path(&key));
        loop {
            let some: Vec<Path> = paths.by_ref().take(DELETED_AT_ONCE).collect::<Result<_, _>>()?;
            if some.is_empty() {
                return Ok(());
            }
            self.persist("", || async {
                let paths = stream::iter(some.clone()).map(Ok);
                self.delete_stream("", paths.boxed()).await
            })
            .await?;
        }
    }

    async fn delete_listed(&self, place: &Self, prefix: &str) -> Result<(), StoreError> {
        self.meter().count_list();
        self.delete_stream(prefix, place.listed_below()).await
    }

    /// The paths of all objects, to be deleted; an error where a store names one that is not below
    /// this place.
    fn listed_below(&self) -> BoxStream<'static, object_store::Result<Path>> {
        let place = self.view.prefix().clone();
        let listed = self.inner.list(self.view.list_prefix());
        let checked = listed.and_then(move |object| {
            let path = object.location;
            let checked = if path.prefix_matches(&place) { Ok(path) } else { Err(foreign(&path)) };
            future::ready(checked)
        });
        checked.boxed()
    }

    async fn delete_stream(
        &self,
        prefix: &str,
        paths: BoxStream<'static, object_store::Result<Path>>,
    ) -> Result<(), StoreError> {
        let mut deleted = self.inner.delete_stream(paths);
        loop {
            // The library below panics at answers that name what it did not ask for.
            let next = AssertUnwindSafe(deleted.next()).catch_unwind().await;
            let Some(result) = next.map_err(|_| self.senseless(prefix))? else { return Ok(()) };
            self.meter().count_delete();
            match result {
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(self.view.failed(prefix, "delete", error)),
            }
        }
    }

    fn senseless(&self, prefix: &str) -> StoreError {
        self.view.failed_io(prefix, "delete", io::Error::other("the answer makes no sense"))
    }

    /// The size of an object, or `None` if there is none.
    pub async fn head(&self, key: &str) -> Result<Option<u64>, StoreError> {
        self.look_at(key).await.map(|object| object.map(|object| object.size))
    }

    /// Metadata of an object, without its bytes; `None` if there is none.
    pub(crate) async fn look_at(&self, key: &str) -> Result<Option<ObjectMeta>, StoreError> {
        if let Kind::References(references) = &self.kind {
            return references.look_at(&self.view, key).await;
        }
        let path = self.view.object_path(key)?;
        self.meter().count_head();
        self.persist(key, || async {
            let extensions = read_like(Like::Head, Extensions::new());
            let options = GetOptions { head: true, extensions, ..GetOptions::default() };
            match self.inner.get_opts(&path, options).await {
                Ok(object) => Ok(Some(object.meta)),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(self.view.failed(key, "look at", error)),
            }
        })
        .await
    }

    /// Whether there is an object at `key`. (A directory there is an error.)
    pub async fn exists(&self, key: &str) -> Result<bool, StoreError> {
        self.head(key).await.map(|size| size.is_some())
    }

    /// Lists key and size in bytes of every object below `prefix` (all of them if it is empty).
    /// They come in no order, a few at a time however many there are, without unfinished writes.
    pub fn list(&self, prefix: &str) -> BoxStream<'static, Result<(String, u64), StoreError>> {
        let place = match self.child(prefix) {
            Ok(place) => place,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        if let Err(error) = self.require_list() {
            return stream::iter([Err(error)]).boxed();
        }
        self.meter().count_list();
        if let Kind::References(references) = &place.kind {
            let below = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
            let listed = Arc::clone(references).list(&place.view);
            return listed.map_ok(move |(key, size)| (format!("{below}{key}"), size)).boxed();
        }
        let (store, prefix) = (self.clone(), prefix.to_owned());
        let objects = place.inner.list(place.view.list_prefix()).map(move |object| {
            let object = object.map_err(|error| store.view.failed(&prefix, "list", error))?;
            Ok((store.view.key_of(&object.location).to_owned(), object.size))
        });
        objects.boxed()
    }

    /// Hands every key to `take`, until it breaks; returns `taken`. There are keys of all objects,
    /// and in a local store, where they have up to `depth` names, of all else that stands where one
    /// would be looked for; of directories with a `/` at the end. An error where a store names
    /// objects that are not below its own place: whoever relies on the keys would miss those.
    pub async fn fold_keys<T: Send + 'static>(
        &self,
        depth: usize,
        mut taken: T,
        mut take: impl FnMut(&mut T, &str) -> ControlFlow<()> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Some(root) = self.local_root().map(ToOwned::to_owned) {
            self.meter().count_list();
            let work = move || {
                tree::each_name(&root, depth, &mut |key| take(&mut taken, key))?;
                Ok(taken)
            };
            return self.blocking("", "list", work).await;
        }
        self.meter().count_list();
        let mut listed = self.inner.list(self.view.list_prefix());
        while let Some(object) =
            listed.try_next().await.map_err(|error| self.view.failed("", "list", error))?
        {
            let Some(below) = object.location.prefix_match(self.view.prefix()) else {
                let error = io::Error::other(format!("{} is not below it", object.location));
                return Err(self.view.failed_io("", "list", error));
            };
            let names: Vec<_> = below.collect();
            let key = names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join("/");
            if take(&mut taken, &key).is_break() {
                break;
            }
        }
        Ok(taken)
    }

    /// A directory of a local store, at most `depth` names deep, in which names were added or
    /// removed after `since`. `None` if there is none, and in stores without directories. Times in
    /// the future say nothing.
    pub async fn changed_directory(
        &self,
        depth: usize,
        since: SystemTime,
    ) -> Result<Option<PathBuf>, StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else { return Ok(None) };
        self.meter().count_list();
        let look = move || tree::changed_directory(&root, depth, since);
        self.blocking("", "look at", look).await
    }

    /// [`Store::list`] of the first `limit` objects, tried again as a whole if it fails.
    pub async fn list_first(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        self.persist(prefix, || self.list(prefix).take(limit).try_collect()).await
    }

    /// Names of what has objects below it, directly below `prefix`: directories, in a local store
    /// also those that are empty.
    pub async fn list_directories(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let place = self.child(prefix)?;
        self.require_list()?;
        self.meter().count_list();
        if let Kind::References(references) = &place.kind {
            return references.list_directories(&place.view).await;
        }
        let listed = self.persist(prefix, || async {
            let listed = place.inner.list_with_delimiter(place.view.list_prefix()).await;
            listed.map_err(|error| self.view.failed(prefix, "list", error))
        });
        let listed = listed.await?;
        let name = |path: &Path| path.filename().map(ToOwned::to_owned);
        Ok(listed.common_prefixes.iter().filter_map(name).collect())
    }

    /// Counts the files that killed (or running) writes have left in a local store; returns the key
    /// of one, too. Nothing else lists them.
    pub async fn count_staging(&self) -> Result<(u64, Option<String>), StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else {
            return Ok((0, None));
        };
        self.meter().count_list();
        self.blocking("", "list", move || tree::count_staging(&root)).await
    }

    /// Whether the store holds no object.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        self.has_none_but(&[]).await
    }

    /// Whether there are no objects but those at `keys`, if they are there.
    pub async fn has_none_but(&self, keys: &[&str]) -> Result<bool, StoreError> {
        let found = self.persist("", || self.first_there_but(keys)).await?;
        Ok(found.is_none())
    }

    /// An object of the store that is not at one of `keys`, if it has one. A remote store is asked
    /// for what it lists: a listing may be late and have what is gone.
    async fn first_there_but(&self, keys: &[&str]) -> Result<Option<String>, StoreError> {
        let mut listed = self.list("");
        while let Some((key, _)) = listed.try_next().await? {
            if keys.contains(&key.as_str()) {
                continue;
            }
            if self.limiter.is_none() || self.exists(&key).await? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Whether there is anything at the location: a directory, even an empty one, a file, a link;
    /// in a store without directories, an object.
    pub async fn exists_anything(&self) -> Result<bool, StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else {
            return self.is_empty().await.map(|is_empty| !is_empty);
        };
        self.meter().count_head();
        self.moment("", "look at", 0, move || match root.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            metadata => metadata.map(|_| true),
        })
        .await
    }

    /// Returns when everything put so far would survive a power cut. One call for many puts: on
    /// Linux it syncs the whole file system the directory is on (not others mounted below it). At
    /// once where nothing waits for the disk (`Stores::without_fsync`).
    pub async fn sync(&self) -> Result<(), StoreError> {
        if !self.fsyncs {
            return Ok(());
        }
        let action = "make durable what was written to";
        if let Some(durability) = &self.durability {
            return durability.sync().await.map_err(|error| self.view.failed_io("", action, error));
        }
        let Some(root) = self.local_root().map(ToOwned::to_owned) else {
            return Ok(()); // memory; a remote store is durable when it answers
        };
        self.blocking("", action, move || tree::sync(&root)).await
    }

    /// Deletes what killed writes have left in a local store (nothing elsewhere). Only when no
    /// other process writes to it. Returns how many files.
    pub async fn remove_staging(&self) -> Result<u64, StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else {
            return Ok(0);
        };
        let removed = self.blocking("", "clean up", move || tree::remove_staging(&root)).await?;
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
        let (action, fsyncs) = ("put an array in place at", to.fsyncs);
        to.blocking("", action, move || tree::rename(&source, &target, fsyncs)).await
    }
}

/// Error of a listing that names a path outside its place.
fn foreign(path: &Path) -> object_store::Error {
    let source = format!("it lists {path}, which is not below what was asked for").into();
    object_store::Error::Generic { store: "listing", source }
}
