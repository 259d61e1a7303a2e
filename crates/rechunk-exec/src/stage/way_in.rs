//! Way by which a stage takes its inputs in.

use rechunk_array::Array;
use rechunk_format::ShardFormat;

use crate::stage::plain::PlainInput;

/// Way by which a stage takes its inputs in. It is chosen when the stage begins.
#[derive(Debug, Clone)]
pub(crate) enum WayIn {
    /// Source chunks are fetched, decoded and copied into units.
    Chunks,
    /// Source chunks are stored as they are: the elements that a tile takes are fetched and copied.
    Plain(PlainInput),
    /// Source shards are fetched as a whole and taken apart.
    Shards(ShardFormat),
    /// Pieces of the intermediate are fetched and copied into units.
    Pieces,
    /// Source chunks are passed through as they are stored.
    StoredChunks,
    /// Source shards are passed through, each as a whole.
    StoredShards(ShardFormat),
    /// Runs of bytes of raw files are moved.
    Runs,
    /// Source chunks of elements that differ in length are fetched, decoded and cut.
    Variable,
}

impl WayIn {
    /// Inputs come from the source, not from an intermediate.
    pub(crate) fn reads_source(&self) -> bool {
        !matches!(self, Self::Pieces)
    }

    /// An input is a source chunk, fetched alone.
    pub(crate) fn takes_chunks(&self) -> bool {
        matches!(self, Self::Chunks | Self::Plain(_) | Self::StoredChunks)
    }

    /// Inputs become part of the target as they are stored.
    pub(crate) fn passes_through(&self) -> bool {
        matches!(self, Self::StoredChunks | Self::StoredShards(_))
    }

    /// Manner in which plain chunks are read, if that is how inputs come in.
    pub(crate) fn plain(&self) -> Option<PlainInput> {
        if let Self::Plain(plain) = self { Some(*plain) } else { None }
    }

    /// The most bytes that are fetched of a chunk of `source`.
    pub(crate) fn fetched_bytes_max(&self, source: &Array) -> u64 {
        let whole = source.layout().codec_cost().encoded_bytes_max;
        self.plain().map_or(whole, |plain| plain.part_bytes_max)
    }
}
