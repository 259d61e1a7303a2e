//! Chunk-wise apply as a whole, against a slow reference and worked numbers.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

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
