//! Python literals, as far as the header of an `.npy` file has them. Nothing is evaluated.

use std::fmt::Write;

use serde_json::{Map, Value};

/// Deepest nesting that is read.
const DEPTH_MAX: usize = 32;

/// Reads one literal: a dict, list, tuple (as a list), string, non-negative integer, `True`,
/// `False` or `None`. Fails with what is wrong.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.wrong("something follows its end")),
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']);
        self.rest.chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        found
    }

    fn wrong(&self, reason: &str) -> String {
        let shown: String = self.rest.chars().take(20).collect();
        format!("{reason} (at {shown:?})")
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEPTH_MAX {
            return Err(format!("nested deeper than the {DEPTH_MAX} levels allowed"));
        }
        match self.peek() {
            Some('{') => self.dict(depth),
            Some('[') => self.list(']', depth).map(|(items, _)| Value::Array(items)),
            Some('(') => {
                let (mut items, had_comma) = self.list(')', depth)?;
                // Brackets around one value are no tuple.
                if items.len() == 1 && !had_comma {
                    return Ok(items.swap_remove(0));
                }
                Ok(Value::Array(items))
            }
            Some('\'' | '"') => self.string().map(Value::String),
            Some('0'..='9') => self.integer(),
            Some('u') if self.rest[1..].starts_with(['\'', '"']) => {
                self.rest = &self.rest[1..]; // of Python 2
                self.string().map(Value::String)
            }
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Value, String> {
        let words = [("True", Value::Bool(true)), ("False", Value::Bool(false))];
        for (word, value) in words.into_iter().chain([("None", Value::Null)]) {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.wrong("not a literal that a header has"))
    }

    fn integer(&mut self) -> Result<Value, String> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at(digits);
        let is_zero_led = digits > 1 && number.starts_with('0');
        let value = number.parse::<u64>().ok().filter(|_| !is_zero_led);
        let value = value.ok_or_else(|| self.wrong("not an integer of 64 bits"))?;
        self.rest = rest.strip_prefix('L').unwrap_or(rest); // of Python 2
        Ok(Value::from(value))
    }

    fn string(&mut self) -> Result<String, String> {
        let mut characters = self.rest.char_indices();
        let Some((_, quote)) = characters.next() else { return Err(self.wrong("no string")) };
        let mut text = String::new();
        while let Some((at, character)) = characters.next() {
            match character {
                _ if character == quote => {
                    self.rest = &self.rest[at + quote.len_utf8()..];
                    return Ok(text);
                }
                '\\' => text.push(escaped(&mut characters).ok_or("an escape that is not read")?),
                '\n' => break,
                other => text.push(other),
            }
        }
        Err(self.wrong("a string without an end"))
    }

    /// The items up to `close`, and whether a comma stood among them.
    fn list(&mut self, close: char, depth: usize) -> Result<(Vec<Value>, bool), String> {
        self.rest = &self.rest[1..];
        let (mut items, mut had_comma) = (Vec::new(), false);
        loop {
            if self.eat(close) {
                return Ok((items, had_comma));
            }
            if !items.is_empty() && !had_comma {
                return Err(self.wrong("a comma is missing"));
            }
            items.push(self.value(depth + 1)?);
            let comma = self.eat(',');
            had_comma |= comma;
            if !comma && self.peek() != Some(close) {
                return Err(self.wrong("a comma is missing"));
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Value, String> {
        self.rest = &self.rest[1..];
        let mut map = Map::new();
        loop {
            if self.eat('}') {
                return Ok(Value::Object(map));
            }
            let Value::String(name) = self.value(depth + 1)? else {
                return Err(self.wrong("a key that is no string"));
            };
            if !self.eat(':') {
                return Err(self.wrong("a colon is missing"));
            }
            let value = self.value(depth + 1)?;
            if map.insert(name, value).is_some() {
                return Err(self.wrong("a key appears twice"));
            }
            if !self.eat(',') && self.peek() != Some('}') {
                return Err(self.wrong("a comma is missing"));
            }
        }
    }
}

/// The character of an escape, behind its backslash.
fn escaped(characters: &mut std::str::CharIndices<'_>) -> Option<char> {
    let (_, kind) = characters.next()?;
    let digits = match kind {
        '\\' | '\'' | '"' => return Some(kind),
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let code: String = characters.take(digits).map(|(_, digit)| digit).collect();
    let is_hex = code.len() == digits && code.bytes().all(|digit| digit.is_ascii_hexdigit());
    char::from_u32(u32::from_str_radix(&code, 16).ok().filter(|_| is_hex)?)
}

/// Writes a value as a literal: lists of lists as tuples in a list, which is how `.npy` files
/// have records; `is_tuple` of the outermost.
pub(crate) fn literal(value: &Value, is_tuple: bool) -> String {
    match value {
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().map(|item| literal(item, !is_tuple)).collect();
            match (is_tuple, texts.len()) {
                (false, _) => format!("[{}]", texts.join(", ")),
                (true, 1) => format!("({},)", texts[0]),
                (true, _) => format!("({})", texts.join(", ")),
            }
        }
        Value::String(text) => quoted(text),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for character in text.chars() {
        match character {
            '\\' | '\'' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literals_are_read() {
        let read = |text: &str| parse(text).unwrap();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n";
        assert_eq!(read(header), json!({"descr": "<f4", "fortran_order": false, "shape": [3, 4]}));
        assert_eq!(read("(3,)"), json!([3]));
        assert_eq!(read("(3)"), json!(3));
        assert_eq!(read("()"), json!([]));
        assert_eq!(read("(3L, 4L)"), json!([3, 4]));
        assert_eq!(
            read("[('a', u'<i4'), (\"b\", '|S3', (2,))]"),
            json!([["a", "<i4"], ["b", "|S3", [2]]])
        );
        assert_eq!(read(r"'a\'\\\n\x41\u00e4'"), json!("a'\\\nAä"));
        assert_eq!(read("None"), json!(null));
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "",
            "{",
            "{'a'}",
            "{'a': }",
            "{'a': 1 'b': 2}",
            "{1: 2}",
            "{'a': 1, 'a': 2}",
            "(1 2)",
            "(,)",
            "[1,,2]",
            "'a",
            "'a\n'",
            r"'\q'",
            r"'\x4'",
            "-1",
            "1.5",
            "01",
            "1 2",
            "true",
            "99999999999999999999",
            "__import__('os')",
            "b'x'",
            "(1",
            "uu'a'",
            "u",
            "é",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(parse(&"(".repeat(10_000)).unwrap_err().contains("nested deeper"));
    }

    #[test]
    fn what_is_written_reads_again() {
        let record = json!([["a", "<i4"], ["b'\\\u{1}", [["c", "|S3", [2]], ["ä", "<f8"]]]]);
        let text = literal(&record, false);
        assert_eq!(parse(&text).unwrap(), record);
        assert!(text.starts_with("[('a', '<i4'), ("), "{text}");
        assert_eq!(literal(&json!([3]), true), "(3,)");
        assert_eq!(literal(&json!([]), true), "()");
    }
}
