//! Operations as a caller has them: by name, on boxes.

mod errors;
mod harness;
mod neighbourhoods;
mod pointwise;
mod scipy;
mod statistics;
mod tiles;
