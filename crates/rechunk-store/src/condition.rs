//! States that a file has to be in, for what leads to ranges of it to be right.

use std::sync::Arc;

use object_store::ObjectMeta;

use crate::StoreError;

/// State of a file when a reference to it was made, as the reference tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// It has this ETag.
    Etag(Arc<str>),
    /// It was last written in this second since 1970, or before.
    UnmodifiedSince(i64),
}

impl Condition {
    /// Refuses an object in another state, or one of a store that cannot tell.
    pub(crate) fn check(
        &self,
        location: &str,
        key: &str,
        found: &ObjectMeta,
    ) -> Result<(), StoreError> {
        let outdated = |reason: String| {
            let (location, key) = (location.to_owned(), key.to_owned());
            Err(StoreError::Outdated { location, key, reason })
        };
        match self {
            Self::Etag(etag) => match &found.e_tag {
                Some(has) if unquoted(has) == unquoted(etag) => Ok(()),
                Some(has) => outdated(format!("has the ETag {has}, not {etag} as then")),
                None => outdated(format!("was to have the ETag {etag}, and has none here")),
            },
            Self::UnmodifiedSince(seconds) if found.last_modified.timestamp() <= *seconds => Ok(()),
            Self::UnmodifiedSince(_) => {
                outdated(format!("was written at {}", found.last_modified.to_rfc3339()))
            }
        }
    }
}

/// An ETag without its quotes, which some write and some do not.
fn unquoted(etag: &str) -> &str {
    let inner = etag.strip_prefix('"').and_then(|etag| etag.strip_suffix('"'));
    inner.unwrap_or(etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_another_state_is_refused_with_both() {
        let found = |e_tag: Option<&str>| ObjectMeta {
            location: "a.nc".into(),
            last_modified: std::time::UNIX_EPOCH.into(),
            size: 0,
            e_tag: e_tag.map(ToOwned::to_owned),
            version: None,
        };
        let checked =
            |condition: Condition, e_tag| condition.check("s3://b", "a.nc", &found(e_tag));
        let etag = |text: &str| Condition::Etag(text.into());
        assert!(checked(etag("\"a\""), Some("a")).is_ok());
        assert!(checked(etag("a"), Some("\"a\"")).is_ok());
        let other = checked(etag("a"), Some("b")).unwrap_err().to_string();
        assert!(other.contains("a.nc in s3://b has the ETag b, not a"), "{other}");
        let none = checked(etag("a"), None).unwrap_err().to_string();
        assert!(none.contains("has none here"), "{none}");
        assert!(checked(Condition::UnmodifiedSince(0), None).is_ok());
        let late = checked(Condition::UnmodifiedSince(-1), None).unwrap_err().to_string();
        assert!(late.contains("1970-01-01"), "{late}");
    }
}
