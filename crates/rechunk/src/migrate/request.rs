//! Request for a migration.

use crate::formats::Format;

/// A migration: which array or group, and which format it is to be in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MigrateRequest {
    /// Location of the array or group.
    pub location: String,
    /// The format whose documents are written over the chunks that are there.
    pub to: Format,
    /// The format that it is in; `None`: the one whose documents are there.
    pub source_format: Option<Format>,
    /// Take the documents of `to` away again, where they say what the old ones beside them say.
    pub undo: bool,
    /// Remove the old documents when the new ones are there.
    pub remove_old: bool,
    /// Look, and write nothing.
    pub dry_run: bool,
}

impl MigrateRequest {
    /// Writes documents of `to` beside those that are there, which stay.
    pub fn new(location: &str, to: Format) -> Self {
        Self {
            location: location.to_owned(),
            to,
            source_format: None,
            undo: false,
            remove_old: false,
            dry_run: false,
        }
    }
}
