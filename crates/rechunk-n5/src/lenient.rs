//! JSON as Gson, the library of N5's Java code, accepts it in its lenient mode.
//!
//! Comments, single quotes, names and strings without quotes, `=` and `;` are made into what JSON
//! has for them. Whatever is wrong beyond that is left to the strict reader.

use rechunk_format::json::DOCUMENT_BYTES_MAX;
use serde_json::Value;

/// Deepest nesting that is followed: deeper than the strict reader allows.
const DEPTH_MAX: usize = 128;

/// Makes JSON of what Gson accepts; a sentence where it does not.
pub(crate) fn to_json(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut writer = Writer { rest: text, json: String::new(), open: Vec::new(), last: ' ' };
    while let Some(next) = writer.rest.chars().next() {
        writer.token(next)?;
        if writer.json.len() > DOCUMENT_BYTES_MAX {
            return Err(format!("more than the {DOCUMENT_BYTES_MAX} bytes allowed"));
        }
    }
    Ok(writer.json)
}

struct Writer<'a> {
    rest: &'a str,
    json: String,
    /// The brackets that are open.
    open: Vec<char>,
    /// The last bracket, comma or colon; `v` for a value or a name.
    last: char,
}

impl Writer<'_> {
    fn token(&mut self, next: char) -> Result<(), String> {
        match next {
            ' ' | '\t' | '\n' | '\r' | '\u{c}' => self.rest = &self.rest[1..],
            '#' => self.skip_line(),
            '/' => self.skip_comment()?,
            '{' | '[' => {
                if self.open.len() >= DEPTH_MAX {
                    return Err(format!("nested deeper than {DEPTH_MAX} levels"));
                }
                self.open.push(next);
                self.bracket(next);
            }
            '}' | ']' => {
                // A comma before the end of a list is followed by a null.
                if next == ']' && self.last == ',' {
                    self.json.push_str("null");
                }
                self.open.pop();
                self.bracket(next);
                self.last = 'v';
            }
            ',' | ';' => {
                if self.open.last() == Some(&'[') && matches!(self.last, '[' | ',') {
                    self.json.push_str("null");
                }
                self.bracket(',');
                self.rest = self.rest.strip_prefix([',', ';']).unwrap_or(self.rest);
            }
            ':' | '=' => {
                self.bracket(':');
                let after = self.rest.strip_prefix("=>");
                self.rest = after.or(self.rest.strip_prefix([':', '='])).unwrap_or(self.rest);
            }
            '"' | '\'' => self.quoted(next)?,
            _ => self.unquoted()?,
        }
        Ok(())
    }

    /// Writes a bracket, comma or colon; takes brackets off the rest.
    fn bracket(&mut self, mark: char) {
        self.json.push(mark);
        self.last = mark;
        if matches!(mark, '{' | '[' | '}' | ']') {
            self.rest = &self.rest[1..];
        }
    }

    fn skip_line(&mut self) {
        let end = self.rest.find(['\n', '\r']);
        self.rest = end.map_or("", |end| &self.rest[end..]);
    }

    fn skip_comment(&mut self) -> Result<(), String> {
        if self.rest.starts_with("//") {
            self.skip_line();
            return Ok(());
        }
        let inside = self.rest.strip_prefix("/*").ok_or("a / begins no comment")?;
        let end = inside.find("*/").ok_or("a comment does not end")?;
        self.rest = &inside[end + 2..];
        Ok(())
    }

    /// A string in either quotes.
    fn quoted(&mut self, quote: char) -> Result<(), String> {
        let mut text = String::new();
        let mut characters = self.rest[1..].chars();
        loop {
            match characters.next().ok_or("a string does not end")? {
                end if end == quote => break,
                '\\' => escaped(&mut characters, &mut text)?,
                other => text.push(other),
            }
        }
        self.rest = characters.as_str();
        self.string(&text);
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.json.push_str(&Value::from(text).to_string());
        self.last = 'v';
    }

    /// A name, a number, a word or a string without quotes.
    fn unquoted(&mut self) -> Result<(), String> {
        const ENDS: &[char] = &[
            '/', '\\', ';', '#', '=', '{', '}', '[', ']', ':', ',', ' ', '\t', '\u{c}', '\r', '\n',
        ];
        let (word, rest) = self.rest.split_at(self.rest.find(ENDS).unwrap_or(self.rest.len()));
        if word.is_empty() {
            return Err("there is a \\ outside of a string".to_owned());
        }
        self.rest = rest;
        let is_name = self.open.last() == Some(&'{') && self.last != ':';
        match (is_name, plain_word(word)) {
            (false, Some(plain)) => {
                self.json.push_str(&plain);
                self.last = 'v';
            }
            _ => self.string(word),
        }
        Ok(())
    }
}

