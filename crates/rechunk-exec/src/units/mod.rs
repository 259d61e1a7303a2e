//! Inputs and units of a task: where their elements lie, and which of them are there.

pub(crate) mod frame;
pub(crate) mod input;
pub(crate) mod slabs;
pub(crate) mod stored;
pub(crate) mod unit;
