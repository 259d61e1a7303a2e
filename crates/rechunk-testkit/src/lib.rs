//! For tests only: object stores on loopback that answer truthfully, late, wrongly or not at all.
//!
//! A server owns its thread and runtime, so a blocking test can start it, run the real program
//! against it as a child process, and read in its log what was asked:
//!
//! ```
//! use rechunk_testkit::{Fault, Faults, Filter, S3Server, ServerOptions};
//!
//! let server = S3Server::start(&ServerOptions::default())?;
//! server.set_faults(Faults::rate(0.1).seed(1));
//! server.fail_nth(Filter::any().method("PUT"), 3, Fault::ResetAfter);
//! // … Command::new(program).envs(server.environment()).arg(server.url("array.zarr")) …
//! assert!(server.requests().is_empty());
//! # Ok::<(), rechunk_testkit::TestkitError>(())
//! ```
//!
//! A [`SimStore`] is the other way: no server and no time, an `object_store` in one thread under a
//! paused clock, whose faults, crashes and latencies follow from a seed.
//!
//! `cargo run -p rechunk-testkit -- serve s3` is a server for a shell; `--help` says what else.

mod backend;
mod body;
mod connection;
mod draw;
mod error;
mod faults;
mod file_answer;
mod filter;
mod gcs;
mod history;
mod hooks;
mod http;
mod key_locks;
mod layer;
mod listing;
mod log;
#[cfg(unix)]
mod postgres;
mod record;
mod root;
mod s3;
mod server;
mod sim;
mod throttle;
mod times;
mod uri;
mod xml_api;

pub use error::{Result, TestkitError};
pub use faults::{Fault, Faults};
pub use filter::Filter;
pub use gcs::GcsServer;
pub use hooks::{Hold, Moment};
pub use http::HttpServer;
pub use listing::FOLDER_MARKER;
pub use log::in_flight_times;
#[cfg(unix)]
pub use postgres::{Postgres, ask_postgres};
pub use record::{Operation, RequestRecord};
pub use s3::S3Server;
pub use server::{Server, ServerOptions};
pub use sim::{Dice, End as SimEnd, SimClient, SimFaults, SimStore};
pub use throttle::Throttle;
