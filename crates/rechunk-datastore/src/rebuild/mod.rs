//! Levels that are made of the finest one, as a pyramid is made offline. The arithmetic is that of
//! `rechunk-reduce` and the parents are those of a plan, so that elements are the same bits.
//!
//! A block that is not stored counts as zeros, as it does in BigDataViewer; a block of a level is
//! stored where any block of the finest level below it is, else it is not there.

mod builder;
mod cells;
mod coarse;
mod finest;
mod settling;
mod tree;

use std::sync::Arc;

use crate::boxes::positions;
use crate::turn::Turn;
use crate::{Datastore, DatastoreError, VersionWanted, View};
pub use builder::Builder;
use coarse::{Stale, make_each};
use finest::Finest;
pub(crate) use settling::Settling;
use tree::Tree;

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
        if !self.is_writable() {
            return Err(DatastoreError::ReadOnly);
        }
        let finest = self.level(id, [1; 3], version).await?;
        let version = VersionWanted::Number(finest.written_version()?);
        finest.known().dataset.check_view(view.time, view.channel, view.angle)?;
        let tree = Arc::new(Tree::of(&finest.known().dataset)?);
        let below = Finest::new(finest.clone());
        let turn = Turn::take(&self.catalog, finest.known(), finest.written_version()?).await?;
        for level in tree.coarse() {
            let factors = finest.known().dataset.resolution_levels[level].resolutions;
            let coarse = self.level(id, factors, version).await?;
            let objects = positions(coarse.object_counts()).map(|object| {
                let blocks = coarse.blocks_of_object(object).map(|position| {
                    let address = view.block(position);
                    Stale { address, cells: coarse.box_of(&address) }
                });
                (coarse.clone(), blocks.collect())
            });
            make_each(&below, &tree, objects).await?;
        }
        turn.end().await;
        Ok(())
    }
}
