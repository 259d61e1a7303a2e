//! Private directory of one attempt.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::CommandError;

/// Private directory of one attempt. Dropping it removes it with all that is in it, unless it is
/// kept; that a program has removed it is no error.
#[derive(Debug)]
pub(crate) struct TaskDirectory {
    directory: TempDir,
    is_kept: bool,
}

impl TaskDirectory {
    /// Makes a directory in `scratch`, with the index of the task in its name.
    pub(crate) fn new(scratch: &Path, index: &[u64], is_kept: bool) -> Result<Self, CommandError> {
        let index: Vec<_> = index.iter().map(u64::to_string).collect();
        let mut prefix = format!("task-{}-", index.join("-"));
        // Names have 255 bytes in usual file systems, and an index may be long.
        prefix.truncate(100);
        let made = tempfile::Builder::new()
            .prefix(&prefix)
            .disable_cleanup(is_kept)
            .tempdir_in(scratch)
            .map_err(|source| CommandError::Scratch { path: scratch.to_owned(), source })?;
        Ok(Self { directory: made, is_kept })
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the path if the directory stays.
    pub(crate) fn kept(&self) -> Option<PathBuf> {
        self.is_kept.then(|| self.path().to_owned())
    }
}
