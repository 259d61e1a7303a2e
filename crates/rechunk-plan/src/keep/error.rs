use rechunk_grid::GridError;
use thiserror::Error;

/// Why there is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeepError {
    /// A shape or block shape cannot be used.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A list does not name every axis once.
    #[error("{what} {axes:?} does not name each of {rank} axes once")]
    NotAnOrder {
        /// The list.
        what: &'static str,
        /// Axes in the list.
        axes: Vec<usize>,
        /// Axes of the array.
        rank: usize,
    },
    /// Not even one element fits.
    #[error("one element of {item_bytes} bytes does not fit {memory_bytes} bytes of memory")]
    NoElementFits {
        /// Bytes that were allowed.
        memory_bytes: u64,
        /// Bytes of one element.
        item_bytes: u64,
    },
    /// The buffer, its kept axes or its order do not belong to the array.
    #[error("the schedule does not fit the array: {why}")]
    NotOfThisArray {
        /// Reason why it does not fit.
        why: &'static str,
    },
}
