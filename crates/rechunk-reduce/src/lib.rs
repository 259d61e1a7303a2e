//! Reduces boxes of elements to fewer, for arrays in several resolutions. Pure.
//!
//! A *box* is a byte buffer of `shape` elements: native byte order, C order without gaps, of any
//! alignment. A *cell* has `factors` elements along the axes; cells are anchored at the start of
//! the box, and a cell that the end of the box cuts has the elements that exist. A reduction makes
//! one element of each cell: its output has `shape / factors` elements, rounded up.
//!
//! [`reduce`] computes one level. The means of several levels are rounded once each, however many
//! levels are above: [`sum_cells`] and [`fold_cells`] hand on exact sums, [`round_sums`] divides
//! them. [`reduce_masked`] and [`sum_cells_masked`] count some of the elements only. [`gaussian`]
//! looks at elements around a cell, which a [`GaussianWindow`] places.

mod cells;
mod columns;
mod counts;
mod element;
mod error;
mod extremes;
mod floats;
mod fold;
mod gaussian;
mod item;
mod kernel;
mod masked;
mod mean;
mod median;
mod method;
mod mode;
mod network;
mod quotient;
mod reduce;
mod stride;
mod sums;
mod taps;
mod window;

pub use counts::{Counts, fold_counts};
pub use error::ReduceError;
pub use gaussian::gaussian;
pub use masked::{reduce_masked, sum_cells_masked};
pub use method::{Method, Rounding};
pub use reduce::reduce;
pub use sums::{SumType, fold_cells, round_sums, sum_cells};
pub use window::{GaussianAxis, GaussianWindow};
