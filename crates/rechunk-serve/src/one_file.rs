//! A file of settings, read whole from wherever it lies on a disk.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rechunk_store::{Store, StoreError};

/// A file by its path, which need not be there.
#[derive(Debug)]
pub(crate) struct OneFile {
    path: String,
    /// The directory of the file itself, where the path is a link.
    above: PathBuf,
    directory: Store,
    name: String,
}

impl OneFile {
    /// The file at a path; `None` if that can be none of a file. Fails where its directory is none.
    pub(crate) fn at(path: &str) -> Result<Option<Self>, StoreError> {
        let real = Path::new(path).canonicalize();
        let whole = real.as_deref().unwrap_or(Path::new(path));
        let Some(name) = whole.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        let above = whole.parent().filter(|above| !above.as_os_str().is_empty());
        let Some(above) = above.map_or(Some("."), |above| above.to_str()) else { return Ok(None) };
        let directory = Store::open(above)?;
        let (path, above, name) = (path.to_owned(), above.into(), name.to_owned());
        Ok(Some(Self { path, above, directory, name }))
    }

    /// The path as it was given.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// All bytes, at most `limit_bytes`; `None` if the file is not there.
    pub(crate) async fn read(&self, limit_bytes: u64) -> Result<Option<Bytes>, StoreError> {
        self.directory.get(&self.name, limit_bytes).await
    }

    /// Replaces the file; durable when this returns. It stays as open to others as it was, and a
    /// new one is its owner's alone.
    #[expect(clippy::disallowed_methods, reason = "stores know nothing of who may read a file")]
    pub(crate) async fn write(&self, bytes: Vec<u8>) -> Result<(), StoreError> {
        let file = self.above.join(&self.name);
        let before = file.metadata().ok().map(|found| found.permissions());
        self.directory.put_durable(&self.name, bytes).await?;
        #[cfg(unix)]
        let before = before.or_else(|| Some(std::os::unix::fs::PermissionsExt::from_mode(0o600)));
        if let Some(permissions) = before {
            // Without, it is as open as any new file: it holds hashes.
            let _ = std::fs::set_permissions(file, permissions);
        }
        Ok(())
    }

    /// Waits for all others on this machine that change files here, until the lock is dropped. None
    /// where the file system has no locks.
    #[expect(clippy::disallowed_methods, reason = "a lock is no object of a store")]
    pub(crate) async fn lock(&self) -> Option<File> {
        let above = self.above.clone();
        let locked = tokio::task::spawn_blocking(move || {
            let directory = File::open(above)?;
            directory.lock()?;
            io::Result::Ok(directory)
        });
        locked.await.ok()?.ok()
    }
}
