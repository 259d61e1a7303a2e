//! Missing chunks of a source, as a report says them.

use rechunk_array::Missing;
use serde::{Deserialize, Serialize};

/// Keys of missing chunks that a message names.
const NAMED_MAX: usize = 3;

/// Source chunks that were missing, in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MissingReport {
    /// Chunks that were not there, and were read as the fill value. Each counts once, however often
    /// it was asked for.
    pub chunks: u64,
    /// All chunks of the source.
    pub of: u64,
    /// There may be more: an earlier run has read a part, or they were too many to tell apart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_least: bool,
    /// Not one chunk of the source was found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_all: bool,
    /// Keys of the first objects (chunks, or shards where chunks lie in some) that were missing, at
    /// most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<String>,
}

impl MissingReport {
    /// Of what a run has found missing; `resumed`: earlier runs have read some of the source.
    pub(crate) fn new(missing: &Missing, resumed: bool) -> Self {
        Self {
            chunks: missing.chunks,
            of: missing.of,
            is_least: missing.is_least || resumed,
            is_all: !missing.found_any && missing.chunks > 0 && !resumed,
            first: missing.first.clone(),
        }
    }

    /// `3 of 24 source chunks are missing`.
    pub fn sentence(&self) -> String {
        let least = if self.is_least { "at least " } else { "" };
        let (of, chunks) = (self.of, if self.of == 1 { "chunk" } else { "chunks" });
        let are = if self.chunks == 1 { "is" } else { "are" };
        format!("{least}{} of {of} source {chunks} {are} missing", self.chunks)
    }

    /// ` (c/3/0, c/7/0, …)`; nothing where no key is known.
    pub fn examples(&self) -> String {
        if self.first.is_empty() {
            return String::new();
        }
        let named: Vec<&str> = self.first.iter().take(NAMED_MAX).map(String::as_str).collect();
        let more = if self.chunks > named.len() as u64 { ", …" } else { "" };
        format!(" ({}{more})", named.join(", "))
    }
}
