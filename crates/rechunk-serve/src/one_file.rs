//! A file of settings, read whole from wherever it lies on a disk.

use std::path::Path;

use bytes::Bytes;
use rechunk_store::{Store, StoreError};

/// A file by its path, which need not be there.
#[derive(Debug)]
pub(crate) struct OneFile {
    path: String,
    directory: Store,
    name: String,
}

impl OneFile {
    /// The file at a path; `None` if that can be none of a file. Fails where its directory is none.
    pub(crate) fn at(path: &str) -> Result<Option<Self>, StoreError> {
        let whole = Path::new(path);
        let Some(name) = whole.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        let above = whole.parent().filter(|above| !above.as_os_str().is_empty());
        let Some(above) = above.map_or(Some("."), |above| above.to_str()) else { return Ok(None) };
        let directory = Store::open(above)?;
        Ok(Some(Self { path: path.to_owned(), directory, name: name.to_owned() }))
    }

    /// The path as it was given.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// All bytes, at most `limit_bytes`; `None` if the file is not there.
    pub(crate) async fn read(&self, limit_bytes: u64) -> Result<Option<Bytes>, StoreError> {
        self.directory.get(&self.name, limit_bytes).await
    }

    /// Replaces the file; durable when this returns.
    pub(crate) async fn write(&self, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.directory.put_durable(&self.name, bytes).await
    }
}
