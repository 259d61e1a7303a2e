//! Requests for plans.

use std::fmt;

use rechunk_grid::{Edges, Region};
use serde::{Deserialize, Serialize};

use crate::count::product;
use crate::{Parts, PartsSide, Profile, StoreProfile};

/// The shards that the chunks of one side lie in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardSide {
    /// Shape of a shard, elements: a multiple of the chunk shape on every axis.
    pub shape: Vec<u64>,
    /// Bytes of a shard's index.
    pub index_bytes: u64,
    /// The index lies before the chunks, not behind them.
    #[serde(default)]
    pub index_first: bool,
}

/// Bytes that are kept of a shard with an index of `index_bytes` while its chunks are read or
/// written. They are its index, twice while it is encoded or decoded, and an entry for finding it.
pub fn shard_state_bytes(index_bytes: u64) -> u64 {
    const BESIDE_INDEX: u64 = 1 << 10;
    index_bytes.saturating_mul(2).saturating_add(BESIDE_INDEX)
}

/// Raw files that one side is stored in: any run of their bytes can be read or written by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunsSide {
    /// Shape of the block a file holds, elements; the last of each axis is clipped.
    pub block_shape: Vec<u64>,
    /// Axes as a file stores them, slowest first.
    pub order: Vec<usize>,
    /// Bytes of a file before its first element.
    #[serde(default)]
    pub offset_bytes: u64,
}

/// Layout of the array on one side, as far as the cost of a plan depends on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Shape of a chunk, what is encoded by itself, elements. Where chunks differ in length, the
    /// largest.
    pub chunk_shape: Vec<u64>,
    /// Where chunks end, on axes where they differ in length. Only a source without shards has
    /// some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Edges>,
    /// The shards that chunks lie in, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardSide>,
    /// The raw files that chunks lie in, if they can be read and written in runs of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<RunsSide>,
    /// The parts of chunks that can be taken by themselves, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<PartsSide>,
    /// Name of the codec, looked up in [`crate::CodecSpeeds`].
    pub codec: String,
    /// Encoded bytes are the elements themselves: no buffer to decode into or encode from.
    pub is_raw: bool,
    /// Bound of one chunk's encoded bytes; the largest chunk's, as all that is said of one chunk.
    pub encoded_bytes_max: u64,
    /// Encoded bytes one chunk is expected to have.
    pub encoded_bytes_expected: u64,
    /// Bytes that a decoder allocates beside its input and output.
    pub decode_workspace_bytes: u64,
    /// Bytes that an encoder allocates beside its input and output.
    pub encode_workspace_bytes: u64,
}

impl Side {
    /// An uncompressed side.
    pub fn raw(chunk_shape: &[u64], item_bytes: u64) -> Self {
        let chunk_bytes = chunk_shape.iter().product::<u64>().saturating_mul(item_bytes);
        Self {
            chunk_shape: chunk_shape.to_vec(),
            edges: None,
            shard: None,
            runs: None,
            parts: None,
            codec: "none".to_owned(),
            is_raw: true,
            encoded_bytes_max: chunk_bytes,
            encoded_bytes_expected: chunk_bytes,
            decode_workspace_bytes: 0,
            encode_workspace_bytes: 0,
        }
    }

    /// Its axes as a chunk stores them, slowest first, if any part of a chunk can be read by
    /// itself, as it is.
    pub(crate) fn plain_order(&self) -> Option<&[usize]> {
        Some(&self.parts.as_ref().filter(|side| side.parts == Parts::Elements)?.order)
    }

    /// Bytes of a decoded chunk.
    pub(crate) fn chunk_bytes(&self, item_bytes: u64) -> u64 {
        product(self.chunk_shape.iter().copied()).saturating_mul(item_bytes)
    }

    /// Shape of what is stored at once: a shard, else a chunk.
    pub fn commit_shape(&self) -> &[u64] {
        self.shard_shape().unwrap_or(&self.chunk_shape)
    }

    /// Shape of a shard, if there are shards.
    pub fn shard_shape(&self) -> Option<&[u64]> {
        self.shard.as_ref().map(|shard| &shard.shape[..])
    }

    /// Chunks of a shard; 1 without shards.
    pub(crate) fn shard_chunks(&self) -> u64 {
        let shard = self.shard_shape().unwrap_or(&self.chunk_shape);
        product(shard.iter().zip(&self.chunk_shape).map(|(shard, chunk)| shard / (*chunk).max(1)))
    }

    /// [`shard_state_bytes`] of its shards; 0 without.
    pub(crate) fn shard_state_bytes(&self) -> u64 {
        self.shard.as_ref().map_or(0, |shard| shard_state_bytes(shard.index_bytes))
    }

    /// Bytes of the largest object that is fetched as a whole. Of a chunk they are the bound of its
    /// codecs; of a shard the elements of its chunks, an eighth more for bad luck, and the index.
    /// (A larger shard is read chunk by chunk.)
    pub fn object_bytes_max(&self, item_bytes: u64) -> u64 {
        const SLACK_BYTES: u64 = 64 << 10;
        let Some(shard) = &self.shard else { return self.encoded_bytes_max };
        let decoded = product(shard.shape.iter().copied()).saturating_mul(item_bytes);
        let by_chunk = self.encoded_bytes_max.saturating_mul(self.shard_chunks());
        let chunks = decoded.saturating_add(decoded / 8).saturating_add(SLACK_BYTES).min(by_chunk);
        chunks.saturating_add(shard.index_bytes)
    }
}

