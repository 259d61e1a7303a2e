//! Notes of the uploads under way, so that those of a killed process can be given up. Stores keep
//! the parts of an unfinished upload, and their price, but do not show them.

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::upload::{Multipart, abort};
use crate::{Store, StoreError, unique_name};

/// Largest note that is read, bytes.
const RECORD_BYTES_MAX: u64 = 64 << 10;

/// A place in the same bucket with one small object for each upload under way.
#[derive(Debug)]
pub(crate) struct UploadRecords {
    store: Store,
}

/// The key of a note.
#[derive(Debug, Clone)]
pub(crate) struct Record(String);

/// Contents of a note.
#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    /// Path in the bucket.
    path: String,
    /// Name of the upload in the store.
    upload_id: String,
}

impl UploadRecords {
    pub(crate) fn new(store: &Store) -> Self {
        Self { store: store.clone() }
    }

    pub(crate) async fn add(&self, path: &Path, id: &str) -> Result<Record, StoreError> {
        let begun = Begun { path: path.to_string(), upload_id: id.to_owned() };
        // Two strings: this cannot fail.
        let bytes = serde_json::to_vec(&begun).unwrap_or_default();
        let key = unique_name();
        self.store.put_whole(&key, bytes.into()).await?;
        Ok(Record(key))
    }

    pub(crate) async fn remove(&self, record: &Record) -> Result<(), StoreError> {
        self.store.delete(&record.0).await
    }
}

impl Store {
    /// Returns this place, with uploads under way noted down in `records`, a place of its own in
    /// the same bucket. [`Store::abort_uploads`] gives them up when their process is gone.
    #[must_use]
    pub fn with_upload_records(&self, records: &Self) -> Self {
        let mut store = self.clone();
        if let Some(multipart) = &mut store.multipart {
            multipart.records = Some(UploadRecords::new(records).into());
        }
        store
    }

    /// Gives up all uploads that are noted down here, and removes the notes. Only when no process
    /// writes what they are of. Returns how many.
    pub async fn abort_uploads(&self) -> Result<u64, StoreError> {
        let Some(multipart) = &self.multipart else { return Ok(0) };
        let notes = self.list_first("", usize::MAX).await?;
        let mut aborted = 0;
        for (key, _) in notes {
            let Some(bytes) = self.get(&key, RECORD_BYTES_MAX).await? else { continue };
            if let Ok(begun) = serde_json::from_slice::<Begun>(&bytes) {
                self.abort_noted(multipart, &begun).await?;
                aborted += 1;
            }
            self.delete(&key).await?;
        }
        if aborted > 0 {
            tracing::info!(location = self.label(), aborted, "gave up unfinished uploads");
        }
        Ok(aborted)
    }

    async fn abort_noted(&self, multipart: &Multipart, begun: &Begun) -> Result<(), StoreError> {
        // What is no path is of no upload. Without an id a store may take it for a deletion of the
        // object.
        let Ok(path) = Path::parse(&begun.path) else { return Ok(()) };
        if begun.upload_id.is_empty() {
            return Ok(());
        }
        abort(self, multipart, &path, &begun.upload_id).await
    }
}
