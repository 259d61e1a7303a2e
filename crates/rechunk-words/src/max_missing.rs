//! The limit of missing source chunks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Asked, WordError};

/// Limit of missing source chunks. Parsed from the text that the command line takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum MaxMissing {
    /// So many chunks.
    Chunks(u64),
    /// So many of a hundred chunks.
    Percent(f64),
}

impl MaxMissing {
    /// Reads `5%`, `0.1%`, `0` or `12`.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let text = text.trim();
        let parsed = match text.strip_suffix('%') {
            Some(number) => {
                let percent = number.trim().parse().ok();
                percent.filter(|percent| (0.0..=100.0).contains(percent)).map(Self::Percent)
            }
            None => text.parse().ok().map(Self::Chunks),
        };
        parsed.ok_or_else(|| {
            let message = format!("`{text}` is neither a number of chunks nor a percentage");
            WordError::new(message, Some("write it like 0, 12, 5% or 0.1%")).of(Asked::MaxMissing)
        })
    }

    /// So many chunks of so many may be missing.
    pub fn allows(self, chunks: u64, of: u64) -> bool {
        match self {
            Self::Chunks(most) => chunks <= most,
            Self::Percent(percent) => chunks as f64 * 100.0 <= percent * of as f64,
        }
    }

    /// `none may be`, or how many may be missing.
    pub fn sentence(self) -> String {
        match self {
            Self::Chunks(0) => "none may be".to_owned(),
            Self::Chunks(most) => format!("no more than {most} may be"),
            Self::Percent(percent) => format!("no more than {percent} % may be"),
        }
    }
}

text_form!(MaxMissing);

/// Writes what [`MaxMissing::parse`] reads.
impl fmt::Display for MaxMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chunks(chunks) => write!(f, "{chunks}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}
