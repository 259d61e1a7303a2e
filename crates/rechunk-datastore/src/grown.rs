//! Channels that are added.

use crate::changes::write_documents;
use crate::created::record;
use crate::datastore::RECORD;
use crate::documents::{XML_KEY, export_xml, setup_documents};
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
        let setups = old.setup(old.channels, 0)..grown.setup(grown.channels, 0);
        for version in &known.versions {
            let place = self.root.child(&format!("{id}/{version}"))?;
            write_documents(&place, setup_documents(&grown, setups.clone())?).await?;
        }
        self.root.sync().await?;
        self.root.put_durable(&format!("{id}/{RECORD}"), record(&grown)?).await?;
        self.forget(id);
        for version in &known.versions {
            let key = format!("{id}/{version}/{XML_KEY}");
            self.root.put_durable(&key, export_xml(&grown)).await?;
        }
        Ok(())
    }
}
