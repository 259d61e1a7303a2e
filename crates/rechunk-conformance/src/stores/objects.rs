use bytes::Bytes;
use rechunk_store::Store;

use super::rule::failed;
use crate::Violation;

/// Objects that a store has when [`check_reading`] is called: one of ten bytes, one without any,
/// and a document.
pub const OBJECTS: [(&str, &[u8]); 3] =
    [("c/0/0", b"0123456789"), ("c/0/1", b""), ("zarr.json", b"{}")];

/// Stores an object, in two parts.
pub(super) async fn put(store: &Store, key: &str, bytes: &[u8]) -> Result<(), Violation> {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let parts = [first, second].map(Bytes::copy_from_slice).to_vec();
    store.put(key, parts).await.map_err(|error| failed(store, &format!("put {key}"), &error))
}

/// True if the store has no object.
pub(super) async fn is_empty(store: &Store) -> Result<bool, Violation> {
    store.is_empty().await.map_err(|error| failed(store, "be looked into", &error))
}
