//! A datastore that is opened to be written.

use rechunk_store::Store;

use crate::{Datastore, DatastoreError};

impl Datastore {
    /// Opens a place to be read and written, which is made if it is not there. No other process
    /// may have it open so. What one that was killed has left is removed, and levels that had to
    /// follow an upload follow.
    pub async fn writable(root: Store) -> Result<Self, DatastoreError> {
        let datastore = Self::locked(root).await?;
        datastore.follow_up().await?;
        Ok(datastore)
    }
}
