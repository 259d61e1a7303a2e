use std::collections::BTreeMap;

use bytes::Bytes;
use rechunk_store::Store;

use crate::{BlockAddress, DatastoreError};

/// Sizes of a block, and its elements: big-endian, x fastest.
pub(crate) type Elements = ([u32; 3], Bytes);

/// A block as it was encoded, and its elements, which need not be decoded where these bytes are
/// stored.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    pub bytes: Bytes,
    pub elements: Elements,
}

/// Blocks of an object that change: those with bytes are stored, the others are removed.
pub(crate) type Changes = BTreeMap<BlockAddress, Option<Bytes>>;

/// Time at which changes of blocks are durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// When the change is done; not there by halves even after a power cut.
    Each,
    /// With the next sync of the store; after a power cut before it blocks may be damaged.
    WithSync,
}

/// Stores a block that is an object of its own, or removes it.
pub(super) async fn replace(
    place: &Store,
    key: &str,
    block: Option<Bytes>,
    durability: Durability,
) -> Result<(), DatastoreError> {
    match (block, durability) {
        (None, _) => place.delete(key).await?,
        (Some(block), Durability::Each) => place.put_durable(key, block.into()).await?,
        (Some(block), Durability::WithSync) => place.put(key, vec![block]).await?,
    }
    Ok(())
}
