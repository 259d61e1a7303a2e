//! Operations on each element and its neighbours.

mod blocks;
pub(crate) mod derivative;
pub(crate) mod dog;
pub(crate) mod extremes;
pub(crate) mod gaussian;
mod linear;
pub(crate) mod mean;
pub(crate) mod median;
mod real;
mod taps;
mod window;
