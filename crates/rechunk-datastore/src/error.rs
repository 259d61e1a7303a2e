use rechunk_array::ArrayError;
use rechunk_format::FormatError;
use rechunk_image::ImageError;
use rechunk_kernel::KernelError;
use rechunk_reduce::ReduceError;
use rechunk_store::StoreError;
use thiserror::Error;

/// Why a request to a datastore is not fulfilled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DatastoreError {
    /// A field of a description is wrong.
    #[error("{field}: {reason}")]
    Field {
        /// Path of the field: `resolutionLevels[1].resolutions`.
        field: String,
        /// The fault.
        reason: String,
    },
    /// The request itself makes no sense.
    #[error("{0}")]
    Senseless(String),
    /// There is no such data set, version, level, channel, angle or timepoint.
    #[error("{0}")]
    Unknown(String),
    /// It is there already.
    #[error("{0}")]
    Exists(String),
    /// It makes sense, but is not done.
    #[error("{0}")]
    Unacceptable(String),
    /// Another process has the place.
    #[error("{0}")]
    InUse(String),
    /// Data sets are there that no register has been told of: those of an earlier version.
    #[error("the data sets of {0} are in no database yet")]
    Unregistered(String),
    /// The register that was given is not the one that knows the place.
    #[error("the data sets of {0} are in another database, or the database is of another place")]
    OtherRegister(String),
    /// The register cannot be reached now.
    #[error("{0}")]
    Unavailable(String),
    /// The register has failed, and will do so again.
    #[error("the database has failed: {0}")]
    Register(String),
    /// Nothing may be changed here.
    #[error("this datastore is read only")]
    ReadOnly,
    /// More bytes than are taken.
    #[error("{0}")]
    TooLarge(String),
    /// A stored document or block is damaged.
    #[error("{place} is damaged: {reason}")]
    Damaged {
        /// Key of the document or block.
        place: String,
        /// The fault.
        reason: String,
    },
    /// A chunk or shard cannot be read or written.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// The store has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A block cannot be encoded, or metadata of N5 cannot be made.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Metadata of images cannot be made.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Elements cannot become fewer.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    /// Elements are not where their box says.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A task broke off.
    #[error("a task broke off: {0}")]
    Task(#[from] tokio::task::JoinError),
}

impl DatastoreError {
    /// The disk or the quota is full.
    pub fn is_no_space(&self) -> bool {
        match self {
            Self::Array(error) => error.is_no_space(),
            Self::Store(error) => error.is_no_space(),
            _ => false,
        }
    }

    /// True if a store has not answered for as long as it was asked: it may do so later.
    pub fn is_store_away(&self) -> bool {
        let error = match self {
            Self::Store(error) => Some(error),
            Self::Array(error) => error.store_error(),
            _ => None,
        };
        error.is_some_and(StoreError::is_retryable)
    }
}
