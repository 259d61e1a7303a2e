//! The literature's planners as named baselines: what a plan is compared with, never what is run.
//!
//! The push-pull-consolidated method is that of [rechunker]'s `rechunker/algorithm.py` (MIT): grow
//! the write chunks to the memory limit, grow the read chunks up to the write chunks, meet in an
//! intermediate of `min(read, write)`, and insert geometric stages until the intermediate chunks
//! are large enough. The regular variant is that of [cubed]'s `cubed/core/rechunk.py` (Apache-2.0).
//! Both are written here from a description of the method, with integer arithmetic only.
//!
//! Two differences from the originals are deliberate. Stage chunks are the floor of the *exact*
//! k-th root, where the originals floor a floating point `geomspace` and may so lose one element
//! where the root is an integer (see [`calculate_stage_chunks`]). And counts that do not fit 64
//! bits are errors.
//!
//! [rechunker]: https://github.com/pangeo-data/rechunker
//! [cubed]: https://github.com/cubed-dev/cubed

mod consolidate;
mod cubed;
mod error;
mod geometry;
mod multistage;
mod read_modify_write;
mod root;
mod traffic;

#[cfg(test)]
mod tests;

pub use consolidate::{Limit, consolidate_chunks};
pub use cubed::{CopyOp, cubed_copy_ops, cubed_multspace, cubed_regular_plan, cubed_stage_chunks};
pub use error::BaselineError;
pub use geometry::{calculate_single_stage_io_ops, chunk_count, split_chunksizes};
pub use multistage::{
    MultistagePlan, PlannerOptions, Rechunking, StageChunks, calculate_stage_chunks,
    multistage_rechunking_plan, rechunking_plan,
};
pub use read_modify_write::read_modify_write;
pub use traffic::{BaselineTraffic, naive, traffic_as_designed, traffic_as_executed};
