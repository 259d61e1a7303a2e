//! The register of a datastore in a database: SQLite in the folder of the data sets, or PostgreSQL,
//! which several servers share.
//!
//! [`Database`] says which one, [`open_writable`] and [`open_read_only`] open a
//! [`Datastore`](rechunk_datastore::Datastore) with it, and [`import`] makes the database anew of
//! the folders that are there. The tables are in `migrations`; both kinds of database take the
//! text of all statements.

mod change;
mod database;
mod error;
mod failures;
mod file_lock;
mod opened;
mod register;
mod rows;
mod schema;

pub use database::Database;
pub use error::RegisterError;
pub use opened::{import, open_read_only, open_writable};
