//! Bytes that requests hold at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes that are counted as one: semaphores count in 32 bits.
const UNIT: u64 = 1024;

/// A budget of bytes. Who wants more than all of it gets all of it, alone.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    units: Arc<Semaphore>,
    most: u32,
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        let most = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX >> 4).max(1);
        let units = usize::try_from(most).unwrap_or(Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(units)), most }
    }

    /// Waits for `bytes`, which are given back when the result is dropped.
    pub(super) async fn take(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).clamp(1, self.most);
        // Nobody closes it.
        Arc::clone(&self.units).acquire_many_owned(units).await.ok()
    }
}
