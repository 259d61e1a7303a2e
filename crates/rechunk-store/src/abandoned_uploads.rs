//! Gives up the uploads that a killed process has left, by the notes of them.

use object_store::path::Path;

use crate::multipart::Multipart;
use crate::upload::abort;
use crate::upload_records::{Begun, RECORD_BYTES_MAX};
use crate::{Store, StoreError};

impl Store {
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
