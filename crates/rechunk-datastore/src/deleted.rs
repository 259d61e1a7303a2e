//! Data sets and versions that are removed.

use std::collections::BTreeSet;

use crate::note::Note;
use crate::places::folder;
use crate::register::Edit;
use crate::{Datastore, DatastoreError, check_dataset_id};

impl Datastore {
    /// Removes a data set, its blocks and its record.
    pub async fn delete(&self, id: &str) -> Result<(), DatastoreError> {
        check_dataset_id(id)?;
        let mut change = self.change().await?;
        change.known(id).await?;
        change.note(Note::of_folder(id, None)).await?;
        change.edit(Edit::Remove { id: id.to_owned() }).await?;
        change.commit().await?;
        change.forget(id);
        if change.is_ours().await? {
            self.remove_folder(id).await?;
        }
        change.end().await
    }

    /// Removes versions. Nothing is removed if one of them is not there, or none would be left.
    pub async fn delete_versions(&self, id: &str, versions: &[u64]) -> Result<(), DatastoreError> {
        check_dataset_id(id)?;
        let mut change = self.change().await?;
        let known = change.known(id).await?;
        let wanted: BTreeSet<u64> = versions.iter().copied().collect();
        if let Some(missing) = wanted.iter().find(|number| !known.has(**number)) {
            let reason = format!("the data set has no version {missing}; nothing was removed");
            return Err(DatastoreError::Unknown(reason));
        }
        if wanted.len() == known.versions.len() {
            let reason = "the last version of a data set stays: delete the data set instead";
            return Err(DatastoreError::Unacceptable(reason.to_owned()));
        }
        let folders = wanted.iter().map(|number| (id.to_owned(), Some(*number))).collect();
        change.note(Note { folders, ..Note::default() }).await?;
        for number in &wanted {
            change.edit(Edit::RemoveVersion { id: id.to_owned(), number: *number }).await?;
        }
        change.commit().await?;
        change.forget(id);
        for number in wanted {
            if change.is_ours().await? {
                self.remove_folder(&folder(id, Some(number))).await?;
            }
        }
        change.end().await
    }
}
