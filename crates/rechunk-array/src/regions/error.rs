//! Reasons why a region cannot be read or written.

use rechunk_grid::GridError;
use rechunk_kernel::KernelError;
use thiserror::Error;

use crate::ArrayError;

/// Why a region cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RegionError {
    /// The region does not lie in the array.
    #[error(
        "the region that starts at {start:?} and has the shape {extent:?} does not lie in {array}, \
         whose shape is {shape:?}"
    )]
    Outside {
        /// The array's location.
        array: String,
        /// First element of the region.
        start: Vec<u64>,
        /// Shape of the region.
        extent: Vec<u64>,
        /// Shape of the array.
        shape: Vec<u64>,
    },
    /// The buffer has another size than the region.
    #[error("the region of {array} has {needed_bytes} bytes, but the buffer has {given_bytes}")]
    Buffer {
        /// The array's location.
        array: String,
        /// Bytes of the region.
        needed_bytes: u64,
        /// Bytes of the buffer.
        given_bytes: u64,
    },
    /// Elements differ in length, so that their bytes are no box.
    #[error("the elements of {array} differ in length (strings, or bytes): they have no regions")]
    Variable {
        /// The array's location.
        array: String,
    },
    /// One chunk takes more memory than all may take together.
    #[error(
        "a chunk of {array} takes {needed_bytes} bytes on its way, but no more than {memory_bytes} \
         are allowed"
    )]
    Memory {
        /// The array's location.
        array: String,
        /// Bytes that one chunk takes, stored and decoded.
        needed_bytes: u64,
        /// Bytes allowed.
        memory_bytes: u64,
    },
    /// A buffer of that size is not made.
    #[error(
        "the region of {array} has {needed_bytes} bytes, and no buffer of more than \
         {returned_bytes_max} is made for it"
    )]
    TooLarge {
        /// The array's location.
        array: String,
        /// Bytes of the region.
        needed_bytes: u64,
        /// Bytes allowed.
        returned_bytes_max: u64,
    },
    /// Nothing can be written there.
    #[error("{array} is only read: it is {reason}")]
    ReadOnly {
        /// The array's location.
        array: String,
        /// Form in which it is stored.
        reason: String,
    },
    /// A chunk cannot be read, written or decoded.
    #[error(transparent)]
    Chunk(#[from] ArrayError),
    /// The elements have no place: the grid of chunks or a buffer contradicts itself.
    #[error("the elements cannot be laid out: {reason}")]
    Geometry {
        /// Contradiction, in words.
        reason: String,
    },
    /// The runtime ended before the region was read or written.
    #[error("the runtime ended before all chunks were done")]
    Stopped,
}

impl From<GridError> for RegionError {
    fn from(error: GridError) -> Self {
        Self::Geometry { reason: error.to_string() }
    }
}

impl From<KernelError> for RegionError {
    fn from(error: KernelError) -> Self {
        Self::Geometry { reason: error.to_string() }
    }
}

impl RegionError {
    /// The error of a chunk, where a chunk is to blame.
    pub fn chunk(&self) -> Option<&ArrayError> {
        match self {
            Self::Chunk(error) => Some(error),
            _ => None,
        }
    }

    /// True if the caller asked for what cannot be, whatever is stored.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Outside { .. }
                | Self::Buffer { .. }
                | Self::Variable { .. }
                | Self::TooLarge { .. }
                | Self::ReadOnly { .. }
        )
    }
}
