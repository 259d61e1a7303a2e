//! Operations on each element and its neighbours.

mod blocks;
pub(crate) mod gaussian;
mod linear;
mod real;
mod taps;
