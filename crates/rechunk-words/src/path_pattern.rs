//! Patterns for the paths of arrays: `*` stays within a name, `**` goes across.

use std::fmt;

use glob::Pattern as Glob;
use serde::{Deserialize, Serialize};

use crate::WordError;

/// Spelling of a name with brackets, where one without them matches too.
pub(crate) const ESCAPES: &str = "to mean a [, ], * or ? itself write [[], []], [*] or [?]";

/// Paths of arrays that are meant: one and all below it, or those that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPattern {
    pub(crate) text: String,
    /// As a glob; what is wrong with it, if it is none. It may be the name of an array all the
    /// same.
    pub(crate) glob: Result<Glob, &'static str>,
}

impl PathPattern {
    /// Reads a path, or a pattern; says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let text = text.trim().trim_matches('/').to_owned();
        if text.is_empty() {
            return Err(wrong("", &text, "it is empty"));
        }
        let glob = Glob::new(&text).map_err(|error| error.msg);
        Ok(Self { text, glob })
    }
}

text_form!(PathPattern);

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Error about a text that is no pattern; what stands `before` names the option.
pub(crate) fn wrong(before: &str, text: &str, reason: &str) -> WordError {
    let message = format!("{before}`{text}` is no pattern: {reason}");
    let hint = format!("write a path, or one with *, ? and [..]; ** goes across groups; {ESCAPES}");
    WordError::new(message, Some(&hint))
}
