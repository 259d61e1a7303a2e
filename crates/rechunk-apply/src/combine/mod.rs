//! Combining: contributions of overlapping task boxes become one value per voxel.

mod accumulator;
mod element;
mod float_sum;
mod integer_sum;
mod lane;
mod largest;
mod moved;
mod parts;
mod rounded;
mod rows;
mod weights;

pub use accumulator::Accumulator;
pub use parts::{BlockView, CombineError, Coverage};

pub(crate) use moved::{cut, fill};
