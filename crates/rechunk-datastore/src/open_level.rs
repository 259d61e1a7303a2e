//! Blocks of a level, read and written.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use rechunk_store::Store;

use crate::block_locks::BlockLocks;
use crate::blocks::{Blocks, Changes, Durability, Elements, Encoded};
use crate::boxes::{Box3, positions};
use crate::catalog::{Age, Catalog};
use crate::note::Note;
use crate::places::folder;
use crate::settling::Settling;
use crate::turn::Turn;
use crate::{
    ABSENT, BlockAddress, Datastore, DatastoreError, Known, Level, VersionWanted, WireBlock,
    written,
};

/// Writes of a request that wait for the disk at once.
const WRITES_AT_ONCE: usize = 4;

/// A block, encoded as it will be stored.
#[derive(Debug, Clone)]
pub struct StoredBlock {
    bytes: Bytes,
    /// Its elements, where levels follow it.
    elements: Option<Elements>,
}

impl StoredBlock {
    /// Count of its bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The block with its elements, if they are kept.
    pub(crate) fn known(&self) -> Option<Encoded> {
        let (bytes, elements) = (self.bytes.clone(), self.elements.clone()?);
        Some(Encoded { bytes, elements })
    }

    /// Keeps the elements, so that they need not be decoded again.
    pub(crate) fn with_elements(self, block: WireBlock) -> Self {
        Self { elements: Some((block.sizes, block.elements)), ..self }
    }
}

/// A level of a version of a data set.
#[derive(Debug, Clone)]
pub struct OpenLevel {
    root: Store,
    catalog: Arc<Catalog>,
    known: Arc<Known>,
    number: usize,
    item_bytes: u64,
    blocks: Arc<Blocks>,
    /// The versions that a block is looked for in, one after the other.
    versions: Vec<u64>,
    is_mixed: bool,
    is_writable: bool,
    locks: Arc<BlockLocks>,
    makers: Arc<BlockLocks>,
    settling: Arc<Settling>,
}

