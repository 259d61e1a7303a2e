//! Folders that come into being, and go, as a whole.

use futures::{StreamExt, TryStreamExt, stream};
use rechunk_store::Store;

use crate::dataset_id::random_uuid;
use crate::documents::Document;
use crate::places::UNDER_WAY;
use crate::{Datastore, DatastoreError};

/// Documents that are written at once.
const WRITES_AT_ONCE: usize = 8;

/// Writes documents below a place. They are durable with the next sync of the store.
pub(crate) async fn write_documents(
    place: &Store,
    documents: Vec<Document>,
) -> Result<(), DatastoreError> {
    let writes = documents
        .into_iter()
        .map(|(key, bytes)| async move { place.put(&key, vec![bytes.into()]).await });
    stream::iter(writes).buffer_unordered(WRITES_AT_ONCE).try_collect::<()>().await?;
    Ok(())
}

impl Datastore {
    /// Makes a folder with these documents: all of it is there, also after a power cut, or nothing.
    pub(crate) async fn put_folder(
        &self,
        name: &str,
        documents: Vec<Document>,
    ) -> Result<(), DatastoreError> {
        let made = self.root.child(&format!("{UNDER_WAY}/{}", random_uuid()?))?;
        write_documents(&made, documents).await?;
        made.sync().await?;
        Ok(Store::rename(&made, &self.root.child(name)?).await?)
    }

    /// Removes a folder: it is gone at once, what was in it with time. None there is fine.
    pub(crate) async fn remove_folder(&self, name: &str) -> Result<(), DatastoreError> {
        let (there, gone) = (self.root.child(name)?, format!("{UNDER_WAY}/{}", random_uuid()?));
        let renamed = Store::rename(&there, &self.root.child(&gone)?).await;
        // Another process may have been faster.
        if renamed.is_err() && !there.exists_anything().await? {
            return Ok(());
        }
        renamed?;
        Ok(self.root.delete_prefix(&gone).await?)
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
