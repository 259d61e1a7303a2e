use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::{Store, StoreError};

/// Holds a directory against other processes until it is dropped. One that is shared only keeps out
/// those that want the directory alone.
///
/// Where there are no such locks (Windows, some network file systems, anything but a directory)
/// everybody gets one.
#[derive(Debug)]
pub struct DirectoryLock {
    directory: Option<File>,
}

impl DirectoryLock {
    /// Waits until no other process holds the directory of `store`, and takes it.
    pub async fn take(store: &Store) -> Result<Self, StoreError> {
        let lock = Self::locked(store, |directory| directory.lock().map(|()| true)).await?;
        Ok(lock.unwrap_or(Self { directory: None }))
    }

    /// Takes the directory of `store`, unless another process holds it now: then `None`.
    pub async fn try_take(store: &Store) -> Result<Option<Self>, StoreError> {
        Self::locked(store, |directory| match directory.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        })
        .await
    }

    /// Takes a share of the directory of `store`, unless another process holds it alone: then
    /// `None`.
    pub async fn try_share(store: &Store) -> Result<Option<Self>, StoreError> {
        Self::locked(store, |directory| match directory.try_lock_shared() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        })
        .await
    }

    /// Lets others share the directory. `None` if another process was faster and holds it now.
    pub fn shared(self) -> Option<Self> {
        let is_ours = self.directory.as_ref().is_none_or(|held| held.try_lock_shared().is_ok());
        is_ours.then_some(self)
    }

    async fn locked(
        store: &Store,
        lock: fn(&File) -> io::Result<bool>,
    ) -> Result<Option<Self>, StoreError> {
        let Some(root) = store.local_root().map(ToOwned::to_owned) else {
            return Ok(Some(Self { directory: None }));
        };
        let lock = move || match try_at(&root, lock) {
            Ok((directory, true)) => Ok(Some(Self { directory: Some(directory) })),
            Ok((_, false)) => Ok(None),
            Err(error) => {
                tracing::debug!(%error, root = %root.display(), "this directory cannot be locked");
                Ok(Some(Self { directory: None }))
            }
        };
        store.blocking("", "lock", lock).await
    }
}

fn try_at(root: &Path, lock: fn(&File) -> io::Result<bool>) -> io::Result<(File, bool)> {
    let directory = File::open(root)?;
    let is_ours = lock(&directory)?;
    Ok((directory, is_ours))
}
