//! Reads through references, with the same operations as any store. They are done in the store that
//! a reference leads to, or on bytes that are kept beside the references.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectMeta;
use object_store::path::Path;

use super::fault::Fault;
use super::files::shown;
use super::found::Found;
use super::recognise::Form;
use super::{Content, References};
use crate::backend::Backend;
use crate::length::wide;
use crate::view::View;
use crate::wanted::Wanted;
use crate::{Role, Store, StoreError};

/// Files that are asked for their sizes at once.
const ASKED_AT_ONCE: usize = 16;

impl References {
    /// Finds the target of `path`, seen by `view`.
    async fn find(&self, view: &View, path: &Path) -> Result<Option<Found>, StoreError> {
        let loaded = self.loaded().await?;
        let place = self.place.with_role(Role::Control).with_meter(view.meter());
        let place = place.watching_as(view);
        place.view.check_unchanged(&self.key, &loaded.meta)?;
        match &loaded.content {
            Content::Document(index) => Ok(index.find(path.as_ref())),
            Content::Tables(tables) => tables.find(&place, path.as_ref()).await,
        }
    }

    /// The store of the file named `url`, counted and watched as `view` is, and the key in it.
    fn open(&self, view: &View, url: &str) -> Result<(Store, String), StoreError> {
        let (store, key) = self.files.open(url)?;
        let store = store.with_role(view.role()).with_meter(view.meter());
        Ok((store.watching_as(view), key))
    }

    /// Names of what has objects below it, directly below `prefix`.
    async fn directories(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(match &self.loaded().await?.content {
            Content::Tables(tables) => tables.directories(prefix).into_iter().collect(),
            Content::Document(index) => {
                let mut names = Vec::<&str>::new();
                for position in index.below(prefix) {
                    let rest = &index.key(position)[prefix.len()..];
                    // Keys are sorted: all of a directory stand together.
                    if let Some((name, _)) = rest.split_once('/')
                        && names.last() != Some(&name)
                    {
                        names.push(name);
                    }
                }
                names.into_iter().map(ToOwned::to_owned).collect()
            }
        })
    }

    /// Every key below `prefix`, with what it leads to.
    fn entries(self: &Arc<Self>, prefix: String) -> BoxStream<'static, Entry> {
        let references = Arc::clone(self);
        let found = async move {
            let found = match &references.loaded().await?.content {
                Content::Document(index) => {
                    let range = index.below(&prefix);
                    let references = Arc::clone(&references);
                    stream::iter(range.filter_map(move |position| references.entry(position)))
                        .map(Ok)
                        .boxed()
                }
                Content::Tables(tables) => {
                    let documents = stream::iter(tables.documents_below(&prefix)).map(Ok);
                    let files = tables.files_below(&references.place, &prefix).await?;
                    let references = Arc::clone(&references);
                    let chunks = stream::iter(files)
                        .then(move |(array, file)| Arc::clone(&references).chunks(array, file));
                    let chunks = chunks.map_ok(|some| stream::iter(some).map(Ok)).try_flatten();
                    let is_below = move |(key, _): &(String, Found)| {
                        std::future::ready(key.starts_with(&prefix))
                    };
                    documents.chain(chunks.try_filter(is_below)).boxed()
                }
            };
            Ok::<_, StoreError>(found)
        };
        stream::once(found).try_flatten().boxed()
    }

    /// The entry at a position of a document that was read.
    fn entry(&self, position: usize) -> Option<(String, Found)> {
        match &self.loaded.get()?.content {
            Content::Document(index) => {
                Some((index.key(position).to_owned(), index.found(position)))
            }
            Content::Tables(_) => None,
        }
    }

    /// The chunks in a file of references.
    async fn chunks(
        self: Arc<Self>,
        array: String,
        file: u64,
    ) -> Result<Vec<(String, Found)>, StoreError> {
        match &self.loaded().await?.content {
            Content::Document(_) => Ok(Vec::new()),
            Content::Tables(tables) => tables.chunks(&self.place, &array, file).await,
        }
    }
}

/// A key and what it leads to.
type Entry = Result<(String, Found), StoreError>;

impl References {
    /// Size of the file that a key leads to as a whole.
    async fn file_bytes(&self, view: &View, key: &str, found: &Found) -> Result<u64, StoreError> {
        let Found::File { url, .. } = found else { return Ok(found.size_bytes().unwrap_or(0)) };
        let failed = |source| referenced(view, key, found, source);
        let (store, name) = self.open(view, url).map_err(failed)?;
        let size = Box::pin(store.head(&name)).await.map_err(failed)?;
        size.ok_or_else(|| failed(store.view.not_found(&name)))
    }
}

