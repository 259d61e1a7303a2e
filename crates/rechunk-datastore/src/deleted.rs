//! Data sets and versions that are removed.

use std::collections::BTreeSet;

use crate::{Datastore, DatastoreError};

impl Datastore {
    /// Removes a data set, its blocks and its record.
    pub async fn delete(&self, id: &str) -> Result<(), DatastoreError> {
        let _change = self.change().await?;
        self.get(id).await?;
        self.make_unknown(id).await?;
        self.remove_folder(id).await
    }

    /// Removes versions. Nothing is removed if one of them is not there, or none would be left.
    pub async fn delete_versions(&self, id: &str, versions: &[u64]) -> Result<(), DatastoreError> {
        let _change = self.change().await?;
        let known = self.get(id).await?;
        let wanted: BTreeSet<u64> = versions.iter().copied().collect();
        if let Some(missing) = wanted.iter().find(|number| !known.versions.contains(number)) {
            let reason = format!("the data set has no version {missing}; nothing was removed");
            return Err(DatastoreError::Unknown(reason));
        }
        if wanted.len() == known.versions.len() {
            let reason = "the last version of a data set stays: delete the data set instead";
            return Err(DatastoreError::Unacceptable(reason.to_owned()));
        }
        for number in wanted {
            self.remove_folder(&format!("{id}/{number}")).await?;
            self.forget(id);
        }
        Ok(())
    }
}
