//! Job files: what is asked for, in TOML, YAML or JSON. Here they become one tree of values, each
//! with the place where it stands; what they mean is said where options are known (the command
//! line).

mod json;
mod toml;
mod yaml;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// Longest job file, bytes.
pub const JOB_FILE_BYTES_MAX: usize = 1 << 20;
/// Deepest nesting of lists and tables.
const DEPTH_MAX: usize = 16;
/// Most keys and values in a file, those counted again that an alias of YAML repeats.
const VALUES_MAX: usize = 65_536;

/// In what a job file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSyntax {
    /// TOML 1.0.
    Toml,
    /// YAML 1.2, one document.
    Yaml,
    /// JSON.
    Json,
}

impl JobSyntax {
    /// By the ending of a file's name: `.toml`, `.yaml`, `.yml` or `.json`, in letters of any case.
    pub fn of_name(name: &str) -> Option<Self> {
        let ending = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// A place in a text, as editors count: both from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Character in the line.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a text is no job file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobFault {
    /// Position of the fault.
    pub at: Position,
    /// Why.
    pub reason: String,
}

impl JobFault {
    /// A fault at a place.
    pub fn new(at: Position, reason: impl Into<String>) -> Self {
        Self { at, reason: reason.into() }
    }
}

/// A value, and where it stands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JobNode {
    /// Position where it begins.
    pub at: Position,
    /// Value at that position.
    pub value: JobValue,
}

/// A value of a job file.
#[derive(Debug, Clone, PartialEq)]
pub enum JobValue {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number: its digits, as they are written, in decimal.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<JobNode>),
    /// A table, in the order of the file; no key is there twice.
    Table(Vec<JobEntry>),
}

/// A key of a table, where it stands, and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct JobEntry {
    /// The key.
    pub key: String,
    /// Position of the key.
    pub key_at: Position,
    /// Its value.
    pub node: JobNode,
}

impl JobValue {
    /// Kind of the value, in a word or two: `a list`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// The table that a job file is; the first fault otherwise.
pub fn parse_job_file(syntax: JobSyntax, text: &str) -> Result<Vec<JobEntry>, JobFault> {
    let start = Position { line: 1, column: 1 };
    if text.len() > JOB_FILE_BYTES_MAX {
        let reason = format!("it has {} bytes, {JOB_FILE_BYTES_MAX} at most are read", text.len());
        return Err(JobFault::new(start, reason));
    }
    let root = match syntax {
        JobSyntax::Toml => toml::parse(text)?,
        JobSyntax::Yaml => yaml::parse(text)?,
        JobSyntax::Json => json::parse(text)?,
    };
    match root.value {
        JobValue::Table(entries) => Ok(entries),
        // An empty document of YAML.
        JobValue::Null => Ok(Vec::new()),
        other => {
            let reason = format!("a job file is a table of options, and this is {}", other.kind());
            Err(JobFault::new(root.at, reason))
        }
    }
}

/// A table that grows; a key that is there already is refused.
#[derive(Default)]
struct Entries {
    entries: Vec<JobEntry>,
    places: HashMap<String, Position>,
}

impl Entries {
    fn push(&mut self, entry: JobEntry) -> Result<(), JobFault> {
        if let Some(first) = self.places.insert(entry.key.clone(), entry.key_at) {
            let reason = format!("the key {:?} is there twice, first at {first}", entry.key);
            return Err(JobFault::new(entry.key_at, reason));
        }
        self.entries.push(entry);
        Ok(())
    }
}

/// Count of the values that were read, for limits of a file in any language.
#[derive(Default)]
struct Limits {
    values: usize,
}

impl Limits {
    /// Notes a value that stands `depth` levels deep.
    fn value(&mut self, depth: usize, at: Position) -> Result<(), JobFault> {
        check_depth(depth, at)?;
        self.values(1, at)
    }

    /// Notes `more` values, or keys.
    fn values(&mut self, more: usize, at: Position) -> Result<(), JobFault> {
        self.values = self.values.saturating_add(more);
        if self.values > VALUES_MAX {
            let reason = format!(
                "there are more than {VALUES_MAX} keys and values, with what aliases repeat"
            );
            return Err(JobFault::new(at, reason));
        }
        Ok(())
    }
}

/// Refuses what is nested too deep.
fn check_depth(depth: usize, at: Position) -> Result<(), JobFault> {
    if depth > DEPTH_MAX {
        let reason = format!("it is nested more than {DEPTH_MAX} levels deep");
        return Err(JobFault::new(at, reason));
    }
    Ok(())
}

/// Bytes after which the characters so far are noted: a whole file may be one line.
const NOTED_BYTES: usize = 1 << 10;

/// Beginnings of the lines of a text.
#[derive(Debug)]
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// Characters before every 1024th byte.
    characters: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_breaks).collect();
        let mut characters = vec![0];
        for block in text.as_bytes().chunks(NOTED_BYTES) {
            characters.push(characters.last().unwrap_or(&0) + begun(block));
        }
        Self { text, starts, characters }
    }

    /// The position of a byte.
    fn at(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.before(self.text.floor_char_boundary(offset));
        Position { line, column: before.saturating_sub(self.before(start)) + 1 }
    }

    /// Characters that begin before a byte of the text.
    fn before(&self, offset: usize) -> usize {
        let block = offset / NOTED_BYTES;
        let rest = self.text.as_bytes().get(block * NOTED_BYTES..offset).unwrap_or_default();
        self.characters.get(block).unwrap_or(&0) + begun(rest)
    }
}

/// Characters that begin in some bytes of UTF-8: others have the first two bits `10`.
fn begun(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests;