#[async_trait]
impl Backend for References {
    fn what(&self) -> &'static str {
        match self.form {
            Form::Json => "a reference file",
            Form::Parquet => "a directory of references",
        }
    }

    fn answers_late(&self) -> bool {
        self.place.answers_late() || self.is_late.get().copied().unwrap_or(false)
    }

    async fn warning(&self) -> Result<Option<String>, StoreError> {
        Ok(match &self.loaded().await?.content {
            Content::Document(index) => index.warning(),
            Content::Tables(tables) => tables.warning(),
        })
    }

    async fn read(
        &self,
        view: &View,
        key: &str,
        wanted: Wanted<'_>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<u64>, StoreError> {
        let path = view.object_path(key)?;
        let Some(found) = self.find(view, &path).await? else {
            view.meter().count_get_missing(view.role());
            return Ok(None);
        };
        let (url, range) = match &found {
            Found::Inline(bytes) => {
                let (start, length) = wanted_part(view, key, wanted, wide(bytes.len()))?;
                view.meter().count_get(view.role());
                view.meter().count_read_bytes(view.role(), length);
                fill(buffer, bytes, start, length, room_bytes);
                return Ok(Some(wide(bytes.len())));
            }
            Found::File { url, range } => (url, range),
            Found::Odd(reason) => return Err(odd(view, key, reason)),
        };
        let failed = |source| referenced(view, key, &found, source);
        let (store, name) = self.open(view, url).map_err(failed)?;
        let Some(range) = range else {
            let read = Box::pin(store.read(&name, wanted, room_bytes, buffer)).await;
            let size = read.map_err(failed)?;
            return size.map(Some).ok_or_else(|| failed(store.view.not_found(&name)));
        };
        let size_bytes = range.end - range.start;
        let (start, length) = wanted_part(view, key, wanted, size_bytes)?;
        if length == 0 {
            // Nothing is asked of a store for no bytes.
            view.meter().count_get(view.role());
            buffer.clear();
            return Ok(Some(size_bytes));
        }
        let within = Wanted::Within { start: range.start + start, length };
        let read = Box::pin(store.read(&name, within, room_bytes, buffer)).await.map_err(failed)?;
        read.map(|_| Some(size_bytes)).ok_or_else(|| failed(store.view.not_found(&name)))
    }

    async fn look_at(&self, view: &View, key: &str) -> Result<Option<ObjectMeta>, StoreError> {
        let path = view.object_path(key)?;
        let Some(found) = self.find(view, &path).await? else {
            view.meter().count_head();
            return Ok(None);
        };
        let size = match (&found, found.size_bytes()) {
            (Found::Odd(reason), _) => return Err(odd(view, key, reason)),
            (_, Some(size)) => {
                view.meter().count_head();
                size
            }
            (_, None) => self.file_bytes(view, key, &found).await?,
        };
        let loaded = self.loaded().await?;
        Ok(Some(ObjectMeta { location: path, size, ..loaded.meta.clone() }))
    }

    fn list(self: Arc<Self>, view: &View) -> BoxStream<'static, Result<(String, u64), StoreError>> {
        let (prefix, view) = (view.below(), view.clone());
        let skipped = prefix.len();
        self.entries(prefix)
            .map(move |entry| {
                let (view, references) = (view.clone(), Arc::clone(&self));
                async move {
                    let (key, found) = entry?;
                    let size = match found.size_bytes() {
                        Some(size) => size,
                        None => references.file_bytes(&view, &key, &found).await?,
                    };
                    Ok((key[skipped..].to_owned(), size))
                }
            })
            .buffered(ASKED_AT_ONCE)
            .boxed()
    }

    async fn list_directories(&self, view: &View) -> Result<Vec<String>, StoreError> {
        self.directories(&view.below()).await
    }
}

/// Returns the first byte and number of bytes that are wanted of an object of a known size.
fn wanted_part(
    view: &View,
    key: &str,
    wanted: Wanted<'_>,
    size_bytes: u64,
) -> Result<(u64, u64), StoreError> {
    view.check_exact(key, wanted, size_bytes)?;
    match wanted {
        Wanted::Whole { limit_bytes } | Wanted::Part { limit_bytes, .. }
            if size_bytes > limit_bytes =>
        {
            Err(view.too_large(key, size_bytes, limit_bytes))
        }
        Wanted::Whole { .. } | Wanted::Part { .. } | Wanted::Exactly { .. } => Ok((0, size_bytes)),
        Wanted::RangeOf { start, length, .. }
        | Wanted::Range { start, length }
        | Wanted::Within { start, length } => match start.checked_add(length) {
            Some(end) if end <= size_bytes => Ok((start, length)),
            _ => Err(view.short(key, length, size_bytes.saturating_sub(start))),
        },
        Wanted::End { end, length } => Ok(end.of(size_bytes, length)),
    }
}

/// Makes the error of an entry that cannot be read.
fn odd(view: &View, key: &str, reason: &str) -> StoreError {
    let key = format!("{}{key}", view.below());
    Fault::value(&key, reason).of(view.label())
}

/// Makes the error of the file that a key leads to.
fn referenced(view: &View, key: &str, found: &Found, source: StoreError) -> StoreError {
    let what = match found {
        Found::Inline(_) => "kept beside the references".to_owned(),
        Found::Odd(reason) => reason.as_ref().to_owned(),
        Found::File { url, range: None } => format!("the whole of {}", shown(url)),
        Found::File { url, range: Some(range) } if range.is_empty() => {
            format!("no bytes of {}", shown(url))
        }
        Found::File { url, range: Some(range) } => {
            format!("bytes {} to {} of {}", range.start, range.end - 1, shown(url))
        }
    };
    let (location, key) = (view.label().to_owned(), key.to_owned());
    StoreError::Referenced { location, key, what, source: Box::new(source) }
}

/// Puts a part of `bytes` into a buffer, which gets room for `room_bytes` if it has to grow.
fn fill(buffer: &mut Vec<u8>, bytes: &Bytes, start: u64, length: u64, room_bytes: u64) {
    let narrow = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let start = narrow(start).min(bytes.len());
    let part = &bytes[start..start.saturating_add(narrow(length)).min(bytes.len())];
    buffer.clear();
    if buffer.capacity() < part.len() {
        *buffer = Vec::new();
        // Room for more is a help, and not to be had at any price.
        let _ = buffer.try_reserve_exact(narrow(room_bytes).max(part.len()));
    }
    buffer.extend_from_slice(part);
}
