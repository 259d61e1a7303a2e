//! Bugs that are planted.

/// A bug that is planted: the simulation has to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    /// A mark is put when its data have been sent, and not when they are there.
    MarkBeforeData,
    /// Parts do not see that they were closed.
    PartsSeemOpen,
    /// A mark says more than what was done.
    MarkOfMore,
}
