//! The part of a stage that one of many processes does.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::WordError;

/// One of several equal shares: `3/40` is the fourth of forty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub struct Share {
    /// Its number, from 0.
    pub index: u64,
    /// Number of shares.
    pub of: u64,
}

impl Share {
    /// Reads `3/40`.
    ///
    /// ```
    /// use rechunk_words::Share;
    ///
    /// let share = Share::parse("3/40")?;
    /// assert_eq!((share.index, share.of), (3, 40));
    /// assert!(Share::parse("40/40").is_err(), "the last is 39/40");
    /// # Ok::<(), rechunk_words::WordError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let refuse = |message: String| {
            let hint = "write it like 0/40 for the first of forty, and 39/40 for the last";
            WordError::new(message, Some(hint))
        };
        let numbers = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.trim().parse().ok()?, of.trim().parse().ok()?)));
        let Some((index, of)) = numbers else {
            return Err(refuse(format!("`{text}` is not a share")));
        };
        if index >= of {
            return Err(refuse(format!("there is no share {index} of {of}: they begin with 0")));
        }
        Ok(Self { index, of })
    }
}

text_form!(Share);

/// Writes it as [`Share::parse`] reads it.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// Tasks of a stage that one process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum StagePart {
    /// One of several shares, which are equal by their cost.
    Share(Share),
    /// Tasks by their numbers, from 0.
    Tasks {
        /// The first.
        start: u64,
        /// The one behind the last.
        end: u64,
    },
}

impl StagePart {
    /// Reads a share, `3/40`, or numbers of tasks, `12..16` (16 is not one of them).
    ///
    /// ```
    /// use rechunk_words::{Share, StagePart};
    ///
    /// assert_eq!(StagePart::parse("3/40")?, StagePart::from(Share::parse("3/40")?));
    /// assert_eq!(StagePart::parse("12..16")?.to_string(), "12..16");
    /// assert!(StagePart::parse("16..12").is_err(), "it has no task");
    /// # Ok::<(), rechunk_words::WordError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let Some((start, end)) = text.split_once("..") else {
            return Share::parse(text).map(Self::Share);
        };
        let number = |text: &str| text.trim().parse::<u64>().ok();
        match number(start).zip(number(end)) {
            Some((start, end)) if start < end => Ok(Self::Tasks { start, end }),
            _ => {
                let hint = "write it like 0..4 for the first four tasks";
                Err(WordError::new(format!("`{text}` is no range of tasks"), Some(hint)))
            }
        }
    }
}

text_form!(StagePart);

/// Writes it as [`StagePart::parse`] reads it.
impl fmt::Display for StagePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => share.fmt(f),
            Self::Tasks { start, end } => write!(f, "{start}..{end}"),
        }
    }
}

impl From<Share> for StagePart {
    fn from(share: Share) -> Self {
        Self::Share(share)
    }
}
