//! A document of references, read from front to back: a piece of some MiB at a time.

use std::io::{self, Read};

use bytes::Bytes;
use tokio::runtime::Handle;

use crate::{Role, Store};

/// Bytes of a document that are asked for at once.
const PIECE_BYTES: u64 = 4 << 20;

/// A document, read in pieces by a thread that may wait.
pub(super) struct Pieces {
    store: Store,
    key: String,
    size_bytes: u64,
    /// The first byte that was not asked for.
    next: u64,
    piece: Bytes,
    handle: Handle,
}

impl Pieces {
    /// Of an object of so many bytes. To be made in the runtime.
    pub(super) fn new(store: &Store, key: &str, size_bytes: u64) -> Self {
        let (store, key) = (store.with_role(Role::Control), key.to_owned());
        Self { store, key, size_bytes, next: 0, piece: Bytes::new(), handle: Handle::current() }
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && self.next < self.size_bytes {
            let length = PIECE_BYTES.min(self.size_bytes - self.next);
            let piece = self.store.get_range(&self.key, self.next, length);
            self.piece = self.handle.block_on(piece).map_err(io::Error::other)?;
            self.next += length;
        }
        let length = buffer.len().min(self.piece.len());
        buffer[..length].copy_from_slice(&self.piece.split_to(length));
        Ok(length)
    }
}
