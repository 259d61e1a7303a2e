//! Errors of a data set's server, some of which many requests share.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use object_store::client::{HttpError, HttpErrorKind};
use thiserror::Error;

/// Name of the store in errors of `object_store`.
const STORE: &str = "datastore";

/// A request that was not answered as it should have been.
#[derive(Debug, Error)]
pub(super) enum Fault {
    #[error("there is no data set {name:?} at {base}")]
    NoDataset { name: String, base: String },
    #[error("the answer of {url} describes no data set: {reason}")]
    NotDescribed { url: String, reason: String },
    #[error("the data set has no level {asked}, but {there}")]
    NoLevel { asked: String, there: String },
    #[error("the data set has no version {asked}, but {there}")]
    NoVersion { asked: u64, there: String },
    #[error("the data set has no version yet: `new` makes one")]
    NoVersions,
    #[error("the data set has no {axis} {asked}, but {there}")]
    NoIndex { axis: &'static str, asked: u64, there: String },
    #[error("the answer is none of blocks: {0}")]
    Answer(String),
    #[error("a block to be written is none: {0}")]
    Block(String),
    #[error(
        "the new version may have been made, or not: {0}; look at the data set before you try again"
    )]
    Unknown(String),
    #[error("{0} is still to be made: nothing is there to be read or written")]
    NotMade(String),
    #[error("{0} cannot be done at a data set")]
    Unsupported(&'static str),
}

/// True for the error of a data set that is not there.
pub(crate) fn is_missing_dataset(error: &(dyn Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(Fault::NoDataset { .. }))
}

/// Advice about a server of data sets that does not let this user in, for an error of one.
pub(crate) fn token_hint(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let said = error.downcast_ref::<object_store::Error>();
    matches!(said, Some(object_store::Error::Generic { store: STORE, .. }))
        .then_some("; set RECHUNK_DATASTORE_TOKEN to a token that allows it")
}

/// An error that all who wait for one answer get.
#[derive(Debug, Clone)]
pub(super) struct Shared(Arc<dyn Error + Send + Sync>);

impl Shared {
    pub(super) fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The connection has ended before the answer: the same may go well another time.
    pub(super) fn interrupted(reason: &str) -> Self {
        let error = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, reason.to_owned());
        Self::new(HttpError::new(HttpErrorKind::Interrupted, error))
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Shared {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

impl From<Fault> for Shared {
    fn from(fault: Fault) -> Self {
        Self::new(fault)
    }
}

impl From<HttpError> for Shared {
    fn from(error: HttpError) -> Self {
        Self::new(error)
    }
}

impl From<Shared> for object_store::Error {
    fn from(error: Shared) -> Self {
        Self::Generic { store: STORE, source: Box::new(error) }
    }
}

impl From<Fault> for object_store::Error {
    fn from(fault: Fault) -> Self {
        Shared::from(fault).into()
    }
}
