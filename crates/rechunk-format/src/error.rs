use thiserror::Error;

/// Why metadata cannot be used or a chunk cannot be decoded. Says what and why; the caller adds
/// where (array, key, chunk).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The metadata document is not what the specification asks for.
    #[error("{key}: {reason}")]
    Metadata {
        /// The metadata key, e.g. `zarr.json` or `.zarray`, with the field where one is meant.
        key: String,
        /// Reason why it is refused.
        reason: String,
    },
    /// Valid metadata that asks for something this version does not do.
    #[error("{key}: {what} is not supported{hint}")]
    Unsupported {
        /// The metadata key, with the field.
        key: String,
        /// Name of the unsupported thing: `codec "lzma"`, `data type "complex64"`.
        what: String,
        /// Empty, or `; ` and what to do instead.
        hint: String,
    },
    /// The stored bytes do not decode to a chunk.
    #[error("{codec}: {reason}")]
    Decode {
        /// The codec that refused.
        codec: &'static str,
        /// Fault of the bytes.
        reason: String,
    },
    /// An element cannot be said in the type that it was asked to be cast to.
    #[error("{reason}")]
    Cast {
        /// Which, and why.
        reason: String,
    },
    /// A chunk that cannot be encoded.
    #[error("{codec}: {reason}")]
    Encode {
        /// The codec that refused.
        codec: &'static str,
        /// Why.
        reason: String,
    },
}

/// Refuses a decoded chunk that has not `expected_bytes`.
pub fn check_chunk_bytes(decoded: &[u8], expected_bytes: usize) -> Result<(), FormatError> {
    if decoded.len() == expected_bytes {
        return Ok(());
    }
    let reason = format!("{} bytes instead of {expected_bytes}", decoded.len());
    Err(FormatError::Decode { codec: "chunk", reason })
}
