use thiserror::Error;

/// Rule of a contract that does not hold, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Violation(String);

impl Violation {
    /// Makes one of a sentence.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Returns `holds` as a result; `text` says what does not hold otherwise.
#[cfg(any(feature = "formats", feature = "stores"))]
pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation(text())) }
}
