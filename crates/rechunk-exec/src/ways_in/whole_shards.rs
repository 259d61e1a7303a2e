//! The way in, shard by shard: a whole shard is fetched and taken apart in memory.

use std::sync::Arc;

use rechunk_array::WholeShard;
use rechunk_format::{ShardFormat, ShardIndex};
use rechunk_kernel::wide;
use rechunk_store::Role;

use crate::Fault;
use crate::fill::spread::spread;
use crate::memory::lane::{Lane, LaneDone};
use crate::stage::task::TaskRun;
use crate::units::input::Brought;
use crate::units::unit::Finished;
use crate::ways_in::decode::{decode_and_spread, decode_and_spread_of};

/// Takes one source shard in.
pub(crate) async fn input(
    task: Arc<TaskRun>,
    mut lane: Lane,
    format: ShardFormat,
    shard: Vec<u64>,
) -> Result<LaneDone, Fault> {
    let stage = Arc::clone(&task.stage);
    let source = &stage.run.execution.source;
    let chunks = task.chunks_of_shard(&shard);
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
            let take = |lane: &mut Lane| take_apart(&task, lane, &format, index.as_ref(), &shard);
            let finished = task.stage.workers.serve(&mut lane, task.stage.decoding()?, take)?;
            Ok(LaneDone { lane, finished, sent: Vec::new() })
        })
        .await
}

/// Makes room in a lane for a shard and its index, a decoded chunk and what the decoder needs. Most
/// bytes the shard may have.
fn make_room(task: &TaskRun, lane: &mut Lane) -> Result<u64, Fault> {
    let stage = &task.stage;
    let (needs, index_bytes) = (stage.decoding()?, stage.source_shard_state_bytes());
    let limit_bytes = stage.workers.room_bytes(needs, index_bytes);
    stage.workers.make_room(lane, limit_bytes, needs, index_bytes, &task.buffers);
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
    let Lane { encoded, scratch, .. } = lane;
    for chunk in task.chunks_of_shard(shard).positions() {
        let Some(input) = task.input(&chunk)? else { continue };
        finished.extend(match index.and_then(|index| index.entry(format.slot(&chunk))) {
            Some(entry) => {
                let chunk_bytes = ShardIndex::slice(encoded, entry);
                decode_and_spread_of(task, &chunk, chunk_bytes, scratch, &input)?
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
    for chunk in task.chunks_of_shard(&shard).positions() {
        let Some(input) = task.input(&chunk)? else { continue };
        let entry = index.as_ref().and_then(|index| index.entry(format.slot(&chunk)));
        if let Some(entry) = entry {
            let read = source.read_entry_into(&chunk, entry, &mut lane.encoded).await;
            read.map_err(Fault::Source)?;
        }
        let job = Arc::clone(&task);
        let work = move || {
            let done = if entry.is_some() {
                let decode = |lane: &mut Lane| decode_and_spread(&job, &chunk, lane, &input);
                job.stage.workers.serve(&mut lane, job.stage.decoding()?, decode)?
            } else {
                spread(&job, &input, Brought::Nothing)?
            };
            Ok((lane, done))
        };
        let (back, done) = task.stage.cpu.run(work).await?;
        lane = back;
        finished.extend(done);
    }
    Ok(LaneDone { lane, finished, sent: Vec::new() })
}
