use std::io;

use thiserror::Error;

/// Why nothing is served.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address as given.
        address: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The directory to be served cannot be opened.
    #[error("cannot serve {path}: {source}")]
    Directory {
        /// The path as given.
        path: String,
        /// Error of the system.
        source: io::Error,
    },
    /// An origin that no browser sends.
    #[error("{origin:?} is no origin: a scheme and a host such as https://example.org, or *")]
    Origin {
        /// The text as given.
        origin: String,
    },
}
