//! Levels that follow an upload.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coarse::{self, Stale};
use super::tree::Tree;
use crate::boxes::{Box3, positions};
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

    /// Makes the elements of all levels anew that are made of these blocks.
    async fn follow(&self, blocks: &[BlockAddress]) -> Result<(), DatastoreError> {
        for level in &self.coarse {
            let mut objects: BTreeMap<_, BTreeMap<BlockAddress, Box3>> = BTreeMap::new();
            for block in blocks {
                let cells = self.cells(level, block);
                for address in blocks_of(level, block, cells) {
                    let cells = cells.intersect(level.box_of(&address));
                    let object =
                        (block.time, block.channel, block.angle, level.object_of(&address));
                    let known = objects.entry(object).or_default().entry(address).or_insert(cells);
                    *known = known.around(cells);
                }
            }
            let stale = |(address, cells)| Stale { address, cells };
            let objects =
                objects.into_values().map(|blocks| blocks.into_iter().map(stale).collect());
            coarse::make_all(&self.finest, level, &self.tree, objects).await?;
        }
        Ok(())
    }

    /// The elements of a level that are made of a block of the finest. None where it is in no cell.
    fn cells(&self, level: &OpenLevel, block: &BlockAddress) -> Box3 {
        let (below, factors) = (self.finest.box_of(block), level.level().resolutions);
        let extent = level.dimensions();
        let start: [u64; 3] = std::array::from_fn(|axis| below.start[axis] / factors[axis]);
        let size = std::array::from_fn(|axis| {
            below.end(axis).div_ceil(factors[axis]).min(extent[axis]).saturating_sub(start[axis])
        });
        Box3 { start, size }
    }
}

/// Blocks of a level that have elements of a box, at the timepoint, channel and angle of `view`.
fn blocks_of(
    level: &OpenLevel,
    view: &BlockAddress,
    cells: Box3,
) -> impl Iterator<Item = BlockAddress> {
    let full = level.level().block_dimensions;
    let first: [u64; 3] = std::array::from_fn(|axis| cells.start[axis] / full[axis]);
    let is_empty = cells.size.contains(&0);
    let spans = std::array::from_fn(|axis| {
        if is_empty { 0 } else { cells.end(axis).div_ceil(full[axis]) - first[axis] }
    });
    let view = view.view();
    positions(spans)
        .map(move |offset| view.block(std::array::from_fn(|axis| first[axis] + offset[axis])))
}
