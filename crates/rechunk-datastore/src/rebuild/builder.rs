//! Levels that follow an upload.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coarse::{Stale, cells_above, make_together};
use super::finest::Known;
use super::tree::Tree;
use crate::boxes::Box3;
use crate::dataset_id::random_uuid;
use crate::open_level::{OpenLevel, StoredBlock};
use crate::places::DIRTY;
use crate::settling::Settling;
use crate::{BlockAddress, Datastore, DatastoreError, VersionWanted, WireBlock};

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
    settling: Arc<Settling>,
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
        Ok(Builder { finest, coarse, tree, settling: Arc::clone(&self.settling) })
    }

    /// Has levels follow that a killed process has left behind.
    pub(crate) async fn follow_up(&self) -> Result<(), DatastoreError> {
        let files = self.root.list_level(DIRTY).await?.files;
        let mut followed = Vec::new();
        for file in files {
            let key = format!("{DIRTY}/{}", file.name);
            let Some(bytes) = self.root.get(&key, NOTE_BYTES_MAX).await? else { continue };
            let note: Note = serde_json::from_slice(&bytes).map_err(|error| {
                DatastoreError::Damaged { place: key.clone(), reason: error.to_string() }
            })?;
            let version = VersionWanted::Number(note.version);
            match self.builder(&note.id, version, &note.levels).await {
                Ok(builder) => {
                    let turn = builder.finest.turn().await?;
                    // Its writer may have been there, and has had its turn.
                    if self.root.exists(&key).await? {
                        // Blocks that are stored may be damaged, after a power cut.
                        builder.follow(&note.blocks, None).await?;
                    }
                    turn.end().await;
                }
                // The data set or version is gone: nothing has to follow.
                Err(DatastoreError::Unknown(_)) => {}
                Err(error) => return Err(error),
            }
            followed.push(key);
        }
        self.root.sync().await?;
        if self.catalog.register.is_shared() {
            for key in followed {
                self.root.delete(&key).await?;
            }
            return Ok(());
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

    /// Encodes a block of the finest level. Takes its time: not on a thread of the runtime.
    pub fn encode(&self, block: WireBlock) -> Result<StoredBlock, DatastoreError> {
        Ok(self.finest.encode(&block)?.with_elements(block))
    }

    /// Stores blocks as [`OpenLevel::write`] does, and makes what is above them anew. The blocks
    /// are durable when this returns, and a note of what is above them, until that is durable too.
    /// If it fails, the rest is made at the next start.
    pub async fn write(
        &self,
        blocks: Vec<(BlockAddress, StoredBlock)>,
    ) -> Result<(), DatastoreError> {
        let addresses: Vec<BlockAddress> = blocks.iter().map(|(address, _)| *address).collect();
        let known = blocks.iter().filter_map(|(at, block)| Some((*at, block.known()?))).collect();
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
        let turn = self.finest.turn().await?;
        self.finest.root().put_durable(&key, bytes).await?;
        self.finest.store(blocks).await?;
        self.follow(&note.blocks, Some(known)).await?;
        turn.end().await;
        self.settling.add(self.finest.root(), key).await
    }

    /// Makes the elements of all levels anew that are made of these blocks, which are `known`; else
    /// all of the blocks that they are in.
    async fn follow(
        &self,
        blocks: &[BlockAddress],
        known: Option<Known>,
    ) -> Result<(), DatastoreError> {
        let whole = known.is_none();
        let mut stale = Vec::new();
        for level in &self.coarse {
            let mut objects: BTreeMap<_, BTreeMap<BlockAddress, Box3>> = BTreeMap::new();
            for block in blocks {
                let cells = cells_above(&self.finest, level, block);
                for position in level.blocks_in(cells) {
                    let address = block.view().block(position);
                    let own = level.box_of(&address);
                    let cells = if whole { own } else { cells.intersect(own) };
                    let object =
                        (block.time, block.channel, block.angle, level.object_of(&address));
                    let known = objects.entry(object).or_default().entry(address).or_insert(cells);
                    *known = known.around(cells);
                }
            }
            stale.extend(objects.into_values().map(|blocks| {
                let blocks = blocks.into_iter();
                (level.clone(), blocks.map(|(address, cells)| Stale { address, cells }).collect())
            }));
        }
        let finest = (self.finest.clone(), known.unwrap_or_default());
        make_together(finest, &self.tree, stale).await
    }
}
