//! A lock of a file of SQLite, where nothing else says that one process writes.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rechunk_datastore::DatastoreError;
use tokio::time::{Instant, sleep};

use crate::{Database, RegisterError};

/// Time that another process has to let go of it.
const LOCK_TIME: Duration = Duration::from_secs(2);
/// Time between two tries.
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// Takes a file of SQLite for this process until the lock is dropped. The lock is that of a file
/// beside it, `NAME.lock`: SQLite has locks of its own.
pub(crate) async fn take(database: &Database, file: &Path) -> Result<File, RegisterError> {
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    let path = PathBuf::from(name);
    let end = Instant::now() + LOCK_TIME;
    loop {
        let at = path.clone();
        let tried = tokio::task::spawn_blocking(move || try_take(&at)).await;
        let tried = tried.map_err(io::Error::other).flatten();
        let locked = tried.map_err(|error| {
            database.refused(format!("{} cannot be locked: {error}", path.display()))
        })?;
        if let Some(lock) = locked {
            return Ok(lock);
        }
        if Instant::now() >= end {
            let reason = format!("another process writes to {database}");
            return Err(DatastoreError::InUse(reason).into());
        }
        sleep(LOCK_WAIT).await;
    }
}

fn try_take(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().create(true).append(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
