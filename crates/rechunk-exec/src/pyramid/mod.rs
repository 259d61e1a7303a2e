//! Pyramids: tasks that read boxes of an array and write the cells of several levels.
//!
//! A task owns a tile that no object of a level shares with another. It goes over the tile step by
//! step, in an order in which chunks of coarse levels are filled one after the other: each step is
//! read once, reduced to the cells of all levels of its pass, and chunks that are complete go out.
//! Where a level is too coarse for tasks of its own, a pass leaves blocks of results that are not
//! rounded, which the next pass reads. Tasks are numbered, marked and resumed as those of a copy,
//! and take their memory from the same gate.

mod blocks;
pub(crate) mod check;
mod compute;
mod filling;
pub(crate) mod levels;
mod read;
pub(crate) mod stage;
mod stored;
mod task;
pub(crate) mod tasks;
mod write;
