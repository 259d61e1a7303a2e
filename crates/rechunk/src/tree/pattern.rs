//! Patterns for the paths of arrays: `*` stays within a name, `**` goes across.

use std::sync::OnceLock;

use glob::{MatchOptions, Pattern as Glob};

use crate::Error;

/// Spelling of a name with brackets, where one without them matches too.
const ESCAPES: &str = "to mean a [, ], * or ? itself write [[], []], [*] or [?]";

/// A pattern, and what it was given to.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    option: &'static str,
    text: String,
    /// As a glob; what is wrong with it, if it is none. It may be the name of an array all the
    /// same.
    glob: Result<Glob, &'static str>,
    /// A node of exactly this name is there: then it means that, whatever stands in it.
    is_name: OnceLock<bool>,
}

impl Pattern {
    /// Reads a pattern given to `option`.
    pub(crate) fn parse(option: &'static str, text: &str) -> Result<Self, Error> {
        let text = text.trim().trim_matches('/').to_owned();
        if text.is_empty() {
            return Err(wrong(option, &text, "it is empty"));
        }
        let glob = Glob::new(&text).map_err(|error| error.msg);
        Ok(Self { option, text, glob, is_name: OnceLock::new() })
    }

    /// Says which nodes there are: a pattern that is the name of one means that one, and what is
    /// below it.
    pub(crate) fn know<'a>(&self, mut paths: impl Iterator<Item = &'a str>) {
        self.is_name.get_or_init(|| paths.any(|path| self.is_at_or_above(path)));
    }

    fn is_at_or_above(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.text.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether it means the node at `path`: one that it matches or, where it is a path without
    /// anything to fill in, one below that.
    pub(crate) fn means(&self, path: &str) -> bool {
        let has_wildcards = self.text.contains(['*', '?', '[']);
        if !has_wildcards || self.is_name.get().is_some_and(|&is_name| is_name) {
            return self.is_at_or_above(path);
        }
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        self.glob.as_ref().is_ok_and(|glob| glob.matches_with(path, options))
    }

    /// Error about a pattern that means no array.
    pub(crate) fn unused(&self) -> Error {
        if let Err(reason) = &self.glob {
            return wrong(self.option, &self.text, reason);
        }
        let escapes = if self.text.contains('[') { format!("; {ESCAPES}") } else { String::new() };
        Error::Usage {
            message: format!("{}: `{}` matches no array", self.option, self.text),
            hint: Some(format!(
                "`rechunk info GROUP` lists them; * stays within a name: write `group/**` for what \
                 is below a group{escapes}"
            )),
        }
    }
}

fn wrong(option: &str, text: &str, reason: &str) -> Error {
    Error::Usage {
        message: format!("{option}: `{text}` is no pattern: {reason}"),
        hint: Some(format!(
            "write a path, or one with *, ? and [..]; ** goes across groups; {ESCAPES}"
        )),
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
        for wrong in ["", "/"] {
            assert!(Pattern::parse("--include", wrong).is_err(), "{wrong}");
        }
        for wrong in ["a**", "["] {
            assert!(!means(wrong, "a"), "{wrong}");
            let error = Pattern::parse("--include", wrong).unwrap().unused().to_string();
            assert!(error.contains("is no pattern"), "{error}");
        }
    }

    #[test]
    fn the_name_of_a_node_means_that_node() {
        let nodes = ["t[1]", "t1", "a[b", "x*", "xy", "100%", "n#2", "q?", "g[0]/v", "g0/v"];
        for (text, meant) in [
            ("t[1]", &["t[1]"][..]),
            ("a[b", &["a[b"]),
            ("x*", &["x*"]),
            ("100%", &["100%"]),
            ("n#2", &["n#2"]),
            ("q?", &["q?"]),
            ("g[0]", &["g[0]/v"]),
            ("t[[]1[]]", &["t[1]"]),
            ("x[*]", &["x*"]),
            ("t[12]", &["t1"]),
            ("g[0-9]/v", &["g0/v"]),
        ] {
            let pattern = Pattern::parse("--include", text).unwrap();
            pattern.know(nodes.into_iter());
            let found: Vec<&str> = nodes.into_iter().filter(|node| pattern.means(node)).collect();
            assert_eq!(found, meant, "{text}");
        }
    }
}
