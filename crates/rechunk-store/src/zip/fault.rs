//! Faults of ZIP files.

use object_store::Error;
use thiserror::Error as ThisError;

/// Fault of a ZIP file, or of the operation on it.
#[derive(Debug, ThisError)]
pub(super) enum ZipFault {
    /// The directory cannot be read.
    #[error("it is no ZIP file, or a damaged one: {0}")]
    Archive(rawzip::Error),
    /// More than an index of it may take.
    #[error("its directory has more than {limit} {what}; unpack it and read the directory")]
    TooLarge { limit: u64, what: &'static str },
    /// The directory ends early or goes on too long.
    #[error("it is damaged: it says that it has {said} entries, but {found} are there")]
    Count { said: u64, found: u64 },
    /// A name that leads out of the archive.
    #[error("it holds an entry named {name:?}, which is no name inside of it")]
    Name { name: String },
    /// An entry that cannot be where the directory says.
    #[error("the entry is damaged, or the directory is: {0}")]
    Entry(rawzip::Error),
    /// An entry that is not all there.
    #[error("the entry is damaged, or the directory is: its data would lie outside of the file")]
    Outside,
    /// A compression that Zarr does not use.
    #[error("it is compressed by method {method}; store it, or use deflate")]
    Method { method: rawzip::CompressionMethod },
    /// An encrypted entry.
    #[error("it is encrypted")]
    Encrypted,
    /// Unpacked bytes are not as the directory says.
    #[error("it is damaged: {0}")]
    Content(&'static str),
    /// Something was to be written.
    #[error("a ZIP file is only read")]
    ReadOnly,
}

impl From<ZipFault> for Error {
    fn from(fault: ZipFault) -> Self {
        Self::Generic { store: "ZipFile", source: Box::new(fault) }
    }
}
