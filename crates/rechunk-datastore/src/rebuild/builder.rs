//! Levels that follow an upload.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coarse;
use super::grid::positions;
use super::tree::Tree;
use crate::dataset_id::random_uuid;
use crate::datastore::DIRTY;
use crate::open_level::{OpenLevel, StoredBlock};
use crate::{BlockAddress, Datastore, DatastoreError, VersionWanted};

/// Largest note, bytes.
const NOTE_BYTES_MAX: u64 = 16 << 20;

/// A request that is under way: blocks of the finest level, and the levels that follow them. It is
/// noted before the first block is stored, and removed when all levels have followed.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    id: String,
    version: u64,
    levels: Vec<[u64; 3]>,
    blocks: Vec<BlockAddress>,
}

/// Writes blocks of the finest level of a version, and has levels follow.
///
/// Whenever no write is under way, these levels are as [`Datastore::rebuild`] would make them, in
/// whatever order blocks came, also after a kill and the next start.
#[derive(Debug, Clone)]
pub struct Builder {
    finest: OpenLevel,
    coarse: Vec<OpenLevel>,
    tree: Arc<Tree>,
}

impl Datastore {
    /// Opens a version so that the levels of some factors follow the finest, whose factors are 1.
    pub async fn builder(
        &self,
        id: &str,
        version: VersionWanted,
        levels: &[[u64; 3]],
    ) -> Result<Builder, DatastoreError> {
        let finest = self.level(id, [1; 3], version).await?;
        let version = VersionWanted::Number(finest.written_version()?);
        let tree = Arc::new(Tree::of(&finest.known().dataset)?);
        let distinct: BTreeSet<[u64; 3]> = levels.iter().copied().collect();
        if distinct.len() != levels.len() || distinct.contains(&[1; 3]) {
            let reason = "1/1/1 comes first, and each level that follows once";
            return Err(DatastoreError::Senseless(reason.to_owned()));
        }
        let mut coarse = Vec::new();
        for factors in levels {
            coarse.push(self.level(id, *factors, version).await?);
        }
        Ok(Builder { finest, coarse, tree })
    }

    /// Has levels follow that a killed process has left behind.
    pub(crate) async fn follow_up(&self) -> Result<(), DatastoreError> {
        let files = self.root.list_level(DIRTY).await?.files;
        for file in files {
            let key = format!("{DIRTY}/{}", file.name);
            let Some(bytes) = self.root.get(&key, NOTE_BYTES_MAX).await? else { continue };
            let note: Note = serde_json::from_slice(&bytes).map_err(|error| {
                DatastoreError::Damaged { place: key.clone(), reason: error.to_string() }
            })?;
            let version = VersionWanted::Number(note.version);
            match self.builder(&note.id, version, &note.levels).await {
                Ok(builder) => builder.follow(&note.blocks).await?,
                // The data set or version is gone: nothing has to follow.
                Err(DatastoreError::Unknown(_)) => {}
                Err(error) => return Err(error),
            }
            self.root.delete(&key).await?;
        }
        // Of notes that were being written nothing had followed yet.
        Ok(self.root.delete_prefix(DIRTY).await?)
    }
}

impl Builder {
    /// The finest level.
    pub fn finest(&self) -> &OpenLevel {
        &self.finest
    }

    /// Factors of all levels, the finest first.
    pub fn levels(&self) -> Vec<[u64; 3]> {
        let coarse = self.coarse.iter().map(|level| level.level().resolutions);
        std::iter::once([1; 3]).chain(coarse).collect()
    }

    /// Stores blocks as [`OpenLevel::write`] does, and makes what is above them anew. All of it is
    /// durable when this returns. If it fails, the rest is made at the next start.
    pub async fn write(
        &self,
        blocks: Vec<(BlockAddress, StoredBlock)>,
    ) -> Result<(), DatastoreError> {
        let addresses: Vec<BlockAddress> = blocks.iter().map(|(address, _)| *address).collect();
        let note = Note {
            id: self.finest.known().dataset.uuid.clone(),
            version: self.finest.version().unwrap_or_default(),
            levels: self.coarse.iter().map(|level| level.level().resolutions).collect(),
            blocks: addresses,
        };
        let key = format!("{DIRTY}/{}.json", random_uuid()?);
        let bytes = serde_json::to_vec(&note).map_err(|error| DatastoreError::Damaged {
            place: key.clone(),
            reason: error.to_string(),
        })?;
        self.finest.root().put_durable(&key, bytes).await?;
        self.finest.write(blocks).await?;
        self.follow(&note.blocks).await?;
        Ok(self.finest.root().delete(&key).await?)
    }

    /// Makes the blocks of all levels anew that have elements of these.
    async fn follow(&self, blocks: &[BlockAddress]) -> Result<(), DatastoreError> {
        for level in &self.coarse {
            let above: BTreeSet<BlockAddress> =
                blocks.iter().flat_map(|block| self.above(level, block)).collect();
            coarse::make_all(&self.finest, level, &self.tree, above).await?;
        }
        Ok(())
    }

    /// Blocks of a level that have elements of a block of the finest. None where it is in no cell.
    fn above(&self, level: &OpenLevel, block: &BlockAddress) -> Vec<BlockAddress> {
        let (full, extent) = (self.finest.level().block_dimensions, self.finest.dimensions());
        let (factors, own) = (level.level().resolutions, level.level().block_dimensions);
        let counts = level.block_counts();
        let first: [u64; 3] = std::array::from_fn(|axis| {
            block.position[axis] * full[axis] / factors[axis] / own[axis]
        });
        let spans = std::array::from_fn(|axis| {
            let end = ((block.position[axis] + 1) * full[axis]).min(extent[axis]);
            let last = end.saturating_sub(1) / factors[axis] / own[axis];
            (last.min(counts[axis] - 1) + 1).saturating_sub(first[axis])
        });
        let address = |offset: [u64; 3]| BlockAddress {
            position: std::array::from_fn(|axis| first[axis] + offset[axis]),
            ..*block
        };
        positions(spans).map(address).collect()
    }
}
