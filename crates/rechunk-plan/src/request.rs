//! Requests for plans.

use std::fmt;

use rechunk_grid::Region;
use serde::{Deserialize, Serialize};

use crate::{Profile, Side, StoreProfile, Uploads};

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
    /// Chunk-wise apply of an operation; no kind of copy.
    Apply,
    /// Levels of an image; no kind of copy.
    Pyramid,
}

impl Strategy {
    /// Every kind of plan that copies.
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
            Self::Apply => "apply",
            Self::Pyramid => "pyramid",
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

impl IntermediateGrid {
    /// The grid of a word: `exact` or `min`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "exact" => Some(Self::Exact),
            "min" => Some(Self::Min),
            _ => None,
        }
    }
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
    /// Elements differ in length: [`PlanRequest::item_bytes`] is expected of one, and so are the
    /// bounds of encoded chunks. They are copied in one pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_variable: bool,
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
            is_variable: false,
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
    pub fn held(&self) -> Option<Region> {
        self.source.edges.as_ref().and_then(|edges| edges.held(&self.shape))
    }

    /// Requests that may usefully be in flight from one process.
    pub fn requests_at_once(&self) -> u32 {
        let profile = &self.profile;
        let most = [&profile.source, &profile.intermediate, &profile.target]
            .iter()
            .map(|store| store.concurrency)
            .max()
            .unwrap_or(1);
        self.budget.concurrency.unwrap_or(most).clamp(1, 256)
    }

    /// Sizes by which the objects of the target are sent.
    pub fn target_uploads(&self) -> Option<Uploads> {
        let multipart = self.profile.target.multipart?;
        Some(Uploads::new(multipart, self.budget.memory_bytes, self.target_object_bytes_max()))
    }

    /// Sizes by which the objects of the intermediate are sent.
    pub fn intermediate_uploads(&self) -> Option<Uploads> {
        let multipart = self.profile.intermediate.multipart?;
        Some(Uploads::new(multipart, self.budget.memory_bytes, 0))
    }

    /// No object of the target has more bytes.
    fn target_object_bytes_max(&self) -> u64 {
        let side = &self.target;
        let chunks_bytes = side.encoded_bytes_max.saturating_mul(side.shard_chunks());
        chunks_bytes.saturating_add(side.index_bytes())
    }

    /// Bytes that are kept of a target shard while it is filled: its index, and its parts that are
    /// not sent. 0 without shards.
    pub(crate) fn target_shard_state_bytes(&self) -> u64 {
        let Some(shard) = &self.target.shard else { return 0 };
        let head_bytes = if shard.index_first { shard.index_bytes } else { 0 };
        let unsent_bytes = self.target_uploads().map_or(0, |uploads| {
            uploads.log_memory_bytes(self.target_object_bytes_max(), head_bytes)
        });
        let state_bytes = self.target.shard_state_bytes();
        // Of one that is rewritten, the index that it had is there too.
        let kept_bytes = if self.held().is_some() { state_bytes } else { 0 };
        state_bytes.saturating_add(unsent_bytes).saturating_add(kept_bytes)
    }
}
