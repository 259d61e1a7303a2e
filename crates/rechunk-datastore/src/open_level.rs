//! Blocks of a level, read and written.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use rechunk_format::{FormatError, Layout};
use rechunk_n5::N5Layout;
use rechunk_store::Store;

use crate::block_locks::BlockLocks;
use crate::documents::array_path;
use crate::rebuild::Box3;
use crate::{
    ABSENT, BlockAddress, Datastore, DatastoreError, Known, Level, VersionWanted, WireBlock,
    written,
};

/// Writes of a request that wait for the disk at once.
const WRITES_AT_ONCE: usize = 4;

/// A block, encoded as it will be stored.
#[derive(Debug)]
pub struct StoredBlock(Vec<u8>);

/// A level of a version of a data set.
#[derive(Debug, Clone)]
pub struct OpenLevel {
    root: Store,
    known: Arc<Known>,
    number: usize,
    layout: Arc<N5Layout>,
    /// The versions that a block is looked for in, one after the other.
    versions: Vec<u64>,
    is_mixed: bool,
    is_writable: bool,
    locks: Arc<BlockLocks>,
    makers: Arc<BlockLocks>,
}

impl Datastore {
    /// Opens the level of `factors` of a version that is there.
    pub async fn level(
        &self,
        id: &str,
        factors: [u64; 3],
        version: VersionWanted,
    ) -> Result<OpenLevel, DatastoreError> {
        let known = self.get(id).await?;
        let versions = match version {
            VersionWanted::Number(number) if known.versions.contains(&number) => vec![number],
            VersionWanted::Number(number) => {
                return Err(DatastoreError::Unknown(format!(
                    "the data set has no version {number}"
                )));
            }
            VersionWanted::Latest => vec![known.latest()?],
            VersionWanted::MixedLatest => known.versions.iter().rev().copied().collect(),
            VersionWanted::New => {
                return Err(DatastoreError::Senseless("`new` is no version yet".to_owned()));
            }
        };
        let number = known.dataset.level_at(factors)?;
        Ok(OpenLevel {
            root: self.root.clone(),
            layout: Arc::new(known.dataset.layout(&known.dataset.resolution_levels[number])?),
            known,
            number,
            versions,
            is_mixed: version == VersionWanted::MixedLatest,
            is_writable: self.is_writable(),
            locks: Arc::clone(&self.locks),
            makers: Arc::clone(&self.makers),
        })
    }
}

impl OpenLevel {
    /// The data set, and its versions.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// The level.
    pub fn level(&self) -> &Level {
        &self.known.dataset.resolution_levels[self.number]
    }

    /// The number of the version; `None` of `mixedLatest`.
    pub fn version(&self) -> Option<u64> {
        if self.is_mixed { None } else { self.versions.first().copied() }
    }

    /// The number of the version; refuses `mixedLatest`, which is not written.
    pub(crate) fn written_version(&self) -> Result<u64, DatastoreError> {
        self.version().ok_or_else(|| {
            let reason = "`mixedLatest` is only read: name a version";
            DatastoreError::Senseless(reason.to_owned())
        })
    }

    /// Bytes of an element.
    pub fn item_bytes(&self) -> u64 {
        self.layout.spec().item_bytes()
    }

    /// Most bytes of a block on the wire.
    pub fn wire_bytes_max(&self) -> u64 {
        let sizes = self.level().block_dimensions.iter();
        sizes.fold(self.item_bytes(), |bytes, size| bytes.saturating_mul(*size)).saturating_add(12)
    }

    /// Refuses blocks of a timepoint, channel or angle that the data set does not have.
    pub fn check(&self, address: &BlockAddress) -> Result<(), DatastoreError> {
        self.known.dataset.check_view(address.time, address.channel, address.angle)
    }

