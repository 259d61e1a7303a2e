//! Arrays of a plan: those that are read, those that are written, those between.

use rechunk_grid::Edges;
use serde::{Deserialize, Serialize};

use crate::count::product;
use crate::{RunsSide, Side, Uploads};

/// Place of an array in [`crate::Plan::arrays`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArrayId(pub usize);

/// Part that an array has in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayRole {
    /// It is read.
    Source,
    /// One stage writes it in pieces, and a later one reads these.
    Intermediate,
    /// It is written.
    Target,
}

/// An array of a plan, as far as tasks depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanArray {
    /// Part that it has in the plan.
    pub role: ArrayRole,
    /// Shape, elements.
    pub shape: Vec<u64>,
    /// Bytes of one element.
    pub item_bytes: u64,
    /// Shape of a chunk, elements. Where chunks differ in length, the largest. Of an intermediate,
    /// the tile of the stage that writes it: the elements of one object.
    pub chunk: Vec<u64>,
    /// Where chunks end, on axes where they differ in length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Edges>,
    /// Shape of a shard, elements, where chunks lie in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Vec<u64>>,
    /// Its raw files, where a stage moves runs of their bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<RunsSide>,
    /// Form in which its objects are sent; `None`: always as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploads: Option<Uploads>,
}

/// The array that a plan has in place of one that it lacks; [`crate::Plan::check`] refuses it.
pub(crate) static NO_ARRAY: PlanArray =
    PlanArray::new(ArrayRole::Source, Vec::new(), 0, Vec::new());

impl PlanArray {
    /// An array of regular chunks, without shards.
    pub const fn new(role: ArrayRole, shape: Vec<u64>, item_bytes: u64, chunk: Vec<u64>) -> Self {
        let (edges, shard, runs, uploads) = (None, None, None, None);
        Self { role, shape, item_bytes, chunk, edges, shard, runs, uploads }
    }

    /// An array of `shape`, elements, in the chunks and shards of `side`.
    pub fn of_side(role: ArrayRole, shape: Vec<u64>, item_bytes: u64, side: &Side) -> Self {
        Self {
            edges: side.edges.clone(),
            shard: side.shard_shape().map(<[u64]>::to_vec),
            ..Self::new(role, shape, item_bytes, side.chunk_shape.clone())
        }
    }

    /// Bytes of a box of `shape`, elements.
    pub fn bytes_of(&self, shape: &[u64]) -> u64 {
        product(shape.iter().copied()).saturating_mul(self.item_bytes)
    }

    /// Number of boxes of `shape`, elements, that cover it.
    pub fn boxes_of(&self, shape: &[u64]) -> u64 {
        product(self.shape.iter().zip(shape).map(|(&extent, &edge)| extent.div_ceil(edge.max(1))))
    }

    /// Number of its chunks, which may differ in length.
    pub fn chunk_count(&self) -> u64 {
        let edges = |axis| self.edges.as_ref().and_then(|edges| edges.axis(axis));
        let regular = self.shape.iter().zip(&self.chunk).enumerate();
        product(regular.map(|(axis, (&extent, &edge))| match edges(axis) {
            Some(edges) => edges.count(),
            None => extent.div_ceil(edge.max(1)),
        }))
    }

    /// Shape of what becomes visible at once: a shard, else a chunk.
    pub fn commit_shape(&self) -> &[u64] {
        self.shard.as_ref().unwrap_or(&self.chunk)
    }
}
