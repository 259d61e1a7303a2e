//! The place of all data sets, and what is known of each.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rechunk_store::{DirectoryLock, Store};
use tokio::sync::MutexGuard;
use tokio::time::Instant;

use crate::block_locks::BlockLocks;
use crate::rebuild::Settling;
use crate::{Dataset, DatastoreError, check_dataset_id};

/// Record of a data set, in its folder: it is copied with it.
pub(crate) const RECORD: &str = "dataset.json";
/// Text that clients keep with a data set.
const COMMON_METADATA: &str = "common-metadata.txt";
/// Our own folder: which data sets are known, and what is under way.
pub(crate) const KNOWN: &str = ".datastore/known";
/// Folders that are being made or removed: nobody misses one.
pub(crate) const UNDER_WAY: &str = ".datastore/under-way";
/// Notes of levels that have to follow what was written.
pub(crate) const DIRTY: &str = ".datastore/dirty";
/// Says that a place is a datastore.
const FORMAT_KEY: &str = ".datastore/format.json";
const FORMAT: &[u8] = b"{\"rechunk-datastore\": 1}\n";

/// Largest record, bytes.
const RECORD_BYTES_MAX: u64 = 16 << 20;
/// Most data sets of which records are kept in memory.
const KEPT_MAX: usize = 4096;
/// Time after which a record is read again, where other processes may change it.
const FRESH_TIME: Duration = Duration::from_secs(1);
/// Time that another process has to let go of the place.
const LOCK_TIME: Duration = Duration::from_secs(2);

/// A data set, and the versions it has, lowest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The data set.
    pub dataset: Dataset,
    /// Numbers of its versions.
    pub versions: Vec<u64>,
}

impl Known {
    /// The highest version.
    pub fn latest(&self) -> Result<u64, DatastoreError> {
        let latest = self.versions.last().copied();
        latest.ok_or_else(|| DatastoreError::Unknown("the data set has no version".to_owned()))
    }
}

#[derive(Debug)]
struct Kept {
    known: Arc<Known>,
    read: Instant,
}

/// Data sets below a place of a store.
#[derive(Debug)]
pub struct Datastore {
    pub(crate) root: Store,
    kept: Mutex<HashMap<String, Kept>>,
    pub(crate) locks: Arc<BlockLocks>,
    /// Locks of blocks of levels that are made of others.
    pub(crate) makers: Arc<BlockLocks>,
    /// Uploads whose levels wait for the disk.
    pub(crate) settling: Arc<Settling>,
    /// Held by whoever changes what data sets there are, or their versions.
    changes: tokio::sync::Mutex<()>,
    /// Held as long as this may be written; `None`: it is only read.
    writer: Option<DirectoryLock>,
}

impl Datastore {
    /// Opens a place to be read; nothing is changed there.
    pub async fn read_only(root: Store) -> Result<Self, DatastoreError> {
        if !root.exists_anything().await? {
            return Err(DatastoreError::Unknown(format!("{} is not there", root.label())));
        }
        Ok(Self::of(root, None))
    }

    /// Opens a place to be read and written, which is made if it is not there. No other process
    /// may have it open so.
    pub(crate) async fn locked(root: Store) -> Result<Self, DatastoreError> {
        if !root.exists(FORMAT_KEY).await? {
            root.put_durable(FORMAT_KEY, FORMAT.to_vec()).await?;
        }
        let own = root.child(".datastore")?;
        let lock = tokio::time::timeout(LOCK_TIME, DirectoryLock::take(&own)).await;
        let Ok(lock) = lock else {
            let reason = format!("another process writes to {}", root.label());
            return Err(DatastoreError::Unacceptable(reason));
        };
        let lock = lock?;
        root.delete_prefix(UNDER_WAY).await?;
        Ok(Self::of(root, Some(lock)))
    }

    fn of(root: Store, writer: Option<DirectoryLock>) -> Self {
        let (kept, locks, makers) = (Mutex::default(), Arc::default(), Arc::default());
        let settling = Arc::default();
        Self { root, kept, locks, makers, settling, changes: tokio::sync::Mutex::default(), writer }
    }

