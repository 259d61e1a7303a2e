//! Folders that come into being, and go, as a whole.

use futures::{StreamExt, TryStreamExt, stream};
use rechunk_store::Store;

use crate::dataset_id::random_uuid;
use crate::documents::Document;
use crate::places::UNDER_WAY;
use crate::{Datastore, DatastoreError};

/// Documents that are written at once.
const WRITES_AT_ONCE: usize = 8;
/// Documents that are written at once to a store whose answers take long.
const REMOTE_WRITES_AT_ONCE: usize = 32;

/// Writes documents below a place. They are durable with the next sync of the store.
pub(crate) async fn write_documents(
    place: &Store,
    documents: Vec<Document>,
) -> Result<(), DatastoreError> {
    let at_once = if place.answers_late() { REMOTE_WRITES_AT_ONCE } else { WRITES_AT_ONCE };
    let writes = documents
        .into_iter()
        .map(|(key, bytes)| async move { place.put(&key, vec![bytes.into()]).await });
    stream::iter(writes).buffer_unordered(at_once).try_collect::<()>().await?;
    Ok(())
}

/// Says which parts of a folder that is to be removed stay, since links lead to them.
async fn say_links(folder: &Store) -> Result<(), DatastoreError> {
    let mut places = vec![folder.clone()];
    for name in folder.list_directories("").await? {
        places.push(folder.child(&name)?);
    }
    for place in places {
        if let Some(link) = place.link().await? {
            let (folder, target) = (place.label(), link.target.display());
            tracing::warn!(folder, %target, "a link is removed; the files that it leads to stay");
        }
    }
    Ok(())
}

impl Datastore {
    /// Makes a folder with these documents: all of it is there, also after a power cut, or nothing.
    /// Buckets rename nothing: there a part may be, which the note of the change has removed.
    pub(crate) async fn put_folder(
        &self,
        name: &str,
        documents: Vec<Document>,
    ) -> Result<(), DatastoreError> {
        if self.root.local_root().is_none() {
            return write_documents(&self.root.child(name)?, documents).await;
        }
        let made = self.root.child(&format!("{UNDER_WAY}/{}", random_uuid()?))?;
        write_documents(&made, documents).await?;
        made.sync().await?;
        Ok(Store::rename(&made, &self.root.child(name)?).await?)
    }

    /// Removes a folder: it is gone at once (not in a bucket), what was in it with time. None there
    /// is fine. Of a link only itself is removed.
    pub(crate) async fn remove_folder(&self, name: &str) -> Result<(), DatastoreError> {
        let there = self.root.child(name)?;
        if there.local_root().is_none() {
            return Ok(self.root.delete_prefix(name).await?);
        }
        say_links(&there).await?;
        let gone = format!("{UNDER_WAY}/{}", random_uuid()?);
        // In a directory of its own, with which a link is removed too.
        let renamed = Store::rename(&there, &self.root.child(&format!("{gone}/folder"))?).await;
        self.root.delete_prefix(&gone).await?;
        // Another process may have been faster.
        if renamed.is_err() && !there.exists_anything().await? {
            return Ok(());
        }
        Ok(renamed?)
    }

    /// Numbers of the folders of `id` that are named as versions are, lowest first.
    pub(crate) async fn folders_of(&self, id: &str) -> Result<Vec<u64>, DatastoreError> {
        let names = self.root.list_directories(id).await?;
        let number = |name: &String| {
            let number: u64 = name.parse().ok()?;
            (number.to_string() == *name).then_some(number)
        };
        let mut versions: Vec<u64> = names.iter().filter_map(number).collect();
        versions.sort_unstable();
        Ok(versions)
    }
}
