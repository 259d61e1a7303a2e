//! Channels that are added.

use crate::changes::write_documents;
use crate::created::record;
use crate::datastore::RECORD;
use crate::documents::{added_documents, changed_documents};
use crate::new_dataset::check;
use crate::{Dataset, Datastore, DatastoreError};

impl Datastore {
    /// Adds `count` channels without blocks, at least one, to all versions of a data set.
    pub async fn add_channels(&self, id: &str, count: u64) -> Result<(), DatastoreError> {
        let _change = self.change().await?;
        let known = self.get(id).await?;
        if count == 0 {
            return Err(DatastoreError::Senseless("0 channels are none to be added".to_owned()));
        }
        let old = &known.dataset;
        let grown = Dataset { channels: old.channels.saturating_add(count), ..old.clone() };
        check(&grown)?;
        for version in &known.versions {
            let place = self.root.child(&format!("{id}/{version}"))?;
            write_documents(&place, added_documents(&grown, old.channels)?).await?;
        }
        self.root.sync().await?;
        for version in &known.versions {
            for (key, bytes) in changed_documents(&grown)? {
                self.root.put_durable(&format!("{id}/{version}/{key}"), bytes).await?;
            }
        }
        // Until here channels that nobody knows of have no blocks.
        self.root.put_durable(&format!("{id}/{RECORD}"), record(&grown)?).await?;
        self.forget(id);
        Ok(())
    }
}
