//! Reads a repository with the same operations as any store.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectMeta;

use super::fault::Fault;
use super::recognise::parts;
use super::repository::{DOCUMENT, Repository};
use crate::backend::Backend;
use crate::referred::found::Found;
use crate::referred::read::Entry;
use crate::view::View;
use crate::wanted::Wanted;
use crate::{Role, Store, StoreError};

impl Repository {
    /// Finds the target of `key`, seen by `view`.
    async fn seen(&self, view: &View, key: &str) -> Result<Option<Found>, StoreError> {
        let path = view.object_path(key)?;
        self.find(&self.counted(view), path.as_ref()).await
    }

    /// The place of the repository, counted as `view` is, but as what is read beside chunks.
    fn counted(&self, view: &View) -> Store {
        self.place().with_role(Role::Control).with_meter(view.meter())
    }

    /// Every key below `prefix`, with what it leads to.
    fn entries(self: &Arc<Self>, view: &View) -> BoxStream<'static, Entry> {
        let (repository, view) = (Arc::clone(self), view.clone());
        let entries = async move {
            let prefix = view.below();
            let nodes = &repository.snapshot().await?.nodes;
            let mut documents = Vec::new();
            let mut manifests = Vec::new();
            for (path, node) in nodes {
                let root = below(path);
                let key = format!("{root}{DOCUMENT}");
                if key.starts_with(&prefix) {
                    documents.push(Ok((key, Found::Inline(node.document.clone()))));
                }
                let Some(array) = &node.array else { continue };
                if root.starts_with(&prefix) || prefix.starts_with(&root) {
                    let count = 0..array.manifests.len();
                    manifests.extend(count.map(|position| (path.clone(), position)));
                }
            }
            let reader = Arc::clone(&repository);
            let chunks = stream::iter(manifests).then(move |(path, position)| {
                let (repository, view) = (Arc::clone(&reader), view.clone());
                async move { repository.chunks(&view, path, position).await }
            });
            let chunks = chunks.try_flatten();
            let is_below =
                move |(key, _): &(String, Found)| std::future::ready(key.starts_with(&prefix));
            Ok::<_, StoreError>(stream::iter(documents).chain(chunks.try_filter(is_below)))
        };
        stream::once(entries).try_flatten().boxed()
    }

    /// The chunks in a manifest of the array at a path.
    async fn chunks(
        self: Arc<Self>,
        view: &View,
        path: String,
        position: usize,
    ) -> Result<BoxStream<'static, Entry>, StoreError> {
        let snapshot = self.snapshot().await?;
        let array = snapshot.nodes.get(&path).and_then(|node| node.array.as_ref());
        let Some(array) = array else { return Ok(stream::empty().boxed()) };
        let place = self.counted(view);
        let manifest = self.manifest(&place, array.manifests[position].id).await?;
        let (id, root) = (array.id, below(&path));
        let repository = Arc::clone(&self);
        let entries = (0..manifest.count(id)).filter_map(move |number| {
            let entry = manifest.entry(id, number);
            let (index, found) = match entry {
                Ok(entry) => entry,
                Err(reason) => {
                    let fault = Fault::Chunk(format!("a chunk of {path:?}: {reason}"));
                    return Some(Err(repository.fault(fault)));
                }
            };
            let array = repository.known_snapshot()?.nodes.get(&path)?.array.as_ref()?;
            // What a manifest has beside the chunks that it is of is not there.
            let is_its = array.manifest_of(&index) == Some(position);
            let names: Vec<String> = index.iter().map(ToString::to_string).collect();
            let slash = if names.is_empty() { "" } else { "/" };
            is_its.then(|| Ok((format!("{root}c{slash}{}", names.join("/")), found)))
        });
        Ok(stream::iter(entries).boxed())
    }
}

/// Beginning of the keys below a node.
fn below(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}/") }
}

#[async_trait]
impl Backend for Repository {
    fn what(&self) -> &'static str {
        "an Icechunk repository"
    }

    fn answers_late(&self) -> bool {
        self.answers_late()
    }

    async fn warning(&self) -> Result<Option<String>, StoreError> {
        Ok(self.snapshot().await?.warning())
    }

    async fn fixed_location(&self, location: &str) -> Result<Option<String>, StoreError> {
        if self.is_fixed() {
            return Ok(None);
        }
        let id = self.id().await?;
        Ok(parts(location).map(|parts| parts.at_snapshot(id)))
    }

    async fn read(
        &self,
        view: &View,
        key: &str,
        wanted: Wanted<'_>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<u64>, StoreError> {
        let Some(found) = self.seen(view, key).await? else {
            view.meter().count_get_missing(view.role());
            return Ok(None);
        };
        let wanted = (wanted, room_bytes);
        self.referred.read(view, key, &found, wanted, buffer).await.map(Some)
    }

    async fn look_at(&self, view: &View, key: &str) -> Result<Option<ObjectMeta>, StoreError> {
        let Some(found) = self.seen(view, key).await? else {
            view.meter().count_head();
            return Ok(None);
        };
        let size = self.referred.look_at(view, key, &found).await?;
        // What is in a snapshot was written before it, and stays as it is.
        let last_modified = self.snapshot().await?.written.into();
        let location = view.object_path(key)?;
        Ok(Some(ObjectMeta { location, last_modified, size, e_tag: None, version: None }))
    }

    fn list(self: Arc<Self>, view: &View) -> BoxStream<'static, Result<(String, u64), StoreError>> {
        Arc::clone(&self.referred).sizes(view, self.entries(view))
    }

    async fn list_directories(&self, view: &View) -> Result<Vec<String>, StoreError> {
        let prefix = view.below();
        let snapshot = self.snapshot().await?;
        let mut names = BTreeSet::new();
        for (path, node) in &snapshot.nodes {
            if let Some((name, _)) =
                below(path).strip_prefix(&prefix).and_then(|rest| rest.split_once('/'))
            {
                names.insert(name.to_owned());
            }
            let has_chunks = node.array.as_ref().is_some_and(|array| !array.manifests.is_empty());
            if has_chunks && below(path) == prefix {
                names.insert("c".to_owned());
            }
        }
        Ok(names.into_iter().collect())
    }
}
