//! Whole jobs on a simulated object store, several at once, under a clock that does not run: the
//! lease, the order of what is written, and the resumption of what others have left.
//!
//! `RECHUNK_SIM_SEEDS` is how many seeds to try, and `RECHUNK_SIM_SEED` one alone.
#![expect(clippy::disallowed_methods, reason = "a seed may be given in the environment")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

mod array;
mod damaged;
mod fenced;
mod groups;
mod part_start;
mod parts;
mod process;
mod ranges;
mod two_at_once;
