//! Chunk-wise apply: tasks that read padded windows, and tasks that combine the blocks they leave.
//!
//! A task reads what its calls need, runs levels and operation on the CPU pool
//! ([`rechunk_apply::run_task`]), and writes its part of the target, or one block to the
//! intermediate. A pull task reads its pieces of blocks, combines them, and writes whole objects
//! of the target; of one that the box cuts, it keeps the rest. Pull tasks begin when their blocks
//! are there, beside tasks that make others. Tasks are numbered, marked and
//! resumed as those of a copy, and take their memory from the same gate.

pub(crate) mod block;
pub(crate) mod check;
mod order;
mod pull;
pub(crate) mod read;
pub(crate) mod stage;
mod task;
pub(crate) mod tasks;
pub(crate) mod window_op;
mod write;
