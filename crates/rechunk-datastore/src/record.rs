//! The copy of a description in the folder of its data set.

use rechunk_store::Store;

use crate::places::RECORD;
use crate::{Dataset, DatastoreError};

/// Largest record, bytes.
const RECORD_BYTES_MAX: u64 = 16 << 20;

/// The record of a data set as bytes.
pub(crate) fn record(dataset: &Dataset) -> Result<Vec<u8>, DatastoreError> {
    serde_json::to_vec_pretty(dataset).map_err(|error| DatastoreError::Damaged {
        place: RECORD.to_owned(),
        reason: error.to_string(),
    })
}

/// The record in the folder `id`; `None` if there is none.
pub(crate) async fn recorded(root: &Store, id: &str) -> Result<Option<Dataset>, DatastoreError> {
    let place = format!("{id}/{RECORD}");
    let Some(bytes) = root.get(&place, RECORD_BYTES_MAX).await? else { return Ok(None) };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| DatastoreError::Damaged { place, reason: error.to_string() })
}
