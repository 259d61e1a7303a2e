//! The codec that is wanted, in words that only the target's format gives a meaning.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::WordError;

/// Codec that is wanted, by its name and settings, or in JSON. Formats know different ones, so
/// a text is held against the format of the target, not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodecSpec(String);

impl CodecSpec {
    /// Codecs that stay as they are, by whatever name the target has for them.
    pub fn keep() -> Self {
        Self("keep".to_owned())
    }

    /// Chunks that are stored as they are.
    pub fn none() -> Self {
        Self("none".to_owned())
    }

    /// True if codecs stay as they are.
    pub fn is_keep(&self) -> bool {
        self.0.trim() == "keep"
    }

    /// True if there is to be none.
    pub fn is_none(&self) -> bool {
        self.0 == "none"
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Takes any words: what they mean depends on the format of the target.
impl FromStr for CodecSpec {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for CodecSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
