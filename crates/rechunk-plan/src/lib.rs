//! Turns two array specs and a budget into a plan, its cost and its explanation. Pure.
//!
//! [`plan`] takes a [`PlanRequest`] (shape, chunk shapes, codecs' costs, budget, profile) and
//! gives a [`Plan`]: data, a few hundred bytes for an array of any size, with exact counts of
//! requests and decoded bytes, the memory the run reserves, and a fingerprint. A plan is a chain
//! of *tile streams*: a task owns a tile of the array, reads the input chunks the tile meets in
//! steps, and writes each output unit once. [`Plan::geometry`] computes where the tasks are.
//!
//! Raw files on both sides are read and written in runs of bytes, by a schedule of [`keep`].
//!
//! [`baseline`] has the literature's planners, to compare with.

mod absence;
pub mod baseline;
mod border;
mod bound;
mod check;
mod choice;
mod cost;
mod count;
mod cuts;
mod draft;
mod error;
mod estimate;
mod families;
mod files;
mod fingerprint;
mod geometry;
mod inputs;
pub mod keep;
mod least;
mod memory;
mod parts;
mod plan;
mod planned;
mod planner;
mod price;
mod profile;
mod raw_files;
mod request;
mod runs;
mod search;
mod side;
mod sizing;
mod stage;
mod unit_counts;
mod uploads;

pub use count::pairs;
pub use error::PlanError;
pub use estimate::{Estimate, Price, RoleEstimate};
pub use files::{FILE_PIECE_BYTES, estimate_files, file_part_bytes, file_pieces};
pub use geometry::{PIECE_CHECKSUM_BYTES, StageGeometry, Steps, piece_offset_elements};
pub use memory::units_within;
pub use parts::part_bytes_max;
pub use plan::{PLAN_VERSION, Plan, PlanMemory};
pub use planned::{Candidate, CandidateOutcome, Planned};
pub use planner::{cheapest, plan};
pub use price::price_traffic;
pub use profile::{CodecSpeed, CodecSpeeds, Profile, ProfileNames, StoreProfile};
pub use request::{Budget, IntermediateGrid, PlanRequest, Strategy};
pub use runs::{BOUNCE_BYTES, RunsBaseline, runs_baseline};
pub use side::{Parts, PartsSide, RunsSide, ShardSide, Side, shard_state_bytes};
pub use stage::{Stage, StageInput, StageOutput};
pub use uploads::{Multipart, Uploads};
