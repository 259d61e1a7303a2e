//! Takes a target for one process, says which one has it, and gives it back.

use std::time::Duration;

use rechunk_store::{AppendFile, Holder, Lease, Taken, lease_holder};

use crate::Error;
use crate::error::store_error;
use crate::work_dir::{KEYS, LOCK_BYTES_MAX, LOCK_KEY, WorkDir, holder_in};
use crate::writer_lock::{WriterLock, held};

/// Number of tries to take the lock, and the pause between them.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(100);

impl WorkDir {
    /// Takes the target for this process, which creates the work directory if there is none.
    pub(crate) async fn lock(&self, target: &str) -> Result<WriterLock, Error> {
        let failed = |source| store_error("lock", self.store.label(), source);
        if self.store.local_root().is_none() {
            return match Lease::take(&self.store, LOCK_KEY).await.map_err(failed)? {
                Taken::Ours(lease) => Ok(WriterLock::Lease(lease)),
                Taken::Held(holder, seconds) => {
                    Err(held(target, holder.map(|holder| (*holder, Some(seconds)))))
                }
            };
        }
        // A process that was just killed still has it until the system has cleaned up after it.
        for _ in 0..LOCK_TRIES {
            // Another one may have ended, and removed it, since it was opened.
            let mut file = AppendFile::open(&self.store, LOCK_KEY).await.map_err(failed)?;
            if file.try_lock().await.map_err(failed)? {
                // For whoever is refused; nothing depends on it.
                let line = [&Holder::this().bytes()[..], b"\n"].concat();
                file.append(&line).await.map_err(failed)?;
                return Ok(WriterLock::File(Box::new(file)));
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        Err(held(target, self.last_holder().await.map(|holder| (holder, None))))
    }

    /// Process that has last locked the file, if it can be read.
    async fn last_holder(&self) -> Option<Holder> {
        let text = self.store.get(LOCK_KEY, LOCK_BYTES_MAX).await.ok()??;
        holder_in(&text)
    }

    /// Process that writes the target now, and seconds since it was heard of, where they are known.
    pub(crate) async fn writer(&self) -> Result<Option<(Holder, Option<u64>)>, Error> {
        let failed = |source| store_error("look at", self.store.label(), source);
        if self.store.local_root().is_none() {
            let found = lease_holder(&self.store, LOCK_KEY).await.map_err(failed)?;
            return Ok(found
                .filter(|(holder, seconds)| holder.is_live(*seconds))
                .map(|(holder, seconds)| (holder, Some(seconds))));
        }
        if !self.store.exists(LOCK_KEY).await.map_err(failed)? {
            return Ok(None);
        }
        let file = AppendFile::open(&self.store, LOCK_KEY).await.map_err(failed)?;
        if file.try_lock().await.map_err(failed)? {
            return Ok(None);
        }
        Ok(Some((self.last_holder().await.unwrap_or_else(Holder::this), None)))
    }

    /// Takes back what [`WorkDir::lock`] has made, if nothing else is there.
    pub(crate) async fn unlock(&self, lock: WriterLock) -> Result<(), Error> {
        let failed = |source| store_error("unlock", self.store.label(), source);
        match lock {
            WriterLock::Lease(lease) => lease.release().await.map_err(failed),
            WriterLock::Part(_) => Ok(()),
            // Its directory was removed with it, or is another run's.
            WriterLock::File(file) if !file.is_there().await.map_err(failed)? => Ok(()),
            WriterLock::File(_file) => {
                // While it is locked, so that nobody else takes the file for his.
                for key in KEYS.into_iter().filter(|key| *key != LOCK_KEY) {
                    if self.store.exists(key).await.map_err(failed)? {
                        return Ok(());
                    }
                }
                self.store.delete(LOCK_KEY).await.map_err(failed)?;
                self.store.remove_empty().await.map_err(failed)
            }
        }
    }
}
