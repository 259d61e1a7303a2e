//! One plan, many processes: each does shares of a stage, wherever the stores can be reached.
//!
//! A job is *open to parts* while its saved job names them (`parts`, a random name). Nobody holds
//! the target meanwhile. A part keeps a journal of its own, and when its share is done puts one
//! object that says so (`marks.rs`). Tasks write whole objects that nobody else writes, of the same
//! bytes each time: parts may run twice, at once, or late. Whoever finishes takes the target for
//! itself, gathers the marks into the journal of the job, and goes on as an interrupted run does
//! that has done all.

mod begin;
mod ending;
mod finish;
mod kinds;
mod marks;
#[cfg(test)]
mod model;
mod part;
mod part_report;
mod status;
mod todo;
mod worker;

pub(crate) use begin::{Patience, State};
pub(crate) use ending::Ending;
pub(crate) use finish::not_written;
pub(crate) use kinds::{check_kind, no_shared_target, shared_place};
pub(crate) use part::{closed, no_part, no_stage, overwrites, wait_for_parts};
pub(crate) use part_report::add_name;
pub use part_report::{MarkedTasks, PartReport, PartsReport, StageTasks};
pub use status::WorkerProgress;
pub(crate) use status::parts_status;
pub(crate) use worker::live_worker;
