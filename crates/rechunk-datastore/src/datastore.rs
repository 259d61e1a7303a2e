//! The place of all data sets, and what is known of each.

use std::sync::Arc;

use rechunk_store::{DirectoryLock, Store};

use crate::block_locks::BlockLocks;
use crate::catalog::{Age, Catalog};
use crate::register::Register;
use crate::settling::Settling;
use crate::{DatastoreError, Known};

/// Data sets below a place of a store, as a register has them.
#[derive(Debug)]
pub struct Datastore {
    pub(crate) root: Store,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) locks: Arc<BlockLocks>,
    /// Locks of blocks of levels that are made of others.
    pub(crate) makers: Arc<BlockLocks>,
    /// Uploads whose levels wait for the disk.
    pub(crate) settling: Arc<Settling>,
    /// Held by whoever changes what data sets there are, or their versions.
    pub(crate) changes: tokio::sync::Mutex<()>,
    /// Held as long as this may be written; `None`: it is only read.
    writer: Option<DirectoryLock>,
}

impl Datastore {
    pub(crate) fn of(
        root: Store,
        register: Arc<dyn Register>,
        writer: Option<DirectoryLock>,
    ) -> Self {
        Self {
            root,
            catalog: Arc::new(Catalog::new(register)),
            locks: Arc::default(),
            makers: Arc::default(),
            settling: Arc::default(),
            changes: tokio::sync::Mutex::default(),
            writer,
        }
    }

    /// True if data sets and blocks may be changed.
    pub fn is_writable(&self) -> bool {
        self.writer.is_some()
    }

    /// Lets others share the place. False if another process was faster and has it alone now.
    pub(crate) fn share(&mut self) -> bool {
        self.writer = self.writer.take().and_then(DirectoryLock::shared);
        self.writer.is_some()
    }

    /// The data set `id` and its versions, at this moment.
    pub async fn get(&self, id: &str) -> Result<Arc<Known>, DatastoreError> {
        self.catalog.known(id, Age::Now).await
    }

    /// Names of all data sets, in order.
    pub async fn names(&self) -> Result<Vec<String>, DatastoreError> {
        self.catalog.register.names().await
    }

    /// The text that clients keep with a data set; empty if there is none.
    pub async fn common_metadata(&self, id: &str) -> Result<String, DatastoreError> {
        crate::check_dataset_id(id)?;
        let text = self.catalog.register.common_metadata(id).await?;
        text.ok_or_else(|| DatastoreError::Unknown(format!("there is no data set {id}")))
    }
}
