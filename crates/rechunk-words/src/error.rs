//! The refusal of a text.

use thiserror::Error;

/// The part of a request that a text was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The type that elements are cast to.
    Cast,
    /// The limit of missing chunks.
    MaxMissing,
    /// The region of a source.
    Selection,
    /// The region of a target.
    Region,
    /// The settings of some arrays of a group.
    Rule,
}

/// Why a text cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct WordError {
    /// Part of the request that it was for; `None` if `message` says it, or if many parts have such
    /// texts.
    pub asked: Option<Asked>,
    /// Mistake, in a sentence.
    pub message: String,
    /// Advice for another text, if there is any.
    pub hint: Option<String>,
}

impl WordError {
    /// A mistake in a text that any part of a request may have.
    pub fn new(message: impl Into<String>, hint: Option<&str>) -> Self {
        Self { asked: None, message: message.into(), hint: hint.map(str::to_owned) }
    }

    /// Returns this for a text of `asked`.
    #[must_use]
    pub fn of(self, asked: Asked) -> Self {
        Self { asked: Some(asked), ..self }
    }
}
