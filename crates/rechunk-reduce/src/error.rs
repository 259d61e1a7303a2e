//! Why a box cannot be reduced.

use rechunk_grid::DataType;
use thiserror::Error;

/// Why a box cannot be reduced.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReduceError {
    /// The method does not work on elements of this type.
    #[error("method `{method}` does not take {data_type} elements: it takes {taken}")]
    DataType {
        /// Name of the method.
        method: &'static str,
        /// Type of the elements.
        data_type: DataType,
        /// Types that it takes.
        taken: &'static str,
    },
    /// The method has a function of its own.
    #[error("method `{method}` does not reduce cells by themselves: it looks around them")]
    LooksAround {
        /// Name of the method.
        method: &'static str,
    },
    /// Factors are given for another number of axes than the box has.
    #[error("{given} factors are given for a box of {rank} axes; give one for each axis")]
    Rank {
        /// Number of factors.
        given: usize,
        /// Axes of the box.
        rank: usize,
    },
    /// A factor is 0.
    #[error("the factor of axis {axis} is 0, the least is 1")]
    Factor {
        /// The axis, from 0, slowest first.
        axis: usize,
    },
    /// A buffer does not hold the box that it is said to hold.
    #[error("the {buffer} has {given} {unit}, its shape has {expected}")]
    Buffer {
        /// Name of the buffer.
        buffer: &'static str,
        /// Length that was given.
        given: usize,
        /// Length of the shape.
        expected: usize,
        /// Unit of both lengths.
        unit: &'static str,
    },
    /// A box has more elements than can be addressed.
    #[error("a box of {shape} elements cannot be addressed; use smaller boxes")]
    TooLarge {
        /// Shape of the box.
        shape: String,
    },
    /// A sum could pass the range of its type.
    #[error(
        "a cell has {elements} elements, or sums of as many; its exact sum needs at most {limit}"
    )]
    TooManyElements {
        /// Elements of a whole cell, or sums that are added for one.
        elements: u64,
        /// The most that surely fit.
        limit: u64,
    },
    /// A cell of a window begins after the end of its box.
    #[error(
        "axis {axis} of the window has {cells} cells from element {start} on, beyond its {extent}"
    )]
    Window {
        /// The axis, from 0, slowest first.
        axis: usize,
        /// Element at which the first cell begins.
        start: u64,
        /// Cells along the axis.
        cells: u64,
        /// Elements of the box along the axis.
        extent: u64,
    },
}
