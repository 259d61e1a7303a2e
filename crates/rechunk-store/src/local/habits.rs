//! Properties of a local store's files, as far as they were found out.

use std::sync::Arc;

use super::held_directory::HeldDirectory;
use super::moments::Moments;
use super::reading::Reading;
use super::unnamed_file::UnnamedFiles;
use super::writing::Writing;

/// Shared by all who use the store. One that is no local directory has them too, and asks nobody.
#[derive(Debug, Default)]
pub(crate) struct Habits {
    /// Whether reading files takes long.
    pub reading: Reading,
    /// Which way of writing files takes less.
    pub writing: Arc<Writing>,
    /// Whether work on files is over in a moment.
    pub moments: Moments,
    /// Whether there are files without names.
    pub unnamed: UnnamedFiles,
    /// Directory in which names are looked up.
    pub directory: HeldDirectory,
}

#[cfg(test)]
impl Habits {
    /// Those of a file system where all files have names.
    pub(crate) fn without_unnamed_files() -> Self {
        Self { unnamed: UnnamedFiles::that_may_be(false), ..Self::default() }
    }
}