/// Reads the rest of an escape in a string, behind its backslash.
fn escaped(characters: &mut std::str::Chars<'_>, text: &mut String) -> Result<(), String> {
    let next = characters.next().ok_or("a string does not end")?;
    text.push(match next {
        't' => '\t',
        'b' => '\u{8}',
        'n' => '\n',
        'r' => '\r',
        'f' => '\u{c}',
        'u' => return unicode(characters, text),
        '\n' | '\'' | '"' | '\\' | '/' => next,
        other => return Err(format!("there is no escape \\{}", other.escape_default())),
    });
    Ok(())
}

/// Four hexadecimal digits, or twice four for what UTF-16 needs two of.
fn unicode(characters: &mut std::str::Chars<'_>, text: &mut String) -> Result<(), String> {
    let digits = |characters: &mut std::str::Chars<'_>| {
        let digits = characters.as_str().get(..4)?;
        *characters = characters.as_str()[4..].chars();
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
    };
    let wrong = "an escape \\u has no four hexadecimal digits";
    let mut units = vec![digits(characters).ok_or(wrong)?];
    if (0xd800..0xdc00).contains(&units[0]) && characters.as_str().starts_with("\\u") {
        *characters = characters.as_str()[2..].chars();
        units.push(digits(characters).ok_or(wrong)?);
    }
    text.push_str(&String::from_utf16(&units).map_err(|_| "an escape \\u is half a character")?);
    Ok(())
}

/// The word where it is one without quotes in JSON too, or stands for no string.
fn plain_word(word: &str) -> Option<String> {
    for known in ["true", "false", "null"] {
        if word.eq_ignore_ascii_case(known) {
            return Some(known.to_owned());
        }
    }
    let is_token = matches!(word, "NaN" | "Infinity" | "-Infinity");
    let begins = word.strip_prefix('-').unwrap_or(word).starts_with(|c: char| c.is_ascii_digit());
    let is_number = begins && serde_json::from_str::<serde_json::Number>(word).is_ok();
    (is_token || is_number).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gson_accepts_becomes_json() {
        for (lenient, json) in [
            ("{ // line\n 'a' : 1, /* long */ # other\n b = true }", r#"{"a":1,"b":true}"#),
            ("{a:'it\\'s \"x\"'; b => TRUE}", r#"{"a":"it's \"x\"","b":true}"#),
            ("{a:[NaN,-Infinity,word,1e5,01,-]}", r#"{"a":[NaN,-Infinity,"word",1e5,"01","-"]}"#),
            ("{a:[1,,2,]}", r#"{"a":[1,null,2,null]}"#),
            ("{a:[]}", r#"{"a":[]}"#),
            ("{1:2,true:null}", r#"{"1":2,"true":null}"#),
            ("\u{feff}{\"\\u0041\\ud83d\\ude00\":\"line\nbreak\"}", "{\"A😀\":\"line\\nbreak\"}"),
            ("{\"http://x\": \"# no comment // here\"}", "{\"http://x\":\"# no comment // here\"}"),
        ] {
            assert_eq!(to_json(lenient).unwrap(), json, "{lenient}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, reason) in [
            ("{'a", "does not end"),
            ("{/* a", "does not end"),
            ("{/a", "begins no comment"),
            ("{a:\\}", "outside of a string"),
            ("{'\\x':1}", "no escape"),
            ("{'\\u12':1}", "four hexadecimal"),
            ("{'\\ud800':1}", "half a character"),
            (&"[".repeat(1000), "deeper"),
        ] {
            let error = to_json(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(to_json(&format!("[{}]", ",".repeat(4 << 20))).unwrap_err().contains("allowed"));
    }
}
