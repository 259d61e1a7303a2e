//! Chunk-wise apply as a whole, against a slow reference and worked numbers.

mod boundaries;
mod combine;
mod floats;
mod geometry;
mod job;
mod overlaps;
mod preparation;
mod reference;
mod refusals;
mod work;
