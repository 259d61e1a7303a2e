//! Opens a location and moves whole objects or ranges, counting every request and byte.
//!
//! A [`Store`] is a place that holds objects by key: a local directory, a named space in memory, a
//! bucket of S3, GCS or Azure, a level of a data set at a server, or (read only) a ZIP file,
//! references to ranges of other files, a repository of Icechunk, or an HTTP server; [`Stores`]
//! opens them and shares connections. Opening has no side effects. Every operation is counted in
//! one place, the [`Meter`], under the [`Role`] the store plays, above any retry; attempts on the
//! wire apart. A missing object is `None`, never an error, and whatever is there but cannot be read
//! is an error, never missing.
//!
//! Files of raw elements are moved in runs of bytes: a [`ReadFile`] is read at any place, and a
//! [`PartFile`] is written at any place until it is whole. Only a local directory has them.
//!
//! Durability is explicit: [`Store::put`] is atomic (readers see all of an object or none) but
//! survives a power cut only after [`Store::sync`].
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests wait by the clock"))]

mod abandoned_uploads;
mod backend;
mod condition;
mod conditional;
mod connections;
mod copies;
mod datastore;
mod durability;
mod error;
mod file_size;
mod free_room;
mod icechunk;
mod key;
mod lease;
mod length;
mod level;
mod local;
mod location;
mod memory;
mod meter;
mod multipart;
mod narrow;
mod object_writer;
mod operations;
mod pace;
mod percent;
mod range_reads;
mod reads;
mod references;
mod referred;
mod refused;
mod remote;
mod retry;
mod server_clock;
mod steps;
mod store;
mod stores;
mod upload;
mod upload_log;
mod upload_records;
mod upload_whole;
mod versioned;
mod versioned_location;
mod view;
mod wanted;
mod watch;
mod watched;
mod zip;

pub use conditional::{Seen, Snapshot};
pub use copies::Copied;
pub use durability::Durability;
pub use error::StoreError;
pub use file_size::FileSize;
pub use free_room::FreeRoom;
pub use key::check_below;
pub use lease::{
    HEARTBEAT, Holder, Lease, STALE, Taken, draw_names_from, holder as lease_holder, unique_name,
};
pub use level::{Level, LevelFile};
pub use local::append_file::AppendFile;
pub use local::directory_lock::DirectoryLock;
pub use local::file_runs::OPEN_FILES_MAX;
pub use local::link::Link;
pub use local::moments::may_block;
pub use local::part_file::{PartEnd, PartFile, WriteBatch};
pub use local::range_reader::RangeReader;
pub use local::read_file::{ReadBatch, ReadFile};
pub use local::runs::{AS_IN_PAGE_BYTES, Run, start_as_in_page};
pub use location::{has_zip_name, is_remote, is_versioned, remote_names, store_kind, zip_place};
pub use meter::{ControlTraffic, Meter, Role, RoleTraffic, Traffic};
pub use multipart::PartSizes;
pub use narrow::{Got, Narrow};
pub use object_writer::ObjectWriter;
pub use remote::StoreOptions;
pub use store::Store;
pub use stores::Stores;
pub use wanted::End;
pub use zip::{Packed, Packing};

#[cfg(test)]
mod tests;
