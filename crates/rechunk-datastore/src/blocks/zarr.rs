//! Blocks that are chunks of Zarr, alone or in shards.
//!
//! A chunk is always a full one: sizes of a block that is smaller are not kept, and elements beyond
//! the image are not told.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use rechunk_array::Array;
use rechunk_format::{Layout, ShardFormat, ShardIndex};
use rechunk_grid::{DataType, Region};
use rechunk_store::Store;
use rechunk_zarr::ZarrLayout;

use super::changes::{Changes, Durability, Elements, replace};
use crate::boxes::{Box3, copy};
use crate::documents::zarr::array_path;
use crate::{BlockAddress, Dataset, DatastoreError, Level, WireBlock};

/// Times that a shard is read again which somebody replaces meanwhile.
const TRIES: usize = 16;

/// Blocks that are chunks of Zarr.
#[derive(Debug)]
pub(crate) struct ZarrBlocks {
    layout: Arc<ZarrLayout>,
    number: usize,
    times: Vec<u64>,
    data_type: DataType,
    level: Level,
    extents: [u64; 3],
}

impl ZarrBlocks {
    pub(super) fn new(dataset: &Dataset, number: usize) -> Result<Self, DatastoreError> {
        let level = &dataset.resolution_levels[number];
        Ok(Self {
            layout: Arc::new(dataset.zarr_layout(level)?),
            number,
            times: dataset.timepoint_ids.clone(),
            data_type: dataset.data_type()?,
            extents: level.dimensions(dataset.dimensions),
            level: *level,
        })
    }

    /// The index of the chunk that a block is.
    fn index(&self, address: &BlockAddress) -> Result<Vec<u64>, DatastoreError> {
        let time = self.times.binary_search(&address.time).map_err(|_| {
            DatastoreError::Unknown(format!("the data set has no timepoint {}", address.time))
        })?;
        let [x, y, z] = address.position;
        Ok(vec![u64::try_from(time).unwrap_or(u64::MAX), address.channel, z, y, x])
    }

    pub(super) fn object_key(&self, address: &BlockAddress) -> Result<String, DatastoreError> {
        let key = self.layout.chunk_key(&self.index(address)?);
        Ok(format!("{}/{key}", array_path(address.angle, self.number)))
    }

    fn array(&self, version: &Store, angle: u64) -> Result<Array, DatastoreError> {
        let layout = Arc::<ZarrLayout>::clone(&self.layout);
        Ok(Array::new(layout, version.child(&array_path(angle, self.number))?))
    }

    /// The stored bytes of a block; `None` if it is not there.
    pub(super) async fn get(
        &self,
        version: &Store,
        address: &BlockAddress,
    ) -> Result<Option<Bytes>, DatastoreError> {
        let (array, index) = (self.array(version, address.angle)?, self.index(address)?);
        match self.layout.shards() {
            None => Ok(array.read_chunk(&index).await?),
            Some(format) => in_shard(&array, format, &index).await,
        }
    }

    pub(super) async fn decode(
        &self,
        version: &Store,
        address: &BlockAddress,
        encoded: Bytes,
    ) -> Result<Elements, DatastoreError> {
        let (array, index) = (self.array(version, address.angle)?, self.index(address)?);
        let size = self.level.block(address.position, self.extents).size;
        let (layout, data_type) = (Arc::clone(&self.layout), self.data_type);
        let full = self.level.block_dimensions;
        let elements = tokio::task::spawn_blocking(move || {
            let mut scratch = Vec::new();
            let decoded = layout.decode(&index, &encoded, &mut scratch);
            let decoded = decoded.map_err(|error| array.decode_error(&index, error))?;
            let (whole, kept) = (Box3 { start: [0; 3], size: full }, Box3 { start: [0; 3], size });
            let mut elements = kept.zeros(data_type.item_bytes());
            copy(decoded, whole, &mut elements, kept, data_type.item_bytes())?;
            data_type.swap(&mut elements);
            Ok::<_, DatastoreError>(elements)
        });
        let sizes = size.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        Ok((sizes, elements.await??.into()))
    }

