//! Notes of the uploads under way, so that those of a killed process can be given up. Stores keep
//! the parts of an unfinished upload, and their price, but do not show them.

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, unique_name};

/// Largest note that is read, bytes.
pub(crate) const RECORD_BYTES_MAX: u64 = 64 << 10;

/// The key of a note.
#[derive(Debug, Clone)]
pub(crate) struct Record(String);

/// Contents of a note.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// Path in the bucket.
    pub(crate) path: String,
    /// Name of the upload in the store.
    pub(crate) upload_id: String,
}

impl Record {
    /// Notes down in `records` that the upload `id` of `path` has begun.
    pub(crate) async fn add(records: &Store, path: &Path, id: &str) -> Result<Self, StoreError> {
        let begun = Begun { path: path.to_string(), upload_id: id.to_owned() };
        // Two strings: this cannot fail.
        let bytes = serde_json::to_vec(&begun).unwrap_or_default();
        let key = unique_name();
        records.put_whole(&key, bytes.into()).await?;
        Ok(Self(key))
    }

    /// Removes the note from `records`.
    pub(crate) async fn remove(&self, records: &Store) -> Result<(), StoreError> {
        records.delete(&self.0).await
    }
}

impl Store {
    /// Returns this place, with uploads under way noted down in `records`, a place of its own in
    /// the same bucket. [`Store::abort_uploads`] gives them up when their process is gone.
    #[must_use]
    pub fn with_upload_records(&self, records: &Self) -> Self {
        let mut store = self.clone();
        if store.multipart.is_some() {
            store.upload_records = Some(records.clone().into());
        }
        store
    }
}
