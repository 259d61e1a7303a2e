//! Files and data sets over HTTP, on a listener with limits that stops gracefully.
//!
//! [`Server::bind`] takes an address, [`Server::run`] answers until it is told to stop, by TLS if
//! it has a [`Certificate`]. It answers with [`file_view`], a view of a directory that is never
//! written, or [`datastore_view`], data sets in the dialect of the DataStore, for those whose token
//! allows it ([`TokenFile`]).

mod access_log;
mod certificate;
mod cors;
mod datastore;
mod error;
mod files;
mod limits;
mod listener;
mod one_file;
mod tokens;
mod typed;

pub use axum::Router;
pub use certificate::{Certificate, CertificateError};
pub use cors::CorsOrigin;
pub use datastore::{DatastoreOptions, datastore_view};
pub use error::ServeError;
pub use files::file_view;
pub use limits::Limits;
pub use listener::Server;
pub use rechunk_datastore::{Datastore, DatastoreError, Imported, Left};
pub use rechunk_register::{Database, RegisterError, import, open_read_only, open_writable};
pub use rechunk_store::Store;
pub use tokens::{Role, Token, TokenError, TokenFile, Tokens};
