//! Icechunk repositories as places to read from: keys of Zarr that lead to chunks in them, and to
//! ranges of other files.
//!
//! Read by the specification of the format, versions 1 and 2
//! (<https://icechunk.io/en/latest/reference/spec/>): branches and tags lead to a snapshot, which
//! has the metadata of all groups and arrays, and that to manifests, which say where chunks are.
//! All files are read through [`crate::Stores`] and counted there. Nothing in them is believed:
//! `docs/design/020-icechunk.md`.

mod fault;
mod file;
mod flat;
mod id;
mod in_use;
mod manifest;
mod read;
mod recognise;
mod refs;
mod repo_info;
mod repository;
mod snapshot;
mod url;
mod version;

pub(crate) use self::in_use::InUse;
