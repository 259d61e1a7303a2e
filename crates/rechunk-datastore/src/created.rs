//! Data sets and versions that are made.

use crate::datastore::RECORD;
use crate::documents::{Document, documents};
use crate::{Dataset, Datastore, DatastoreError, NewDataset, new_dataset_id};

/// Largest document of a version that is carried on, bytes.
const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

/// The record of a data set as bytes.
pub(crate) fn record(dataset: &Dataset) -> Result<Vec<u8>, DatastoreError> {
    serde_json::to_vec_pretty(dataset).map_err(|error| DatastoreError::Damaged {
        place: RECORD.to_owned(),
        reason: error.to_string(),
    })
}

impl Datastore {
    /// Creates a data set with version 0, which has no blocks; returns its name.
    pub async fn create(&self, new: NewDataset) -> Result<String, DatastoreError> {
        let _change = self.change().await?;
        let id = new_dataset_id()?;
        let dataset = new.named(id.clone());
        let in_version = |(key, bytes)| (format!("0/{key}"), bytes);
        let mut all: Vec<Document> = documents(&dataset)?.into_iter().map(in_version).collect();
        all.push((RECORD.to_owned(), record(&dataset)?));
        self.put_folder(&id, all).await?;
        self.make_known(&id).await?;
        Ok(id)
    }

    /// Makes a version behind the highest, with its documents and without blocks; returns its
    /// number.
    pub async fn create_version(&self, id: &str) -> Result<u64, DatastoreError> {
        let _change = self.change().await?;
        self.get(id).await?;
        self.forget(id);
        let known = self.get(id).await?;
        let latest = known.latest()?;
        let number = latest.checked_add(1).ok_or_else(|| {
            DatastoreError::Unacceptable("there is no number behind the highest".to_owned())
        })?;
        let mut all = documents(&known.dataset)?;
        // What others have added to a document of the latest version is carried on.
        for (key, bytes) in &mut all {
            let there = format!("{id}/{latest}/{key}");
            if let Some(found) = self.root.get(&there, DOCUMENT_BYTES_MAX).await? {
                *bytes = found.to_vec();
            }
        }
        self.put_folder(&format!("{id}/{number}"), all).await?;
        self.forget(id);
        Ok(number)
    }
}
