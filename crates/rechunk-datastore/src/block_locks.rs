use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use tokio::sync::{Mutex, MutexGuard};

/// Locks that all blocks share.
const LOCKS: usize = 64;

/// Locks of blocks that are written: one writer of a block at a time.
#[derive(Debug)]
pub(crate) struct BlockLocks {
    locks: [Mutex<()>; LOCKS],
    hasher: RandomState,
}

impl Default for BlockLocks {
    fn default() -> Self {
        let locks = std::array::from_fn(|_| Mutex::default());
        Self { locks, hasher: RandomState::new() }
    }
}

impl BlockLocks {
    /// The lock of the block at `key`.
    pub(crate) fn of(&self, key: &str) -> &Mutex<()> {
        &self.locks[self.slot(key)]
    }

    /// Waits until nobody else holds a lock of these keys. Whoever does so holds no other one.
    pub(crate) async fn all(
        &self,
        keys: impl IntoIterator<Item = String>,
    ) -> Vec<MutexGuard<'_, ()>> {
        // In one order, each once: nobody waits for who waits for them.
        let slots: BTreeSet<usize> = keys.into_iter().map(|key| self.slot(&key)).collect();
        let mut guards = Vec::with_capacity(slots.len());
        for slot in slots {
            guards.push(self.locks[slot].lock().await);
        }
        guards
    }

    fn slot(&self, key: &str) -> usize {
        usize::from(self.hasher.hash_one(key).to_le_bytes()[0]) % LOCKS
    }
}
