//! JSON read from front to back, a value at a time: a document of references can be larger than
//! memory should be.
//!
//! As Python writes it: bare `NaN` and `Infinity` pass as values that nobody looks into.

use std::io::{self, Read};

use super::fault::Fault;

/// Message where an offset or a length is expected.
pub(super) const NO_NUMBER: &str = "a whole number, 0 or more, is expected in it";

/// Bytes taken from the input at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Longest number, bytes.
const NUMBER_BYTES_MAX: usize = 1 << 10;

/// Deepest nesting of lists and objects inside a value.
const DEPTH_MAX: usize = 64;

/// A document, and how far it has been read.
#[derive(Debug)]
pub(super) struct Json<R> {
    input: R,
    buffer: Vec<u8>,
    /// The next byte in `buffer`.
    at: usize,
    /// Bytes that have left the buffer.
    gone: u64,
}

/// Kind of the next value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    List,
    String,
    Number,
    /// `true`, `null`, `NaN`: a word.
    Word,
}

impl<R: Read> Json<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), at: 0, gone: 0 }
    }

    /// Tells the kind of the next value.
    pub(super) fn kind(&mut self) -> Result<Kind, Fault> {
        Ok(match self.need()? {
            b'{' => Kind::Object,
            b'[' => Kind::List,
            b'"' => Kind::String,
            b'0'..=b'9' => Kind::Number,
            b'-' | b'a'..=b'z' | b'A'..=b'Z' => Kind::Word,
            _ => return Err(self.wrong("a value is expected")),
        })
    }

    /// Begins an object or a list, as `open` says.
    pub(super) fn begin(&mut self, open: u8) -> Result<(), Fault> {
        if self.need()? != open {
            self.kind()?;
            let what = if open == b'{' { "an object is expected" } else { "a list is expected" };
            return Err(Fault::Unexpected { at: self.position(), what });
        }
        self.at += 1;
        Ok(())
    }

    /// Whether there is another member of what ends with `close`; `is_first` where none was read.
    pub(super) fn more(&mut self, close: u8, is_first: bool) -> Result<bool, Fault> {
        let next = self.need()?;
        if next == close {
            self.at += 1;
            return Ok(false);
        }
        if is_first {
            return Ok(true);
        }
        if next != b',' {
            return Err(self.wrong("a comma or the end of a list or object is expected"));
        }
        self.at += 1;
        if self.need()? == close {
            return Err(self.wrong("there is a comma and nothing behind it"));
        }
        Ok(true)
    }

    /// The name of a member of an object, put into `name`.
    pub(super) fn name(&mut self, name: &mut String, limit_bytes: usize) -> Result<(), Fault> {
        self.string(name, limit_bytes)?;
        if self.need()? != b':' {
            return Err(self.wrong("a colon is expected"));
        }
        self.at += 1;
        Ok(())
    }

    /// A string, put into `text`, of at most `limit_bytes`.
    pub(super) fn string(&mut self, text: &mut String, limit_bytes: usize) -> Result<(), Fault> {
        if self.need()? != b'"' {
            return Err(self.wrong("a string is expected"));
        }
        self.at += 1;
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        loop {
            if self.at == self.buffer.len() && !self.refill()? {
                return Err(self.wrong("it ends inside a string"));
            }
            let rest = &self.buffer[self.at..];
            let plain = rest.iter().take_while(|&&b| b != b'"' && b != b'\\' && b >= 0x20).count();
            if plain > limit_bytes.saturating_sub(bytes.len()) {
                return Err(Fault::TooLong { at: self.position(), limit_bytes });
            }
            bytes.extend_from_slice(&rest[..plain]);
            self.at += plain;
            match self.buffer.get(self.at) {
                None => {}
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    let character = self.escaped()?;
                    self.check_length(bytes.len() + character.len_utf8(), limit_bytes)?;
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(_) => return Err(self.wrong("a control character is in a string")),
            }
        }
        self.at += 1;
        *text = String::from_utf8(bytes).map_err(|_| self.wrong("a string is not UTF-8"))?;
        Ok(())
    }

    /// Reads the rest of an escape, behind the backslash.
    fn escaped(&mut self) -> Result<char, Fault> {
        Ok(match self.take()? {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.four_digits()?;
                // Characters beyond the first 65 536 are two such escapes.
                if (0xd800..0xdc00).contains(&code) {
                    let pair = self.take()? == b'\\' && self.take()? == b'u';
                    let low = if pair { self.four_digits()? } else { 0 };
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(self.wrong("half of a character is in a string"));
                    }
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                }
                char::from_u32(code)
                    .ok_or_else(|| self.wrong("half of a character is in a string"))?
            }
            _ => return Err(self.wrong("an unknown escape is in a string")),
        })
    }

    fn four_digits(&mut self) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = char::from(self.take()?).to_digit(16);
            code = code * 16 + digit.ok_or_else(|| self.wrong("an escape is no number"))?;
        }
        Ok(code)
    }

    /// A number without sign, fraction and exponent, which is to be there in the entry `key`.
    pub(super) fn unsigned(&mut self, key: &str) -> Result<u64, Fault> {
        let wrong = || Fault::value(key, NO_NUMBER);
        if !matches!(self.kind()?, Kind::Number | Kind::Word) {
            return Err(wrong());
        }
        let mut text = Vec::new();
        self.word(&mut text, NUMBER_BYTES_MAX)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let number = text.parse().ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit()));
        number.ok_or_else(wrong)
    }

    /// The text of the next value, as it is written, put behind `text`.
    pub(super) fn raw(&mut self, text: &mut Vec<u8>, limit_bytes: usize) -> Result<(), Fault> {
        let limit_bytes = text.len().saturating_add(limit_bytes);
        let mut open = Vec::new();
        let mut string = String::new();
        loop {
            self.check_length(text.len(), limit_bytes)?;
            match self.kind()? {
                Kind::Object | Kind::List => {
                    let is_object = self.take()? == b'{';
                    let (begin, close) = if is_object { (b'{', b'}') } else { (b'[', b']') };
                    text.push(begin);
                    open.push((close, true));
                    if open.len() > DEPTH_MAX {
                        return Err(self.wrong("it is nested too deep"));
                    }
                }
                Kind::String => self.raw_string(text, &mut string, limit_bytes)?,
                Kind::Number | Kind::Word => self.word(text, limit_bytes)?,
            }
            // On to the next value, out of all that ends here.
            loop {
                let Some((close, is_first)) = open.last_mut() else { return Ok(()) };
                let (close, was_first) = (*close, std::mem::replace(is_first, false));
                if self.more(close, was_first)? {
                    if !was_first {
                        text.push(b',');
                    }
                    if close == b'}' {
                        self.raw_string(text, &mut string, limit_bytes)?;
                        if self.need()? != b':' {
                            return Err(self.wrong("a colon is expected"));
                        }
                        self.at += 1;
                        text.push(b':');
                    }
                    break;
                }
                text.push(close);
                open.pop();
            }
        }
    }

    fn raw_string(
        &mut self,
        text: &mut Vec<u8>,
        string: &mut String,
        limit_bytes: usize,
    ) -> Result<(), Fault> {
        self.string(string, limit_bytes.saturating_sub(text.len()))?;
        let quoted = serde_json::to_vec(string).map_err(|_| self.wrong("a string is lost"))?;
        text.extend_from_slice(&quoted);
        self.check_length(text.len(), limit_bytes)
    }

    /// Letters, digits and what numbers are made of, put behind `text`.
    fn word(&mut self, text: &mut Vec<u8>, limit_bytes: usize) -> Result<(), Fault> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        while self.at < self.buffer.len() || self.refill()? {
            let rest = &self.buffer[self.at..];
            let length = rest.iter().take_while(|byte| is_word(byte)).count();
            self.check_length(text.len().saturating_add(length), limit_bytes)?;
            text.extend_from_slice(&self.buffer[self.at..self.at + length]);
            self.at += length;
            if self.at < self.buffer.len() {
                break;
            }
        }
        Ok(())
    }

    fn check_length(&self, length: usize, limit_bytes: usize) -> Result<(), Fault> {
        if length <= limit_bytes {
            return Ok(());
        }
        Err(Fault::TooLong { at: self.position(), limit_bytes })
    }

    /// That nothing is left.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.wrong("there is more behind its end")),
        }
    }

    /// The next byte that is not white space, which is not taken; an error at the end.
    fn need(&mut self) -> Result<u8, Fault> {
        self.peek()?.ok_or_else(|| self.wrong("it ends too early"))
    }

    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            while let Some(&byte) = self.buffer.get(self.at) {
                if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                    return Ok(Some(byte));
                }
                self.at += 1;
            }
            if !self.refill()? {
                return Ok(None);
            }
        }
    }

    /// The next byte, whatever it is.
    fn take(&mut self) -> Result<u8, Fault> {
        if self.at == self.buffer.len() && !self.refill()? {
            return Err(self.wrong("it ends too early"));
        }
        self.at += 1;
        Ok(self.buffer[self.at - 1])
    }

    /// The next part of the input in place of the buffer, all of which was read; false at its end.
    fn refill(&mut self) -> Result<bool, Fault> {
        self.gone += crate::length::wide(self.buffer.len());
        self.at = 0;
        self.buffer.resize(BUFFER_BYTES, 0);
        let read = loop {
            match self.input.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let length = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(length);
        read.map(|length| length > 0).map_err(Fault::Input)
    }

    /// The byte that is next, counted from the first.
    fn position(&self) -> u64 {
        self.gone.saturating_add(crate::length::wide(self.at))
    }

    fn wrong(&self, what: &'static str) -> Fault {
        Fault::Json { at: self.position(), what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, so that every place is an end of the buffer.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(1);
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn raw(text: &str) -> Result<String, Fault> {
        let read = |input: &mut dyn Read| {
            let mut found = Vec::new();
            let mut json = Json::new(input);
            json.raw(&mut found, 1 << 20)?;
            json.end()?;
            Ok::<_, Fault>(String::from_utf8(found).unwrap())
        };
        let (whole, drops) = (read(&mut text.as_bytes()), read(&mut Drops(text.as_bytes())));
        assert_eq!(whole.is_ok(), drops.is_ok(), "{text}");
        assert_eq!(whole.as_ref().ok(), drops.as_ref().ok(), "{text}");
        whole
    }

    #[test]
    fn values_come_as_they_are_written() {
        assert_eq!(
            raw(r#" {"a" : [1, -2.5e3,null], "b":{} , "c":[]} "#).unwrap(),
            r#"{"a":[1,-2.5e3,null],"b":{},"c":[]}"#
        );
        assert_eq!(raw("[NaN, -Infinity]").unwrap(), "[NaN,-Infinity]");
        assert_eq!(raw(r#""\u00e4\ud83d\ude00\/""#).unwrap(), "\"ä😀/\"");
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "[1 2]",
            r#"{"a"}"#,
            r#"{"a":1,}"#,
            r#""\ud800""#,
            r#""\ud800\u0041""#,
            "\"\u{1}\"",
            r#""\x""#,
            "[1]]",
            "\"open",
            "#",
            "{1:2}",
        ] {
            assert!(raw(text).is_err(), "{text}");
        }
        assert!(raw(&format!("{}1{}", "[".repeat(64), "]".repeat(64))).is_ok());
        assert!(raw(&"[".repeat(1 << 20)).unwrap_err().to_string().contains("too deep"));
    }

    #[test]
    fn limits_hold_before_anything_is_kept() {
        let long = format!("\"{}\"", "x".repeat(100));
        let mut text = String::new();
        let error = Json::new(long.as_bytes()).string(&mut text, 99).unwrap_err();
        assert!(matches!(error, Fault::TooLong { limit_bytes: 99, .. }), "{error}");
        Json::new(long.as_bytes()).string(&mut text, 100).unwrap();
        assert_eq!(text.len(), 100);
        let escaped = format!("\"{}\"", r"\n".repeat(100));
        let error = Json::new(escaped.as_bytes()).string(&mut text, 99).unwrap_err();
        assert!(matches!(error, Fault::TooLong { limit_bytes: 99, .. }), "{error}");
        Json::new(escaped.as_bytes()).string(&mut text, 100).unwrap();
        let error = Json::new(escaped.as_bytes()).raw(&mut Vec::new(), 99).unwrap_err();
        assert!(matches!(error, Fault::TooLong { .. }), "{error}");
        assert_eq!(Json::new(&b" 18446744073709551615,"[..]).unsigned("a").unwrap(), u64::MAX);
        let long = "0.1000000000000000055511151231257827";
        for number in ["18446744073709551616", "-1", "1.0", "1e3", "x", "\"1\"", "[1]", long] {
            let error = Json::new(number.as_bytes()).unsigned("a/0").unwrap_err();
            assert!(matches!(error, Fault::Value { .. }), "{number}: {error}");
        }
    }
}
