//! Notes of uploads that wait for the disk.
//!
//! Blocks of levels are written without waiting for it: they can be made again. A note is removed
//! when they are durable, so that after a power cut the next start makes them anew.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rechunk_store::Store;

use crate::DatastoreError;

/// Most notes that wait; who adds one more waits for the disk.
const NOTES_MAX: usize = 64;
/// Time after which waiting notes are removed.
const SETTLE_TIME: Duration = Duration::from_millis(500);

/// Keys of notes whose levels have followed, and are durable with the next sync of the store.
#[derive(Debug, Default)]
pub(crate) struct Settling {
    keys: Mutex<Vec<String>>,
    /// Held by whoever waits for the disk.
    disk: tokio::sync::Mutex<()>,
}

impl Settling {
    /// Adds a note. It is removed within a second or so, or with [`Settling::settle`].
    pub(crate) async fn add(
        self: &Arc<Self>,
        root: &Store,
        key: String,
    ) -> Result<(), DatastoreError> {
        let waiting = {
            let mut keys = self.keys.lock();
            keys.push(key);
            keys.len()
        };
        if waiting >= NOTES_MAX {
            return self.settle(root).await;
        }
        if waiting == 1 {
            let (settling, root) = (Arc::clone(self), root.clone());
            tokio::spawn(async move {
                tokio::time::sleep(SETTLE_TIME).await;
                if let Err(error) = settling.settle(&root).await {
                    tracing::warn!(%error, "notes of uploads stay until the next start");
                }
            });
        }
        Ok(())
    }

    /// Waits until all levels that have followed are durable, and removes their notes.
    pub(crate) async fn settle(&self, root: &Store) -> Result<(), DatastoreError> {
        // Those that another is at are settled when this returns, too. Uploads go on meanwhile.
        let _disk = self.disk.lock().await;
        let taken = std::mem::take(&mut *self.keys.lock());
        if taken.is_empty() {
            return Ok(());
        }
        root.sync().await?;
        for key in taken {
            root.delete(&key).await?;
        }
        Ok(())
    }
}