    pub(super) async fn is_stored(
        &self,
        version: &Store,
        address: &BlockAddress,
    ) -> Result<bool, DatastoreError> {
        let Some(format) = self.layout.shards() else {
            return Ok(version.exists(&self.object_key(address)?).await?);
        };
        let (array, index) = (self.array(version, address.angle)?, self.index(address)?);
        let stored = array.read_index(format, &format.shard_of(&index)).await?;
        Ok(stored.is_some_and(|stored| stored.entry(format.slot(&index)).is_some()))
    }

    pub(super) fn encode(&self, block: &WireBlock) -> Result<Bytes, DatastoreError> {
        let item_bytes = self.data_type.item_bytes();
        let whole = Box3 { start: [0; 3], size: self.level.block_dimensions };
        let given = Box3 { start: [0; 3], size: block.sizes.map(u64::from) };
        let mut elements = whole.zeros(item_bytes);
        copy(&block.elements, given, &mut elements, whole, item_bytes)?;
        self.data_type.swap(&mut elements);
        let mut encoded = Vec::new();
        self.layout.encode(&[0; 5], &elements, &mut encoded)?;
        Ok(encoded.into())
    }

    pub(super) async fn change(
        &self,
        version: &Store,
        changes: Changes,
        durability: Durability,
    ) -> Result<(), DatastoreError> {
        let Some(first) = changes.keys().next().copied() else { return Ok(()) };
        let (array, first) = (self.array(version, first.angle)?, self.index(&first)?);
        let mut by_index = BTreeMap::new();
        for (address, block) in changes {
            by_index.insert(self.index(&address)?, block);
        }
        let Some(format) = self.layout.shards() else {
            for (index, block) in by_index {
                replace(array.store(), &self.layout.chunk_key(&index), block, durability).await?;
            }
            return Ok(());
        };
        let shard = format.shard_of(&first);
        let before = array.read_index(format, &shard).await?;
        let writer = array.begin_shard(format, &shard)?;
        let mut stored = Vec::new();
        for index in chunks_of(format, &shard).positions() {
            match by_index.remove(&index) {
                Some(Some(block)) => drop(writer.add(&index, block).await?),
                Some(None) => {}
                None => {
                    let slot = format.slot(&index);
                    let Some(entry) = before.as_ref().and_then(|before| before.entry(slot)) else {
                        continue;
                    };
                    array.read_entry_into(&index, entry, &mut stored).await?;
                    stored = writer.add(&index, stored.into()).await?.into();
                }
            }
        }
        let is_there = match durability {
            Durability::Each => writer.finish_durable().await?,
            Durability::WithSync => writer.finish().await?,
        };
        if !is_there {
            array.remove_object(&shard).await?; // none of its blocks is left
        }
        Ok(())
    }
}

/// The stored bytes of a chunk in a shard, which somebody may replace meanwhile.
///
/// Bytes count if the index that says where they are is there before and after they were read.
async fn in_shard(
    array: &Array,
    format: &ShardFormat,
    index: &[u64],
) -> Result<Option<Bytes>, DatastoreError> {
    let (shard, slot) = (format.shard_of(index), format.slot(index));
    let entry = |index: &Option<ShardIndex>| index.as_ref().and_then(|index| index.entry(slot));
    let mut before = array.read_index(format, &shard).await?;
    for _ in 0..TRIES {
        let Some(place) = entry(&before) else { return Ok(None) };
        let mut encoded = Vec::new();
        let read = array.read_entry_into(index, place, &mut encoded).await;
        let after = array.read_index(format, &shard).await?;
        if before == after {
            return Ok(read.map(|()| Some(encoded.into()))?);
        }
        before = after;
    }
    let reason = "it is replaced again and again while it is read".to_owned();
    Err(DatastoreError::Damaged { place: array.layout().object_key(&shard), reason })
}

/// Chunks of a shard by their indices; also those beyond the array.
fn chunks_of(format: &ShardFormat, shard: &[u64]) -> Region {
    let chunks = format.chunks();
    let start = shard.iter().zip(chunks).map(|(shard, chunks)| shard * chunks).collect();
    Region::new(start, chunks.to_vec())
}
