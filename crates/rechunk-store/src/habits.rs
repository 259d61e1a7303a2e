//! What the files of a local store are like, as far as it was found out.

use std::sync::Arc;

use crate::held_directory::HeldDirectory;
use crate::moments::Moments;
use crate::reading::Reading;
use crate::unnamed_file::UnnamedFiles;
use crate::writing::Writing;

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
    /// Where names are looked up.
    pub directory: HeldDirectory,
}

#[cfg(test)]
impl Habits {
    /// Those of a file system where all files have names.
    pub(crate) fn without_unnamed_files() -> Self {
        Self { unnamed: UnnamedFiles::that_may_be(false), ..Self::default() }
    }
}
