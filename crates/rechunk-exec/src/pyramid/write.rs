//! The way of complete chunks to their levels.

use std::sync::Arc;

use futures::stream::{self, TryStreamExt};
use rechunk_array::{Array, ShardWriter};
use rechunk_grid::Region;
use rechunk_kernel::wide;

use super::compute::LevelResult;
use super::filling::{Complete, Filling, OpenShard};
use super::read::{no_array, read_level};
use super::stage::PyramidStage;
use super::stored::Stored;
use crate::regions::fault::region_fault;
use crate::units::frame::{self, Frame};
use crate::{Fault, Sink};

/// A chunk that is complete, on its way to its level.
pub(super) struct Ready {
    /// Number of the level in the pyramid.
    level: usize,
    index: Vec<u64>,
    region: Region,
    elements: Vec<u8>,
    /// Some of its input is stored.
    is_found: bool,
    /// Its shard, where chunks lie in some.
    shard: Option<Shard>,
}

/// A shard that is being written.
struct Shard {
    index: Vec<u64>,
    writer: Arc<ShardWriter>,
}

/// A shard with one chunk more: its level and its index.
pub(super) struct InShard {
    pub level: usize,
    pub index: Vec<u64>,
}

/// Adds the cells of a step to their level, and the chunks that they complete to `ready`.
pub(super) fn add(
    stage: &PyramidStage,
    filling: &mut Filling,
    result: LevelResult,
    stored: &Stored,
    ready: &mut Vec<Ready>,
) -> Result<(), Fault> {
    let LevelResult { cells, values } = result;
    let writes = matches!(stage.shared.run.execution.sink, Sink::Write(_));
    for chunk in filling.add(&cells, &values, stored)? {
        let Complete { index, bytes, is_found } = chunk;
        let shard = if writes { begin_shard(stage, filling, &index)? } else { None };
        let region = filling.grid.region(&index);
        let elements = match bytes {
            Some(bytes) => bytes,
            None => frame::cut(stage.shared.item_bytes, (&values, &cells), &region)?,
        };
        let level = filling.level;
        ready.push(Ready { level, index, region, elements, is_found, shard });
    }
    Ok(())
}

/// Begins the shard of a chunk, if chunks of the level lie in shards and nobody has begun it.
fn begin_shard(
    stage: &PyramidStage,
    filling: &mut Filling,
    chunk: &[u64],
) -> Result<Option<Shard>, Fault> {
    let Some(index) = filling.shard_of(chunk) else { return Ok(None) };
    if let Some(open) = filling.shards.get(&index) {
        return Ok(Some(Shard { index, writer: Arc::clone(&open.writer) }));
    }
    let left = filling.chunks_in(&index);
    let (array, own) = place(stage, filling.level, &index)?;
    let format = array.layout().shards().ok_or_else(|| Fault::Plan {
        reason: format!("level {} of its pyramid has no shards", filling.level),
    })?;
    let writer = Arc::new(array.begin_shard(format, &own).map_err(Fault::Target)?);
    let open = OpenShard { writer: Arc::clone(&writer), left };
    filling.shards.insert(index.clone(), open);
    Ok(Some(Shard { index, writer }))
}

/// Ends a shard whose chunks are all written.
pub(super) async fn end_shard(
    stage: &PyramidStage,
    shard: &InShard,
    writer: &ShardWriter,
) -> Result<(), Fault> {
    if writer.finish().await.map_err(Fault::Target)? {
        return Ok(());
    }
    let (array, own) = place(stage, shard.level, &shard.index)?;
    array.leave_out(&own, false).await.map_err(Fault::Target)
}

/// Writes chunks, or compares them with those that are there. Returns the shards that they lie in.
pub(super) async fn out(
    stage: Arc<PyramidStage>,
    chunks: Vec<Ready>,
) -> Result<Vec<InShard>, Fault> {
    let own = chunks.iter().filter_map(|chunk| {
        let shard = chunk.shard.as_ref()?;
        Some(InShard { level: chunk.level, index: shard.index.clone() })
    });
    let shards = own.collect();
    let stage = &*stage;
    stream::iter(chunks.into_iter().map(Ok::<_, Fault>))
        .try_for_each_concurrent(stage.writes_at_once, |chunk| one(stage, chunk))
        .await?;
    Ok(shards)
}

fn place<'a>(
    stage: &'a PyramidStage,
    level: usize,
    index: &[u64],
) -> Result<(&'a Array, Vec<u64>), Fault> {
    let shape = &stage.work().levels[level].shape;
    stage.arrays(level)?.place(shape, index).ok_or_else(|| no_array(level))
}

/// Writes or compares one chunk.
async fn one(stage: &PyramidStage, chunk: Ready) -> Result<(), Fault> {
    let Ready { level, index, region, elements, is_found, shard } = chunk;
    let execution = &stage.shared.run.execution;
    match &execution.sink {
        Sink::Write(_) => {
            let (array, own) = place(stage, level, &index)?;
            let written = if is_found || !stage.leaves_absent_out[level] {
                let way = (shard.as_ref().map(|shard| &*shard.writer), execution.write_empty);
                array.write_whole_chunk(&own, &elements, way).await
            } else {
                // Nothing of it was stored: nothing is.
                array.leave_out_chunk(&own, shard.is_some()).await
            };
            written.map_err(region_fault(Fault::Target))?;
        }
        Sink::Compare(_) => {
            let frame = Frame::of_region(&region, stage.shared.item_bytes)?;
            let mut there = vec![0; frame.bytes];
            read_level(stage, level, &region, &mut there).await?;
            let found =
                frame::compare(stage.shared.item_bytes, &region, &elements, &there, &frame)?;
            stage.shared.run.add_differences(&region, &found);
        }
        Sink::Digest { .. } => {}
    }
    stage.shared.progress(wide(elements.len()));
    Ok(())
}
