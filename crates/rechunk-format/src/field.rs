//! Reading fields out of a document, with errors that say which one.

use serde_json::{Map, Value};

use crate::FormatError;
use crate::json::{self, bare_token};

/// Most characters of a stored value that are repeated in a message.
const SHOWN_CHARS_MAX: usize = 60;

/// Most characters of the name of a field in a message, and of what is said about it.
const NAME_CHARS_MAX: usize = 100;
const SAID_CHARS_MAX: usize = 500;

/// Place in a document: `.zarray: "compressor.level"`.
#[derive(Debug, Clone)]
pub struct Field {
    key: &'static str,
    path: String,
}

impl Field {
    /// A top-level field of the document under `key`.
    pub fn new(key: &'static str, name: &str) -> Self {
        Self { key, path: name.to_owned() }
    }

    /// A field of the object in this field.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self { key: self.key, path: format!("{}.{name}", self.path) }
    }

    fn name(&self) -> String {
        // Names come from a document: `{:?}` keeps control characters out of messages.
        format!("{}: {:?}", self.key, cut(&self.path, NAME_CHARS_MAX))
    }

    /// The field does not hold what the specification asks for.
    pub fn invalid(&self, reason: impl Into<String>) -> FormatError {
        FormatError::Metadata { key: self.name(), reason: harmless(&reason.into()) }
    }

    /// The field asks for something this version does not do. `hint` is empty or a sentence.
    pub fn unsupported(&self, what: impl Into<String>, hint: &str) -> FormatError {
        let hint = if hint.is_empty() { String::new() } else { format!("; {hint}") };
        FormatError::Unsupported { key: self.name(), what: harmless(&what.into()), hint }
    }

    /// The value of field `name` of `map`, taken out of it; `null` counts as absent.
    pub fn take(map: &mut Map<String, Value>, name: &str) -> Option<Value> {
        map.shift_remove(name).filter(|value| !value.is_null())
    }

    fn wrong_type(&self, expected: &str, found: &Value) -> FormatError {
        self.invalid(format!("expected {expected}, found {}", shown(found)))
    }

    /// A string.
    pub fn text<'v>(&self, value: &'v Value) -> Result<&'v str, FormatError> {
        json::text(value).ok_or_else(|| self.wrong_type("a string", value))
    }

    /// An object.
    pub fn object<'v>(&self, value: &'v Value) -> Result<&'v Map<String, Value>, FormatError> {
        value.as_object().ok_or_else(|| self.wrong_type("an object", value))
    }

    /// A list.
    pub fn list<'v>(&self, value: &'v Value) -> Result<&'v [Value], FormatError> {
        value.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong_type("a list", value))
    }

    /// A list of extents.
    pub fn shape(&self, value: &Value) -> Result<Vec<u64>, FormatError> {
        let wrong = || self.wrong_type("a list of non-negative integers", value);
        let list = value.as_array().ok_or_else(wrong)?;
        list.iter().map(|item| item.as_u64().ok_or_else(wrong)).collect()
    }

    /// An integer from `low` to `high`.
    pub fn integer(&self, value: &Value, low: i64, high: i64) -> Result<i64, FormatError> {
        self.any_integer(value)
            .filter(|integer| (low..=high).contains(integer))
            .ok_or_else(|| self.wrong_type(&format!("an integer from {low} to {high}"), value))
    }

    /// An unsigned integer of 32 bits, where there is one.
    pub fn optional_u32(&self, value: Option<&Value>) -> Result<Option<u32>, FormatError> {
        let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
        let integer = self.integer(value, 0, i64::from(u32::MAX))?;
        u32::try_from(integer).map(Some).map_err(|error| self.invalid(error.to_string()))
    }

    /// An integer from `low` to `high`; the nearest one in it where the stored one is outside.
    pub fn clamped(&self, value: &Value, low: i64, high: i64) -> Result<i64, FormatError> {
        let integer =
            self.any_integer(value).ok_or_else(|| self.wrong_type("an integer", value))?;
        Ok(integer.clamp(low, high))
    }

    /// In Zarr v2 also an integer in quotes: netCDF-C writes the level of a compressor so.
    fn any_integer(&self, value: &Value) -> Option<i64> {
        let quoted = value.as_str().filter(|_| self.key == ".zarray");
        value.as_i64().or_else(|| quoted?.parse().ok())
    }

    /// True or false.
    pub fn boolean(&self, value: &Value) -> Result<bool, FormatError> {
        value.as_bool().ok_or_else(|| self.wrong_type("true or false", value))
    }
}

/// A stored value in a message: compact, and cut where it is long.
pub fn shown(value: &Value) -> String {
    let text = match value.as_str().and_then(bare_token) {
        Some(token) => token.to_owned(),
        // Cut before formatting where that is cheap: a list may have a million entries.
        None => match value {
            Value::Array(list) if list.len() > RANK_SHOWN_MAX => {
                return format!("a list of {} entries", list.len());
            }
            other => json::plain(other).to_string(),
        },
    };
    cut(&text, SHOWN_CHARS_MAX)
}

/// A text of at most `chars_max` characters, and a sign where there were more.
fn cut(text: &str, chars_max: usize) -> String {
    let mut rest = text.chars();
    let mut cut: String = rest.by_ref().take(chars_max).collect();
    cut.extend(rest.next().map(|_| '…'));
    cut
}

/// A message that repeats what a document says: not endless, nothing that a terminal obeys.
fn harmless(message: &str) -> String {
    let mut text = String::new();
    for character in cut(message, SAID_CHARS_MAX).chars() {
        if character.is_control() {
            text.extend(character.escape_unicode());
        } else {
            text.push(character);
        }
    }
    text
}

/// Longest list that is repeated in a message.
const RANK_SHOWN_MAX: usize = 32;
