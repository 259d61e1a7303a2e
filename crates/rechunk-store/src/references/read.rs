//! Reads through references, with the same operations as any store. They are done in the store that
//! a reference leads to, or on bytes that are kept beside the references.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectMeta;
use object_store::path::Path;

use super::fault::Fault;
use super::files::shown;
use super::found::Found;
use super::{Content, References};
use crate::length::wide;
use crate::store::Kind;
use crate::wanted::Wanted;
use crate::{Role, Store, StoreError};

/// Files that are asked for their sizes at once.
const ASKED_AT_ONCE: usize = 16;

impl References {
    /// Finds the target of `path`, for `caller`.
    async fn find(&self, caller: &Store, path: &Path) -> Result<Option<Found>, StoreError> {
        let loaded = self.loaded().await?;
        let place = self.place.with_role(Role::Control).with_meter(caller.meter());
        let place = place.watching_as(&caller.view);
        place.view.check_unchanged(&self.key, &loaded.meta)?;
        match &loaded.content {
            Content::Document(index) => Ok(index.find(path.as_ref())),
            Content::Tables(tables) => tables.find(&place, path.as_ref()).await,
        }
    }

    /// The store of the file named `url`, counted and watched as `caller` is, and the key in it.
    fn open(&self, caller: &Store, url: &str) -> Result<(Store, String), StoreError> {
        let (store, key) = self.files.open(url)?;
        let store = store.with_role(caller.role()).with_meter(caller.meter());
        Ok((store.watching_as(&caller.view), key))
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

impl Store {
    /// Reads an object as [`Store`] does, where keys are those of references.
    pub(crate) async fn read_reference(
        &self,
        references: &References,
        key: &str,
        wanted: Wanted<'_>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<u64>, StoreError> {
        let path = self.view.object_path(key)?;
        let Some(found) = references.find(self, &path).await? else {
            self.meter().count_get_missing(self.role());
            return Ok(None);
        };
        let (url, range) = match &found {
            Found::Inline(bytes) => {
                let (start, length) = self.wanted_part(key, wanted, wide(bytes.len()))?;
                self.meter().count_get(self.role());
                self.meter().count_read_bytes(self.role(), length);
                fill(buffer, bytes, start, length, room_bytes);
                return Ok(Some(wide(bytes.len())));
            }
            Found::File { url, range } => (url, range),
            Found::Odd(reason) => return Err(self.odd(key, reason)),
        };
        let failed = |source| self.referenced(key, &found, source);
        let (store, name) = references.open(self, url).map_err(failed)?;
        let Some(range) = range else {
            let read = Box::pin(store.read(&name, wanted, room_bytes, buffer)).await;
            let size = read.map_err(failed)?;
            return size.map(Some).ok_or_else(|| failed(store.view.not_found(&name)));
        };
        let size_bytes = range.end - range.start;
        let (start, length) = self.wanted_part(key, wanted, size_bytes)?;
        if length == 0 {
            // Nothing is asked of a store for no bytes.
            self.meter().count_get(self.role());
            buffer.clear();
            return Ok(Some(size_bytes));
        }
        let within = Wanted::Within { start: range.start + start, length };
        let read = Box::pin(store.read(&name, within, room_bytes, buffer)).await.map_err(failed)?;
        read.map(|_| Some(size_bytes)).ok_or_else(|| failed(store.view.not_found(&name)))
    }

    /// First byte and number of bytes that are wanted of an object of a known size.
    fn wanted_part(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        size_bytes: u64,
    ) -> Result<(u64, u64), StoreError> {
        self.view.check_exact(key, wanted, size_bytes)?;
        match wanted {
            Wanted::Whole { limit_bytes } | Wanted::Part { limit_bytes, .. }
                if size_bytes > limit_bytes =>
            {
                let (location, key) = (self.label().to_owned(), key.to_owned());
                Err(StoreError::TooLarge { location, key, size_bytes, limit_bytes })
            }
            Wanted::Whole { .. } | Wanted::Part { .. } | Wanted::Exactly { .. } => {
                Ok((0, size_bytes))
            }
            Wanted::RangeOf { start, length, .. }
            | Wanted::Range { start, length }
            | Wanted::Within { start, length } => match start.checked_add(length) {
                Some(end) if end <= size_bytes => Ok((start, length)),
                _ => Err(self.view.short(key, length, size_bytes.saturating_sub(start))),
            },
            Wanted::End { end, length } => Ok(end.of(size_bytes, length)),
        }
    }

    /// Metadata of an object, without its bytes.
    pub(crate) async fn look_at_reference(
        &self,
        references: &References,
        key: &str,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let path = self.view.object_path(key)?;
        let Some(found) = references.find(self, &path).await? else {
            self.meter().count_head();
            return Ok(None);
        };
        let size = match (&found, found.size_bytes()) {
            (Found::Odd(reason), _) => return Err(self.odd(key, reason)),
            (_, Some(size)) => {
                self.meter().count_head();
                size
            }
            (_, None) => self.file_bytes(references, key, &found).await?,
        };
        let loaded = references.loaded().await?;
        Ok(Some(ObjectMeta { location: path, size, ..loaded.meta.clone() }))
    }

    /// Size of the file that a key leads to as a whole.
    async fn file_bytes(
        &self,
        references: &References,
        key: &str,
        found: &Found,
    ) -> Result<u64, StoreError> {
        let Found::File { url, .. } = found else { return Ok(found.size_bytes().unwrap_or(0)) };
        let failed = |source| self.referenced(key, found, source);
        let (store, name) = references.open(self, url).map_err(failed)?;
        let size = Box::pin(store.head(&name)).await.map_err(failed)?;
        size.ok_or_else(|| failed(store.view.not_found(&name)))
    }

    /// Key, below this place, and size of every object below it.
    pub(crate) fn list_references(
        &self,
        references: &Arc<References>,
    ) -> BoxStream<'static, Result<(String, u64), StoreError>> {
        let prefix = self.below();
        let (store, references) = (self.clone(), Arc::clone(references));
        let skipped = prefix.len();
        references
            .entries(prefix)
            .map(move |entry| {
                let (store, references) = (store.clone(), Arc::clone(&references));
                async move {
                    let (key, found) = entry?;
                    let size = match found.size_bytes() {
                        Some(size) => size,
                        None => store.file_bytes(&references, &key, &found).await?,
                    };
                    Ok((key[skipped..].to_owned(), size))
                }
            })
            .buffered(ASKED_AT_ONCE)
            .boxed()
    }

    /// Names of what has objects below it, directly below this place.
    pub(crate) async fn list_reference_directories(
        &self,
        references: &References,
    ) -> Result<Vec<String>, StoreError> {
        references.directories(&self.below()).await
    }

    /// Beginning of the keys below this place.
    fn below(&self) -> String {
        if self.view.prefix().is_root() {
            String::new()
        } else {
            format!("{}/", self.view.prefix())
        }
    }

    /// An error of an entry that cannot be read.
    fn odd(&self, key: &str, reason: &str) -> StoreError {
        let key = format!("{}{key}", self.below());
        Fault::value(&key, reason).of(self.label())
    }

    /// A sentence for people, if this is a place of references and entries of them cannot be read.
    pub async fn references_warning(&self) -> Result<Option<String>, StoreError> {
        match &self.kind {
            Kind::References(references) => references.warning().await,
            _ => Ok(None),
        }
    }

    /// An error of the file that a key leads to.
    fn referenced(&self, key: &str, found: &Found, source: StoreError) -> StoreError {
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
        let (location, key) = (self.label().to_owned(), key.to_owned());
        StoreError::Referenced { location, key, what, source: Box::new(source) }
    }
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
