//! The directory of a server's objects.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Result, TestkitError};

/// A directory that is given, or one that is removed with the server.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    _own: Option<TempDir>,
}

impl Root {
    /// The directory, made if it is not there, with these directories in it.
    pub(crate) fn open(given: Option<&Path>, inside: &[&str]) -> Result<Self> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| TestkitError::Root { path, source }
        };
        let own = match given {
            Some(_) => None,
            None => Some(TempDir::new().map_err(at(&std::env::temp_dir()))?),
        };
        let path = given.or(own.as_ref().map(TempDir::path)).unwrap_or(Path::new("."));
        std::fs::create_dir_all(path).map_err(at(path))?;
        let path = path.canonicalize().map_err(at(path))?;
        for name in inside {
            std::fs::create_dir_all(path.join(name)).map_err(at(&path.join(name)))?;
        }
        Ok(Self { path, _own: own })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The file of a key below a directory; `None` for a key that is no relative path of names.
pub(crate) fn object_path(directory: &Path, key: &str) -> Option<PathBuf> {
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    key.split('/').all(is_name).then(|| directory.join(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_leaves_the_directory() {
        let path = |key| object_path(Path::new("/root"), key);
        assert_eq!(path("a/b c"), Some("/root/a/b c".into()));
        for key in ["", "/a", "a/", "a//b", "../a", "a/..", ".", "a\0"] {
            assert_eq!(path(key), None, "{key:?}");
        }
    }
}
