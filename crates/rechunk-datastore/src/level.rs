use serde::{Deserialize, Serialize};

use crate::boxes::Box3;

/// A resolution of a data set. Lists are x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// Elements of the finest resolution, along each axis, for one of this.
    pub resolutions: [u64; 3],
    /// Elements of a full block along each axis.
    pub block_dimensions: [u64; 3],
    /// Elements of a shard along each axis; `None`: each block is an object of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_dimensions: Option<[u64; 3]>,
}

impl Level {
    /// Elements along each axis, of a data set of `dimensions` at its finest resolution: whole
    /// cells, at least one.
    pub fn dimensions(&self, dimensions: [u64; 3]) -> [u64; 3] {
        std::array::from_fn(|axis| (dimensions[axis] / self.resolutions[axis].max(1)).max(1))
    }

    /// Elements of the finest resolution for one of this.
    pub(crate) fn volume(&self) -> u64 {
        self.resolutions.iter().fold(1, |volume: u64, factor| volume.saturating_mul(*factor))
    }

    /// The elements of the block at a position, as many as a level of `extents` has.
    pub(crate) fn block(&self, position: [u64; 3], extents: [u64; 3]) -> Box3 {
        let full = self.block_dimensions;
        let start: [u64; 3] = std::array::from_fn(|axis| position[axis].saturating_mul(full[axis]));
        let size =
            std::array::from_fn(|axis| full[axis].min(extents[axis].saturating_sub(start[axis])));
        Box3 { start, size }
    }

    /// Blocks of an object along each axis: more than one where blocks lie in shards.
    pub(crate) fn object_blocks(&self) -> [u64; 3] {
        let full = self.block_dimensions;
        let object = self.shard_dimensions.unwrap_or(full);
        std::array::from_fn(|axis| object[axis].div_ceil(full[axis].max(1)).max(1))
    }
}
