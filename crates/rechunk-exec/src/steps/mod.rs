//! Steps of a task: which inputs are taken in when, by which lane, and which units go out.

pub(crate) mod ahead;
pub(crate) mod announced;
pub(crate) mod begun_steps;
pub(crate) mod flow;
pub(crate) mod loans;
pub(crate) mod local_jobs;
pub(crate) mod send_out;
pub(crate) mod slot;
pub(crate) mod step_marks;
pub(crate) mod take_in;
