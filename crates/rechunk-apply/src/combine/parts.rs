//! Buffers, errors and results that all rules share.

use rechunk_grid::DataType;
use thiserror::Error;

use crate::form::Rule;
use crate::voxel_box::VoxelBox;

/// Why contributions cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CombineError {
    /// A buffer has not the bytes of its box.
    #[error("a block of shape {shape:?} has {found} bytes instead of {expected}")]
    Bytes {
        /// Shape of the box.
        shape: Vec<u64>,
        /// Bytes that the buffer has.
        found: usize,
        /// Bytes that it should have.
        expected: u128,
    },
    /// A box is too large for the memory of the machine.
    #[error("a box of shape {shape:?} takes {bytes} bytes, more than can be addressed")]
    Memory {
        /// Shape of the box.
        shape: Vec<u64>,
        /// Bytes it takes.
        bytes: u128,
    },
    /// Floats were not added in ascending order, on which their last bits depend.
    #[error("block {ordinal} was added after block {after}: floats are added in ascending order")]
    Order {
        /// Number that was added.
        ordinal: u64,
        /// Number before it.
        after: u64,
    },
    /// Weights do not add up to 1: a contribution was forgotten, or came twice.
    #[error(
        "contributions to a region of shape {shape:?} do not add up: one is missing, or came twice"
    )]
    Incomplete {
        /// Shape of the region.
        shape: Vec<u64>,
    },
    /// Elements of the type have no such rule.
    #[error("{data_type} has no arithmetic for the rule {rule:?}")]
    Type {
        /// Data type.
        data_type: DataType,
        /// Rule.
        rule: Rule,
    },
    /// Boxes have different numbers of axes.
    #[error("a block has {found} axes, the region {expected}")]
    Axes {
        /// Axes of the block.
        found: usize,
        /// Axes of the region.
        expected: usize,
    },
}

/// A buffer and its box: elements of the input form in C order, in the byte order of the machine.
/// The buffer may begin anywhere in memory.
#[derive(Debug, Clone, Copy)]
pub struct BlockView<'a> {
    /// Box of the buffer.
    pub bounds: &'a VoxelBox,
    /// Elements.
    pub bytes: &'a [u8],
}

/// Voxels that got a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Each voxel of the region.
    Whole,
    /// Some of them; the others of the result are as they were.
    Part,
    /// None.
    Nothing,
}

impl Coverage {
    /// Coverage of a region of which `covered` of `all` voxels have a value.
    pub(super) fn of(covered: u128, all: u128) -> Self {
        match covered {
            _ if covered == all => Self::Whole,
            0 => Self::Nothing,
            _ => Self::Part,
        }
    }
}

/// Bytes of `bounds` as an allocation.
pub(super) fn size(bounds: &VoxelBox, item_bytes: u64) -> Result<usize, CombineError> {
    let bytes = bounds.elements().saturating_mul(item_bytes.into());
    let fits = usize::try_from(bytes).ok().filter(|&bytes| isize::try_from(bytes).is_ok());
    fits.ok_or_else(|| CombineError::Memory { shape: bounds.shape(), bytes })
}
