//! Data sets and versions that are made.

use crate::documents::{Document, documents};
use crate::note::Note;
use crate::places::{RECORD, folder};
use crate::record::record;
use crate::register::Edit;
use crate::{Datastore, DatastoreError, NewDataset, check_dataset_id, new_dataset_id};

/// Largest document of a version that is carried on, bytes.
const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

impl Datastore {
    /// Creates a data set with version 0, which has no blocks; returns its name.
    pub async fn create(&self, new: NewDataset) -> Result<String, DatastoreError> {
        let mut change = self.change().await?;
        let id = new_dataset_id()?;
        let dataset = new.named(id.clone());
        let in_version = |(key, bytes)| (format!("0/{key}"), bytes);
        let mut all: Vec<Document> = documents(&dataset)?.into_iter().map(in_version).collect();
        all.push((RECORD.to_owned(), record(&dataset)?));
        change.note(Note::of_folder(&id, None)).await?;
        self.put_folder(&id, all).await?;
        let (dataset, common_metadata) = (Box::new(dataset), String::new());
        change.edit(Edit::Enter { dataset, versions: vec![0], common_metadata }).await?;
        change.commit().await?;
        change.end().await?;
        Ok(id)
    }

    /// Makes a version behind the highest, with its documents and without blocks; returns its
    /// number.
    pub async fn create_version(&self, id: &str) -> Result<u64, DatastoreError> {
        check_dataset_id(id)?;
        let mut change = self.change().await?;
        let known = change.known(id).await?;
        let latest = known.latest()?;
        // A folder that nobody knows is not ours to replace.
        let folders = self.folders_of(id).await?;
        let highest = folders.last().copied().unwrap_or(0).max(latest);
        let number = highest.checked_add(1).filter(|number| i64::try_from(*number).is_ok());
        let number = number.ok_or_else(|| {
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
        change.note(Note::of_folder(id, Some(number))).await?;
        self.put_folder(&folder(id, Some(number)), all).await?;
        change.edit(Edit::AddVersion { id: id.to_owned(), number }).await?;
        change.commit().await?;
        change.forget(id);
        change.end().await?;
        Ok(number)
    }
}
