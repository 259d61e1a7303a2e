//! Bugs that are planted.

/// A bug that is planted: the model has to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    /// A share lacks its last task.
    ShareLosesLast,
    /// A mark is put before its tasks are done.
    MarkBeforeTasks,
    /// Nobody looks whether the parts are open before it puts its mark.
    SkipsOpen,
    /// A worker does not read the journals of others that had its tasks.
    ReadsNoJournals,
    /// The end looks at no marks.
    EndsAtOnce,
}
