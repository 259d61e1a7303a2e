//! Files over HTTP, on a listener with limits that stops gracefully.
//!
//! [`Server::bind`] takes an address, [`Server::run`] answers until it is told to stop. What it
//! answers with is [`file_view`], a view of a directory that is never written.

mod access_log;
mod cors;
mod error;
mod files;
mod limits;
mod listener;

pub use cors::CorsOrigin;
pub use error::ServeError;
pub use files::file_view;
pub use limits::Limits;
pub use listener::Server;
