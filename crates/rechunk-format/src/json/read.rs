use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::FormatError;

use super::{MARKER, is_foreign_token, is_taken, of_text};

/// Largest metadata document that is read.
pub const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// Deepest nesting of lists and objects that is read.
pub(super) const DEPTH_MAX: usize = 64;

/// Most values a document may hold: a value in memory is many times its text, and an array's
/// attributes are held several times.
const VALUES_MAX: usize = 1 << 17;

/// Most characters of a key that are repeated in a message.
const KEY_SHOWN_CHARS_MAX: usize = 60;

/// Parses the document stored under `key`, which must be an object.
///
/// Bare tokens become marker strings (see [`super::bare_token`], and [`super::unquoted`] for
/// strings that look like one); a key that appears twice in an object is refused, because readers
/// disagree about which one counts.
pub fn read_object(key: &str, document: &[u8]) -> Result<Map<String, Value>, FormatError> {
    let refuse = |reason: String| FormatError::Metadata { key: key.to_owned(), reason };
    if document.len() > DOCUMENT_BYTES_MAX {
        let size = document.len();
        return Err(refuse(format!("{size} bytes are more than the {DOCUMENT_BYTES_MAX} allowed")));
    }
    let text = std::str::from_utf8(document)
        .map_err(|error| refuse(format!("the document is not UTF-8 text: {error}")))?;
    if text.starts_with('\u{feff}') {
        return Err(refuse("it begins with a byte order mark, which JSON has not".to_owned()));
    }
    let text = protect_tokens(text).map_err(refuse)?;
    let mut parser = serde_json::Deserializer::from_str(&text);
    let value = StrictValue
        .deserialize(&mut parser)
        .and_then(|value| parser.end().map(|()| value))
        .map_err(|error| refuse(format!("not valid JSON: {error}")))?;
    match value {
        Value::Object(map) => Ok(map),
        other => Err(refuse(format!("expected a JSON object, found {}", kind_of(&other)))),
    }
}

/// Kind of a value, for a message.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(text) if super::bare_token(text).is_some() => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Puts bare tokens into marker strings, and checks depth and size on the way.
fn protect_tokens(text: &str) -> Result<Cow<'_, str>, String> {
    let bytes = text.as_bytes();
    let mut protected = String::new();
    let (mut copied, mut position, mut depth, mut values) = (0, 0, 0_usize, 0_usize);
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'"' => {
                let end = string_end(bytes, position);
                if let Some(quoted) = quoted_token(&text[position..end], &bytes[end..]) {
                    protected.push_str(&text[copied..position]);
                    protected.push_str(&quoted);
                    copied = end;
                }
                position = end;
            }
            b'N' | b'I' | b'-' | b'0'..=b'9' => {
                let end = token_end(bytes, position);
                let token = &text[position..end];
                if is_foreign_token(token) {
                    protected.push_str(&text[copied..position]);
                    protected.push_str(&Value::from(format!("{MARKER}{token}")).to_string());
                    copied = end;
                }
                position = end;
            }
            _ => {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                values += usize::from(matches!(byte, b'{' | b'[' | b','));
                position += 1;
            }
        }
        if depth > DEPTH_MAX {
            return Err(format!("nested deeper than the {DEPTH_MAX} levels allowed"));
        }
        if values > VALUES_MAX {
            return Err(format!("more than the {VALUES_MAX} values allowed"));
        }
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(text));
    }
    protected.push_str(&text[copied..]);
    Ok(Cow::Owned(protected))
}

/// A string that would be taken for a marker, as one that is not; `None` for every other, and for
/// keys. `rest` follows the string.
fn quoted_token(string: &str, rest: &[u8]) -> Option<String> {
    let is_key = || rest.trim_ascii_start().first() == Some(&b':');
    if !string.starts_with("\"\\u0000") || is_key() {
        return None;
    }
    let content: String = serde_json::from_str(string).ok()?;
    is_taken(&content).then(|| of_text(&content).to_string())
}

/// Position after the string that opens at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut position = start + 1;
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'"' => return position + 1,
            b'\\' => position += 2,
            _ => position += 1,
        }
    }
    bytes.len()
}

/// Position after the word or number that starts at `start`.
fn token_end(bytes: &[u8], start: usize) -> usize {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length = bytes[start..].iter().take_while(|byte| is_token(byte)).count();
    start + length.max(1)
}

/// Builds a [`Value`] but refuses a key that appears twice.
struct StrictValue;

impl<'de> DeserializeSeed<'de> for StrictValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                let key: String = key.chars().take(KEY_SHOWN_CHARS_MAX).collect();
                return Err(A::Error::custom(format!("the key {key:?} appears twice")));
            }
            let value = entries.next_value_seed(Self)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
