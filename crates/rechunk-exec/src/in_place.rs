//! Chunks that go through one thread: fetched, decoded, copied, and encoded and stored, without
//! being handed on. Where stores wait for nobody, threads that read ahead have nothing to gain, and
//! each hand-over costs two thread switches: more than a small chunk takes.

use std::sync::Arc;

use futures::future::FutureExt;
use rechunk_plan::{Stage, StageGeometry, StageInput};
use rechunk_store::Store;

use crate::announced::{ANNOUNCED_BYTES, ANNOUNCED_INPUTS};
use crate::cpu::{CpuPool, Driven};
use crate::execution::Execution;
use crate::frame::wide;
use crate::lane::{Lane, LaneDone};
use crate::pieces::TileFile;
use crate::plain::fetched_bytes_max;
use crate::shards::elements_of;
use crate::task::TaskRun;
use crate::unit::Finished;
use crate::{Fault, Sink, by_slab, commit, gather, passthrough};

/// Decoded bytes that one job takes in, of inputs that small or of which a task takes that little.
const JOB_BYTES: u64 = 2 << 20;
/// Most inputs of a job.
const JOB_INPUTS: u64 = 64;
/// Jobs of a step for each thread, so that all have something to do until its end.
const JOBS_PER_THREAD: u64 = 2;
/// Most bytes of a shard that one job passes on: jobs that have begun are not given up.
const SHARD_BYTES_MAX: u64 = 1 << 30;
/// Units of up to so many bytes are sent out by the job that has completed them. Larger ones wait
/// for whoever is free: one input may complete many.
pub(crate) const SENT_AT_ONCE_BYTES: usize = 64 << 10;

/// Steps of a stage that are done in place.
#[derive(Debug)]
pub(crate) struct InPlace {
    /// Where inputs come from, if taking them in works so.
    reads: Option<Store>,
    /// Sending units out works so.
    pub writes: bool,
    /// Writing pieces of an intermediate works so.
    pub writes_pieces: bool,
    /// Most inputs of a job.
    pub inputs: usize,
    /// Number of inputs of a task that are announced before they are read, where a disk is.
    pub announced: u64,
    /// There are enough shards for [`InPlace::goes_by_shard`].
    by_shard: bool,
    /// Inputs of more bytes are taken in slab by slab; `None` if no input is.
    pub slab_bytes: Option<usize>,
}

impl InPlace {
    pub(crate) fn new(
        stage: &Stage,
        execution: &Execution,
        geometry: &StageGeometry,
        item_bytes: usize,
        cpu: &CpuPool,
    ) -> Self {
        let target = execution.sink.array().store();
        let writes = cpu.has_threads()
            && match execution.sink {
                Sink::Write(_) | Sink::Compare(_) => target.works_in_place(),
                Sink::Digest { .. } => false, // there is nothing to do
            };
        let from = match stage.input {
            StageInput::SourceChunks | StageInput::SourceShards => Some(execution.source.store()),
            StageInput::Pieces { .. } => execution.intermediate.as_ref(),
        };
        let is_possible = cpu.has_threads() && (writes || !stage.passthrough);
        let reads = from.filter(|from| is_possible && from.works_in_place()).cloned();
        if let Some(source) = reads.as_ref().filter(|_| stage.input.is_source()) {
            source.hold_directory();
        }
        let taken = geometry.input_grid().chunk_shape().iter().zip(stage.filled());
        let taken = taken.map(|(&chunk, &tile)| chunk.min(tile));
        let input_bytes = taken.fold(wide(item_bytes), u64::saturating_mul);
        let steps = stage.step_chunks.iter().fold(1_u64, |n, &chunks| n.saturating_mul(chunks));
        let threads = u64::from(execution.plan.threads).max(1);
        let of_step = steps / threads.saturating_mul(JOBS_PER_THREAD);
        let inputs = (JOB_BYTES / input_bytes.max(1)).min(JOB_INPUTS).min(of_step).max(1);
        let writes_pieces = cpu.has_threads()
            && geometry.writes_pieces()
            && execution.intermediate.as_ref().is_some_and(Store::writes_in_place);
        let by_shard = reads.is_some() && writes && passes_on_by_shard(stage, execution);
        let is_local = reads.as_ref().is_some_and(Store::writes_in_place);
        let slab_bytes = by_slab::slab_bytes(stage, execution, geometry).filter(|_| is_local);
        // As many as all threads take in with their next jobs.
        let next = inputs.saturating_mul(threads).saturating_mul(JOBS_PER_THREAD);
        let next = next.min(ANNOUNCED_INPUTS);
        let of_bytes = |bytes: u64| next.min((ANNOUNCED_BYTES / bytes.max(1)).max(1));
        let announced = announced_bytes(stage, execution, geometry).map_or(0, of_bytes);
        let inputs = usize::try_from(inputs).unwrap_or(1);
        Self { reads, writes, writes_pieces, inputs, announced, by_shard, slab_bytes }
    }

    /// A job passes on all that goes to a target shard: of two threads that write to one file, one
    /// waits. For all of a task or none of it, though reading may become fast or slow meanwhile.
    pub(crate) fn goes_by_shard(&self) -> bool {
        self.by_shard && self.reads()
    }

