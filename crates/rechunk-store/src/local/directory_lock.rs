use std::fs::File;
use std::io;
use std::path::Path;

use crate::{Store, StoreError};

/// Holds a directory against every other process that asks for it, until it is dropped.
#[derive(Debug)]
pub struct DirectoryLock {
    _directory: Option<File>,
}

impl DirectoryLock {
    /// Waits until no other process holds the directory of `store`, and takes it. Where there are
    /// no such locks (Windows, some network file systems, anything but a directory) nothing is
    /// waited for.
    pub async fn take(store: &Store) -> Result<Self, StoreError> {
        let Some(root) = store.local_root().map(ToOwned::to_owned) else {
            return Ok(Self { _directory: None });
        };
        let lock = move || match lock(&root) {
            Ok(directory) => Ok(Some(directory)),
            Err(error) => {
                tracing::debug!(%error, root = %root.display(), "this directory cannot be locked");
                Ok(None)
            }
        };
        Ok(Self { _directory: store.blocking("", "lock", lock).await? })
    }
}

fn lock(root: &Path) -> io::Result<File> {
    let directory = File::open(root)?;
    directory.lock()?;
    Ok(directory)
}
