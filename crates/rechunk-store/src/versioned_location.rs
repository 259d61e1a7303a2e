//! Locations that name a version of a repository: `repo.icechunk#branch=main/path`. What is in one
//! stands behind the version, so that names of members are joined to it as to any location.

use std::borrow::Cow;
use std::fmt;

/// A location in parts: a repository, its version, and what is behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) root: &'a str,
    /// The version with its `#`, as it is written; empty if none is.
    pub(crate) version: &'a str,
    /// Begins with a `/`, or is empty.
    pub(crate) behind: &'a str,
}

/// Names of the kinds of versions.
const KINDS: [&str; 3] = ["#branch=", "#tag=", "#snapshot="];

impl<'a> Parts<'a> {
    /// The parts of a location that names a version; `None` if it names none.
    pub(crate) fn with_version(location: &'a str) -> Option<Self> {
        let start = KINDS.iter().filter_map(|kind| location.find(kind)).min()?;
        let (root, rest) = location.split_at(start);
        let (version, behind) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Some(Self { root, version, behind })
    }

    /// The location of the same place in another version, a snapshot.
    pub(crate) fn at_snapshot(&self, id: impl fmt::Display) -> String {
        format!("{}#snapshot={id}{}", self.root, self.behind)
    }
}

/// The location without the version that it names, if it names one.
pub(crate) fn without_version(location: &str) -> Cow<'_, str> {
    match Parts::with_version(location) {
        Some(Parts { root, behind, .. }) => format!("{root}{behind}").into(),
        None => location.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_stands_behind_the_repository() {
        for (location, root, text, behind) in [
            ("a/r.icechunk#branch=main/x/y", "a/r.icechunk", "#branch=main", "/x/y"),
            ("s3://b/r#tag=v1", "s3://b/r", "#tag=v1", ""),
            ("http://h/r#snapshot=X/", "http://h/r", "#snapshot=X", "/"),
        ] {
            let parts = Parts { root, version: text, behind };
            assert_eq!(Parts::with_version(location), Some(parts), "{location}");
        }
        for none in ["a#b/c", "a/branch=x", "memory:"] {
            assert_eq!(Parts::with_version(none), None, "{none}");
        }
        assert_eq!(without_version("s3://b/a#tag=v1/x"), "s3://b/a/x");
        assert_eq!(without_version("a#1"), "a#1");
        let parts = Parts::with_version("r#branch=main/x").unwrap();
        assert_eq!(parts.at_snapshot("ID"), "r#snapshot=ID/x");
    }
}
