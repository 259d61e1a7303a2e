//! Classes of outcomes, which scripts can tell apart.

/// Class of an outcome; the command line exits with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Failed while running; what is done is kept.
    Failed = 1,
    /// The request itself is wrong.
    Usage = 2,
    /// The source is missing, unreadable, damaged or unsupported.
    Source = 3,
    /// The target exists, is locked or conflicts.
    Target = 4,
    /// It does not fit the memory budget.
    Memory = 5,
    /// Two arrays differ.
    Differ = 6,
    /// Other processes have not done yet what this one needs: it can be tried again.
    NotYet = 7,
    /// Interrupted; resumable.
    Interrupted = 130,
}
