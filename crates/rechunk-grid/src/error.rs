use thiserror::Error;

/// Why a shape or a grid cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// Two shapes that must have the same number of axes do not.
    #[error("the array has {array} axes but the chunk shape has {chunk}")]
    RankMismatch {
        /// Axes of the array.
        array: usize,
        /// Axes of the chunk shape.
        chunk: usize,
    },
    /// More axes than [`crate::RANK_MAX`].
    #[error("{rank} axes are more than the {max} that are supported")]
    TooManyAxes {
        /// Axes asked for.
        rank: usize,
        /// The limit.
        max: usize,
    },
    /// A chunk of extent zero.
    #[error("the chunk extent of axis {axis} is 0")]
    ZeroChunk {
        /// The axis, slowest first.
        axis: usize,
    },
    /// Chunks of different lengths do not make up an axis.
    #[error("the chunk lengths of axis {axis} {reason}")]
    ChunkLengths {
        /// The axis, slowest first.
        axis: usize,
        /// Fault of the lengths.
        reason: String,
    },
    /// The number of elements, bytes or chunks does not fit 64 bits.
    #[error("{what} of shape {shape:?} does not fit 63 bits")]
    TooLarge {
        /// Name of the count.
        what: &'static str,
        /// The shape it was counted over.
        shape: Vec<u64>,
    },
}
