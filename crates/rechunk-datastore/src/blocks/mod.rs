//! Blocks of a level as they are stored: one format each.

mod changes;
mod n5;
mod zarr;

use bytes::Bytes;
use rechunk_store::Store;

use crate::{BlockAddress, Dataset, DatastoreError, Storage, WireBlock};
pub(crate) use changes::{Changes, Durability, Elements, Encoded};
use n5::N5Blocks;
use zarr::ZarrBlocks;

/// Blocks of a level of a data set, in any version.
#[derive(Debug)]
pub(crate) enum Blocks {
    N5(N5Blocks),
    Zarr(Box<ZarrBlocks>),
}

impl Blocks {
    pub(crate) fn new(dataset: &Dataset, number: usize) -> Result<Self, DatastoreError> {
        Ok(match dataset.storage {
            Storage::N5 => Self::N5(N5Blocks::new(dataset, number)?),
            Storage::Zarr3 => Self::Zarr(Box::new(ZarrBlocks::new(dataset, number)?)),
        })
    }

    /// The key of the object that a block is in, below the folder of a version.
    pub(crate) fn object_key(&self, address: &BlockAddress) -> Result<String, DatastoreError> {
        match self {
            Self::N5(blocks) => Ok(blocks.key(address)),
            Self::Zarr(blocks) => blocks.object_key(address),
        }
    }

    /// A block in the folder of a version; `None` if it is not there. It may be `known` already.
    pub(crate) async fn read(
        &self,
        version: &Store,
        address: &BlockAddress,
        known: Option<&Encoded>,
    ) -> Result<Option<Elements>, DatastoreError> {
        let encoded = match self {
            Self::N5(blocks) => blocks.get(version, address).await?,
            Self::Zarr(blocks) => blocks.get(version, address).await?,
        };
        let Some(encoded) = encoded else { return Ok(None) };
        if let Some(known) = known.filter(|known| known.bytes == encoded) {
            return Ok(Some(known.elements.clone()));
        }
        let elements = match self {
            Self::N5(blocks) => blocks.decode(version, address, encoded).await?,
            Self::Zarr(blocks) => blocks.decode(version, address, encoded).await?,
        };
        Ok(Some(elements))
    }

    /// True if a block is in the folder of a version.
    pub(crate) async fn is_stored(
        &self,
        version: &Store,
        address: &BlockAddress,
    ) -> Result<bool, DatastoreError> {
        match self {
            Self::N5(blocks) => Ok(version.exists(&blocks.key(address)).await?),
            Self::Zarr(blocks) => blocks.is_stored(version, address).await,
        }
    }

    /// Encodes a block as it will be stored.
    pub(crate) fn encode(&self, block: &WireBlock) -> Result<Bytes, DatastoreError> {
        match self {
            Self::N5(blocks) => blocks.encode(block),
            Self::Zarr(blocks) => blocks.encode(block),
        }
    }

    /// Changes blocks of one object: all of them or none. One caller for an object at a time.
    pub(crate) async fn change(
        &self,
        version: &Store,
        changes: Changes,
        durability: Durability,
    ) -> Result<(), DatastoreError> {
        match self {
            Self::N5(blocks) => blocks.change(version, changes, durability).await,
            Self::Zarr(blocks) => blocks.change(version, changes, durability).await,
        }
    }
}
