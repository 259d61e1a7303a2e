//! Inputs and outputs of a stage that is looked for: the sides of the request, and boxes.

use crate::Unit;

/// Input of a drafted stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftInput {
    /// Chunks of the source array, each by itself. Where they lie in shards, the index of a shard
    /// is read once by every task that needs it.
    SourceChunks,
    /// Whole shards of the source array, taken apart chunk by chunk in memory.
    SourceShards,
    /// Pieces of the intermediate the stage before left: one object per box of that stage.
    Pieces {
        /// Tile of the stage that wrote them, elements.
        written_in: Vec<u64>,
    },
}

impl DraftInput {
    /// Shape of what is fetched at a time, elements: a source chunk or shard, or a box of the
    /// stage before.
    pub(crate) fn chunk<'a>(&'a self, chunk: &'a [u64], shard: Option<&'a [u64]>) -> &'a [u64] {
        match self {
            Self::SourceChunks => chunk,
            Self::SourceShards => shard.unwrap_or(chunk),
            Self::Pieces { written_in } => written_in,
        }
    }

    /// Part of the array that is read at a time.
    pub fn unit(&self) -> Unit {
        match self {
            Self::SourceChunks => Unit::Chunk,
            Self::SourceShards => Unit::Shard,
            Self::Pieces { .. } => Unit::Piece,
        }
    }

    /// It is the source that is read.
    pub(crate) fn is_source(&self) -> bool {
        matches!(self, Self::SourceChunks | Self::SourceShards)
    }
}

/// Output of a drafted stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftOutput {
    /// Chunks of the target array, each put into its shard where they lie in shards.
    TargetChunks,
    /// Whole shards of the target array, as they were fetched.
    TargetShards,
    /// One intermediate object per task, cut in the pieces the next stage reads.
    Pieces {
        /// Tile of the stage that reads them, elements.
        read_in: Vec<u64>,
    },
}

impl DraftOutput {
    /// Shape of what is filled and sent out, elements: a target chunk or shard, or a box of the
    /// next stage.
    pub(crate) fn unit_shape<'a>(
        &'a self,
        chunk: &'a [u64],
        shard: Option<&'a [u64]>,
    ) -> &'a [u64] {
        match self {
            Self::TargetChunks => chunk,
            Self::TargetShards => shard.unwrap_or(chunk),
            Self::Pieces { read_in } => read_in,
        }
    }

    /// Part of the array that is written at a time.
    pub fn unit(&self) -> Unit {
        match self {
            Self::TargetChunks => Unit::Chunk,
            Self::TargetShards => Unit::Shard,
            Self::Pieces { .. } => Unit::Piece,
        }
    }
}