impl Datastore {
    /// Opens the level of `factors` of a version that is there.
    pub async fn level(
        &self,
        id: &str,
        factors: [u64; 3],
        version: VersionWanted,
    ) -> Result<OpenLevel, DatastoreError> {
        let age = match version {
            VersionWanted::Number(_) => Age::Recent,
            VersionWanted::MixedLatest => Age::Newest,
            VersionWanted::Latest | VersionWanted::New => Age::Now,
        };
        let mut known = self.catalog.known(id, age).await?;
        if let VersionWanted::Number(number) = version
            && !known.has(number)
        {
            // Another process may just have made it.
            known = self.catalog.known(id, Age::Newest).await?;
        }
        let versions = match version {
            VersionWanted::Number(number) if known.has(number) => vec![number],
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
            catalog: Arc::clone(&self.catalog),
            blocks: Arc::new(Blocks::new(&known.dataset, number)?),
            item_bytes: known.dataset.data_type()?.item_bytes(),
            known,
            number,
            versions,
            is_mixed: version == VersionWanted::MixedLatest,
            is_writable: self.is_writable(),
            locks: Arc::clone(&self.locks),
            makers: Arc::clone(&self.makers),
            settling: Arc::clone(&self.settling),
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

    /// The versions that a block is looked for in, one after the other.
    pub(crate) fn versions(&self) -> &[u64] {
        &self.versions
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
        self.item_bytes
    }

    /// Most bytes of a block on the wire.
    pub fn wire_bytes_max(&self) -> u64 {
        let sizes = self.level().block_dimensions.iter();
        sizes.fold(self.item_bytes, |bytes, size| bytes.saturating_mul(*size)).saturating_add(12)
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

    /// Waits for the turn of the version.
    pub(crate) async fn turn(&self) -> Result<Turn<'_>, DatastoreError> {
        Turn::take(&self.catalog, &self.known, self.written_version()?).await
    }

    /// The store that all data sets are in.
    pub(crate) fn root(&self) -> &Store {
        &self.root
    }

    /// Elements along each axis.
    pub fn dimensions(&self) -> [u64; 3] {
        self.level().dimensions(self.known.dataset.dimensions)
    }

    /// Blocks along each axis.
    pub(crate) fn block_counts(&self) -> [u64; 3] {
        let (extents, sizes) = (self.dimensions(), self.level().block_dimensions);
        std::array::from_fn(|axis| extents[axis].div_ceil(sizes[axis]))
    }

    /// The elements of a block of the grid, as many as the level has.
    pub(crate) fn box_of(&self, address: &BlockAddress) -> Box3 {
        self.level().block(address.position, self.dimensions())
    }

    /// Positions of the blocks that have elements of a box.
    pub(crate) fn blocks_in(&self, elements: Box3) -> impl Iterator<Item = [u64; 3]> {
        let full = self.level().block_dimensions;
        let first: [u64; 3] = std::array::from_fn(|axis| elements.start[axis] / full[axis]);
        let is_empty = elements.size.contains(&0);
        let counts = std::array::from_fn(|axis| {
            if is_empty { 0 } else { elements.end(axis).div_ceil(full[axis]) - first[axis] }
        });
        positions(counts).map(move |at| std::array::from_fn(|axis| first[axis] + at[axis]))
    }

    /// The number of the level.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The object that a block is in, by its position.
    pub(crate) fn object_of(&self, address: &BlockAddress) -> [u64; 3] {
        let each = self.level().object_blocks();
        std::array::from_fn(|axis| address.position[axis] / each[axis])
    }

    /// Objects of blocks along each axis.
    pub(crate) fn object_counts(&self) -> [u64; 3] {
        let (blocks, each) = (self.block_counts(), self.level().object_blocks());
        std::array::from_fn(|axis| blocks[axis].div_ceil(each[axis]))
    }

    /// Positions of the blocks of an object that lie in the level.
    pub(crate) fn blocks_of_object(&self, object: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
        let (blocks, each) = (self.block_counts(), self.level().object_blocks());
        let first: [u64; 3] = std::array::from_fn(|axis| object[axis] * each[axis]);
        let counts = std::array::from_fn(|axis| each[axis].min(blocks[axis] - first[axis]));
        positions(counts).map(move |at| std::array::from_fn(|axis| first[axis] + at[axis]))
    }

    /// Locks of those who make blocks of others, by [`OpenLevel::key`] of their object.
    pub(crate) fn makers(&self) -> &BlockLocks {
        &self.makers
    }

    /// The key of the object that a block is in.
    pub(crate) fn key(&self, address: &BlockAddress) -> Result<String, DatastoreError> {
        let (version, key) = (self.written_version()?, self.blocks.object_key(address)?);
        Ok(format!("{}/{key}", folder(&self.known.dataset.uuid, Some(version))))
    }

    /// The folder of a version.
    fn folder(&self, version: u64) -> Result<Store, DatastoreError> {
        Ok(self.root.child(&folder(&self.known.dataset.uuid, Some(version)))?)
    }

    /// The bytes of a block on the wire, in two pieces: its sizes and its elements; [`ABSENT`] and
    /// nothing if it is not there.
    pub async fn read(&self, address: &BlockAddress) -> Result<[Bytes; 2], DatastoreError> {
        Ok(match self.read_elements(address, None).await? {
            Some((sizes, elements)) => [written(sizes, &[]), elements],
            None => [Bytes::from_static(&ABSENT), Bytes::new()],
        })
    }

    /// True if a block is there.
    pub(crate) async fn is_stored(&self, address: &BlockAddress) -> Result<bool, DatastoreError> {
        for version in &self.versions {
            let folder = self.folder(*version)?;
            if self.blocks.is_stored(&folder, address).await? {
                return Ok(true);
            }
            check_link(&folder).await?;
        }
        Ok(false)
    }

    /// Sizes and elements of a block; `None` if it is not there. It may be `known` already.
    pub(crate) async fn read_elements(
        &self,
        address: &BlockAddress,
        known: Option<&Encoded>,
    ) -> Result<Option<Elements>, DatastoreError> {
        for version in &self.versions {
            let folder = self.folder(*version)?;
            let found = self.blocks.read(&folder, address, known).await?;
            if found.is_some() {
                return Ok(found);
            }
            check_link(&folder).await?;
        }
        Ok(None)
    }

    /// Encodes a block. Takes its time: not on a thread of the runtime.
    pub fn encode(&self, block: &WireBlock) -> Result<StoredBlock, DatastoreError> {
        Ok(StoredBlock { bytes: self.blocks.encode(block)?, elements: None })
    }

    /// Stores blocks, each whole or not at all, and durable when this returns. Of a block that is
    /// there twice the last counts.
    pub async fn write(
        &self,
        blocks: Vec<(BlockAddress, StoredBlock)>,
    ) -> Result<(), DatastoreError> {
        if self.is_mixed {
            return Err(DatastoreError::Unacceptable("`mixedLatest` is only read".to_owned()));
        }
        if self.level().resolutions != [1; 3] {
            // The next start would make this level anew by the notes of uploads before.
            self.settling.settle(&self.root).await?;
        }
        if self.level().shard_dimensions.is_none() {
            return self.store(blocks).await;
        }
        // What others store in a shard is read and written again.
        let turn = self.turn().await?;
        self.store(blocks).await?;
        turn.end().await;
        Ok(())
    }

    /// Stores blocks as [`OpenLevel::write`] does, in the turn of whoever calls it.
    pub(crate) async fn store(
        &self,
        blocks: Vec<(BlockAddress, StoredBlock)>,
    ) -> Result<(), DatastoreError> {
        let blocks = blocks.into_iter().map(|(address, block)| (address, Some(block)));
        self.change(blocks, Durability::Each).await?;
        self.confirm(self.written_version()?).await
    }

    /// Refuses what was stored in a version that was deleted meanwhile: its folder has come back by
    /// that, and is noted to be removed.
    async fn confirm(&self, version: u64) -> Result<(), DatastoreError> {
        let id = &self.known.dataset.uuid;
        let (gone, folder) = match self.catalog.known(id, Age::Now).await {
            Ok(known) if known.has(version) => return Ok(()),
            Ok(_) => {
                let reason = format!("the data set has no version {version}");
                (DatastoreError::Unknown(reason), Some(version))
            }
            Err(unknown @ DatastoreError::Unknown(_)) => (unknown, None),
            Err(error) => return Err(error),
        };
        Note::of_folder(id, folder).put(&self.root).await?;
        Err(gone)
    }

    /// Stores blocks, each whole or not at all, and removes others. None there is fine.
    pub(crate) async fn change(
        &self,
        blocks: impl IntoIterator<Item = (BlockAddress, Option<StoredBlock>)>,
        durability: Durability,
    ) -> Result<(), DatastoreError> {
        let version = self.written_version()?;
        let mut objects: BTreeMap<String, Changes> = BTreeMap::new();
        for (address, block) in blocks {
            let changes = objects.entry(self.key(&address)?).or_default();
            changes.insert(address, block.map(|block| block.bytes));
        }
        let folder = &self.folder(version)?;
        // A sync of the store does not reach a disk that a link leads to.
        let is_elsewhere = durability == Durability::WithSync && folder.link().await?.is_some();
        let durability = if is_elsewhere { Durability::Each } else { durability };
        let writes = objects.into_iter().map(|(key, changes)| async move {
            let _writer = self.locks.of(&key).lock().await;
            self.blocks.change(folder, changes, durability).await
        });
        stream::iter(writes).buffer_unordered(WRITES_AT_ONCE).try_collect::<()>().await
    }
}

/// Refuses a version that is a link to nothing: its disk is not mounted, and its blocks are not
/// absent.
async fn check_link(folder: &Store) -> Result<(), DatastoreError> {
    let Some(link) = folder.link().await?.filter(|link| !link.leads_somewhere) else {
        return Ok(());
    };
    let (folder, target) = (folder.label(), link.target.display());
    tracing::error!(folder, %target, "a version is a link to nothing: is its disk mounted?");
    let reason = "this version is kept elsewhere, which cannot be reached now";
    Err(DatastoreError::Unavailable(reason.to_owned()))
}
