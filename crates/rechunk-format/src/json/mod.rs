//! JSON as metadata really is: with bare `NaN`, strict about everything else.
//!
//! One reader for all formats: what a bare token became in the attributes of one has to be written
//! as that token by another.

mod members;
mod read;
mod write;

use serde_json::{Map, Value};

pub use members::{Member, MemberScanner};
pub use read::{DOCUMENT_BYTES_MAX, read_object};
pub use write::{write_pretty, write_pretty_at};

/// Starts the string that stands for a bare token in a [`serde_json::Value`].
const MARKER: &str = "\0token:";

/// Starts the string that stands for one which a document has, and which would be taken for the
/// other.
const QUOTED: &str = "\0quoted:";

/// True for a token that JSON or `serde_json` cannot hold but Python reads and writes. These are
/// `NaN`, `Infinity`, `-Infinity`, integers outside of 64 bits, and numbers beyond any float
/// (`1e500`).
fn is_foreign_token(token: &str) -> bool {
    if matches!(token, "NaN" | "Infinity" | "-Infinity") {
        return true;
    }
    let digits = token.strip_prefix('-').unwrap_or(token);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_integer {
        let leading_zero = digits.len() > 1 && digits.starts_with('0');
        return !leading_zero && token.parse::<i64>().is_err() && token.parse::<u64>().is_err();
    }
    is_json_number(digits) && token.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// True for a number without sign as JSON spells it, which Rust reads in more ways.
fn is_json_number(digits: &str) -> bool {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = |text| str::strip_prefix(text, ['+', '-']).unwrap_or(text);
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.map(unsigned).is_none_or(is_digits)
}

/// The bare token a string stands for, if it stands for one.
pub fn bare_token(text: &str) -> Option<&str> {
    text.strip_prefix(MARKER).filter(|token| is_foreign_token(token))
}

/// The string that a value is; `None` for anything else, a bare token among it.
pub fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| bare_token(text).is_none())
}

/// The string that stands for a bare token; `None` for what is none.
pub fn of_bare_token(token: &str) -> Option<Value> {
    is_foreign_token(token).then(|| Value::from(format!("{MARKER}{token}")))
}

/// The string that a document has, of one in a [`Value`] that was read from it.
pub fn unquoted(text: &str) -> &str {
    text.strip_prefix(QUOTED).unwrap_or(text)
}

/// The string of a [`Value`] that is to be written as `text`.
pub fn of_text(text: &str) -> Value {
    if is_taken(text) { Value::from(format!("{QUOTED}{text}")) } else { Value::from(text) }
}

/// A string that would be taken for another one.
fn is_taken(text: &str) -> bool {
    bare_token(text).is_some() || text.starts_with(QUOTED)
}

/// A copy without bare tokens, which plain JSON cannot hold: they become strings.
pub fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(bare_token(text).unwrap_or(unquoted(text))),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        other => other.clone(),
    }
}

/// Turns numbers that only Python's JSON has into the text that Python would print: `NaN`,
/// infinities and numbers beyond any float. Names the members of `map` where there was such a
/// token.
pub fn make_strict(map: &mut Map<String, Value>) -> Vec<String> {
    let mut names = Vec::new();
    for (name, value) in map {
        let strict = strict(value);
        if strict != *value {
            names.push(name.clone());
            *value = strict;
        }
    }
    names
}

fn strict(value: &Value) -> Value {
    let is_no_number = |token: &&str| token.parse::<f64>().is_ok_and(|number| !number.is_finite());
    match value {
        Value::String(text) => match bare_token(text).filter(is_no_number) {
            Some(token) => Value::from(token),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(strict).collect(),
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), strict(value))).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
