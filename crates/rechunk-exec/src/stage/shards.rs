//! The shards a task has to do with: indexes of those it reads, and those it fills.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rechunk_array::{Array, ArrayError, LazyIndex, LazyIndexes, ShardWriter};
use rechunk_format::ShardFormat;
use rechunk_grid::Region;
use rechunk_plan::Unit;

use crate::Fault;
use crate::stage::stage_run::StageRun;
use crate::stage::way_out::WayOut;

/// Indexes by which source chunks are found. One is here from the first of its chunks that is read
/// to the end of the last step that reads some.
#[derive(Debug, Default)]
pub(crate) struct SourceIndexes {
    indexes: Mutex<HashMap<Vec<u64>, SourceIndex>>,
}

#[derive(Debug)]
struct SourceIndex {
    index: LazyIndex,
    last_step: u64,
}

impl SourceIndexes {
    /// Place of chunk `index`, which meets `tile`, in its shard; `None` if it is missing.
    pub(crate) async fn entry(
        &self,
        (stage, tile): (&StageRun, &Region),
        format: &ShardFormat,
        index: &[u64],
    ) -> Result<Option<(u64, u64)>, ArrayError> {
        let source = &stage.run.execution.source;
        let found = self.of_chunk((stage, tile), format, index);
        found.entry(source, format, index).await
    }

    fn of_chunk(
        &self,
        (stage, tile): (&StageRun, &Region),
        format: &ShardFormat,
        chunk: &[u64],
    ) -> LazyIndex {
        let position = format.index_of_chunk(chunk);
        let mut indexes = lock(&self.indexes);
        if let Some(known) = indexes.get(&position) {
            return known.index.clone();
        }
        let region = region_of(&format.index_shape(), &position);
        let region = region.intersect(tile).unwrap_or_else(|| tile.clone());
        let last_step = stage.geometry.last_step(tile, &region);
        let index = LazyIndex::default();
        indexes.insert(position, SourceIndex { index: index.clone(), last_step });
        debug_assert!(indexes.len() as u64 * format.found_by_bytes() <= stage.state_bytes());
        index
    }

    /// Forgets indexes that no step from `step` on reads.
    pub(crate) fn keep_from(&self, step: u64) {
        lock(&self.indexes).retain(|_, index| index.last_step >= step);
    }
}

/// The part of a shard that lies in `tile`, the tile of a task, which it meets.
pub(crate) fn elements_of(tile: &Region, format: &ShardFormat, shard: &[u64]) -> Region {
    region_of(format.shard_shape(), shard).intersect(tile).unwrap_or_else(|| tile.clone())
}

/// The elements of the cell of a grid, also beyond the end of the array.
fn region_of(shape: &[u64], shard: &[u64]) -> Region {
    let start = shard.iter().zip(shape).map(|(index, extent)| index * extent).collect();
    Region::new(start, shape.to_vec())
}

/// Target shards that are being filled, or compared with. One is here from its first finished
/// chunk to its last.
#[derive(Debug, Default)]
pub(crate) struct TargetShards {
    shards: Mutex<HashMap<Vec<u64>, Arc<TargetShard>>>,
}

#[derive(Debug)]
pub(crate) struct TargetShard {
    shard: Vec<u64>,
    /// Chunks that have not been dealt with.
    left: AtomicU64,
    /// Indexes of the shard before it is filled.
    indexes: LazyIndexes,
    sink: ShardSink,
}

#[derive(Debug)]
enum ShardSink {
    Fill(Box<ShardWriter>),
    Compare,
}

impl TargetShards {
    /// The shard of chunk `index`, all of which the task owns.
    pub(crate) fn of_chunk(
        &self,
        stage: &StageRun,
        format: &ShardFormat,
        index: &[u64],
    ) -> Result<Arc<TargetShard>, ArrayError> {
        let shard = format.shard_of(index);
        let mut shards = lock(&self.shards);
        if let Some(known) = shards.get(&shard) {
            return Ok(Arc::clone(known));
        }
        // Where whole shards are copied, units are shards, but those taken apart after all have
        // the chunks of the source.
        let grid = match stage.stage.output_unit() {
            Unit::Shard => stage.geometry.grain_grid(),
            Unit::Chunk | Unit::Piece => stage.geometry.output_grid(),
        };
        let whole = region_of(format.shard_shape(), &shard);
        let array = Region::whole(grid.array_shape());
        let chunks = grid.covering(&whole.intersect(&array).unwrap_or(whole));
        let sink = if stage.way_out == WayOut::Compare {
            ShardSink::Compare
        } else {
            ShardSink::Fill(Box::new(stage.target().begin_shard(format, &shard)?))
        };
        let left = AtomicU64::new(chunks.elements());
        let indexes = LazyIndexes::default();
        let open = Arc::new(TargetShard { shard: shard.clone(), left, indexes, sink });
        shards.insert(shard, Arc::clone(&open));
        debug_assert!(shards.len() as u64 * format.index_bytes() <= stage.state_bytes());
        Ok(open)
    }

    /// Says that a chunk of `shard` has been dealt with. After the last one the shard is finished.
    pub(crate) async fn done(&self, stage: &StageRun, shard: &TargetShard) -> Result<(), Fault> {
        if shard.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return Ok(());
        }
        lock(&self.shards).remove(&shard.shard);
        if let ShardSink::Fill(writer) = &shard.sink
            && !writer.finish().await.map_err(Fault::Target)?
        {
            stage.leave_out(&shard.shard).await?;
        }
        Ok(())
    }
}

impl TargetShard {
    /// Adds a chunk; the bytes again.
    pub(crate) async fn add(
        &self,
        index: &[u64],
        encoded: bytes::Bytes,
    ) -> Result<bytes::Bytes, ArrayError> {
        match &self.sink {
            ShardSink::Fill(writer) => writer.add(index, encoded).await,
            ShardSink::Compare => Ok(encoded),
        }
    }

    /// Where chunk `index` is in a shard that is compared with, or was before it is filled; `None`
    /// if it is missing.
    pub(crate) async fn entry(
        &self,
        array: &Array,
        format: &ShardFormat,
        index: &[u64],
    ) -> Result<Option<(u64, u64)>, ArrayError> {
        self.indexes.entry(array, format, index).await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Maps are changed by single calls: whoever panicked left a whole one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
