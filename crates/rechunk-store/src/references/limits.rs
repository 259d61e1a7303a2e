//! Limits on what documents of references may hold, whatever they say of themselves.

/// Most bytes that the references of a document take in memory.
pub(super) const INDEX_BYTES_MAX: usize = 1 << 30;

/// Longest key, bytes.
pub(super) const KEY_BYTES_MAX: usize = 4 << 10;

/// Longest name of a file, bytes.
pub(super) const URL_BYTES_MAX: usize = 8 << 10;

/// Largest metadata document, bytes.
pub(super) const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// Most rows of a file.
pub(super) const ROWS_MAX: u64 = 1 << 20;
