//! The plan as data: its tasks, its exact cost, its memory and its price. Pure.
//!
//! A [`Plan`] is a few hundred bytes for an array of any size, with exact counts of requests and
//! decoded bytes, the memory the run reserves, and a fingerprint. It is a chain of *tile streams*:
//! a task owns a tile of the array, reads the input chunks the tile meets in steps, and writes
//! each output unit once. [`Plan::geometry`] computes where the tasks are.
//!
//! A plan depends on a [`PlanRequest`] (shape, chunk shapes, codecs' costs, budget, profile), and
//! `rechunk-planner` looks for it. The counts of a stage ([`StageDraft::figures`]) and their price
//! ([`price()`]) are here, for the search and for comparisons.
//!
//! Raw files on both sides are read and written in runs of bytes, by a schedule of [`keep`].

mod absence;
mod apply_work;
mod array;
mod axis_cuts;
mod border;
mod check;
mod check_apply;
mod check_pyramid;
mod cost;
pub mod count;
mod cuts;
mod draft;
mod estimate;
mod files;
mod fingerprint;
mod geometry;
pub mod keep;
mod kernel;
mod memory;
mod object_lengths;
mod parts;
mod piece_tails;
mod plan;
mod price;
mod profile;
mod pyramid_steps;
mod pyramid_work;
mod raw_files;
mod request;
mod shares;
mod side;
mod stage;
mod stage_arrays;
mod target_cuts;
mod unit_counts;
mod uploads;
mod version_2;
mod window;

pub use apply_work::{ApplyWork, MissingChunks, Reads};
pub use array::{ArrayId, ArrayRole, PlanArray};
pub use axis_cuts::AxisCuts;
pub use cost::{Figures, StageDraft};
pub use cuts::Cuts;
pub use draft::{DraftInput, DraftOutput};
pub use estimate::{Estimate, Price, RoleEstimate};
pub use files::{FILE_PIECE_BYTES, estimate_files, file_part_bytes, file_pieces};
pub use geometry::{PIECE_CHECKSUM_BYTES, StageGeometry, Steps, piece_offset_elements};
pub use kernel::{Blend, Kernel, Levels, OpSpec, Way};
pub use memory::{LaneBytes, SteppedAxis, fixed_bytes, units_state_bytes, units_within};
pub use parts::part_bytes_max;
pub use plan::{PLAN_VERSION, Plan, PlanMemory, THREADS};
pub use price::{Parallel, price, price_traffic, priced};
pub use profile::{CodecSpeed, CodecSpeeds, Profile, ProfileNames, StoreProfile};
pub use pyramid_steps::{Held, StepLevel, held_of, pyramid_steps};
pub use pyramid_work::{
    LevelsFrom, MissingCells, PassInput, PyramidLevel, PyramidPass, PyramidWork, cells_of,
    parent_level, ratio,
};
pub use raw_files::keep_problem;
pub use request::{Budget, IntermediateGrid, PlanRequest, Strategy};
pub use shares::{Divided, share};
pub use side::{Parts, PartsSide, RunsSide, ShardSide, Side, TablesSide, shard_state_bytes};
pub use stage::{Stage, StageInput, StageOutput, Unit};
pub use target_cuts::TargetAxis;
pub use uploads::{Multipart, Uploads};
pub use version_2::{PlanFormError, read_plan};
pub use window::{Boundary, Scale, Window, Windowed};
