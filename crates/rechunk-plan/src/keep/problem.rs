//! The question, and the shape of an answer.

use serde::{Deserialize, Serialize};

/// An array cut into raw files in two ways. Files hold the elements of a block contiguously, so
/// that any run of bytes of them can be read or written by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Shape of the array, elements.
    pub shape: Vec<u64>,
    /// Shape of a source file, elements; those at the end of an axis are clipped.
    pub source_block: Vec<u64>,
    /// Shape of a target file, elements; those at the end of an axis are clipped.
    pub target_block: Vec<u64>,
    /// Bytes of one element.
    pub item_bytes: u64,
    /// Bytes that buffers and carried pieces may take together.
    pub memory_bytes: u64,
    /// Axes in the order a source file stores them, slowest first: `0, 1, …` is C order.
    pub source_order: Vec<usize>,
    /// Axes in the order a target file stores them, slowest first.
    pub target_order: Vec<usize>,
}

impl Problem {
    /// The problem with both sides in C order.
    pub fn in_c_order(
        shape: &[u64],
        source_block: &[u64],
        target_block: &[u64],
        item_bytes: u64,
        memory_bytes: u64,
    ) -> Self {
        Self {
            shape: shape.to_vec(),
            source_block: source_block.to_vec(),
            target_block: target_block.to_vec(),
            item_bytes,
            memory_bytes,
            source_order: (0..shape.len()).collect(),
            target_order: (0..shape.len()).collect(),
        }
    }
}

/// Order of reads, and elements that wait in memory: each is read once and written once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Shape of a buffer, elements: what is read at a time. The last ones of an axis are clipped.
    pub buffer: Vec<u64>,
    /// Axes on which what overlaps the end of a buffer is carried in memory until its target file
    /// is complete. On the others it is written at once, in a part.
    pub kept: Vec<bool>,
    /// Axes of the loop over buffers, slowest first.
    pub step_axes: Vec<usize>,
}
