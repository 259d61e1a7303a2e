use std::fmt;

use thiserror::Error;

/// Which of the buffers an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// The one that is read; the first of two that are compared.
    Source,
    /// The one that is written; the second of two that are compared.
    Target,
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Target => "target",
        })
    }
}

/// Why a box cannot be copied, filled or compared. Nothing has been written then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// An element of no bytes.
    #[error("an element of 0 bytes cannot be moved")]
    EmptyItem,
    /// The groups of bytes to be swapped do not make up an element.
    #[error("an element of {item_bytes} bytes is not made of groups of {swap_bytes} to be swapped")]
    UnevenSwap {
        /// Bytes of an element.
        item_bytes: usize,
        /// Bytes of a group.
        swap_bytes: usize,
    },
    /// Shape and strides differ in the number of axes.
    #[error("the box has {shape} axes but the {buffer} has {strides} strides")]
    RankMismatch {
        /// Axes of the box.
        shape: usize,
        /// Strides given.
        strides: usize,
        /// The buffer.
        buffer: Buffer,
    },
    /// The box does not lie inside the buffer.
    #[error("the box ends at byte {needed_bytes} of a {buffer} of {available_bytes} bytes")]
    OutOfBounds {
        /// The buffer.
        buffer: Buffer,
        /// Bytes the buffer would have to have.
        needed_bytes: u64,
        /// Bytes it has.
        available_bytes: u64,
    },
    /// The end of the box, or an extent, is not a number this machine can address.
    #[error("the box of shape {shape:?} in the {buffer} ends beyond what can be addressed")]
    TooLarge {
        /// The buffer.
        buffer: Buffer,
        /// The box, elements.
        shape: Vec<u64>,
    },
}
