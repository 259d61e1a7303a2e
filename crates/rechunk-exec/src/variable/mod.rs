//! Elements that differ in length: source chunks are decoded, cut and joined to target chunks.
//!
//! The size of a chunk is known when it has been read, so a task counts what it has in memory
//! ([`account`]) within the bytes that its plan has reserved, and those that all tasks of the plan
//! leave of the budget. Work that finds no room is done again when nothing else is under way; where
//! that is not enough the task takes its tile in halves, and where one target chunk does not fit
//! the run ends with the memory that it would take.
//!
//! Tasks, shards, journal, digest and meter are those of any copy.

pub(crate) mod account;
mod assembly;
mod filling;
mod read;
mod send;
pub(crate) mod state;
pub(crate) mod task;
mod work;
