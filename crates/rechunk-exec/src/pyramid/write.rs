//! The way of complete chunks to their levels.

use futures::stream::{self, TryStreamExt};
use rechunk_array::Array;
use rechunk_grid::{Region, WriteEmpty};
use rechunk_kernel::wide;

use super::compute::LevelResult;
use super::filling::{Complete, Filling, OpenShard};
use super::read::{no_array, read_level};
use super::stage::PyramidStage;
use crate::regions::fault::region_fault;
use crate::units::frame::{self, Frame};
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
    let writes = matches!(stage.shared.run.execution.sink, Sink::Write(_));
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
    let Some(shard) = filling.shard_of(chunk) else { return Ok(None) };
    if !filling.shards.contains_key(&shard) {
        let left = filling.chunks_in(&shard);
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
    let execution = &stage.shared.run.execution;
    let region = filling.grid.region(&index);
    let elements = match bytes {
        Some(bytes) => bytes,
        None => frame::cut(stage.shared.item_bytes, (values, cells), &region)?,
    };
    match &execution.sink {
        Sink::Write(_) => {
            // Nothing of it was stored: nothing is.
            if is_found || execution.write_empty == WriteEmpty::Always {
                let (array, own) = place(stage, filling.level, &index)?;
                let shard = filling.shard_of(&index).and_then(|shard| filling.shards.get(&shard));
                let way = (shard.map(|open| &open.writer), execution.write_empty);
                let written = array.write_whole_chunk(&own, &elements, way).await;
                written.map_err(region_fault(Fault::Target))?;
            }
        }
        Sink::Compare(_) => {
            let frame = Frame::of_region(&region, stage.shared.item_bytes)?;
            let mut there = vec![0; frame.bytes];
            read_level(stage, filling.level, &region, &mut there).await?;
            let found =
                frame::compare(stage.shared.item_bytes, &region, &elements, &there, &frame)?;
            stage.shared.run.add_differences(&region, &found);
        }
        Sink::Digest { .. } => {}
    }
    stage.shared.progress(wide(elements.len()));
    Ok(())
}
