use std::hash::{BuildHasher, RandomState};

use tokio::sync::Mutex;

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
        let hash = self.hasher.hash_one(key).to_le_bytes()[0];
        &self.locks[usize::from(hash) % LOCKS]
    }
}
