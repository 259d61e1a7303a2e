//! Locks by key.

use std::hash::{DefaultHasher, Hash, Hasher};

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::Operation;

/// Lets one write of a key happen at a time, and no read during it. Keys share locks.
#[derive(Debug)]
pub(crate) struct KeyLocks {
    locks: Vec<RwLock<()>>,
}

const LOCKS: u16 = 256;

impl Default for KeyLocks {
    fn default() -> Self {
        Self { locks: (0..LOCKS).map(|_| RwLock::default()).collect() }
    }
}

/// Held while the key is read or written.
#[derive(Debug)]
pub(crate) enum KeyGuard<'a> {
    Read { _guard: RwLockReadGuard<'a, ()> },
    Write { _guard: RwLockWriteGuard<'a, ()> },
}

impl KeyLocks {
    pub(crate) async fn lock(&self, key: &str, operation: Operation) -> KeyGuard<'_> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let at = usize::try_from(hasher.finish() % u64::from(LOCKS)).unwrap_or_default();
        let lock = &self.locks[at];
        // Parts of an upload are put side by side; they do not change the object.
        if operation.is_write() && operation != Operation::UploadPart {
            KeyGuard::Write { _guard: lock.write().await }
        } else {
            KeyGuard::Read { _guard: lock.read().await }
        }
    }
}
