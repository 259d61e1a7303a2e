//! Ways of a finished unit: to the target, to be compared with it, or into an intermediate.

pub(crate) mod compare;
pub(crate) mod kept;
pub(crate) mod pieces;
pub(crate) mod target;
pub(crate) mod write;
