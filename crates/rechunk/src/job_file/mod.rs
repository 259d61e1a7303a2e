//! Job files: what is asked for, in TOML, YAML or JSON. Here they become one tree of values, each with
//! the place where it stands; what they mean is said where options are known (the command line).

mod json;
mod toml;
mod yaml;

use std::fmt;
use std::path::Path;

/// Longest job file, bytes.
pub const JOB_FILE_BYTES_MAX: usize = 1 << 20;
/// Deepest nesting of lists and tables.
const DEPTH_MAX: usize = 16;
/// Most values in a file, those counted again that an alias of YAML repeats.
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
pub struct JobFault {
    /// Where.
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
pub struct JobNode {
    /// Where it begins.
    pub at: Position,
    /// What it is.
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
    /// Where the key begins.
    pub key_at: Position,
    /// Its value.
    pub node: JobNode,
}

impl JobValue {
    /// What it is, in a word or two: `a list`.
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

/// Adds a key to a table; refuses one that is there already.
fn push(entries: &mut Vec<JobEntry>, entry: JobEntry) -> Result<(), JobFault> {
    if let Some(first) = entries.iter().find(|other| other.key == entry.key) {
        let reason = format!("the key {:?} is there twice, first at {}", entry.key, first.key_at);
        return Err(JobFault::new(entry.key_at, reason));
    }
    entries.push(entry);
    Ok(())
}

/// Refuses what is nested too deep.
fn check_depth(depth: usize, at: Position) -> Result<(), JobFault> {
    if depth > DEPTH_MAX {
        let reason = format!("it is nested more than {DEPTH_MAX} levels deep");
        return Err(JobFault::new(at, reason));
    }
    Ok(())
}

/// Where the lines of a text begin.
#[derive(Debug)]
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The position of a byte.
    fn at(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let end = self.text.floor_char_boundary(offset);
        let before = self.text.get(start..end).unwrap_or_default();
        Position { line, column: before.chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests;
