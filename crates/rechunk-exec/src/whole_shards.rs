//! The way in, shard by shard: a whole shard is fetched and taken apart in memory.

use std::sync::Arc;

use rechunk_array::WholeShard;
use rechunk_format::{ShardFormat, ShardIndex};
use rechunk_store::Role;

use crate::Fault;
use crate::frame::wide;
use crate::gather::{Brought, Input, decode_and_spread, spread};
use crate::task::{Lane, LaneDone, TaskRun};
use crate::unit::Finished;

/// Takes one source shard in.
pub(crate) async fn input(
    task: Arc<TaskRun>,
    mut lane: Lane,
    format: ShardFormat,
    shard: Vec<u64>,
) -> Result<LaneDone, Fault> {
    let stage = Arc::clone(&task.stage);
    let source = &stage.run.execution.source;
    let chunks = chunks(&task, &shard);
    let decoded_bytes = chunks.elements().saturating_mul(wide(stage.source_chunk_bytes()?));
    source.store().meter().add_decoded_read(Role::Source, decoded_bytes);
    let limit_bytes = make_room(&task, &mut lane)?;
    let whole = source.read_shard_into(&shard, limit_bytes, &mut lane.encoded).await;
    if whole.as_ref().is_ok_and(|whole| *whole == WholeShard::TooLarge) {
        return by_chunk(task, lane, format, shard).await;
    }
    let is_there = whole.map_err(Fault::Source)? == WholeShard::Read;
    stage
        .cpu
        .clone()
        .run(move || {
            let index = if is_there {
                let source = &task.stage.run.execution.source;
                let index = source.index_of(&format, &shard, &lane.encoded);
                Some(index.map_err(Fault::Source)?)
            } else {
                None
            };
            let finished = take_apart(&task, &mut lane, &format, index.as_ref(), &shard)?;
            Ok(LaneDone { lane, finished, sent: Vec::new(), sent_in: None })
        })
        .await
}

/// The chunks of a shard that meet the tile, as a box of indices.
pub(crate) fn chunks(task: &TaskRun, shard: &[u64]) -> rechunk_grid::Region {
    let geometry = &task.stage.geometry;
    match task.input_region(shard) {
        Some(region) => geometry.grain_grid().covering(&region),
        None => rechunk_grid::Region::new(shard.to_vec(), vec![0; shard.len()]),
    }
}

/// Makes room in a lane for a shard and its index, a decoded chunk and what the decoder needs. Most
/// bytes the shard may have.
fn make_room(task: &TaskRun, lane: &mut Lane) -> Result<u64, Fault> {
    let stage = &task.stage;
    let cost = stage.run.execution.source.layout().codec_cost();
    let scratch_bytes = if cost.is_raw { 0 } else { wide(stage.source_chunk_bytes()?) };
    let workspace_bytes =
        cost.decode_workspace_bytes.saturating_add(stage.source_shard_state_bytes());
    let beside = scratch_bytes.saturating_add(workspace_bytes);
    let limit_bytes = stage.stage.lane_bytes.saturating_sub(beside);
    lane.make_room(limit_bytes, scratch_bytes, workspace_bytes, stage.stage.lane_bytes);
    Ok(limit_bytes)
}

fn take_apart(
    task: &TaskRun,
    lane: &mut Lane,
    format: &ShardFormat,
    index: Option<&ShardIndex>,
    shard: &[u64],
) -> Result<Vec<Finished>, Fault> {
    let mut finished = Vec::new();
    let Lane { encoded, scratch } = lane;
    for chunk in chunks(task, shard).positions() {
        let Some(input) = Input::new(task, &chunk)? else { continue };
        finished.extend(match index.and_then(|index| index.entry(format.slot(&chunk))) {
            Some(entry) => {
                decode_and_spread(task, &chunk, ShardIndex::slice(encoded, entry), scratch, &input)?
            }
            None => spread(task, &input, Brought::Nothing)?,
        });
    }
    Ok(finished)
}

/// A shard with gaps in it may be larger than a lane was paid for: its chunks one by one.
async fn by_chunk(
    task: Arc<TaskRun>,
    mut lane: Lane,
    format: ShardFormat,
    shard: Vec<u64>,
) -> Result<LaneDone, Fault> {
    let source = task.stage.run.execution.source.clone();
    let index = source.read_index(&format, &shard).await.map_err(Fault::Source)?;
    let mut finished = Vec::new();
    for chunk in chunks(&task, &shard).positions() {
        let Some(input) = Input::new(&task, &chunk)? else { continue };
        let entry = index.as_ref().and_then(|index| index.entry(format.slot(&chunk)));
        if let Some(entry) = entry {
            let read = source.read_entry_into(&chunk, entry, &mut lane.encoded).await;
            read.map_err(Fault::Source)?;
        }
        let job = Arc::clone(&task);
        let work = move || {
            let done = if entry.is_some() {
                let Lane { encoded, scratch } = &mut lane;
                decode_and_spread(&job, &chunk, encoded, scratch, &input)?
            } else {
                spread(&job, &input, Brought::Nothing)?
            };
            Ok((lane, done))
        };
        let (back, done) = task.stage.cpu.run(work).await?;
        lane = back;
        finished.extend(done);
    }
    Ok(LaneDone { lane, finished, sent: Vec::new(), sent_in: None })
}
