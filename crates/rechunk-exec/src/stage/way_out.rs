//! Way that finished units of a stage take.

/// Way that finished units of a stage take. It is chosen when the stage begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WayOut {
    /// They are pieces, and become part of an object of the intermediate.
    Pieces,
    /// They are encoded, and stored in the target.
    Write,
    /// They are compared with the target.
    Compare,
    /// Nothing is done with them: the source is read for its digest.
    Nothing,
}
