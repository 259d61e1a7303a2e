use std::fmt;

use rechunk_format::FormatError;
use rechunk_store::StoreError;
use thiserror::Error;

/// Why a chunk cannot be read, written or decoded, and which one it is.
#[derive(Debug, Error)]
#[error("{}", Sentence(.0))]
pub struct ArrayError(#[source] Box<Inner>);

/// Boxed: an error is rare, and every `Result` would have its size.
#[derive(Debug, Error)]
#[error("{cause}")]
struct Inner {
    what: &'static str,
    array: String,
    index: Vec<u64>,
    key: String,
    #[source]
    cause: Cause,
}

#[derive(Debug, Error)]
pub(crate) enum Cause {
    #[error(transparent)]
    Store(StoreError),
    #[error(transparent)]
    Format(FormatError),
}

impl ArrayError {
    pub(crate) fn new(
        what: &'static str,
        array: String,
        index: Vec<u64>,
        key: String,
        cause: Cause,
    ) -> Self {
        Self(Box::new(Inner { what, array, index, key, cause }))
    }

    /// The array's location.
    pub fn array(&self) -> &str {
        &self.0.array
    }

    /// Which chunk (or shard, or file).
    pub fn index(&self) -> &[u64] {
        &self.0.index
    }

    /// Where the chunk is, relative to the array.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// Error of the store, if it was the store.
    pub fn store_error(&self) -> Option<&StoreError> {
        match &self.0.cause {
            Cause::Store(error) => Some(error),
            Cause::Format(_) => None,
        }
    }

    /// Error of the format, if it was the format.
    pub fn format_error(&self) -> Option<&FormatError> {
        match &self.0.cause {
            Cause::Store(_) => None,
            Cause::Format(error) => Some(error),
        }
    }

    /// The stored chunk is not one: it does not decode, or is larger than a chunk can be.
    pub fn is_damage(&self) -> bool {
        match &self.0.cause {
            Cause::Store(error) => error.is_too_large() || error.is_wrong_size(),
            Cause::Format(error) => matches!(error, FormatError::Decode { .. }),
        }
    }

    /// See [`StoreError::is_not_found`].
    pub fn is_not_found(&self) -> bool {
        self.store_error().is_some_and(StoreError::is_not_found)
    }

    /// See [`StoreError::is_permission_denied`].
    pub fn is_permission_denied(&self) -> bool {
        self.store_error().is_some_and(StoreError::is_permission_denied)
    }

    /// See [`StoreError::is_no_space`].
    pub fn is_no_space(&self) -> bool {
        self.store_error().is_some_and(StoreError::is_no_space)
    }

    /// See [`StoreError::is_retryable`]. Bytes that do not decode will not the next time either.
    pub fn is_retryable(&self) -> bool {
        self.store_error().is_some_and(StoreError::is_retryable)
    }
}

/// The error as one sentence. A store names key and location itself, a format does not.
struct Sentence<'a>(&'a Inner);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { what, array, index, key, cause } = self.0;
        match cause {
            // The store has named the file.
            Cause::Store(error) if what.is_empty() => write!(f, "{error}"),
            Cause::Store(error) => write!(f, "{what} {index:?}: {error}"),
            Cause::Format(error @ FormatError::Decode { .. }) => {
                write!(f, "{what} {index:?}: {key} in {array} is damaged: {error}")
            }
            Cause::Format(error) => write!(f, "{what} {index:?}: {key} in {array}: {error}"),
        }
    }
}
