//! Channels and a text that are added to a data set.

use crate::changes::write_documents;
use crate::documents::added_documents;
use crate::new_dataset::check;
use crate::note::Note;
use crate::places::folder;
use crate::record::{copy_description, copy_text};
use crate::register::Edit;
use crate::{Dataset, Datastore, DatastoreError, check_dataset_id};

impl Datastore {
    /// Adds `count` channels without blocks, at least one, to all versions of a data set.
    pub async fn add_channels(&self, id: &str, count: u64) -> Result<(), DatastoreError> {
        check_dataset_id(id)?;
        let mut change = self.change().await?;
        let known = change.known(id).await?;
        if count == 0 {
            return Err(DatastoreError::Senseless("0 channels are none to be added".to_owned()));
        }
        let old = &known.dataset;
        let grown = Dataset { channels: old.channels.saturating_add(count), ..old.clone() };
        check(&grown)?;
        change.note(Note { described: vec![id.to_owned()], ..Note::default() }).await?;
        for version in &known.versions {
            let place = self.root.child(&folder(id, Some(*version)))?;
            write_documents(&place, added_documents(&grown, old.channels)?).await?;
            // It may be a link to another disk.
            place.sync().await?;
        }
        copy_description(&self.root, &grown, &known.versions).await?;
        // Until here channels that nobody knows of have no blocks.
        change.edit(Edit::Describe(Box::new(grown))).await?;
        change.commit().await?;
        change.forget(id);
        change.end().await
    }

    /// Keeps a text with a data set, in place of any other.
    pub async fn set_common_metadata(&self, id: &str, text: String) -> Result<(), DatastoreError> {
        check_dataset_id(id)?;
        let mut change = self.change().await?;
        change.known(id).await?;
        change.note(Note { texts: vec![id.to_owned()], ..Note::default() }).await?;
        copy_text(&self.root, id, text.clone()).await?;
        change.edit(Edit::SetCommonMetadata { id: id.to_owned(), text }).await?;
        change.commit().await?;
        change.end().await
    }
}
