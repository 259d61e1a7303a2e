//! Job files in YAML: events of a parser become values as the core schema of YAML 1.2 has them.
//! Aliases are followed, and what they repeat is counted.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::{Entries, JobEntry, JobFault, JobNode, JobValue, Limits, Position, check_depth};

pub(super) fn parse(text: &str) -> Result<JobNode, JobFault> {
    let (parser, limits) = (Parser::new_from_str(text), Limits::default());
    Loader { parser, anchors: BTreeMap::new(), limits }.document()
}

struct Loader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    /// Values that have an anchor, by its number.
    anchors: BTreeMap<usize, JobNode>,
    limits: Limits,
}

impl<'a> Loader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Position), JobFault> {
        match self.parser.next() {
            Some(Ok((event, span))) => Ok((event, position(span))),
            Some(Err(error)) => {
                let marker = error.marker();
                let at = Position { line: marker.line().max(1), column: marker.col() + 1 };
                Err(JobFault::new(at, error.info()))
            }
            None => Ok((Event::StreamEnd, Position { line: 1, column: 1 })),
        }
    }

    fn document(&mut self) -> Result<JobNode, JobFault> {
        let mut root = None;
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                _ if root.is_some() => {
                    return Err(JobFault::new(at, "there is a second document"));
                }
                event => root = Some(self.node(event, at, 0)?),
            }
        }
        let start = Position { line: 1, column: 1 };
        Ok(root.unwrap_or(JobNode { at: start, value: JobValue::Null }))
    }

    fn node(&mut self, event: Event<'a>, at: Position, depth: usize) -> Result<JobNode, JobFault> {
        self.limits.value(depth, at)?;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (scalar(&text, style, tag.as_deref(), at)?, anchor)
            }
            Event::SequenceStart(anchor, _) => (self.list(depth)?, anchor),
            Event::MappingStart(anchor, _) => (self.table(depth)?, anchor),
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let node = known.ok_or_else(|| JobFault::new(at, "an alias of what it is in"))?;
                self.limits.values(size(&node, depth, at)?, at)?;
                return Ok(node);
            }
            _ => return Err(JobFault::new(at, "a value is missing")),
        };
        let node = JobNode { at, value };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<JobValue, JobFault> {
        let mut nodes = Vec::new();
        loop {
            let (event, at) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(JobValue::List(nodes));
            }
            nodes.push(self.node(event, at, depth + 1)?);
        }
    }

    fn table(&mut self, depth: usize) -> Result<JobValue, JobFault> {
        let mut entries = Entries::default();
        loop {
            let (event, key_at) = self.next()?;
            let key = match event {
                Event::MappingEnd => return Ok(JobValue::Table(entries.entries)),
                // `1: x` has the key "1", whatever the schema makes of it.
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(JobFault::new(key_at, "a key has to be a text")),
            };
            self.limits.values(1, key_at)?;
            let (event, at) = self.next()?;
            let node = self.node(event, at, depth + 1)?;
            entries.push(JobEntry { key, key_at, node })?;
        }
    }
}

/// Bytes of a text that count as another value where an alias repeats them.
const TEXT_BYTES: usize = 64;

/// Values in `node`, which comes to stand `depth` levels deep. A long text is several.
fn size(node: &JobNode, depth: usize, at: Position) -> Result<usize, JobFault> {
    check_depth(depth, at)?;
    let mut sum = 1_usize;
    match &node.value {
        JobValue::Text(text) | JobValue::Number(text) => sum += text.len() / TEXT_BYTES,
        JobValue::List(nodes) => {
            for inner in nodes {
                sum = sum.saturating_add(size(inner, depth + 1, at)?);
            }
        }
        JobValue::Table(entries) => {
            for entry in entries {
                let key = 1 + entry.key.len() / TEXT_BYTES;
                sum = sum.saturating_add(size(&entry.node, depth + 1, at)?).saturating_add(key);
            }
        }
        _ => {}
    }
    Ok(sum)
}

fn position(span: Span) -> Position {
    Position { line: span.start.line().max(1), column: span.start.col() + 1 }
}

/// Value of a scalar in the core schema.
fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    at: Position,
) -> Result<JobValue, JobFault> {
    match tag.map(|tag| (tag.is_yaml_core_schema(), tag.suffix.as_str())) {
        None if style == ScalarStyle::Plain => return Ok(plain(text)),
        None | Some((true, "str")) => return Ok(JobValue::Text(text.to_owned())),
        Some((true, "int" | "float" | "bool" | "null")) => return Ok(plain(text)),
        Some(_) => {}
    }
    Err(JobFault::new(at, "this tag is not known: !!str, !!int, !!float, !!bool and !!null are"))
}

fn plain(text: &str) -> JobValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return JobValue::Null,
        "true" | "True" | "TRUE" => return JobValue::Bool(true),
        "false" | "False" | "FALSE" => return JobValue::Bool(false),
        _ => {}
    }
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    let other_base = match text.get(..2) {
        Some("0x") => radix(&text[2..], 16),
        Some("0o") => radix(&text[2..], 8),
        _ => None,
    };
    if let Some(number) = other_base {
        return JobValue::Number(number.to_string());
    }
    if is_number(text) {
        JobValue::Number(text.to_owned())
    } else {
        JobValue::Text(text.to_owned())
    }
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_mantissa = match (whole, fraction) {
        ("", fraction) => is_digits(fraction),
        (whole, "") => is_digits(whole),
        (whole, fraction) => is_digits(whole) && is_digits(fraction),
    };
    let is_exponent = |part: &str| is_digits(part.strip_prefix(['-', '+']).unwrap_or(part));
    is_mantissa && exponent.is_none_or(is_exponent)
}
