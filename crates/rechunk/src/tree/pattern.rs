//! Patterns for the paths of arrays: `*` stays within a name, `**` goes across.

use glob::{MatchOptions, Pattern as Glob};

use crate::Error;

/// A pattern, and what it was given to.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    option: &'static str,
    text: String,
    glob: Glob,
}

impl Pattern {
    /// Reads a pattern given to `option`.
    pub(crate) fn parse(option: &'static str, text: &str) -> Result<Self, Error> {
        let text = text.trim().trim_matches('/');
        let wrong = |reason: &str| Error::Usage {
            message: format!("{option}: `{text}` is no pattern: {reason}"),
            hint: Some("write a path, or one with *, ? and [..]; ** goes across groups".to_owned()),
        };
        if text.is_empty() {
            return Err(wrong("it is empty"));
        }
        let glob = Glob::new(text).map_err(|error| wrong(error.msg))?;
        Ok(Self { option, text: text.to_owned(), glob })
    }

    /// Whether it means the node at `path`: one that it matches or, where it is a path without
    /// anything to fill in, one below that.
    pub(crate) fn means(&self, path: &str) -> bool {
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        let is_below = || {
            let rest = path.strip_prefix(self.text.as_str());
            !self.text.contains(['*', '?', '[']) && rest.is_some_and(|rest| rest.starts_with('/'))
        };
        self.glob.matches_with(path, options) || is_below()
    }

    /// What is said of a pattern that means no array.
    pub(crate) fn unused(&self) -> Error {
        Error::Usage {
            message: format!("{}: `{}` matches no array", self.option, self.text),
            hint: Some(
                "`rechunk info GROUP` lists them; * stays within a name: write `group/**` for what \
                 is below a group"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_groups() {
        let means = |text: &str, path: &str| Pattern::parse("--include", text).unwrap().means(path);
        for (text, path) in [
            ("a", "a"),
            ("a", "a/b/c"),
            ("/a/", "a/b"),
            ("*", "a"),
            ("a/*", "a/b"),
            ("**", "a/b/c"),
            ("**/s0", "t/s0"),
            ("**/s0", "s0"),
            ("t?/s[01]", "t1/s1"),
            ("a/**", "a/b/c"),
            ("a", "a/.hidden"),
        ] {
            assert!(means(text, path), "{text} should mean {path}");
        }
        for (text, path) in [
            ("a", "ab"),
            ("a", "b/a"),
            ("*", "a/b"),
            ("a*", "ab/c"),
            ("a/*", "a/b/c"),
            ("A", "a"),
            ("s[01]", "s2"),
        ] {
            assert!(!means(text, path), "{text} should not mean {path}");
        }
        for wrong in ["", "/", "a**", "["] {
            assert!(Pattern::parse("--include", wrong).is_err(), "{wrong}");
        }
    }
}