/// Limits of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Working memory of one worker process, bytes; everything the run allocates counts.
    pub memory_bytes: u64,
    /// Bounds one task's box alone, as rechunker's `max_mem` does, and lifts the bound on
    /// everything else; for comparisons with other planners.
    pub box_bytes: Option<u64>,
    /// CPU workers of one process.
    pub threads: u32,
    /// Requests in flight of one process; `None`: as many as the store's profile says.
    pub concurrency: Option<u32>,
    /// Worker processes that share the tasks.
    pub workers: u32,
}

/// The plan kind asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// The cheapest that fits.
    Auto,
    /// Equal grids and codecs: encoded bytes are copied.
    Passthrough,
    /// Nested grids: tiles of common ends.
    Direct,
    /// One pass without re-reading; partial target chunks are carried in memory.
    Keep,
    /// One pass in boxes of whole target chunks; source chunks are read again by every box.
    Pull,
    /// Two passes through an intermediate.
    PushPull,
    /// More than two passes.
    Multistage,
    /// The whole array in memory.
    Memory,
}

impl Strategy {
    /// Every strategy but `Auto`: the plan kinds.
    pub const KINDS: [Self; 7] = [
        Self::Passthrough,
        Self::Direct,
        Self::Keep,
        Self::Pull,
        Self::PushPull,
        Self::Multistage,
        Self::Memory,
    ];

    /// The word used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Passthrough => "passthrough",
            Self::Direct => "direct",
            Self::Keep => "keep",
            Self::Pull => "pull",
            Self::PushPull => "push-pull",
            Self::Multistage => "multistage",
            Self::Memory => "memory",
        }
    }

    /// The strategy of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::KINDS.into_iter().chain([Self::Auto]).find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The grid of the intermediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum IntermediateGrid {
    /// Exactly the intersections of read and write boxes.
    #[default]
    Exact,
    /// The regular grid `min(read, write)`; read and write boxes are chosen so that they nest.
    Min,
}

/// Everything a plan depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct PlanRequest {
    /// Shape of the array, elements.
    pub shape: Vec<u64>,
    /// Bytes of one element.
    pub item_bytes: u64,
    /// The array as it is.
    pub source: Side,
    /// The array as it shall be.
    pub target: Side,
    /// A source chunk's encoded bytes may stand as a target chunk of the same shape.
    pub same_encoding: bool,
    /// And a source shard, as it is, as a target shard of the same shape.
    #[serde(default)]
    pub same_shards: bool,
    /// One store holds both sides and can copy its objects itself. Copied objects need not be seen
    /// here: no digest is taken of them. They are chunks, or shards of chunks.
    #[serde(default)]
    pub store_can_copy: bool,
    /// Absence of source chunks has to be known at the target. An intermediate keeps a byte for
    /// every target chunk that a piece meets.
    pub keeps_absence: bool,
    /// Limits of the plan.
    pub budget: Budget,
    /// Costs of the stores and codecs.
    pub profile: Profile,
    /// The plan kind asked for.
    pub strategy: Strategy,
    /// The grid of an intermediate.
    pub intermediate_grid: IntermediateGrid,
    /// The intermediate is held in memory and counts against the budget.
    pub intermediate_in_memory: bool,
}

impl PlanRequest {
    /// Any plan between two local stores, for one process of two threads, in which nothing passes
    /// as it is stored.
    pub fn local(
        shape: &[u64],
        item_bytes: u64,
        (source, target): (Side, Side),
        memory_bytes: u64,
    ) -> Self {
        Self {
            shape: shape.to_vec(),
            item_bytes,
            source,
            target,
            same_encoding: false,
            same_shards: false,
            store_can_copy: false,
            keeps_absence: false,
            budget: Budget {
                memory_bytes,
                box_bytes: None,
                threads: 2,
                concurrency: None,
                workers: 1,
            },
            profile: Profile::uniform(&StoreProfile::local()),
            strategy: Strategy::Auto,
            intermediate_grid: IntermediateGrid::Exact,
            intermediate_in_memory: false,
        }
    }

    /// The elements that the source holds; `None` if that is all of the array. The others are kept
    /// as the target has them.
    pub(crate) fn held(&self) -> Option<Region> {
        self.source.edges.as_ref().and_then(|edges| edges.held(&self.shape))
    }

    /// Requests that may usefully be in flight from one process.
    pub(crate) fn requests_at_once(&self) -> u32 {
        let profile = &self.profile;
        let most = [&profile.source, &profile.intermediate, &profile.target]
            .iter()
            .map(|store| store.concurrency)
            .max()
            .unwrap_or(1);
        self.budget.concurrency.unwrap_or(most).clamp(1, 256)
    }
}
