use std::fmt;

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use serde_json::Value;

use crate::ATTRIBUTES_KEY;

/// Attribute of a container's root that says the version.
pub(crate) const VERSION_KEY: &str = "n5";

/// The version of N5 a container says it is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct N5Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl N5Version {
    /// Version that is written unless another is wanted. The format has been the same since; Java's
    /// 4.0.0 would be refused by older readers.
    pub const DEFAULT: Self = Self { major: 2, minor: 5, patch: 1 };

    /// Highest first part that is read.
    pub const MAJOR_MAX: u32 = 4;

    /// The version a text holds: up to three numbers from the first digit on. As N5's Java library
    /// has it, a text without a number is version 0.0.0.
    pub fn from_text(text: &str) -> Self {
        let start = text.find(|character: char| character.is_ascii_digit());
        let mut rest = start.map_or("", |start| &text[start..]);
        let mut parts = [0; 3];
        for part in &mut parts {
            let digits = rest.find(|character: char| !character.is_ascii_digit());
            let digits = digits.unwrap_or(rest.len());
            // A number that is too large is no version that anybody reads.
            *part = rest[..digits].parse().unwrap_or(u32::MAX);
            match rest[digits..].strip_prefix('.') {
                Some(more) if more.starts_with(|next: char| next.is_ascii_digit()) => rest = more,
                _ => break,
            }
        }
        match start {
            None => Self::default(),
            Some(_) => Self { major: parts[0], minor: parts[1], patch: parts[2] },
        }
    }

    /// The version in an attribute, which must be one that is read.
    pub(crate) fn parse(value: &Value) -> Result<Self, FormatError> {
        let version = match value {
            Value::String(text) => Self::from_text(text),
            Value::Number(number) => Self::from_text(&number.to_string()),
            _ => Self::default(),
        };
        if version.major > Self::MAJOR_MAX {
            let hint = format!("versions up to {} are read", Self::MAJOR_MAX);
            let field = Field::new(ATTRIBUTES_KEY, VERSION_KEY);
            return Err(field.unsupported(format!("N5 version {version}"), &hint));
        }
        Ok(version)
    }
}

impl fmt::Display for N5Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_java_reads_them() {
        for (text, expected) in [
            ("2.5.1", "2.5.1"),
            ("4.0.0-alpha-3", "4.0.0"),
            ("v3.1", "3.1.0"),
            ("2", "2.0.0"),
            ("2.x", "2.0.0"),
            ("", "0.0.0"),
            ("latest", "0.0.0"),
        ] {
            assert_eq!(N5Version::from_text(text).to_string(), expected, "{text}");
        }
        assert!(N5Version::parse(&Value::from("4.99.0")).is_ok());
        assert_eq!(N5Version::parse(&Value::Null).unwrap(), N5Version::default());
        for newer in ["5.0.0", "99999999999.0"] {
            let error = N5Version::parse(&Value::from(newer)).unwrap_err().to_string();
            assert!(error.contains("N5 version") && error.contains("up to 4"), "{error}");
        }
    }
}