    /// True if data sets and blocks may be changed.
    pub fn is_writable(&self) -> bool {
        self.writer.is_some()
    }

    /// Waits until nobody else changes data sets, and holds others up. Refused where nothing may
    /// be changed.
    pub(crate) async fn change(&self) -> Result<MutexGuard<'_, ()>, DatastoreError> {
        if !self.is_writable() {
            return Err(DatastoreError::ReadOnly);
        }
        Ok(self.changes.lock().await)
    }

    /// The data set `id` and its versions.
    pub async fn get(&self, id: &str) -> Result<Arc<Known>, DatastoreError> {
        check_dataset_id(id)?;
        if let Some(kept) = self.kept.lock().get(id)
            && (self.is_writable() || kept.read.elapsed() < FRESH_TIME)
        {
            return Ok(Arc::clone(&kept.known));
        }
        if !self.is_known(id).await? {
            self.forget(id);
            return Err(DatastoreError::Unknown(format!("there is no data set {id}")));
        }
        let dataset = self.record(id).await?.ok_or_else(|| DatastoreError::Damaged {
            place: format!("{id}/{RECORD}"),
            reason: "it is missing".to_owned(),
        })?;
        let known = Arc::new(Known { dataset, versions: self.versions_of(id).await? });
        let mut kept = self.kept.lock();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(id.to_owned(), Kept { known: Arc::clone(&known), read: Instant::now() });
        Ok(known)
    }

    /// Has the data set `id` read anew: it was changed.
    pub(crate) fn forget(&self, id: &str) {
        self.kept.lock().remove(id);
    }

    /// True if `id` is registered.
    pub(crate) async fn is_known(&self, id: &str) -> Result<bool, DatastoreError> {
        Ok(self.root.exists(&format!("{KNOWN}/{id}")).await?)
    }

    /// Registers `id`.
    pub(crate) async fn make_known(&self, id: &str) -> Result<(), DatastoreError> {
        Ok(self.root.put_durable(&format!("{KNOWN}/{id}"), Vec::new()).await?)
    }

    /// Takes `id` from what is registered; its folder stays.
    pub(crate) async fn make_unknown(&self, id: &str) -> Result<(), DatastoreError> {
        self.forget(id);
        Ok(self.root.delete(&format!("{KNOWN}/{id}")).await?)
    }

    /// The record in the folder `id`; `None` if there is none.
    pub(crate) async fn record(&self, id: &str) -> Result<Option<Dataset>, DatastoreError> {
        let place = format!("{id}/{RECORD}");
        let Some(bytes) = self.root.get(&place, RECORD_BYTES_MAX).await? else { return Ok(None) };
        let read = serde_json::from_slice(&bytes);
        read.map(Some).map_err(|error| DatastoreError::Damaged { place, reason: error.to_string() })
    }

    /// Numbers of the folders of `id` that are versions, lowest first.
    pub(crate) async fn versions_of(&self, id: &str) -> Result<Vec<u64>, DatastoreError> {
        let names = self.root.list_directories(id).await?;
        let number = |name: &String| {
            let number: u64 = name.parse().ok()?;
            (number.to_string() == *name).then_some(number)
        };
        let mut versions: Vec<u64> = names.iter().filter_map(number).collect();
        versions.sort_unstable();
        Ok(versions)
    }

    /// The text that clients keep with a data set; empty if there is none.
    pub async fn common_metadata(
        &self,
        id: &str,
        limit_bytes: u64,
    ) -> Result<bytes::Bytes, DatastoreError> {
        self.get(id).await?;
        let text = self.root.get(&format!("{id}/{COMMON_METADATA}"), limit_bytes).await?;
        Ok(text.unwrap_or_default())
    }

    /// Keeps a text with a data set, in place of any other.
    pub async fn set_common_metadata(&self, id: &str, text: String) -> Result<(), DatastoreError> {
        let _change = self.change().await?;
        self.get(id).await?;
        let key = format!("{id}/{COMMON_METADATA}");
        Ok(self.root.put_durable(&key, text.into_bytes()).await?)
    }
}
