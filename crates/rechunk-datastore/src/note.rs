//! Notes of changes that are under way, in the store: what a killed process has left is put right
//! by them.

use rechunk_store::Store;
use serde::{Deserialize, Serialize};

use crate::dataset_id::random_uuid;
use crate::places::{CHANGES, folder};
use crate::record::{copy_description, copy_text};
use crate::register::Change;
use crate::{Datastore, DatastoreError};

/// Largest note, bytes.
const NOTE_BYTES_MAX: u64 = 16 << 20;

/// Parts of the store that a change is about. Each of them follows the register.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Note {
    /// Folders that are there exactly if the register has their data set, or version.
    pub folders: Vec<(String, Option<u64>)>,
    /// Data sets whose documents have copies of their descriptions.
    pub described: Vec<String>,
    /// Data sets whose common metadata have a copy.
    pub texts: Vec<String>,
}

impl Note {
    pub(crate) fn of_folder(id: &str, version: Option<u64>) -> Self {
        Self { folders: vec![(id.to_owned(), version)], ..Self::default() }
    }

    /// Puts the note into the store, durable, and returns its key.
    pub(crate) async fn put(&self, root: &Store) -> Result<String, DatastoreError> {
        let key = format!("{CHANGES}/{}.json", random_uuid()?);
        self.put_at(root, &key).await?;
        Ok(key)
    }

    /// Puts the note at a key.
    pub(crate) async fn put_at(&self, root: &Store, key: &str) -> Result<(), DatastoreError> {
        let bytes = serde_json::to_vec(self).map_err(|error| DatastoreError::Damaged {
            place: key.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(root.put_durable(key, bytes).await?)
    }
}

impl Datastore {
    /// Does what notes say that nobody else is at: whoever calls this holds up all changes.
    pub(crate) async fn settle_changes(
        &self,
        change: &mut dyn Change,
    ) -> Result<(), DatastoreError> {
        for file in self.root.list_level(CHANGES).await?.files {
            let key = format!("{CHANGES}/{}", file.name);
            let Some(bytes) = self.root.get(&key, NOTE_BYTES_MAX).await? else { continue };
            let note: Note = serde_json::from_slice(&bytes).map_err(|error| {
                DatastoreError::Damaged { place: key.clone(), reason: error.to_string() }
            })?;
            tracing::info!(?note, "what a change has left is put right");
            self.follow_register(&note, change).await?;
            self.root.delete(&key).await?;
        }
        Ok(())
    }

    async fn follow_register(
        &self,
        note: &Note,
        change: &mut dyn Change,
    ) -> Result<(), DatastoreError> {
        for (id, version) in &note.folders {
            let known = change.find(id).await?;
            let is_there =
                known.is_some_and(|known| version.is_none_or(|number| known.has(number)));
            if !is_there {
                self.remove_folder(&folder(id, *version)).await?;
            }
        }
        for id in &note.described {
            let Some(known) = change.find(id).await? else { continue };
            copy_description(&self.root, &known.dataset, &known.versions).await?;
        }
        for id in &note.texts {
            let Some(text) = change.common_metadata(id).await? else { continue };
            copy_text(&self.root, id, text).await?;
        }
        Ok(())
    }
}