    /// Refuses blocks that cannot be written. They are those of `mixedLatest`, of a datastore that
    /// is only read, those that [`OpenLevel::check`] refuses, and those beyond the grid.
    pub fn check_writable(&self, address: &BlockAddress) -> Result<(), DatastoreError> {
        if self.is_mixed {
            let reason = "`mixedLatest` is only read: write to a version";
            return Err(DatastoreError::Unacceptable(reason.to_owned()));
        }
        if !self.is_writable {
            return Err(DatastoreError::ReadOnly);
        }
        self.check(address)?;
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let (blocks, position) = (self.block_counts()[axis], address.position[axis]);
            if position >= blocks {
                let reason = format!("there are {blocks} blocks along {name}, none is {position}");
                return Err(DatastoreError::Senseless(reason));
            }
        }
        Ok(())
    }

    /// The store that all data sets are in.
    pub(crate) fn root(&self) -> &Store {
        &self.root
    }

    /// Elements along each axis.
    pub(crate) fn dimensions(&self) -> [u64; 3] {
        self.level().dimensions(self.known.dataset.dimensions)
    }

    /// Blocks along each axis.
    pub(crate) fn block_counts(&self) -> [u64; 3] {
        let (extents, sizes) = (self.dimensions(), self.level().block_dimensions);
        std::array::from_fn(|axis| extents[axis].div_ceil(sizes[axis]))
    }

    /// The elements of a block of the grid, as many as the level has.
    pub(crate) fn box_of(&self, address: &BlockAddress) -> Box3 {
        let (extents, full) = (self.dimensions(), self.level().block_dimensions);
        let start: [u64; 3] =
            std::array::from_fn(|axis| address.position[axis].saturating_mul(full[axis]));
        let size =
            std::array::from_fn(|axis| full[axis].min(extents[axis].saturating_sub(start[axis])));
        Box3 { start, size }
    }

    /// The number of the level.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Waits until nobody else makes this block of others.
    pub(crate) async fn maker(&self, address: &BlockAddress) -> tokio::sync::MutexGuard<'_, ()> {
        let version = self.version().unwrap_or_default();
        self.makers.of(&self.key(version, address)).lock().await
    }

    fn key(&self, version: u64, address: &BlockAddress) -> String {
        let dataset = &self.known.dataset;
        let setup = dataset.setup(address.channel, address.angle);
        let array = array_path(setup, address.time, self.number);
        let [x, y, z] = address.position;
        format!("{}/{version}/{array}/{x}/{y}/{z}", dataset.uuid)
    }

    /// The bytes of a block on the wire: [`ABSENT`] if it is not there.
    pub async fn read(&self, address: &BlockAddress) -> Result<Bytes, DatastoreError> {
        Ok(match self.read_elements(address).await? {
            Some((sizes, elements)) => written(sizes, &elements),
            None => Bytes::from_static(&ABSENT),
        })
    }

    /// Sizes and elements of a block, big-endian, x fastest; `None` if it is not there.
    pub(crate) async fn read_elements(
        &self,
        address: &BlockAddress,
    ) -> Result<Option<([u32; 3], Vec<u8>)>, DatastoreError> {
        let limit_bytes = self.layout.codec_cost().encoded_bytes_max;
        for version in &self.versions {
            let key = self.key(*version, address);
            let Some(encoded) = self.root.get(&key, limit_bytes).await? else { continue };
            let layout = Arc::clone(&self.layout);
            let decoded =
                tokio::task::spawn_blocking(move || layout.decode_stored(&encoded)).await?;
            let damaged = |error: FormatError| DatastoreError::Damaged {
                place: key.clone(),
                reason: error.to_string(),
            };
            let (sizes, elements) = decoded.map_err(damaged)?;
            let sizes = <[u32; 3]>::try_from(sizes).map_err(|_| DatastoreError::Damaged {
                place: key.clone(),
                reason: "it has not three axes".to_owned(),
            })?;
            return Ok(Some((sizes, elements)));
        }
        Ok(None)
    }

    /// Removes a block. None there is fine.
    pub(crate) async fn remove(&self, address: &BlockAddress) -> Result<(), DatastoreError> {
        let Some(version) = self.version() else { return Ok(()) };
        let key = self.key(version, address);
        let _writer = self.locks.of(&key).lock().await;
        Ok(self.root.delete(&key).await?)
    }

    /// Encodes a block. Takes its time: not on a thread of the runtime.
    pub fn encode(&self, block: &WireBlock) -> Result<StoredBlock, DatastoreError> {
        Ok(StoredBlock(self.layout.encode_stored(&block.sizes, &block.elements)?))
    }

    /// Stores blocks, each whole or not at all, and durable when this returns. Of a block that is
    /// there twice the last counts.
    pub async fn write(
        &self,
        blocks: Vec<(BlockAddress, StoredBlock)>,
    ) -> Result<(), DatastoreError> {
        let Some(version) = self.version() else {
            return Err(DatastoreError::Unacceptable("`mixedLatest` is only read".to_owned()));
        };
        let last: BTreeMap<BlockAddress, StoredBlock> = blocks.into_iter().collect();
        let writes = last.into_iter().map(|(address, block)| async move {
            let key = self.key(version, &address);
            let _writer = self.locks.of(&key).lock().await;
            self.root.put_durable(&key, block.0).await
        });
        stream::iter(writes).buffer_unordered(WRITES_AT_ONCE).try_collect::<()>().await?;
        Ok(())
    }
}
