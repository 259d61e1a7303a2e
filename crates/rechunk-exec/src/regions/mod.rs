//! Parts of stages whose tasks read and write regions of arrays: those of applies and of pyramids.

pub(crate) mod check;
pub(crate) mod fault;
pub(crate) mod spare;
pub(crate) mod stage;
