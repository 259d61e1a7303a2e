//! Which work of a stage is done on one thread from beginning to end. Where stores wait for nobody,
//! threads that read ahead have nothing to gain, and each hand-over costs two thread switches: more
//! than a small chunk takes.

use rechunk_kernel::wide;
use rechunk_plan::{Stage, StageGeometry};
use rechunk_store::Store;

use crate::cpu::CpuPool;
use crate::execution::Execution;
use crate::stage::way_in::WayIn;
use crate::stage::way_out::WayOut;

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
    /// There are enough shards for [`InPlace::goes_by_shard`].
    by_shard: bool,
}

impl InPlace {
    pub(crate) fn new(
        stage: &Stage,
        (way_in, way_out): (&WayIn, WayOut),
        execution: &Execution,
        geometry: &StageGeometry,
        cpu: &CpuPool,
    ) -> Self {
        let target = execution.sink.array().store();
        let writes = cpu.has_threads()
            && way_out != WayOut::Nothing // there is nothing to do
            && target.works_in_place();
        let from = if way_in.reads_source() {
            Some(execution.source.store())
        } else {
            execution.intermediate.as_ref()
        };
        let is_possible = cpu.has_threads() && (writes || !way_in.passes_through());
        let reads = from.filter(|from| is_possible && from.works_in_place()).cloned();
        if let Some(source) = reads.as_ref().filter(|_| way_in.reads_source()) {
            source.hold_directory();
        }
        let taken = geometry.input_grid().chunk_shape().iter().zip(stage.filled());
        let taken = taken.map(|(&chunk, &tile)| chunk.min(tile));
        let input_bytes = taken.fold(stage.input(&execution.plan).item_bytes, u64::saturating_mul);
        let steps = stage.step_chunks.iter().fold(1_u64, |n, &chunks| n.saturating_mul(chunks));
        let threads = u64::from(execution.plan.threads).max(1);
        let of_step = steps / threads.saturating_mul(JOBS_PER_THREAD);
        let inputs = (JOB_BYTES / input_bytes.max(1)).min(JOB_INPUTS).min(of_step).max(1);
        let writes_pieces = cpu.has_threads()
            && way_out == WayOut::Pieces
            && execution.intermediate.as_ref().is_some_and(Store::writes_in_place);
        let by_shard = reads.is_some() && writes && passes_on_by_shard(stage, way_in, execution);
        let inputs = usize::try_from(inputs).unwrap_or(1);
        Self { reads, writes, writes_pieces, inputs, by_shard }
    }

    /// Number of inputs that `threads` threads take in with their next jobs.
    pub(crate) fn next_inputs(&self, threads: u32) -> u64 {
        let jobs = u64::from(threads).max(1).saturating_mul(JOBS_PER_THREAD);
        wide(self.inputs).saturating_mul(jobs)
    }

    /// Inputs are files, or ranges of files, and are taken in on one thread each.
    pub(crate) fn reads_files(&self) -> bool {
        self.reads.as_ref().is_some_and(Store::writes_in_place)
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

/// Whether a task has enough small shards of chunks that pass through for all threads.
fn passes_on_by_shard(stage: &Stage, way_in: &WayIn, execution: &Execution) -> bool {
    let layout = execution.sink.array().layout();
    let is_by_chunk = matches!(way_in, WayIn::StoredChunks);
    let Some(format) = layout.shards().filter(|_| is_by_chunk) else { return false };
    let shards = stage.tile.iter().zip(format.shard_shape()).zip(&stage.shape);
    let shards = shards.fold(1_u64, |count, ((&tile, &shard), &extent)| {
        count.saturating_mul(tile.min(extent).div_ceil(shard))
    });
    let jobs = shards.saturating_mul(u64::from(stage.tasks_at_once));
    let bytes_max = format.chunk_count().saturating_mul(layout.codec_cost().encoded_bytes_max);
    jobs >= u64::from(execution.plan.threads).saturating_mul(JOBS_PER_THREAD)
        && bytes_max <= SHARD_BYTES_MAX
}
