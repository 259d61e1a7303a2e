//! Errors of a test server itself.

use std::io;
use std::path::PathBuf;

/// Why a test server cannot be started or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestkitError {
    /// The directory of the objects cannot be made or read.
    #[error("cannot use {} as the directory of the objects: {source}", path.display())]
    Root {
        /// The directory.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// No socket on loopback.
    #[error("cannot listen on 127.0.0.1 port {port}: {source}")]
    Listen {
        /// The port that was asked for; 0 for any.
        port: u16,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The server's own thread or runtime cannot be started.
    #[error("cannot start the thread of the server: {0}")]
    Runtime(#[source] io::Error),
    /// The S3 implementation refuses the directory.
    #[error("cannot serve {} as S3: {message}", path.display())]
    S3 {
        /// The directory.
        path: PathBuf,
        /// Message of the implementation.
        message: String,
    },
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, TestkitError>;
