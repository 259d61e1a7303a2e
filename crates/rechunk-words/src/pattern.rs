//! Which arrays of a group a pattern means.

use std::sync::OnceLock;

use glob::MatchOptions;

use crate::WordError;
use crate::path_pattern::{ESCAPES, PathPattern, wrong};

/// A pattern, and what it was given to.
#[derive(Debug, Clone)]
pub struct Pattern {
    option: &'static str,
    path: PathPattern,
    /// A node of exactly this name is there: then it means that, whatever stands in it.
    is_name: OnceLock<bool>,
}

impl Pattern {
    /// A pattern that was given to `option`.
    pub fn given_to(option: &'static str, path: &PathPattern) -> Self {
        Self { option, path: path.clone(), is_name: OnceLock::new() }
    }

    /// Says which nodes there are: a pattern that is the name of one means that one, and what is
    /// below it.
    pub fn know<'a>(&self, mut paths: impl Iterator<Item = &'a str>) {
        self.is_name.get_or_init(|| paths.any(|path| self.is_at_or_above(path)));
    }

    fn is_at_or_above(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.path.text.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether it means the node at `path`: one that it matches or, where it is a path without
    /// anything to fill in, one below that.
    pub fn means(&self, path: &str) -> bool {
        let has_wildcards = self.path.text.contains(['*', '?', '[']);
        if !has_wildcards || self.is_name.get().is_some_and(|&is_name| is_name) {
            return self.is_at_or_above(path);
        }
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        self.path.glob.as_ref().is_ok_and(|glob| glob.matches_with(path, options))
    }

    /// Error about a pattern that means no array.
    pub fn unused(&self) -> WordError {
        let text = &self.path.text;
        if let Err(reason) = &self.path.glob {
            return wrong(&format!("{}: ", self.option), text, reason);
        }
        let escapes = if text.contains('[') { format!("; {ESCAPES}") } else { String::new() };
        let hint = format!(
            "`rechunk info GROUP` lists them; * stays within a name: write `group/**` for what is \
             below a group{escapes}"
        );
        WordError::new(format!("{}: `{text}` matches no array", self.option), Some(&hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_groups() {
        let pattern =
            |text: &str| Pattern::given_to("--include", &PathPattern::parse(text).unwrap());
        let means = |text: &str, path: &str| pattern(text).means(path);
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
            assert!(PathPattern::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["a**", "["] {
            assert!(!means(wrong, "a"), "{wrong}");
            let error = pattern(wrong).unused().to_string();
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
            let pattern = Pattern::given_to("--include", &PathPattern::parse(text).unwrap());
            pattern.know(nodes.into_iter());
            let found: Vec<&str> = nodes.into_iter().filter(|node| pattern.means(node)).collect();
            assert_eq!(found, meant, "{text}");
        }
    }
}
