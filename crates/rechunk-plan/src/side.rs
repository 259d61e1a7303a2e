//! The layout of the array on one side, as far as a plan depends on it.

use rechunk_grid::Edges;
use serde::{Deserialize, Serialize};

use crate::count::product;

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
    /// The tables that the index is made of, if it is not flat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<TablesSide>,
}

/// Tables that an index is made of: a chunk is found by an entry of a directory, and a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablesSide {
    /// Shape of the box whose chunks a table names, elements. It divides a shard evenly.
    pub shape: Vec<u64>,
    /// Bytes of an entry of the directory and a table, the most.
    pub bytes: u64,
    /// Each chunk is taken for a shard, but lies in an object with others: it is read by itself.
    pub is_scattered: bool,
}

impl ShardSide {
    /// Shards with a flat index.
    pub fn flat(shape: Vec<u64>, index_bytes: u64, index_first: bool) -> Self {
        Self { shape, index_bytes, index_first, tables: None }
    }

    /// Shape of the box whose chunks are found by one index: a shard, or that of a table.
    pub fn index_shape(&self) -> &[u64] {
        self.tables.as_ref().map_or(&self.shape, |tables| &tables.shape)
    }

    /// Requests by which the index of a chunk is read.
    pub fn index_reads(&self) -> u64 {
        if self.tables.is_some() { 2 } else { 1 }
    }

    /// Bytes that are read to find a chunk.
    pub fn found_by_bytes(&self) -> u64 {
        self.tables.as_ref().map_or(self.index_bytes, |tables| tables.bytes)
    }
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
    /// Shape of the elements that a file of the target holds, where chunks are parts of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_shape: Option<Vec<u64>>,
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
            file_shape: None,
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
    pub fn plain_order(&self) -> Option<&[usize]> {
        Some(&self.parts.as_ref().filter(|side| side.parts == Parts::Elements)?.order)
    }

    /// Bytes of a decoded chunk.
    pub fn chunk_bytes(&self, item_bytes: u64) -> u64 {
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

    /// Bytes of the index of a shard; 0 without shards.
    pub fn index_bytes(&self) -> u64 {
        self.shard.as_ref().map_or(0, |shard| shard.index_bytes)
    }

    /// Chunks of a shard; 1 without shards.
    pub fn shard_chunks(&self) -> u64 {
        let shard = self.shard_shape().unwrap_or(&self.chunk_shape);
        product(shard.iter().zip(&self.chunk_shape).map(|(shard, chunk)| shard / (*chunk).max(1)))
    }

    /// Whole shards can be read.
    pub fn has_whole_shards(&self) -> bool {
        let is_scattered =
            |shard: &ShardSide| shard.tables.as_ref().is_some_and(|tables| tables.is_scattered);
        self.shard.as_ref().is_some_and(|shard| !is_scattered(shard))
    }

    /// Requests and bytes of `indexes` reads of what finds chunks in shards.
    pub fn index_traffic(&self, indexes: u64) -> (u64, u64) {
        let Some(shard) = &self.shard else { return (0, 0) };
        let requests = indexes.saturating_mul(shard.index_reads());
        (requests, indexes.saturating_mul(shard.found_by_bytes()))
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

/// The parts of a side's chunks that can be taken by themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsSide {
    /// Axes as a chunk stores them, slowest first.
    pub order: Vec<usize>,
    /// Form of the parts.
    pub parts: Parts,
}

/// Form of the parts of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parts {
    /// Elements, stored as they are: what is taken is read by itself, however much that is, and is
    /// not decoded.
    Elements,
    /// Blocks, each encoded by itself.
    Blocks {
        /// Decoded bytes of one; the last of a chunk may be shorter.
        block_bytes: u64,
        /// Those of which nothing is taken are not read either, where most of a chunk is spared by
        /// that.
        are_read_apart: bool,
    },
}