    /// It pays to announce what is read, or is not known yet.
    pub(crate) fn reads_from_disk(&self) -> bool {
        self.reads.as_ref().is_some_and(Store::reads_from_disk)
    }

    /// Inputs are taken in on one thread each. Not while reading waits for a disk: then more
    /// threads than there are cores are to wait.
    pub(crate) fn reads(&self) -> bool {
        self.reads.as_ref().is_some_and(|store| !store.reads_slowly())
    }
}

/// Most bytes of an input that can be announced: those of a file or of a range that is known
/// beforehand.
fn announced_bytes(stage: &Stage, execution: &Execution, geometry: &StageGeometry) -> Option<u64> {
    let layout = execution.source.layout();
    match stage.input {
        StageInput::SourceChunks if layout.shards().is_none() => {
            Some(fetched_bytes_max(stage, execution))
        }
        StageInput::SourceChunks | StageInput::SourceShards => None,
        StageInput::Pieces { .. } => Some(geometry.piece_bytes_max()),
    }
}

/// Whether a task has enough small shards of chunks that pass through for all threads.
fn passes_on_by_shard(stage: &Stage, execution: &Execution) -> bool {
    let layout = execution.sink.array().layout();
    let Some(format) = layout.shards().filter(|_| stage.passthrough) else { return false };
    let shards = stage.tile.iter().zip(format.shard_shape()).zip(&execution.plan.shape);
    let shards = shards.fold(1_u64, |count, ((&tile, &shard), &extent)| {
        count.saturating_mul(tile.min(extent).div_ceil(shard))
    });
    let jobs = shards.saturating_mul(u64::from(stage.tasks_at_once));
    let bytes_max = format.chunk_count().saturating_mul(layout.codec_cost().encoded_bytes_max);
    stage.input == StageInput::SourceChunks
        && jobs >= u64::from(execution.plan.threads).saturating_mul(JOBS_PER_THREAD)
        && bytes_max <= SHARD_BYTES_MAX
}

/// All inputs of the job that passes on the shard of input `index`, if that is the first of them;
/// nothing if it is not.
pub(crate) fn of_shard(task: &TaskRun, index: &[u64]) -> Vec<Vec<u64>> {
    let Some(format) = task.stage.target().layout().shards() else { return vec![index.to_vec()] };
    let elements = elements_of(task, format, &format.shard_of(index));
    let chunks = task.stage.geometry.grain_grid().covering(&elements);
    if chunks.start == index { chunks.positions().collect() } else { Vec::new() }
}

/// Takes inputs in, one after the other, in one job, on threads that may block while a disk is
/// waited for. First announces the inputs that will be read after them.
pub(crate) async fn inputs(
    task: Arc<TaskRun>,
    lane: Lane,
    indices: Vec<Vec<u64>>,
    announced: Vec<Vec<u64>>,
) -> Result<LaneDone, Fault> {
    let (cpu, is_driven) = (task.stage.cpu.clone(), task.stage.in_place.reads());
    let work = several(task, lane, indices, announced);
    if is_driven { cpu.drive(work.boxed()).await } else { work.await }
}

/// Sends a unit out, in one job, up to where it waits for a write.
pub(crate) async fn unit(
    task: Arc<TaskRun>,
    lane: Lane,
    unit: Finished,
) -> Result<Driven<Lane>, Fault> {
    let cpu = task.stage.cpu.clone();
    cpu.begin(commit::unit(task, lane, unit).boxed()).await
}

/// Writes a piece of an intermediate, in one job.
pub(crate) async fn piece(
    task: Arc<TaskRun>,
    lane: Lane,
    file: Arc<TileFile>,
    piece: Finished,
) -> Result<LaneDone, Fault> {
    let cpu = task.stage.cpu.clone();
    let work = async move {
        file.write(&task, piece).await?;
        Ok(LaneDone { lane, finished: Vec::new(), sent: Vec::new() })
    };
    cpu.drive(work.boxed()).await
}

async fn several(
    task: Arc<TaskRun>,
    mut lane: Lane,
    indices: Vec<Vec<u64>>,
    announced: Vec<Vec<u64>>,
) -> Result<LaneDone, Fault> {
    if task.stage.cpu.is_here() {
        for index in announced {
            if !gather::announce(&task, &index) {
                break;
            }
        }
    }
    let sends = task.stage.in_place.writes && !task.stage.geometry.writes_pieces();
    let (mut finished, mut sent) = (Vec::new(), Vec::new());
    for index in indices {
        if task.stage.cpu.is_here() && !task.stage.in_place.reads() {
            // A disk is waited for: the rest goes to threads that may wait (see `CpuPool::drive`).
            tokio::task::yield_now().await;
        }
        let done = if task.stage.stage.passthrough {
            passthrough::input(Arc::clone(&task), lane, index).await?
        } else {
            gather::input(Arc::clone(&task), lane, index).await?
        };
        lane = done.lane;
        for unit in done.finished {
            if sends && unit.buffer.len() <= SENT_AT_ONCE_BYTES {
                sent.push(unit.without_elements());
                lane = commit::unit(Arc::clone(&task), lane, unit).await?;
            } else {
                finished.push(unit);
            }
        }
    }
    Ok(LaneDone { lane, finished, sent })
}
