//! Levels that are made of the finest one, as a pyramid is made offline. The arithmetic is that of
//! `rechunk-reduce` and the parents are those of a plan, so that elements are the same bits.
//!
//! A block that is not stored counts as zeros, as it does in BigDataViewer; a block of a level is
//! stored where any block of the finest level below it is, else it is not there.

mod builder;
mod cells;
mod coarse;
mod finest;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::boxes::positions;
use crate::{Datastore, DatastoreError, OpenLevel, VersionWanted, View};
use coarse::{Stale, make_each};
use finest::Finest;
use tree::Tree;

pub use builder::Builder;

/// Levels of a version that are made anew of the finest one, and how far that is.
#[derive(Debug)]
pub struct Rebuild {
    finest: OpenLevel,
    coarse: Vec<OpenLevel>,
    tree: Arc<Tree>,
    views: Vec<View>,
    begun: AtomicU64,
}

impl Datastore {
    /// Waits until levels that have followed uploads are durable. Else that is so within a second,
    /// and after a power cut the next start makes them anew.
    pub async fn settle(&self) -> Result<(), DatastoreError> {
        self.settling.settle(&self.root).await
    }

    /// Makes all levels of a view (timepoint, channel, angle) of a version anew of the finest one,
    /// whose factors are 1. Blocks that are written meanwhile may be in them or not.
    pub async fn rebuild(
        &self,
        id: &str,
        version: VersionWanted,
        view: View,
    ) -> Result<(), DatastoreError> {
        self.to_rebuild(id, version, Some(view), None).await?.run().await
    }

    /// Levels to be made anew: of a view, or all; those of some factors, or all.
    pub async fn to_rebuild(
        &self,
        id: &str,
        version: VersionWanted,
        view: Option<View>,
        levels: Option<&[[u64; 3]]>,
    ) -> Result<Rebuild, DatastoreError> {
        if !self.is_writable() {
            return Err(DatastoreError::ReadOnly);
        }
        let finest = self.level(id, [1; 3], version).await?;
        let version = VersionWanted::Number(finest.written_version()?);
        let dataset = &finest.known().dataset;
        let views = match view {
            Some(view) => {
                dataset.check_view(view.time, view.channel, view.angle)?;
                vec![view]
            }
            None => dataset.views(),
        };
        let tree = Arc::new(Tree::of(dataset)?);
        for factors in levels.unwrap_or_default() {
            dataset.level_at(*factors)?;
        }
        let mut coarse = Vec::new();
        for number in tree.coarse() {
            let factors = dataset.resolution_levels[number].resolutions;
            if levels.is_none_or(|levels| levels.contains(&factors)) {
                coarse.push(self.level(id, factors, version).await?);
            }
        }
        Ok(Rebuild { finest, coarse, tree, views, begun: AtomicU64::new(0) })
    }
}

impl Rebuild {
    /// The number of the version.
    pub fn version(&self) -> u64 {
        self.finest.version().unwrap_or_default()
    }

    /// Count of blocks that are looked at.
    pub fn blocks(&self) -> u64 {
        let views = u64::try_from(self.views.len()).unwrap_or(u64::MAX);
        let of_level = |level: &OpenLevel| {
            level.block_counts().iter().fold(views, |count, blocks| count.saturating_mul(*blocks))
        };
        self.coarse.iter().map(of_level).fold(0, u64::saturating_add)
    }

    /// Count of blocks that have been begun; all but some are done.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Makes the levels, one behind the other.
    pub async fn run(&self) -> Result<(), DatastoreError> {
        let below = Finest::new(self.finest.clone());
        let turn = self.finest.turn().await?;
        for view in &self.views {
            for level in &self.coarse {
                let objects = positions(level.object_counts()).map(|object| {
                    let blocks = level.blocks_of_object(object).map(|position| {
                        let address = view.block(position);
                        Stale { address, cells: level.box_of(&address) }
                    });
                    let blocks: Vec<Stale> = blocks.collect();
                    let count = u64::try_from(blocks.len()).unwrap_or(u64::MAX);
                    self.begun.fetch_add(count, Ordering::Relaxed);
                    (level.clone(), blocks)
                });
                make_each(&below, &self.tree, objects).await?;
            }
        }
        turn.end().await;
        Ok(())
    }
}
