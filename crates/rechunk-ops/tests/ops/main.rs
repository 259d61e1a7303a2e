//! Operations as a caller has them: by name, on boxes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]
#![expect(clippy::float_cmp, reason = "results are exact")]

mod errors;
mod harness;
mod neighbourhoods;
mod pointwise;
mod scipy;
mod statistics;
mod tiles;
