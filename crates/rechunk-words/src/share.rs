//! A share of the work, for one of many processes.

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
