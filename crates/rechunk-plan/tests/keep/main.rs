//! The keep strategy for raw files: its formulas, its search and its geometry.
#![expect(clippy::disallowed_methods, reason = "planning has to be quick")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod geometry;
mod golden;
mod walk;
