//! `--max-missing`: how much of a source may be missing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

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
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let parsed = match text.strip_suffix('%') {
            Some(number) => {
                let percent = number.trim().parse().ok();
                percent.filter(|percent| (0.0..=100.0).contains(percent)).map(Self::Percent)
            }
            None => text.parse().ok().map(Self::Chunks),
        };
        parsed.ok_or_else(|| Error::Usage {
            message: format!(
                "--max-missing: `{text}` is neither a number of chunks nor a percentage"
            ),
            hint: Some("write it like 0, 12, 5% or 0.1%".into()),
        })
    }

    /// So many chunks of so many may be missing.
    pub(crate) fn allows(self, chunks: u64, of: u64) -> bool {
        match self {
            Self::Chunks(most) => chunks <= most,
            Self::Percent(percent) => chunks as f64 * 100.0 <= percent * of as f64,
        }
    }
}

impl FromStr for MaxMissing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl TryFrom<String> for MaxMissing {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

impl From<MaxMissing> for String {
    fn from(most: MaxMissing) -> Self {
        most.to_string()
    }
}

/// Writes what [`MaxMissing::parse`] reads.
impl fmt::Display for MaxMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chunks(chunks) => write!(f, "{chunks}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}
