//! Report of a migration.

use serde::Serialize;

use crate::formats::Format;

/// Documents of a migration: written, removed, or what would be.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MigrateReport {
    /// The array or group.
    pub location: String,
    /// The format that it was in; `None` where no document of it is left.
    pub from: Option<Format>,
    /// The format whose documents lie over its chunks.
    pub to: Format,
    /// True for documents of `to` that are taken away again.
    pub undo: bool,
    /// True where nothing was written.
    pub dry_run: bool,
    /// Arrays that were looked at.
    pub arrays: u64,
    /// Groups that were looked at.
    pub groups: u64,
    /// Documents that are written, in that order: what makes the whole visible comes last.
    pub written: Vec<DocumentReport>,
    /// Documents of `to` that were there before, and say what they should.
    pub already_there: u64,
    /// Keys of documents that are removed, in that order.
    pub removed: Vec<String>,
    /// Sentences on what the new documents say otherwise than the old ones.
    pub warnings: Vec<String>,
}

/// A document that is written.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DocumentReport {
    /// Its key, relative to the location.
    pub key: String,
    /// Its size, bytes.
    pub bytes: u64,
}
