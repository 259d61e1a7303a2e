//! Finds the cheapest plan between two arrays within a budget, and says what its rivals cost. Pure.
//!
//! [`plan`] takes a [`PlanRequest`](rechunk_plan::PlanRequest) (shape, chunk shapes, codecs' costs,
//! budget, profile) and gives a [`Planned`]: a [`Plan`](rechunk_plan::Plan) and the candidates it
//! was chosen among. [`cheapest`] chooses the same and skips kinds that cannot be cheaper.
//!
//! Raw files on both sides are planned by a schedule of [`rechunk_plan::keep`].
//!
//! [`baseline`] has the literature's planners, to compare with.

mod apply;
mod arrays;
pub mod baseline;
mod bound;
mod by_region;
mod choice;
mod draft;
mod error;
mod families;
mod inputs;
mod least;
mod planned;
mod planner;
mod pyramid;
mod runs;
mod search;
mod sizing;

pub use apply::{ApplyPlanRequest, ApplySource, plan_apply};
pub use error::PlanError;
pub use planned::{Candidate, CandidateOutcome, Planned};
pub use planner::{cheapest, plan};
pub use pyramid::{PyramidPlanRequest, PyramidTarget, plan_pyramid};
pub use runs::{BOUNCE_BYTES, RunsBaseline, runs_baseline};
