//! The way of complete chunks to their levels.

use futures::stream::{self, TryStreamExt};
use rechunk_array::{Array, RegionOptions, ShardWriter};
use rechunk_grid::{Region, WriteEmpty};
use rechunk_kernel::wide;

use super::compute::LevelResult;
use super::filling::{Complete, Filling, OpenShard};
use super::read::no_array;
use super::stage::PyramidStage;
use crate::units::frame::{self, Frame};
use crate::windows::read::region_fault;
use crate::{Fault, Sink};

/// Adds the cells of a step to their level. Chunks and shards that are complete are written, or
/// compared with those that are there.
pub(super) async fn out(
    stage: &PyramidStage,
    filling: &mut Filling,
    result: LevelResult,
    is_found: bool,
) -> Result<(), Fault> {
    let LevelResult { cells, values } = result;
    let complete = filling.add(&cells, &values, is_found)?;
    if complete.is_empty() {
        return Ok(());
    }
    let writes = matches!(stage.run.execution.sink, Sink::Write(_));
    let mut ended: Vec<Vec<u64>> = Vec::new();
    if writes {
        for chunk in &complete {
            if let Some(shard) = begin_shard(stage, filling, &chunk.index)? {
                ended.push(shard);
            }
        }
    }
    let of = (&*filling, &cells, &*values);
    let written = stream::iter(complete.into_iter().map(Ok::<_, Fault>));
    written.try_for_each_concurrent(stage.writes_at_once, |chunk| one(stage, of, chunk)).await?;
    for shard in ended {
        let Some(open) = filling.shards.get_mut(&shard) else { continue };
        open.left = open.left.saturating_sub(1);
        if open.left == 0
            && let Some(open) = filling.shards.remove(&shard)
        {
            open.writer.finish().await.map_err(Fault::Target)?;
        }
    }
    Ok(())
}

/// Begins the shard of a chunk, if chunks of the level lie in shards and nobody has begun it.
/// Returns its index.
fn begin_shard(
    stage: &PyramidStage,
    filling: &mut Filling,
    chunk: &[u64],
) -> Result<Option<Vec<u64>>, Fault> {
    let Some(grid) = &filling.shard_grid else { return Ok(None) };
    let at = filling.grid.region(chunk);
    let shard = grid.covering(&at).start;
    if !filling.shards.contains_key(&shard) {
        let left = filling.chunks_in(&grid.region(&shard));
        let (array, own) = place(stage, filling.level, &shard)?;
        let format = array.layout().shards().ok_or_else(|| Fault::Plan {
            reason: format!("level {} of its pyramid has no shards", filling.level),
        })?;
        let writer = array.begin_shard(format, &own).map_err(Fault::Target)?;
        filling.shards.insert(shard.clone(), OpenShard { writer, left });
    }
    Ok(Some(shard))
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
async fn one(
    stage: &PyramidStage,
    (filling, cells, values): (&Filling, &Region, &[u8]),
    chunk: Complete,
) -> Result<(), Fault> {
    let Complete { index, bytes, is_found } = chunk;
    let execution = &stage.run.execution;
    let region = filling.grid.region(&index);
    let elements = match bytes {
        Some(bytes) => bytes,
        None => filling.cut(&index, cells, values)?,
    };
    let (array, own) = place(stage, filling.level, &index)?;
    match &execution.sink {
        Sink::Write(_) => {
            // Nothing of it was stored: nothing is.
            if is_found || execution.write_empty == WriteEmpty::Always {
                let shard: Option<&ShardWriter> = match &filling.shard_grid {
                    Some(grid) => {
                        let shard = grid.covering(&region).start;
                        filling.shards.get(&shard).map(|open| &open.writer)
                    }
                    None => None,
                };
                let way = (shard, execution.write_empty);
                let written = array.write_whole_chunk(&own, &elements, way).await;
                written.map_err(region_fault(Fault::Target))?;
            }
        }
        Sink::Compare(_) => {
            let split = region.rank().saturating_sub(own.len());
            let inner = Region::new(region.start[split..].to_vec(), region.shape[split..].to_vec());
            let frame = Frame::of_region(&region, stage.item_bytes)?;
            let mut there = vec![0; frame.bytes];
            let options = RegionOptions::default().with_memory_bytes(stage.work().transfer_bytes);
            let read = array.read_region_into(&inner, &mut there, &options).await;
            read.map_err(region_fault(Fault::Target))?;
            let found = frame::compare(stage.item_bytes, &region, &elements, &there, &frame)?;
            stage.run.add_differences(&region, &found);
        }
        Sink::Digest { .. } => {}
    }
    stage.progress(wide(elements.len()));
    Ok(())
}
