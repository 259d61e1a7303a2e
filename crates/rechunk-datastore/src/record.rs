//! Copies of descriptions and texts in the folders of their data sets.

use rechunk_store::Store;

use crate::documents::changed_documents;
use crate::places::{COMMON_METADATA, RECORD, folder};
use crate::{Dataset, DatastoreError};

/// Largest record, bytes.
const RECORD_BYTES_MAX: u64 = 16 << 20;

/// The record of a data set as bytes.
pub(crate) fn record(dataset: &Dataset) -> Result<Vec<u8>, DatastoreError> {
    serde_json::to_vec_pretty(dataset).map_err(|error| DatastoreError::Damaged {
        place: RECORD.to_owned(),
        reason: error.to_string(),
    })
}

/// The record in the folder `id`; `None` if there is none.
pub(crate) async fn recorded(root: &Store, id: &str) -> Result<Option<Dataset>, DatastoreError> {
    let place = format!("{id}/{RECORD}");
    let Some(bytes) = root.get(&place, RECORD_BYTES_MAX).await? else { return Ok(None) };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| DatastoreError::Damaged { place, reason: error.to_string() })
}

/// Writes the copy of a description into the folder of its data set.
pub(crate) async fn copy_record(root: &Store, dataset: &Dataset) -> Result<(), DatastoreError> {
    let key = format!("{}/{RECORD}", dataset.uuid);
    Ok(root.put_durable(&key, record(dataset)?).await?)
}

/// Writes the copies of a description: that of [`copy_record`], and those in documents of versions.
pub(crate) async fn copy_description(
    root: &Store,
    dataset: &Dataset,
    versions: &[u64],
) -> Result<(), DatastoreError> {
    copy_record(root, dataset).await?;
    for version in versions {
        let folder = folder(&dataset.uuid, Some(*version));
        for (key, bytes) in changed_documents(dataset)? {
            root.put_durable(&format!("{folder}/{key}"), bytes).await?;
        }
    }
    Ok(())
}

/// Writes the copy of a text into the folder of its data set.
pub(crate) async fn copy_text(root: &Store, id: &str, text: String) -> Result<(), DatastoreError> {
    Ok(root.put_durable(&format!("{id}/{COMMON_METADATA}"), text.into_bytes()).await?)
}
