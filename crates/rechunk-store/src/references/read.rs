//! Reads through references, with the same operations as any store. They are done in the store that
//! a reference leads to, or on bytes that are kept beside the references.

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectMeta;
use object_store::path::Path;

use super::recognise::Form;
use super::{Content, References};
use crate::backend::Backend;
use crate::referred::found::Found;
use crate::referred::read::Entry;
use crate::view::View;
use crate::wanted::Wanted;
use crate::{Role, StoreError};

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
        let wanted = (wanted, room_bytes);
        self.referred.read(view, key, &found, wanted, buffer).await.map(Some)
    }

    async fn look_at(&self, view: &View, key: &str) -> Result<Option<ObjectMeta>, StoreError> {
        let path = view.object_path(key)?;
        let Some(found) = self.find(view, &path).await? else {
            view.meter().count_head();
            return Ok(None);
        };
        let size = self.referred.look_at(view, key, &found).await?;
        let loaded = self.loaded().await?;
        Ok(Some(ObjectMeta { location: path, size, ..loaded.meta.clone() }))
    }

    fn list(self: Arc<Self>, view: &View) -> BoxStream<'static, Result<(String, u64), StoreError>> {
        Arc::clone(&self.referred).sizes(view, self.entries(view.below()))
    }

    async fn list_directories(&self, view: &View) -> Result<Vec<String>, StoreError> {
        self.directories(&view.below()).await
    }
}
