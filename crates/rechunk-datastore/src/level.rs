use serde::{Deserialize, Serialize};

/// A resolution of a data set. Lists are x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// Elements of the finest resolution, along each axis, for one of this.
    pub resolutions: [u64; 3],
    /// Elements of a full block along each axis.
    pub block_dimensions: [u64; 3],
}

impl Level {
    /// Elements along each axis, of a data set of `dimensions` at its finest resolution: whole
    /// cells, at least one.
    pub fn dimensions(&self, dimensions: [u64; 3]) -> [u64; 3] {
        std::array::from_fn(|axis| (dimensions[axis] / self.resolutions[axis].max(1)).max(1))
    }
}
