//! Files that were read, and are held for a while.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OnceCell, Semaphore};

use crate::StoreError;

/// Most bytes of files that are held in memory after they were read.
const CACHE_BYTES_MAX: usize = 256 << 20;
/// Most of such files.
const CACHE_FILES_MAX: usize = 4096;
/// Files that are read at once.
const READ_AT_ONCE: usize = 2;

/// Contents of a file, in memory.
pub(crate) trait Held {
    /// Returns the bytes that it takes.
    fn held_bytes(&self) -> usize;
}

/// Files of one kind by name. Those that were not used for the longest time are let go.
pub(crate) struct Cache<T> {
    files: Mutex<BTreeMap<String, Cached<T>>>,
    /// Counts uses.
    now: AtomicU64,
    permits: Semaphore,
}

/// A file, or that there is none.
type Slot<T> = Arc<OnceCell<Option<Arc<T>>>>;

struct Cached<T> {
    slot: Slot<T>,
    used: u64,
}

impl<T> fmt::Debug for Cache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cache")
    }
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        let permits = Semaphore::new(READ_AT_ONCE);
        Self { files: Mutex::default(), now: AtomicU64::new(0), permits }
    }
}

impl<T: Held> Cache<T> {
    /// Returns the file called `name`, held or else what `load` gives; `None` if there is none.
    pub(crate) async fn get(
        &self,
        name: &str,
        load: impl Future<Output = Result<Option<T>, StoreError>>,
    ) -> Result<Option<Arc<T>>, StoreError> {
        let slot = self.slot(name);
        let is_new = !slot.initialized();
        let load = async {
            // It is never closed.
            let _permit = self.permits.acquire().await;
            Ok::<_, StoreError>(load.await?.map(Arc::new))
        };
        let found = slot.get_or_try_init(|| load).await?.clone();
        if is_new {
            self.shrink(name);
        }
        Ok(found)
    }

    fn slot(&self, name: &str) -> Slot<T> {
        let used = self.now.fetch_add(1, Ordering::Relaxed);
        // A panic elsewhere cannot leave the table half-changed.
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = files.get_mut(name) {
            cached.used = used;
            return Arc::clone(&cached.slot);
        }
        let slot = Slot::default();
        files.insert(name.to_owned(), Cached { slot: Arc::clone(&slot), used });
        slot
    }

    /// Forgets the files that were not used for the longest time, as long as all take too much;
    /// never `kept`.
    fn shrink(&self, kept: &str) {
        let held = |cached: &Cached<T>| {
            let found = cached.slot.get().and_then(Option::as_ref);
            found.map_or(0, |file| file.held_bytes())
        };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum: usize = files.values().map(held).sum();
        while sum > CACHE_BYTES_MAX || files.len() > CACHE_FILES_MAX {
            let is_other = |(name, _): &(&String, &Cached<T>)| *name != kept;
            let oldest = files.iter().filter(is_other).min_by_key(|(_, cached)| cached.used);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else { return };
            sum -= files.remove(&name).map_or(0, |cached| held(&cached));
        }
    }
}
