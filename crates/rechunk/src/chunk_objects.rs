//! Objects that are chunks or shards of an array, told by their keys.

use std::sync::Arc;

use rechunk_format::Layout;
use rechunk_store::Store;

/// Removes the objects whose keys are those of chunks, or shards, that are meant.
pub(crate) async fn remove_keys_of(
    store: &Store,
    layout: &Arc<dyn Layout>,
    is_meant: impl Fn(&[u64]) -> bool,
) -> Result<u64, rechunk_store::StoreError> {
    let mut keys = Vec::new();
    for (key, _) in store.list_first("", usize::MAX).await? {
        let part = key.strip_suffix(".part").unwrap_or(&key);
        if layout.object_index(part).is_some_and(|index| is_meant(&index)) {
            keys.push(key);
        }
    }
    let removed = keys.len() as u64;
    store.delete_keys(keys).await?;
    Ok(removed)
}
