//! Versions of a repository, as locations name them: `repo.icechunk#branch=main/path`.

use std::fmt;

use super::id::Id;
use crate::percent::percent_decode;

/// Branch that is read where none is named.
pub(super) const MAIN: &str = "main";

/// Version of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Version {
    /// The snapshot that a branch is at when it is first looked at.
    Branch(String),
    Tag(String),
    Snapshot(Id),
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "branch {name:?}"),
            Self::Tag(name) => write!(f, "tag {name:?}"),
            Self::Snapshot(id) => write!(f, "snapshot {id}"),
        }
    }
}

/// Reads a version with its `#`. In names a `%` and two digits stand for a character, as for `/`.
pub(super) fn version(text: &str) -> Result<Version, String> {
    let (kind, name) = text.split_once('=').unwrap_or((text, ""));
    let decoded = percent_decode(name).and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(name) = decoded else {
        return Err(format!("in {text} a % is followed by no two digits of a character"));
    };
    if name.is_empty() {
        return Err(format!("{text} names nothing: #branch=NAME, #tag=NAME or #snapshot=ID"));
    }
    Ok(match kind {
        "#branch" => Version::Branch(name),
        "#tag" => Version::Tag(name),
        _ => Version::Snapshot(Id::parse(&name).ok_or_else(|| {
            format!("{name:?} is no id of a snapshot, which has 20 letters and digits")
        })?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_versions_may_have_any_character() {
        assert_eq!(version("#branch=a%2Fb=c"), Ok(Version::Branch("a/b=c".to_owned())));
        assert_eq!(version("#tag=v1"), Ok(Version::Tag("v1".to_owned())));
        let id = Id::parse("1CECHNKREP0F1RSTCMT0").unwrap();
        assert_eq!(version("#snapshot=1cechnkrep0f1rstcmt0"), Ok(Version::Snapshot(id)));
        for (text, words) in [("#tag=", "nothing"), ("#branch=%x", "%"), ("#snapshot=main", "id")] {
            let error = version(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
