//! State that the tasks of a stage share, and the state of each task.

pub(crate) mod busy_tasks;
pub(crate) mod context;
pub(crate) mod digest;
pub(crate) mod in_place;
pub(crate) mod piece_place;
pub(crate) mod plain;
pub(crate) mod shards;
pub(crate) mod stage_op;
pub(crate) mod stage_run;
pub(crate) mod task;
pub(crate) mod way_in;
pub(crate) mod way_out;
