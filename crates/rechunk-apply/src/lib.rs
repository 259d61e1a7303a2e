//! Chunk-wise apply as data and arithmetic: everything of it that needs no I/O. Pure.
//!
//! A user has an array larger than memory and an operation on boxes of it. An [`ApplySpec`] says
//! in which work chunks, with which pads, in how many levels; [`prepare`] checks it and gives an
//! [`ApplyPlan`], in which tasks and reduction boxes are computed on demand.
//!
//! Terms, with level 0 at the bottom. A *work chunk* is what an operation gives before pads. Grown
//! by the *blend* on each side it is a *task box*, which overlaps with those of its neighbours.
//! The *crop* of a level is computed beyond a task box, and dropped. The *region* of a level is
//! what its work chunks tile: the box, or a task box of the level above with the crop.
//!
//! A task is one work chunk of the top level. It runs the levels below in memory ([`run_task`])
//! and leaves one block. Where blocks overlap, or array chunks lie in two of them, pull tasks
//! gather them ([`ApplyPlan::contributors`]) and combine them ([`Accumulator`]); each array chunk
//! is written by one of these only.
//!
//! Positions are voxels of the target in signed coordinates ([`VoxelBox`]), C order.

mod bottom;
mod boundary;
mod combine;
mod counts;
mod covered;
mod deferred;
mod error;
mod floor_sum;
mod form;
mod memory;
mod pieces;
mod plan;
mod prepare;
mod ramp;
mod reductions;
mod run;
mod source;
mod source_reads;
mod spec;
mod summary;
mod tasks;
mod tiles;
mod voxel_box;

pub use bottom::{AxisLeaf, BottomTile};
pub use boundary::{AxisWindow, Boundary, BoundaryError, fill_padded};
pub use combine::{Accumulator, BlockView, CombineError, Coverage};
pub use counts::{Counts, WrittenChunks};
pub use deferred::DeferredArray;
pub use error::{ApplyError, ErrorCode};
pub use form::{Combine, Encoding, Lane, Rule, ValueForm};
pub use memory::TaskMemory;
pub use pieces::BlockPiece;
pub use plan::{ApplyPlan, Level, Way};
pub use prepare::prepare;
pub use ramp::{AxisWeights, Ramp, TileWeights};
pub use reductions::AxisReductions;
pub use run::{OpOutput, RunError, TaskOutput, run_task};
pub use source_reads::{SourceGrid, SourceReads};
pub use spec::{
    AXIS_CALLS_MAX, ApplySpec, BoxSpec, EXTENT_MAX, Expand, LEVELS_MAX, LevelSpec, Mode, Round,
    SCALE_MAX, ScaleRatio, TargetGrid, ValueKind, levels_of_inputs,
};
pub use summary::{LevelSummary, Summary};
pub use tasks::{IndexBox, TopTask};
pub use tiles::AxisTiles;
pub use voxel_box::{Span, VoxelBox};
