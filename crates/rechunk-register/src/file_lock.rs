//! A lock of a file of SQLite, where nothing else says that one process writes.

use std::path::Path;
use std::time::Duration;

use rechunk_datastore::DatastoreError;
use rechunk_store::{AppendFile, Store};
use tokio::time::{Instant, sleep};

use crate::{Database, RegisterError};

/// Time that another process has to let go of it.
const LOCK_TIME: Duration = Duration::from_secs(2);
/// Time between two tries.
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// Takes a file of SQLite for this process until the lock is dropped. The lock is that of a file
/// beside it, `NAME.lock`: SQLite has locks of its own.
pub(crate) async fn take(database: &Database, file: &Path) -> Result<AppendFile, RegisterError> {
    let whole = std::path::absolute(file).ok();
    let parts = whole.as_deref().and_then(|path| {
        let (directory, name) = (path.parent()?, path.file_name()?);
        directory.to_str().zip(name.to_str())
    });
    let Some((directory, name)) = parts else {
        return Err(database.refused("its name is no text"));
    };
    let end = Instant::now() + LOCK_TIME;
    let failed = |error| RegisterError::from(DatastoreError::Store(error));
    let directory = Store::open(directory).map_err(failed)?;
    loop {
        let lock = AppendFile::open(&directory, &format!("{name}.lock")).await.map_err(failed)?;
        if lock.try_lock().await.map_err(failed)? {
            return Ok(lock);
        }
        if Instant::now() >= end {
            let reason = format!("another process writes to {database}");
            return Err(DatastoreError::InUse(reason).into());
        }
        sleep(LOCK_WAIT).await;
    }
}
