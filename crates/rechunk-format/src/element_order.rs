//! Order of elements in memory.

use rechunk_grid::Endian;
use serde::{Deserialize, Serialize};

/// Order of the elements of a decoded chunk in memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ElementOrder {
    /// The array's axes, slowest-varying in storage first: `[0, 1, 2]` is C order, `[2, 1, 0]` F.
    pub axes: Vec<usize>,
    /// Byte order of an element.
    pub endian: Endian,
}

impl ElementOrder {
    /// C order of `rank` axes, little-endian.
    pub fn c_little(rank: usize) -> Self {
        Self { axes: (0..rank).collect(), endian: Endian::Little }
    }

    /// Byte distance between neighbours along each axis (indexed by C axis) in a chunk of
    /// `chunk_shape` stored contiguously in this order.
    pub fn strides_bytes(&self, chunk_shape: &[u64], item_bytes: u64) -> Vec<u64> {
        let mut strides = vec![0; chunk_shape.len()];
        let mut stride = item_bytes;
        for &axis in self.axes.iter().rev() {
            strides[axis] = stride;
            stride *= chunk_shape[axis];
        }
        strides
    }
}
