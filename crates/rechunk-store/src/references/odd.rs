//! Entries of references that cannot be read: a value that is no reference, a key that is none of a
//! store.
//!
//! One of them is no reason to refuse the others. It is never taken for a missing chunk either,
//! which holds the fill value: whoever needs it gets an error that names it.

use serde_json::Value;

use super::fault::Fault;

/// Most different reasons that are kept.
const REASONS_MAX: usize = 64;

/// Longest part of a key that is shown, characters.
const SHOWN_MAX: usize = 200;

/// The entries that cannot be read: why, how many, and the first.
#[derive(Debug, Default)]
pub(super) struct Odd {
    reasons: Vec<String>,
    count: u64,
    first: Option<String>,
}

impl Odd {
    /// Counts an entry, and gives the number of its reason.
    pub(super) fn add(&mut self, key: &str, what: &str) -> u64 {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(Fault::value(key, what).to_string());
        }
        self.reason_number(what)
    }

    /// The number of a reason.
    pub(super) fn reason_number(&mut self, what: &str) -> u64 {
        let known = self.reasons.iter().position(|reason| reason == what);
        let number = known.unwrap_or_else(|| {
            if self.reasons.len() < REASONS_MAX {
                self.reasons.push(what.to_owned());
            }
            self.reasons.len() - 1
        });
        crate::length::wide(number)
    }

    /// The reason of a number.
    pub(super) fn reason(&self, number: u64) -> &str {
        let reason = usize::try_from(number).ok().and_then(|number| self.reasons.get(number));
        reason.map_or("it cannot be read", String::as_str)
    }

    /// Fault of the first such entry.
    pub(super) fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// A sentence for people, if there is any such entry.
    pub(super) fn warning(&self) -> Option<String> {
        let first = self.first()?;
        let entries = match self.count {
            1 => "an entry of the references cannot be read".to_owned(),
            count => format!("{count} entries of the references cannot be read, e.g. one"),
        };
        Some(format!("{entries}, which is an error where it is needed: {first}"))
    }
}

/// The key that `key` may stand for, where it is none of a store because of its slashes alone.
pub(super) fn without_extra_slashes(key: &str) -> Option<String> {
    let parts: Vec<&str> = key.split('/').filter(|part| !part.is_empty()).collect();
    let is_plain = !parts.is_empty() && !parts.iter().any(|part| matches!(*part, "." | ".."));
    is_plain.then(|| parts.join("/"))
}

/// Says that the references have another key for what was asked for.
pub(super) fn called(key: &str) -> String {
    let shown: String = key.chars().take(SHOWN_MAX).collect();
    format!("the references call it {shown:?}, which is no key of a store")
}

/// The name of its only chunk, where a metadata document is of an array without axes.
pub(super) fn scalar_chunk(name: &str, document: &[u8]) -> Option<&'static str> {
    let document: Value = serde_json::from_slice(document).ok()?;
    let has_no_axes = document.get("shape")?.as_array()?.is_empty();
    let encoding = || document.get("chunk_key_encoding")?.get("name")?.as_str();
    match name {
        _ if !has_no_axes => None,
        ".zarray" => Some("0"),
        "zarr.json" if encoding() == Some("v2") => Some("0"),
        "zarr.json" => Some("c"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_too_many_are_left_out_and_nothing_else() {
        for (key, plain) in [
            ("crs/", Some("crs")),
            ("w//0", Some("w/0")),
            ("/w/0.0", Some("w/0.0")),
            ("a///b//0", Some("a/b/0")),
            ("../a", None),
            ("a/./0", None),
            ("a//../0", None),
            ("", None),
            ("//", None),
        ] {
            assert_eq!(without_extra_slashes(key).as_deref(), plain, "{key:?}");
        }
    }

    #[test]
    fn only_an_array_without_axes_has_one_name_for_its_chunk() {
        for (name, document, chunk) in [
            (".zarray", r#"{"shape": [], "chunks": []}"#, Some("0")),
            ("zarr.json", r#"{"shape": []}"#, Some("c")),
            ("zarr.json", r#"{"shape": [], "chunk_key_encoding": {"name": "default"}}"#, Some("c")),
            ("zarr.json", r#"{"shape": [], "chunk_key_encoding": {"name": "v2"}}"#, Some("0")),
            (".zarray", r#"{"shape": [1], "chunks": [1]}"#, None),
            (".zarray", r#"{"shape": 1}"#, None),
            (".zattrs", r#"{"shape": []}"#, None),
            ("zarr.json", r#"{"node_type": "group"}"#, None),
            (".zarray", "no JSON", None),
        ] {
            assert_eq!(scalar_chunk(name, document.as_bytes()), chunk, "{name} {document}");
        }
    }

    #[test]
    fn many_are_counted_and_the_first_is_named() {
        let mut odd = Odd::default();
        assert_eq!(odd.warning(), None);
        assert_eq!(odd.add("a/0", "it is null"), 0);
        assert_eq!(odd.add("a/1", "it is odd"), 1);
        assert_eq!(odd.add("a/2", "it is null"), 0);
        let warning = odd.warning().unwrap();
        assert!(warning.starts_with("3 entries") && warning.contains("\"a/0\""), "{warning}");
        for number in 0..1000 {
            odd.add("a/3", &format!("reason {number}"));
        }
        assert_eq!(odd.reasons.len(), REASONS_MAX);
        assert_eq!((odd.reason(1), odd.reason(1 << 40)), ("it is odd", "it cannot be read"));
    }
}
