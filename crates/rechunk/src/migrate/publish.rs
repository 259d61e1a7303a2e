//! Writes and removes documents of a migration. What makes the whole visible is written last, and
//! removed first.

use std::sync::{Mutex, PoisonError};

use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_store::{Store, StoreError};
use rechunk_zarr::Consolidated;
use tokio_util::sync::CancellationToken;

use super::found::Place;
use super::nodes::{NodePlan, Nodes, at};
use crate::Error;
use crate::consolidated::at_once;
use crate::error::store_error;
use crate::formats::{Format, METADATA_BYTES_MAX};
use crate::member_location::member_path;
use crate::tree::NodeDocuments;

/// Writes the documents that are not there. Those that were written are removed again where that
/// fails before the last one.
pub(super) async fn publish(
    place: &Place,
    nodes: &Nodes,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let Some((root, below)) = nodes.all.split_last() else { return Ok(()) };
    let writer = Writer { place, nodes, cancel, written: Mutex::default() };
    let written = stream::iter(below.iter().filter(|node| !node.is_there()))
        .map(|node| writer.write(node))
        .buffered(at_once(&place.store))
        .try_collect::<Vec<()>>();
    let failed = |source| store_error("write the documents of", &place.location, source);
    let done = async {
        written.await?;
        place.store.sync().await.map_err(failed)?;
        if !root.is_there() {
            writer.write(root).await?;
            place.store.sync().await.map_err(failed)?;
        }
        Ok(())
    };
    let done = Box::pin(done).await;
    if done.is_err() && !root.is_said {
        writer.take_back().await;
    }
    done
}

/// Removes documents of all nodes that `keys` names for each, the root's first. Gives the paths of
/// those that were there.
pub(super) async fn remove(
    place: &Place,
    nodes: &Nodes,
    keys: impl Fn(&NodePlan) -> Vec<String>,
) -> Result<Vec<String>, Error> {
    let failed = |source| store_error("remove documents of", &place.location, source);
    let mut removed = Vec::new();
    for node in nodes.all.iter().rev() {
        let store = at(place, &node.path)?;
        let found = remove_keys(&store, &keys(node)).await.map_err(failed)?;
        removed.extend(found.iter().map(|key| member_path(&node.path, key)));
        if node.path.is_empty() {
            place.store.sync().await.map_err(failed)?;
        }
    }
    place.store.sync().await.map_err(failed)?;
    Ok(removed)
}

/// Keys of the documents of a node in a format, what makes it one last.
pub(super) fn keys_of(node: &NodePlan, format: Format) -> Vec<String> {
    let keys = format.row().keys;
    let mut all: Vec<String> = keys.attributes.map(str::to_owned).into_iter().collect();
    if node.is_array {
        all.push(keys.node.to_owned());
        return all;
    }
    let consolidated = format.zarr_version().map(Consolidated::key);
    all.extend(consolidated.map(str::to_owned));
    let own = keys.group.unwrap_or(keys.node).to_owned();
    all.retain(|key| *key != own);
    all.push(own);
    all
}

/// Removes keys, the last first: without it the others say nothing. Gives those that were there.
async fn remove_keys(store: &Store, keys: &[String]) -> Result<Vec<String>, StoreError> {
    let mut removed = Vec::new();
    for key in keys.iter().rev() {
        if store.exists(key).await? {
            store.delete(key).await?;
            removed.push(key.clone());
        }
    }
    Ok(removed)
}

/// Writes documents, and knows those that it has written.
#[derive(Debug)]
struct Writer<'a> {
    place: &'a Place,
    nodes: &'a Nodes,
    cancel: &'a CancellationToken,
    written: Mutex<Vec<(Store, String)>>,
}

impl Writer<'_> {
    /// Writes the documents of a node.
    async fn write(&self, node: &NodePlan) -> Result<(), Error> {
        let location = &self.place.location;
        if self.cancel.is_cancelled() {
            return Err(Error::Interrupted { doing: format!("the migration of {location}") });
        }
        let failed = |source| store_error("write the documents of", location, source);
        let store = at(self.place, &node.path)?;
        let documents = self.nodes.documents(node);
        if let Some(consolidated) = &node.consolidated {
            let all = NodeDocuments::new(documents, Some(consolidated.clone()));
            if !node.is_said {
                for key in keys_of(node, self.place.to) {
                    self.note(&store, key);
                }
            }
            return all.write(&store).await.map_err(failed);
        }
        for (key, bytes) in documents {
            if !create(&store, &key, bytes).await.map_err(failed)? {
                return Err(Error::Conflict {
                    location: store.label().to_owned(),
                    reason: format!("was given another {key} meanwhile"),
                    hint: Some("look for what writes there, and migrate again".into()),
                });
            }
            self.note(&store, key);
        }
        Ok(())
    }

    fn note(&self, store: &Store, key: String) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.push((store.clone(), key));
    }

    /// Removes what was written, the last first. What cannot be removed the next run takes for its
    /// own.
    async fn take_back(self) {
        let written = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (store, key) in written.into_iter().rev() {
            if let Err(error) = store.delete(&key).await {
                tracing::warn!(%error, "a document of a migration that failed is left");
            }
        }
    }
}

/// Writes a document where there is none; false where there is another one.
async fn create(store: &Store, key: &str, bytes: Vec<u8>) -> Result<bool, StoreError> {
    if store.local_root().is_none() && !store.is_volatile() {
        return Ok(store.create(key, bytes.into()).await?.is_some());
    }
    match store.get(key, METADATA_BYTES_MAX).await? {
        Some(found) => Ok(found == bytes),
        None => store.put_durable(key, bytes).await.map(|()| true),
    }
}
