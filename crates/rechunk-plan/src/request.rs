//! What a plan is asked for.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Profile;

/// How the array is stored on one side, as far as the cost of a plan depends on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Shape of a chunk, elements.
    pub chunk_shape: Vec<u64>,
    /// Name of the codec, looked up in [`crate::CodecSpeeds`].
    pub codec: String,
    /// Encoded bytes are the elements themselves: no buffer to decode into or encode from.
    pub is_raw: bool,
    /// Bound of one chunk's encoded bytes.
    pub encoded_bytes_max: u64,
    /// Encoded bytes one chunk is expected to have.
    pub encoded_bytes_expected: u64,
    /// What a decoder allocates beside its input and output, bytes.
    pub decode_workspace_bytes: u64,
    /// What an encoder allocates beside its input and output, bytes.
    pub encode_workspace_bytes: u64,
}

impl Side {
    /// An uncompressed side.
    pub fn raw(chunk_shape: &[u64], item_bytes: u64) -> Self {
        let chunk_bytes = chunk_shape.iter().product::<u64>().saturating_mul(item_bytes);
        Self {
            chunk_shape: chunk_shape.to_vec(),
            codec: "none".to_owned(),
            is_raw: true,
            encoded_bytes_max: chunk_bytes,
            encoded_bytes_expected: chunk_bytes,
            decode_workspace_bytes: 0,
            encode_workspace_bytes: 0,
        }
    }
}

/// What a plan may use.
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
    /// What may be used.
    pub budget: Budget,
    /// What the stores and codecs cost.
    pub profile: Profile,
    /// The plan kind asked for.
    pub strategy: Strategy,
    /// The grid of an intermediate.
    pub intermediate_grid: IntermediateGrid,
    /// The intermediate is held in memory and counts against the budget.
    pub intermediate_in_memory: bool,
}
