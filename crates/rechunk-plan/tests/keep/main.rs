//! The keep strategy for raw files: its formulas, its search and its geometry.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod geometry;
mod golden;
mod plan;
mod walk;
