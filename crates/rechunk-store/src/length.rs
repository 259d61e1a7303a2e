//! Lengths in memory as numbers of bytes, which stores count in 64 bits.

/// A length in memory, bytes.
pub(crate) fn wide(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
