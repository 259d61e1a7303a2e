//! Which requests a fault or a hook is aimed at.

use crate::{Operation, RequestRecord};

/// A set of requests; [`Filter::any`] is all of them, each further call narrows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    methods: Vec<String>,
    operations: Vec<Operation>,
    key_pattern: Option<String>,
}

impl Filter {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Only requests by this HTTP method; called again, by this one too.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.methods.push(method.to_ascii_uppercase());
        self
    }

    /// Only requests for this operation; called again, for this one too.
    #[must_use]
    pub fn operation(mut self, operation: Operation) -> Self {
        self.operations.push(operation);
        self
    }

    /// Only requests whose whole key fits: `*` stands for any characters, `/` among them.
    #[must_use]
    pub fn key(mut self, pattern: &str) -> Self {
        self.key_pattern = Some(pattern.to_owned());
        self
    }

    /// Whether the request is in the set.
    pub fn matches(&self, request: &RequestRecord) -> bool {
        (self.methods.is_empty() || self.methods.contains(&request.method))
            && (self.operations.is_empty() || self.operations.contains(&request.operation))
            && self.key_pattern.as_ref().is_none_or(|pattern| fits(pattern, &request.key))
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for any characters.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, mut pattern)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    // The first place of each middle piece leaves the most for the pieces after it.
    while let Some((piece, rest)) = pattern.split_once('*') {
        let Some(at) = text.find(piece) else { return false };
        (text, pattern) = (&text[at + piece.len()..], rest);
    }
    text.ends_with(pattern)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text) in [
            ("a/b", "a/b"),
            ("*", ""),
            ("*", "a/b"),
            ("a/*", "a/b/c"),
            ("*.json", "a/zarr.json"),
            ("a*b*c", "a-b-b-c"),
            ("a*a", "aa"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("a/b", "a/bc"), ("a*a", "a"), ("*.json", "a.json/c"), ("a*b*c", "a-c"), ("", "a")]
        {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
