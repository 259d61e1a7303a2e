use serde_json::Value;

use super::{bare_token, unquoted};

/// Writes a document for people: two spaces of indent, lists of scalars on one line, a newline at
/// the end. Marker strings become the bare tokens they stand for.
pub fn write_pretty(value: &Value) -> Vec<u8> {
    let mut text = String::new();
    write_value(&mut text, value, 0);
    text.push('\n');
    text.into_bytes()
}

/// Writes a value as [`write_pretty`] does where it is so many objects deep in a document, without
/// the newline.
pub fn write_pretty_at(value: &Value, depth: usize) -> String {
    let mut text = String::new();
    write_value(&mut text, value, depth);
    text
}

fn write_value(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let entries = map.iter().map(|(key, value)| (Some(key.as_str()), value));
            write_lines(text, '{', entries, '}', depth);
        }
        Value::Array(list) if list.iter().any(is_container) => {
            write_lines(text, '[', list.iter().map(|value| (None, value)), ']', depth);
        }
        Value::Array(list) => {
            text.push('[');
            for (position, item) in list.iter().enumerate() {
                text.push_str(if position == 0 { "" } else { ", " });
                write_value(text, item, depth);
            }
            text.push(']');
        }
        Value::String(string) => match bare_token(string) {
            Some(token) => text.push_str(token),
            None => text.push_str(&Value::from(unquoted(string)).to_string()),
        },
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// A list or an object with an entry per line.
fn write_lines<'a>(
    text: &mut String,
    open: char,
    entries: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
    close: char,
    depth: usize,
) {
    text.push(open);
    for (position, (key, value)) in entries.enumerate() {
        text.push_str(if position == 0 { "\n" } else { ",\n" });
        text.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            text.push_str(&Value::from(key).to_string());
            text.push_str(": ");
        }
        write_value(text, value, depth + 1);
    }
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(close);
}
