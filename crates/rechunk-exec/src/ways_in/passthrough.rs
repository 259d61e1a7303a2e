//! Copies encoded chunks as they are where grids and codecs are equal, into shards and out of them.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_array::WholeShard;
use rechunk_format::{ShardFormat, ShardIndex};
use rechunk_grid::Region;
use rechunk_plan::Unit;

use crate::Fault;
use crate::memory::lane::{Lane, LaneDone};
use crate::stage::task::TaskRun;
use crate::stage::way_in::WayIn;
use crate::stage::way_out::WayOut;
use crate::ways_in::source::fetch_chunk;
use crate::ways_out::target::store;

/// Largest chunk that is looked at where others wait for it, bytes: sums over it take microseconds.
const CHECKED_AT_ONCE_BYTES: usize = 64 << 10;

/// Copies one input: a chunk, or a shard. What is missing stays missing: the plan's check has made
/// sure that both sides read it the same way.
pub(crate) async fn input(
    task: Arc<TaskRun>,
    mut lane: Lane,
    index: Vec<u64>,
) -> Result<LaneDone, Fault> {
    if let WayIn::StoredShards(format) = &task.stage.way_in {
        shard(&task, &mut lane, format, &index).await?;
    } else {
        let found = fetch_chunk(&task, &index, &mut lane.encoded).await;
        send(&task, &mut lane, &index, found.map_err(Fault::Source)?).await?;
    }
    if let Some(region) = task.input_region(&index) {
        task.stage.progress(&region);
    }
    Ok(LaneDone { lane, finished: Vec::new(), sent: Vec::new() })
}

/// Stores what the lane has fetched, or leaves the chunk out.
async fn send(task: &TaskRun, lane: &mut Lane, index: &[u64], found: bool) -> Result<(), Fault> {
    let encoded = match found.then(|| lane.take_encoded()) {
        Some(encoded) => Some(take(task, index, encoded).await?),
        None => None,
    };
    if let Some(kept) = store(task, index, encoded).await? {
        lane.recycle(kept);
    }
    Ok(())
}

/// Refuses a chunk that cannot be right, as far as is known without decoding it. Adds it to the
/// digest of copied chunks, and gives the bytes back.
async fn take(task: &TaskRun, index: &[u64], encoded: Bytes) -> Result<Bytes, Fault> {
    let (stage, at) = (Arc::clone(&task.stage), index.to_vec());
    let check = move |encoded: &Bytes| {
        let source = &stage.run.execution.source;
        let checked = source.layout().check_stored(&at, encoded);
        checked.map_err(|error| Fault::Source(source.decode_error(&at, error)))
    };
    let takes_digest = task.stage.digest.method().is_some();
    if !takes_digest && encoded.len() <= CHECKED_AT_ONCE_BYTES {
        tokio::task::consume_budget().await;
        return check(&encoded).map(|()| encoded);
    }
    let (stage, index) = (Arc::clone(&task.stage), index.to_vec());
    let look = move || {
        check(&encoded)?;
        let grid = stage.geometry.grain_grid();
        let digest = takes_digest.then(|| stage.digest.of_chunk(grid, &index, &encoded));
        Ok((digest.transpose()?, encoded))
    };
    let (digest, encoded) = task.stage.cpu.run(look).await?;
    if let Some(digest) = digest {
        task.digest.add(digest);
    }
    Ok(encoded)
}

async fn shard(
    task: &TaskRun,
    lane: &mut Lane,
    format: &ShardFormat,
    shard: &[u64],
) -> Result<(), Fault> {
    let stage = &task.stage;
    let source = &stage.run.execution.source;
    let is_whole = stage.stage.output_unit() == Unit::Shard;
    let is_only_read = stage.way_out == WayOut::Nothing;
    let copied_bytes = if is_whole { 0 } else { source.layout().codec_cost().encoded_bytes_max };
    let limit_bytes =
        [copied_bytes, stage.source_shard_state_bytes(), stage.target_shard_state_bytes()]
            .into_iter()
            .fold(stage.stage.lane_bytes, u64::saturating_sub);
    let read = source.read_shard_into(shard, limit_bytes, &mut lane.encoded).await;
    match read.map_err(Fault::Source)? {
        WholeShard::Missing if is_whole && is_only_read => {}
        WholeShard::Missing if is_whole => {
            stage.leave_out(shard).await?;
        }
        WholeShard::Missing => {
            for chunk in task.chunks_of_shard(shard).positions() {
                store(task, &chunk, None).await?;
            }
        }
        WholeShard::Read => {
            let index = source.index_of(format, shard, &lane.encoded).map_err(Fault::Source)?;
            if is_whole {
                let bytes = lane.take_encoded();
                for chunk in task.chunks_of_shard(shard).positions() {
                    if let Some(entry) = index.entry(format.slot(&chunk)) {
                        let at = ShardIndex::slice(&bytes, entry);
                        take(task, &chunk, bytes.slice_ref(at)).await?;
                    }
                }
                if is_only_read {
                    lane.recycle(bytes);
                    return Ok(());
                }
                let kept = bytes.clone();
                stage.target().write_shard(shard, bytes).await.map_err(Fault::Target)?;
                lane.recycle(kept);
            } else {
                for chunk in task.chunks_of_shard(shard).positions() {
                    let entry = index.entry(format.slot(&chunk));
                    let bytes = match entry {
                        Some(entry) => {
                            let bytes = ShardIndex::slice(&lane.encoded, entry);
                            Some(take(task, &chunk, Bytes::copy_from_slice(bytes)).await?)
                        }
                        None => None,
                    };
                    store(task, &chunk, bytes).await?;
                }
            }
        }
        WholeShard::TooLarge => {
            let index = source.read_index(format, shard).await.map_err(Fault::Source)?;
            by_chunk(task, lane, format, index.as_ref(), &task.chunks_of_shard(shard)).await?;
        }
    }
    Ok(())
}

/// A shard with gaps in it may be larger than a lane was paid for: its chunks one by one.
async fn by_chunk(
    task: &TaskRun,
    lane: &mut Lane,
    format: &ShardFormat,
    index: Option<&ShardIndex>,
    chunks: &Region,
) -> Result<(), Fault> {
    let source = &task.stage.run.execution.source;
    for chunk in chunks.positions() {
        let entry = index.and_then(|index| index.entry(format.slot(&chunk)));
        if let Some(entry) = entry {
            let read = source.read_entry_into(&chunk, entry, &mut lane.encoded).await;
            read.map_err(Fault::Source)?;
        }
        send(task, lane, &chunk, entry.is_some()).await?;
    }
    Ok(())
}
