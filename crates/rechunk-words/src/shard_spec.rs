//! Shards that are wanted, in the words of chunks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::WordError;
use crate::chunk_spec::ChunkSpec;

/// Shards that are wanted. Parsed from the text that the command line takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum ShardSpec {
    /// An object per chunk: `none`.
    None,
    /// Objects of a shape, in the words of chunks.
    Shape(ChunkSpec),
}

impl ShardSpec {
    /// Parses a specification; says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        match text.trim() {
            "none" => Ok(Self::None),
            shape => ChunkSpec::parse(shape).map(Self::Shape),
        }
    }

    /// Returns the shape that objects are to have; `None` for an object per chunk.
    pub fn shape(&self) -> Option<&ChunkSpec> {
        match self {
            Self::None => None,
            Self::Shape(shape) => Some(shape),
        }
    }

    /// True if they stay as they are in the source.
    pub fn is_keep(&self) -> bool {
        *self == Self::Shape(ChunkSpec::Keep)
    }
}

text_form!(ShardSpec);

/// Writes what [`ShardSpec::parse`] reads.
impl fmt::Display for ShardSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Shape(shape) => shape.fmt(f),
        }
    }
}
