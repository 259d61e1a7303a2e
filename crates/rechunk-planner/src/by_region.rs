//! Tasks that read and write regions chunk by chunk: those of applies and pyramids.
//!
//! How much they have on its way at once, the memory and traffic of a chunk, and the price of a
//! stage.

use rechunk_plan::count::product;
use rechunk_plan::{
    Estimate, Figures, Parallel, PlanRequest, Profile, RoleEstimate, Side, price, priced,
};

/// Bytes of one read of elements that are stored as they are.
const PLAIN_READ_BYTES: u64 = 8 << 20;
/// Wait for an answer from which a store is one that is waited for, seconds.
const LATE_SECONDS: f64 = 0.002;
/// Most tasks at once.
const TASKS_MAX: u64 = 4096;

/// Speed of the answers of the stores, as far as it decides how much is on its way at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// They come at once.
    Prompt,
    /// They are waited for.
    Late,
}

impl Answers {
    /// Answers of the source to reads, and of the target to writes.
    pub(crate) fn of(profile: &Profile) -> Self {
        let seconds = profile.source.get_seconds.max(profile.target.put_seconds);
        if seconds > LATE_SECONDS { Self::Late } else { Self::Prompt }
    }

    /// Chunks on their way at once that a task aims at.
    pub(crate) fn chunks_at_once(self) -> u64 {
        match self {
            Self::Prompt => 2,
            Self::Late => 8,
        }
    }

    /// Tasks that run at once: `most` at most, and at least 1.
    pub(crate) fn tasks_at_once(self, request: &PlanRequest, most: u64) -> u32 {
        let threads = u64::from(request.budget.threads.max(1));
        let wanted = match self {
            Self::Prompt => threads,
            // While some compute, others wait for the store.
            Self::Late => threads.saturating_mul(2),
        };
        u32::try_from(wanted.min(most).clamp(1, TASKS_MAX)).unwrap_or(1)
    }
}

/// Bytes of a box of `shape`, elements.
pub(crate) fn bytes_of(shape: &[u64], item_bytes: u64) -> u64 {
    product(shape.iter().copied()).saturating_mul(item_bytes)
}

/// Bytes of a chunk while it is read: stored, decoded, and the part that is wanted.
pub(crate) fn read_bytes(side: &Side, item_bytes: u64) -> u64 {
    let chunk = side.chunk_bytes(item_bytes);
    if side.plain_order().is_some() {
        return chunk.min(PLAIN_READ_BYTES).saturating_mul(2);
    }
    let decoded = if side.is_raw { 0 } else { chunk };
    let index = side.index_traffic(1).1.saturating_mul(2);
    [decoded, side.encoded_bytes_max, side.decode_workspace_bytes, chunk, index]
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// Chunks that are read, each as often as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkReads {
    /// Their number.
    pub chunks: u64,
    /// Elements of all of them.
    pub elements: u64,
}

impl ChunkReads {
    /// Reads of chunks of one shape.
    pub(crate) fn regular(side: &Side, chunks: u64) -> Self {
        let elements = product(side.chunk_shape.iter().copied());
        Self { chunks, elements: elements.saturating_mul(chunks) }
    }
}

/// Traffic of reading chunks, and `indexes` indexes by which they are found.
pub(crate) fn chunks_read(
    side: &Side,
    item_bytes: u64,
    reads: ChunkReads,
    indexes: u64,
) -> RoleEstimate {
    let (requests, bytes) = side.index_traffic(indexes);
    // As large as the largest, by the element.
    let chunk_bytes = u128::from(side.encoded_bytes_expected) * u128::from(reads.elements)
        / u128::from(product(side.chunk_shape.iter().copied()).max(1));
    RoleEstimate {
        get_requests: reads.chunks.saturating_add(requests),
        decoded_read_bytes: reads.elements.saturating_mul(item_bytes),
        read_bytes: u64::try_from(chunk_bytes).unwrap_or(u64::MAX).saturating_add(bytes),
        ..RoleEstimate::default()
    }
}

/// Traffic of writing `chunks` chunks, which lie in `objects` shards or are objects themselves.
pub(crate) fn chunks_written(
    side: &Side,
    item_bytes: u64,
    chunks: u64,
    objects: u64,
) -> RoleEstimate {
    let chunk_bytes = side.encoded_bytes_expected.saturating_mul(chunks);
    let index_bytes = side.index_bytes().saturating_mul(objects);
    RoleEstimate {
        put_requests: objects,
        decoded_written_bytes: side.chunk_bytes(item_bytes).saturating_mul(chunks),
        written_bytes: chunk_bytes.saturating_add(index_bytes),
        objects,
        ..RoleEstimate::default()
    }
}

/// The traffic of a stage with its time and price. Of each task `chunks_at_once` chunks are on
/// their way.
pub(crate) fn stage_estimate(
    request: &PlanRequest,
    traffic: Estimate,
    (tasks, steps): (u64, u64),
    (chunks_at_once, parallel): (u64, Parallel),
) -> Estimate {
    let figures = Figures {
        tasks,
        whole_tasks: tasks as f64,
        steps,
        reading: chunks_at_once,
        decoding: chunks_at_once,
        writing: chunks_at_once,
        putting: chunks_at_once,
        traffic,
        ..Figures::default()
    };
    priced(&figures.traffic, price(request, &figures, parallel))
}
