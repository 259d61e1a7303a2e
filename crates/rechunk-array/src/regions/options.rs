//! Limits of reading and writing regions.

use rechunk_grid::WriteEmpty;

/// Options of reading and writing regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegionOptions {
    /// Most bytes that chunks on their way take together, stored and decoded. The elements of the
    /// region itself are not counted: they are the caller's.
    pub memory_bytes: u64,
    /// Most bytes of a buffer that is made for the caller; larger regions need a buffer of the
    /// caller's.
    pub returned_bytes_max: u64,
    /// When a chunk that holds only the fill value is written; else it is removed.
    pub write_empty: WriteEmpty,
    /// Wait until what was written would survive a power cut.
    pub durable: bool,
}

impl Default for RegionOptions {
    /// 512 MiB for chunks on their way, and 2 GiB for a buffer that is made.
    fn default() -> Self {
        Self {
            memory_bytes: 512 << 20,
            returned_bytes_max: 2 << 30,
            write_empty: WriteEmpty::Auto,
            durable: true,
        }
    }
}

impl RegionOptions {
    /// Returns the options with another limit for chunks on their way.
    #[must_use]
    pub fn with_memory_bytes(self, memory_bytes: u64) -> Self {
        Self { memory_bytes, ..self }
    }

    /// Returns the options with another limit for a buffer that is made for the caller.
    #[must_use]
    pub fn with_returned_bytes_max(self, returned_bytes_max: u64) -> Self {
        Self { returned_bytes_max, ..self }
    }

    /// Returns the options with another rule for chunks that hold only the fill value.
    #[must_use]
    pub fn with_write_empty(self, write_empty: WriteEmpty) -> Self {
        Self { write_empty, ..self }
    }

    /// Returns the options with or without waiting for the disk.
    #[must_use]
    pub fn with_durable(self, durable: bool) -> Self {
        Self { durable, ..self }
    }
}
