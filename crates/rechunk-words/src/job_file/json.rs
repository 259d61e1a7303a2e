//! Job files in JSON. The parser that reads all other JSON checks the text, which is then walked
//! once more for the places of its values.

use serde::de::IgnoredAny;

use super::{Entries, JobEntry, JobFault, JobNode, JobValue, Limits, Lines, Position};

pub(super) fn parse(text: &str) -> Result<JobNode, JobFault> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        let at = Position { line: error.line().max(1), column: error.column().max(1) };
        let reason = error.to_string();
        // It says the place too.
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(what, _)| what);
        JobFault::new(at, reason)
    })?;
    Walk { text, next: 0, lines: Lines::new(text), limits: Limits::default() }.node(0)
}

/// A walk over a text that is JSON.
struct Walk<'a> {
    text: &'a str,
    /// The next byte.
    next: usize,
    lines: Lines<'a>,
    limits: Limits,
}

impl Walk<'_> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.next).is_some_and(u8::is_ascii_whitespace) {
            self.next += 1;
        }
        bytes.get(self.next).copied()
    }

    /// Takes the next byte if it is this one.
    fn take(&mut self, wanted: u8) -> bool {
        let is_it = self.peek() == Some(wanted);
        self.next += usize::from(is_it);
        is_it
    }

    fn node(&mut self, depth: usize) -> Result<JobNode, JobFault> {
        let first = self.peek();
        let at = self.lines.at(self.next);
        self.limits.value(depth, at)?;
        let value = match first {
            Some(b'{') => self.table(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => JobValue::Text(self.string()?),
            _ => self.token(at)?,
        };
        Ok(JobNode { at, value })
    }

    fn table(&mut self, depth: usize) -> Result<JobValue, JobFault> {
        let mut entries = Entries::default();
        self.take(b'{');
        while !self.take(b'}') {
            self.take(b',');
            self.peek();
            let key_at = self.lines.at(self.next);
            self.limits.values(1, key_at)?;
            let key = self.string()?;
            self.take(b':');
            let node = self.node(depth + 1)?;
            entries.push(JobEntry { key, key_at, node })?;
        }
        Ok(JobValue::Table(entries.entries))
    }

    fn list(&mut self, depth: usize) -> Result<JobValue, JobFault> {
        let mut nodes = Vec::new();
        self.take(b'[');
        while !self.take(b']') {
            self.take(b',');
            nodes.push(self.node(depth + 1)?);
        }
        Ok(JobValue::List(nodes))
    }

    fn string(&mut self) -> Result<String, JobFault> {
        let start = self.next;
        let rest = self.text.as_bytes().get(start + 1..).unwrap_or_default();
        let mut is_escaped = false;
        let length = rest.iter().position(|&byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        // Both quotes are one byte.
        self.next = length.map_or(self.text.len(), |length| start + length + 2);
        let quoted = self.text.get(start..self.next).unwrap_or_default();
        serde_json::from_str(quoted)
            .map_err(|error| JobFault::new(self.lines.at(start), error.to_string()))
    }

    fn token(&mut self, at: Position) -> Result<JobValue, JobFault> {
        let rest = self.text.get(self.next..).unwrap_or_default();
        let ends = |c: char| c.is_ascii_whitespace() || ",:]}".contains(c);
        let token = rest.split(ends).next().unwrap_or_default();
        self.next += token.len();
        match token {
            "" => Err(JobFault::new(at, "a value is missing")),
            "null" => Ok(JobValue::Null),
            "true" => Ok(JobValue::Bool(true)),
            "false" => Ok(JobValue::Bool(false)),
            number => Ok(JobValue::Number(number.to_owned())),
        }
    }
}
