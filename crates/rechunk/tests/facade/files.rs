//! The files of arrays on a disk.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

/// The files of chunks below `folder`, in order.
pub(crate) fn chunk_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(chunk_files(&path));
        } else if path.extension().is_none_or(|extension| extension != "json")
            && !path.file_name().unwrap().to_str().unwrap().starts_with(".z")
        {
            files.push(path);
        }
    }
    files.sort();
    files
}
