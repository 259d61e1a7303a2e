//! Chunk-wise apply of a plan: where its tasks are, and how they read.

use std::fmt;

use rechunk_apply::{ApplyPlan, Boundary, Way};
use serde::{Deserialize, Serialize};

/// Rule for chunks of a source that are not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingChunks {
    /// They read as the fill value.
    #[default]
    Fill,
    /// The operation is not called where one of the chunks it needs is missing.
    SkipIfAny,
    /// The operation is not called where all of the chunks it needs are missing.
    SkipIfAll,
    /// A missing chunk is an error.
    Error,
}

/// Extent of what is read of the sources at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// A task reads all that its calls need before the first of them: each chunk once.
    Task,
    /// Each call of the operation reads what it needs.
    Call,
}

/// Chunk-wise apply: what the stages of a plan do beside their numbers of tasks. The tiles of
/// these stages are numbers of tasks and of reduction boxes; boxes of voxels are in `job`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyWork {
    /// Tasks, levels and arithmetic.
    pub job: ApplyPlan,
    /// Rule for voxels beyond the sources.
    pub boundary: Boundary,
    /// Rule for chunks that are not stored.
    pub missing: MissingChunks,
    /// Extent of reads.
    pub reads: Reads,
    /// Bytes of chunks that a task has on their way at once, stored and decoded, when it reads or
    /// writes.
    pub transfer_bytes: u64,
}

impl MissingChunks {
    /// Every rule.
    pub const ALL: [Self; 4] = [Self::Fill, Self::SkipIfAny, Self::SkipIfAll, Self::Error];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::SkipIfAny => "skip-if-any",
            Self::SkipIfAll => "skip-if-all",
            Self::Error => "error",
        }
    }

    /// The rule of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Calls may be left out.
    pub fn skips(self) -> bool {
        match self {
            Self::SkipIfAny | Self::SkipIfAll => true,
            Self::Fill | Self::Error => false,
        }
    }
}

impl fmt::Display for MissingChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ApplyWork {
    /// Number of stages that it takes.
    pub fn stage_count(&self) -> usize {
        if self.job.way() == Way::Pull { 2 } else { 1 }
    }
}
